# SPDX-License-Identifier: MIT
"""Hardware files, read for themselves, and docs/formulas.md ("Units and peaks", "Collectives")."""
import copy
import glob
import json
import os
from fractions import Fraction

from formats import BROKEN, FORMATS, Refused

_BOTH = {"fp8": ("fp8_e4m3", "fp8_e5m2"), "mxfp8": ("mxfp8_e4m3", "mxfp8_e5m2"),
         "mxfp6": ("mxfp6_e3m2", "mxfp6_e2m3")}
GIGA, TERA, MICRO = 10 ** 9, 10 ** 12, Fraction(1, 10 ** 6)
PICO = Fraction(1, TERA)


class Device:
    def __init__(self, path, name=None):
        with open(path, encoding="utf-8") as file:
            data = json.load(file, parse_float=Fraction)

        def figure(key, unit=1):
            value = data.get(key)
            value = value.get("value") if isinstance(value, dict) else value
            return None if value is None else Fraction(value) * unit

        def peaks(key, unit=TERA):
            table = {}
            for name, value in data.get(key, {}).items():
                value = value["value"] if isinstance(value, dict) else value
                for one in _BOTH.get(name, (name,)):
                    table[one] = Fraction(value) * unit
            return table

        self.figures = {key: figure(key) for key in (
            "sm_shared_bytes", "block_shared_bytes", "sm_registers", "sm_threads", "sm_blocks",
            "cluster_blocks", "sm_tmem_bytes", "sm_count", "boost_clock_mhz", "l2_bytes",
            "l2_bandwidth_gb_s")}
        self.name = name or data["id"]
        self.bandwidth = figure("bandwidth_gb_s", GIGA)
        self.matrix, self.sparse = peaks("peak_tflops"), peaks("sparse_tflops")
        self.vector = peaks("vector_tflops")
        self.cap, self.constant = figure("power_cap_w"), figure("constant_w")
        self.byte_energy, self.flop_energy = figure("byte_pj", PICO), peaks("flop_pj", PICO)
        self.weight_only = data.get("weight_only_compute")
        self.capacity = figure("memory_capacity_bytes")
        if self.capacity is None:
            self.capacity = figure("memory_nominal_gb", 2 ** 30)
        self.node = figure("devices_per_node")
        self.link, self.network = figure("link_gb_s", GIGA), figure("network_gb_s", GIGA)
        self.peer, self.host_link = figure("peer_link_gb_s", GIGA), figure("host_link_gb_s", GIGA)
        self.bridge, self.bridged = figure("bridge_gb_s", GIGA), figure("bridge_devices") or 0
        self.places = (self.bridged, self.node)
        self.link_latency = figure("link_latency_us", MICRO) or Fraction(0)
        self.network_latency = figure("network_latency_us", MICRO) or Fraction(0)

    def linked(self):
        """The same device, with links and power: the memory of a pass does not depend on them."""
        one = copy.copy(self)
        one.link, one.network, one.cap = one.link or GIGA, one.network or GIGA, None
        return one

    def beside(self, bandwidth, capacity):
        """The same device, with a host that is known by its memory alone."""
        one, host = copy.copy(self), copy.copy(self)
        host.matrix, host.sparse, host.vector, host.weight_only = {}, {}, {}, None
        host.cap, host.constant, host.byte_energy, host.flop_energy = None, None, None, {}
        host.bandwidth, host.capacity = Fraction(bandwidth) * GIGA, Fraction(capacity) * 2 ** 30
        one.host = host
        return one

    def unit(self, name, sparse):
        """Format that a product asked for in `name` runs at, peak, and whether it is sparse."""
        fallbacks = [] if "fallback" in BROKEN else FORMATS[name]["fallbacks"].split()
        for one in [name] + fallbacks:
            if one in self.matrix:
                if sparse and one in self.sparse:
                    return one, self.sparse[one], True
                return one, self.matrix[one], False
            if one in self.vector:
                return one, self.vector[one], False
        return name, None, False

    def faster(self, one, other):
        """The first format, if the device multiplies it with a dense peak above that of the other; else the other."""
        at, first, _ = self.unit(one, False)
        second = self.unit(other, False)[1]
        return one if at == one and second is not None and first is not None and first > second else other

    def joined(self, within, members):
        """Bandwidth and latency between members that lie within so many consecutive devices."""
        if self.node is None or within <= self.node:
            known = [self.link, self.bridge if within <= self.bridged else None]
            if known == [None, None]:
                raise Refused("link")
            link = max(one for one in known if one is not None)
            mesh = self.peer is not None and self.peer * (members - 1) < link
            return self.peer * (members - 1) if mesh else link, self.link_latency
        # A node of one device has no link of its own.
        link = self.link if self.link is not None or self.node > 1 else self.network
        if link is None or self.network is None:
            raise Refused("network")
        return min(link, self.network), self.network_latency


def shipped(data):
    paths = sorted(glob.glob(os.path.join(data, "hardware", "*.json")))
    return {device.name: device for device in map(Device, paths)}
