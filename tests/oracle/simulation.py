#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scheduler of `simulate` written a second time, from docs/simulation.md: small random traces,
request by request. simulation.py PROGRAM DATA --cases N --seed S. DATA has the calibration of a
device on which steps wait for the longest context."""
import collections
import csv
import io
import itertools
import json
import math
import os
import sys
import tempfile
import typing

from program import Program, command_line, randomness

BLOCK = 16
# Both models have the attention of LAYERS, KV_HEADS, HEAD_DIM and ELEMENT.
MODEL, EXPERTS, DEVICE = "llama-3-8b", "mixtral-8x7b", "h100-sxm"
MEMORY, NODE = 80 * 2**30, 8
DRAFTER = "llama-3.2-1b"
SHARED_CONTEXT = 1024
# A device with FlashAttention 2 whose caches are cut into parts only below 6 sequences, and which
# has the memory of the other one.
WAITING = "rtx-pro-6000"
FIGURES = {"sm_count": 30, "memory_capacity_bytes": 80 * 2**30, "bandwidth_gb_s": 1500,
           "boost_clock_mhz": 2000}
LAYERS, KV_HEADS, HEAD_DIM, ELEMENT = 32, 8, 128, 2
# The share of new tokens for which SGLang keeps room.
RATIO = {"first": 0.7, "least": 0.7 * 0.14, "decay_steps": 600, "most_tokens": 4096, "retract_steps": 20}


def nearest(x):
    """Halves are rounded up."""
    return math.floor(x + 0.5)


def around(x, dense):
    """The points of an axis on both sides of x, with their weights. All whole numbers up to twice
    `dense` are points, then `dense` for each doubling."""
    if x < dense:
        low, step = math.floor(x), 1
    else:
        octave = 2 ** math.floor(math.log2(x) + 1e-12)
        step = octave / dense
        low = octave + math.floor((x - octave) / step) * step
    part = (x - low) / step
    return [(point, weight) for point, weight in ((low, 1 - part), (low + step, part)) if weight > 0]


class Split(typing.NamedTuple):
    """How the stages of a copy are cut: devices that share attention, groups of these, and parts of
    each expert and of their list."""
    tp: int = 1
    attention_dp: int = 1
    moe_tp: int = 0  # 0: the model has no experts
    moe_ep: int = 0

    def keys(self):
        return {key: value for key, value in self._asdict().items() if value}

    def devices(self):
        return self.tp * self.attention_dp

    def token_bytes(self, stages):
        """The cache of a token on the device with most layers."""
        return -(-LAYERS // stages) * 2 * KV_HEADS // self.tp * HEAD_DIM * ELEMENT


def mixed(x):
    """One step of SplitMix64."""
    z = (x + 0x9e3779b97f4a7c15) % 2**64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
    return z ^ z >> 31


def accepted(case, request):
    """How many of the drafts of a step are accepted: j or more with the probability a^j."""
    unit = (mixed(mixed(mixed(1) ^ request.id) ^ request.done) >> 11) / 2**53
    count, power = 0, case["acceptance"]
    while count < case["drafts"] and unit < power:
        count, power = count + 1, power * case["acceptance"]
    return count


class Waits:
    """How much longer attention takes whose sequences have contexts of different lengths:
    docs/accuracy.md, for heads that share tiles."""

    def __init__(self, program, data):
        with open(os.path.join(data, "calibration", f"{WAITING}.json"), encoding="utf-8") as file:
            fits = json.load(file)["fits"]
        p = next(fit["parameters"] for fit in fits if (fit["kernel"], fit["stack"], fit["numerics"])
                 == ("prefill", "vllm", "16bit"))
        peak = program.records(["gemm"], [{"m": 1, "n": 1, "k": 1, "hardware": WAITING}],
                               device_options(True))[0]["peak_tflops"] * 1e12
        sms, clock = FIGURES["sm_count"], FIGURES["boost_clock_mhz"] * 1e6
        score = 4 * HEAD_DIM / (p["peak"] * peak) + p["exp_clocks"] / (clock * sms)
        self.tiles = 64 * score * sms
        self.alone = 2 * HEAD_DIM * ELEMENT * sms / (5.5 * FIGURES["bandwidth_gb_s"] * 1e9)
        self.whole = 0.8 * 2 * sms / KV_HEADS  # sequences from which on caches are whole

    def point(self, decoding, longest, tokens):
        """Of whole numbers, in seconds for all layers."""
        rate = self.tiles if tokens else self.alone if decoding >= self.whole else 0
        return LAYERS * (longest - 1) * rate

    def time(self, decoding, context, longest, tokens):
        """Between points each table is a line in both numbers."""
        return sum(weight * share * (self.point(d, x, tokens) if x > 0 else 0)
                   for d, share in around(decoding, 8)
                   for sign, at in ((1, longest), (-1, context))
                   for x, weight in ((x, sign * part) for x, part in around(at, 2)))


class Steps:
    """The times of steps in a pipeline of so many stages: points are predicted, and kept. With
    drafts, all tokens of a sequence that decodes are in the products of a step, and the model that
    drafts takes steps of its own."""

    def __init__(self, program, by, stages, split=Split(), link=None, drafts=0, drafter=False,
                 waits=None, scale=1):
        self.program, self.stages, self.known = program, stages, {}
        self.split = split
        self.drafts, self.drafter = drafts, drafter
        self.options = link_options(link) + device_options(waits is not None)
        self.options += ["--host-time", "none", "--step-scale", str(scale)] + precision(split)
        self.scale = scale
        self.vllm = waits is not None
        self.waits = waits if by == "expected" else None
        self.step, self.path = {"expected": ("expected_step_ms", "expected_time_us"),
                                "ideal": ("step_ms", "time_us")}[by]

    def record(self, decoding, context, tokens, mean, parts):
        """The step of `predict` with these sequences and tokens, in each stage. The tokens are
        equal parts in so many groups of the attention."""
        tokens /= parts
        record = {"model": model_of(self.split), "hardware": WAITING if self.vllm else DEVICE,
                  "pp": self.stages, **self.split.keys()}
        prompts = 1 if 2 * mean - 1 >= tokens else max(1, nearest(tokens / (2 * mean - 1)))
        each = max(1, nearest(tokens / prompts))
        end = max(each, nearest(mean + (tokens / prompts - 1) / 2))
        decoding, prompts = decoding * self.stages, prompts * int(parts) * self.stages
        if decoding and tokens:
            return dict(record, phase="mixed", batch=decoding, context=context, chunk=each,
                        prefill_batch=prompts, prefill_context=end)
        if decoding and self.drafts:
            record["draft_tokens"] = self.drafts
        if decoding:
            return dict(record, phase="decode", batch=decoding, context=context)
        return dict(record, phase="prefill", batch=prompts, chunk=each, context=end)

    def point(self, decoding, context, tokens, mean, parts=1):
        """A step of whole numbers, in seconds: the slowest stage, and the path through all. A
        decode step of `predict` is a turn of all stages, and a prefill the path and the turns of
        those that follow."""
        key = (decoding, context, tokens, mean, parts)
        if key not in self.known:
            record = self.record(*map(float, key))
            row = self.program.records(["model"], [record], self.options)[0]
            step, path = row[self.step] / 1e3, row[self.path] / 1e6
            if self.drafter and decoding and not tokens:
                del record["draft_tokens"]
                own = self.program.records(["model"], [dict(record, model=DRAFTER)], self.options)
                step += self.drafts * own[0][self.step] / 1e3
                path += self.drafts * own[0][self.step] / 1e3
            if self.stages == 1:
                self.known[key] = step, step
            elif decoding:
                self.known[key] = step / self.stages, path
            else:
                self.known[key] = (step - path) / (self.stages - 1), path
        return self.known[key]

    def shared(self, decoding, tokens):
        """What products of all tokens together save."""
        if self.drafts:
            return self.plain.shared(decoding * (1 + self.drafts), tokens)
        fresh = (tokens + 1) / 2
        parts = (self.point(decoding, SHARED_CONTEXT, tokens, fresh),
                 self.point(decoding, SHARED_CONTEXT, 0, 0), self.point(0, 0, tokens, fresh))
        return [both - one - other for both, one, other in zip(*parts)]

    def beside(self, decoding, context):
        """What decode contexts add beside prompts."""
        parts = [self.point(decoding, c, h, h) for h in (1, 0) for c in (context, SHARED_CONTEXT)]
        return [there - usual - (alone - other) for there, usual, alone, other in zip(*parts)]

    def time(self, decoding, context, longest, tokens, mean, pins, widest):
        """Any step: the slowest stage, and the path. Of the tokens one group has `widest`: the time
        is between that with all in one group, and that with equal parts in all."""
        groups = self.split.attention_dp
        alone = (widest / tokens * groups - 1) / (groups - 1) if tokens and groups > 1 else 1
        sequences = around(decoding, 8) if decoding else []
        chunks = [(tokens, 1)] if tokens in pins else around(tokens, 8) if tokens else []
        weighed = [(a * b, self.point(d, c, 0, 0)) for d, a in sequences
                   for c, b in around(context, 2)]
        weighed += [(a * b * share, self.point(0, 0, h, k, parts))
                    for h, a in chunks for k, b in around(mean, 4)
                    for share, parts in ((alone, 1), (1 - alone, groups)) if share]
        weighed += [(a * b, self.shared(d, h)) for d, a in sequences for h, b in chunks]
        if self.waits and decoding:
            wait = self.scale * self.waits.time(decoding, context, longest, tokens)
            weighed += [(wait, (1 / self.stages, 1))]
            weighed += [(a * b, self.beside(d, c)) for d, a in sequences
                        for c, b in around(context, 2) if tokens]
        return [sum(weight * times[i] for weight, times in weighed) for i in (0, 1)]


def device_options(waits):
    """Another device, with the kernels of vLLM."""
    figures = [text for key, value in FIGURES.items() for text in ("--set", f"{key}={value}")]
    return figures + ["--stack", "vllm"] if waits else []


def model_of(split):
    return EXPERTS if split.moe_tp else MODEL


def precision(split):
    """Experts in 16 bits do not fit in the memory of one device."""
    return ["--precision", "fp8"] if split.moe_tp else []


def link_options(link):
    """A device whose links are slow, so that caches wait for them."""
    return [] if link is None else ["--set", f"link_gb_s={link}", "--set", f"network_gb_s={link}"]


def blocks(tokens):
    return -(-tokens // BLOCK)


def counted(tokens):
    """New tokens of a request that count."""
    return min(tokens, RATIO["most_tokens"])


class Request:
    """A request, and what was done for it."""

    def __init__(self, arrival, prompt, generate, ids=None, part=BLOCK):
        self.arrival, self.prompt, self.generate = arrival, prompt, generate
        self.ready, self.has_cache, self.copy = arrival, False, None
        self.id = self.room = 0
        self.done = self.stored = self.preemptions = self.cached = self.named = 0
        self.hit = 0  # tokens that are cached without names
        self.names = [(ids[b * BLOCK // part], b * BLOCK % part)
                      for b in range(prompt // BLOCK)] if ids else []
        self.scheduled = self.first = self.last = self.prefilled = self.moved = None

    @property
    def needed(self):
        """Tokens to prefill before the next one is generated."""
        return self.prompt + self.done_before

    def begin(self):
        self.done_before, self.stored, self.group, self.named = self.done, 0, None, 0
        self.room = 0

    def held(self):
        """Its blocks: with drafts, as many as its last step needed."""
        return max(blocks(self.stored), self.room)

    def most(self, drafts):
        """Tokens that are stored at its end, and drafts beside them."""
        return self.prompt + self.generate - 1 + (drafts if self.generate > 1 else 0)


class Engine:
    """One copy of the model: a group of sequences for each stage, one queue and one cache."""

    def __init__(self, case, stages, steps, capacity, pins, decodes=False):
        self.case, self.steps, self.capacity, self.pins = case, steps, capacity, pins
        self.groups = steps.split.attention_dp  # of the attention, each with a budget
        self.waiting, self.running = [], []
        self.stages = stages
        self.decodes = decodes  # it gets the caches of prompts
        self.counts = case["engine"] in ("vllm", "trtllm")  # the budget counts all tokens
        self.exits = [None] * self.stages  # of the steps that are under way, by group
        self.work = [None] * self.stages  # what these do
        self.free_at = [0.0] * self.stages
        self.turn, self.now = 0, 0.0
        self.stalled = False  # no group has work before the next event
        self.front = 0.0  # when the front end is free
        # What the first step with a full budget takes longer.
        self.compile = case["compile"] / 1000 if case["by"] == "expected" and not decodes else 0
        self.prompts = [(0.0, 0)] * self.stages  # when the last step of a group ends, its tokens
        self.began, self.known_at, self.blind, self.prompted = 0.0, 0.0, 0, False
        self.idle = []  # names of blocks that no request uses, the oldest one first
        self.alone = case["engine"] == "sglang" and not decodes  # prompts have separate steps
        self.yields = False  # the first request waits until all of its prompt fits
        self.keeps = self.alone  # room for new tokens
        self.share, self.since = RATIO["first"], 0  # since so many decode steps
        self.full = set()  # groups in which a request had no room

    def in_use(self):
        """Blocks of requests that run; one with a name counts once."""
        named = {name for r in self.running for name in r.names[:r.named]}
        return sum(r.held() - r.named for r in self.running) + len(named)

    def free(self):
        return self.capacity - self.in_use()

    def known(self, request):
        """The names of a request that are there, from the first one on."""
        there = set(self.idle).union(*(r.names[:r.named] for r in self.running))
        most = (request.prompt + request.done - 1) // BLOCK
        return list(itertools.takewhile(there.__contains__, request.names[:most]))

    def burden(self, request):
        """What the router weighs that looks at prefixes."""
        return self.in_use() + sum(blocks(r.prompt) for r in self.waiting) + \
            blocks(request.prompt) - len(self.known(request))

    def present(self):
        return len(self.waiting) + len(self.running)

    def take(self, request):
        """A request passes through the front end, which has one at a time for a part of its time."""
        overhead, front = self.case["host"] if self.case["by"] == "expected" else (0, 0)
        begin = max(self.front, request.arrival) if front else request.arrival
        self.front = begin + front / 1000
        request.ready = begin + overhead / 1000
        self.waiting.append(request)

    def load(self, request):
        """What the router weighs that looks at loads: tokens of prompts that are not computed when
        the request comes, and one for each request."""
        return self.present() + sum(r.prompt + r.done - r.hit for r in self.waiting) + \
            sum(r.needed - r.stored for r in self.running if r.group is None) + \
            sum(tokens for at, tokens in self.prompts if at > request.arrival)

    def share_now(self):
        """The share of new tokens for which room is kept."""
        fall = (RATIO["first"] - RATIO["least"]) / RATIO["decay_steps"]
        return max(RATIO["least"], self.share - self.since * fall) if self.since else self.share

    def has_room(self, request, used):
        """Tells whether a request has room beside the new tokens of others."""
        left = BLOCK * self.free() - self.kept
        return BLOCK * (blocks(request.needed) - used) + \
            counted(request.generate - request.done) + BLOCK < left

    def victim(self, group):
        """The sequence that decodes and has generated fewest tokens."""
        own = [r for r in self.running if r.group == group]
        if len(own) == 1 and any(r.group is None for r in self.running):
            return [r for r in self.running if r.group is None]
        least = min((r.done, -r.prompt) for r in own)
        return [r for r in own if (r.done, -r.prompt) == least]

    def remove(self, request):
        """Ends the part of a request in the cache."""
        self.running.remove(request)
        self.full.discard(request.group)
        used = {name for r in self.running for name in r.names[:r.named]}
        self.idle += [name for name in reversed(request.names[:request.named]) if name not in used]
        request.named = 0

    def evict(self):
        if len(self.idle) > self.free():
            del self.idle[:len(self.idle) - self.free()]

    def preempt(self, candidates):
        victim = [r for r in self.running if r in candidates][-1]
        self.remove(victim)
        victim.preemptions += 1
        victim.has_cache = False
        place = 0
        if self.keeps and victim.group is not None:
            place = sum(r.ready <= self.known_at for r in self.waiting)
        self.waiting.insert(place, victim)

    def begin(self, group):
        """Tries to begin a step of a group."""
        self.context, self.tokens, self.seen, self.complete = 0, 0, 0, []
        self.longest = self.kept = 0
        self.decoding, self.preempted = [], False
        self.left = [self.case["chunk"] or 10**12] * self.groups  # of the budgets
        self.parts = [0] * self.groups  # tokens of prompts
        self.look()
        if not self.alone:
            self.decode(group)
        self.go_on(group)
        self.admit(group)
        if self.alone and self.tokens == 0:
            self.decode(group)
        if not self.decoding and not self.tokens and not self.complete:
            return False
        there = len(self.decoding) + sum(r.has_cache for r in self.complete)
        slowest, path = self.steps.time(there, self.context / max(1, there), self.longest,
                                        self.tokens, self.seen / max(1, self.tokens), self.pins,
                                        max(self.parts))
        # What the engine does on the host, which stages share, has no scale.
        host = self.case["step"] / 1000 if self.case["by"] == "expected" else 0
        slowest, path = slowest + host / self.stages, path + host
        at = max(self.now, self.free_at[0])
        if self.tokens and max(self.left) <= 0:
            at, self.compile = at + self.compile, 0
        for k in range(self.stages):
            own_time = slowest if k + 1 == self.stages else (path - slowest) / (self.stages - 1)
            at = self.free_at[k] = max(at, self.free_at[k]) + own_time
        self.exits[group], self.work[group] = at, (self.decoding, self.complete)
        self.prompts[group] = at, self.tokens
        self.began, self.prompted = self.now, self.tokens > 0
        self.turn = (group + 1) % self.stages
        return True

    def look(self):
        """Finds out which requests are known to the step that begins now."""
        if not self.running or self.stages > 1:
            self.blind, self.known_at = 0, self.now
            return
        self.blind = 0 if self.prompted or self.blind + 1 >= self.case["interval"] else self.blind + 1
        if self.blind == 0:
            ahead = self.case["engine"] and self.case["by"] == "expected"
            self.known_at = self.began if ahead else self.now

    def decode(self, group):
        """1. Each sequence of the group that decodes needs a place for one token, and for its
        drafts."""
        drafts = self.case["drafts"]
        candidates = [r for r in self.running if r.group in (group, None)]
        own = [r for r in self.running if r.group == group]
        while sum(blocks(r.stored + 1 + drafts) - r.held()
                  for r in own if r in self.running) > self.free():
            self.preempt(self.victim(group) if self.keeps and drafts == 0 else candidates)
            self.preempted = True
        self.decoding = [r for r in self.running if r.group == group]
        self.since += bool(self.decoding)
        if self.preempted:
            made = sum(r.done + RATIO["retract_steps"] for r in self.decoding)
            self.share = min(1, made / (sum(r.generate for r in self.decoding) + 1))
            self.since = 0
        self.context += sum(r.stored + 1 for r in self.decoding)
        self.longest = max([self.longest] + [r.stored + 1 for r in self.decoding])
        for r in self.decoding:
            r.room = blocks(r.stored + 1 + drafts)
        self.evict()
        if self.counts:
            share = -(-len(self.decoding) * (1 + drafts) // self.groups)
            self.left = [left - share for left in self.left]

    def prefill(self, r, count, group, place):
        """Adds tokens of a prompt, or the one of a request whose cache came with it."""
        if r.has_cache:
            self.context += r.stored + 1
            self.longest = max(self.longest, r.stored + 1)
            self.left[place] -= 1 if self.counts else 0
        else:
            self.seen += sum(range(r.stored + 1, r.stored + count + 1))
            self.tokens += count
            self.parts[place] += count
            self.left[place] -= count
        r.place = place
        r.stored += count
        r.named = min(r.stored // BLOCK, len(r.names))
        self.idle = [name for name in self.idle if name not in r.names[:r.named]]
        self.evict()
        self.kept += BLOCK
        if r.stored == r.needed:
            self.kept += counted(r.generate)
            r.group = group
            self.complete.append(r)

    def go_on(self, group):
        """2. The prompts that were prefilled in part, one of each group of the attention."""
        for r in sorted((r for r in self.running if r.group is None), key=lambda r: r.place):
            count = min(r.needed - r.stored, self.left[r.place])
            if count <= 0:
                continue
            if blocks(r.stored + count) - blocks(r.stored) > self.free():
                self.preempt([r])
                self.preempted = True
                self.yields = self.alone and self.stages > 1
            else:
                self.prefill(r, count, group, r.place)

    def must_wait(self):
        """After its preemption in a pipeline, a prompt waits for room for all of its tokens."""
        if not self.running or not self.waiting:
            return False
        first = self.waiting[0]
        first.begin()
        known = [] if first.has_cache else self.known(first)
        used = len([name for name in known if name not in self.idle])
        if self.keeps:
            kept, self.kept = self.kept, 0
            room, self.kept = self.has_room(first, used), kept
            return not room
        return blocks(first.needed) - used > self.free()

    def admit(self, group):
        """3. New requests."""
        self.yields = self.yields and self.must_wait()
        if self.yields:
            return
        arrived = sum(r.arrival <= self.now for r in self.waiting)
        there = min(len(self.running) + arrived, self.case["max_num_seqs"])
        mine = sum(r.group == group for r in self.running)
        decoding = [r for r in self.running if r.group == group and r not in self.complete]
        self.kept += self.share_now() * sum(counted(r.generate - r.done) for r in decoding)
        while not self.preempted and self.waiting and self.waiting[0].ready <= self.known_at and \
                max(self.left) > 0 and len(self.running) < self.case["max_num_seqs"] and \
                mine < -(-there // self.stages):
            first = self.waiting[0]
            first.begin()
            known = [] if first.has_cache else self.known(first)
            cached = first.needed - 1 if first.has_cache else first.hit or len(known) * BLOCK
            place = self.left.index(max(self.left))
            count = min(first.needed - cached, self.left[place])
            used = len([name for name in known if name not in self.idle])
            if self.keeps:
                if group in self.full or not self.has_room(first, used):
                    self.full.update([group] if decoding else [])
                    break
            elif blocks(first.needed) - used > self.free():
                break
            if self.case["engine"] == "trtllm" and self.capacity < sum(
                    blocks(r.most(self.case["drafts"])) for r in self.running + [first]):
                break
            self.running.append(self.waiting.pop(0))
            if first.scheduled is None:
                first.scheduled, first.cached = self.now, cached
            first.stored = cached
            self.prefill(first, count, group, place)
            mine += first.group == group

    def end(self, group):
        """Ends the step of a group."""
        self.now, self.exits[group], self.stalled = self.exits[group], None, False
        decoding, complete = self.work[group]
        for r in decoding + complete:
            count = 1
            if r in decoding:
                count = min(1 + accepted(self.case, r), r.generate - r.done)
                r.stored += count
            r.done += count
            r.first = self.now if r.first is None else r.first
            if r.done == r.generate:
                r.last = self.now
                self.remove(r)

    def run(self, until=math.inf):
        """Runs all steps that begin before a time."""
        while self.waiting or self.running:
            flying = [(at, g) for g, at in enumerate(self.exits) if at is not None]
            soonest = max(self.now, self.free_at[0])
            if flying and (len(flying) == self.stages or min(flying)[0] <= soonest):
                self.end(min(flying)[1])
                continue
            if not self.running and self.waiting[0].ready > soonest:
                soonest = self.waiting[0].ready
                self.share, self.since = RATIO["first"], 0
            if soonest >= until:
                return
            self.now = soonest
            groups = [(self.turn + i) % self.stages for i in range(self.stages)]
            if not self.stalled:
                if any(self.begin(g) for g in groups if self.exits[g] is None):
                    continue
                if not flying and not self.running:  # the only one was put back
                    continue
            events = [at for at, _ in flying]
            if self.waiting and self.waiting[0].ready > self.now:
                events.append(self.waiting[0].ready)
            self.stalled = min(events) >= until
            if self.stalled:
                return
            if flying and min(events) == min(flying)[0]:
                self.end(min(flying)[1])
            self.now = min(events)


def draw_splits(random):
    """Splits of the copies, and of those that prefill; None: all are single devices."""
    experts = random.choice([True, True, False])
    if not experts and random.choice([True, False]):
        return None

    def one():
        tp, groups = random.choice([1, 2]), random.choice([1, 2, 4]) if experts else 1
        parts = random.choice([1, 2, tp * groups])
        parts = parts if tp * groups % parts == 0 else 1
        return Split(tp, groups, tp * groups // parts if experts else 0, parts if experts else 0)

    return one(), one()


def steady(case, random):
    """An engine that keeps room for new tokens has decoded for a long time when the others come, so
    that it keeps little, and puts some of them back."""
    first, *others = case["requests"]
    later = random.uniform(3, 4)
    long = (first[0], first[1], random.randint(900, 1200), first[3])
    others = [(round(time + later, 9), prompt, 4 * generate, ids)
              for time, prompt, generate, ids in others]
    return dict(case, engine="sglang", requests=[long] + others, dp=1, prefills=0, link=None,
                pp=random.choice([1, 1, 2]), router="round-robin", max_num_seqs=12, scale=1,
                room=random.choice([84, 88, 94]), split=Split(), prefill_split=Split(),
                host=(0, 0), step=0, drafts=0, drafter=False)


def draw(random):
    """Most cases are short."""
    case = draw_short(random)
    return steady(case, random) if random.randrange(8) == 0 and not case["waits"] else case


def draw_short(random):
    """A case: few requests, close together, and an engine with little of everything. Most have
    a prefix cache, and prompts that begin alike; others a part of each prompt that is cached."""
    time, requests = 0.0, []
    part = random.choice([0, 0, 16, 32, 64])
    for _ in range(random.randint(1, 12 if part == 0 else 25)):
        # No two prompts end at one time, of which the numbers of requests would say the order.
        time = round(time + random.choice([0, 0.001, 0.01, 0.02]) + 1e-5 * random.random(), 9)
        prompt = random.randint(1, 60) if part == 0 else random.choice(
            [random.randint(1, 200), 64, 96, 128])
        ids = [(10 * depth + random.choice([0, 0, 1])) for depth in range(-(-prompt // part))] \
            if part else None
        # An id stands for all before it, too.
        ids = [int("1" + "".join(str(i % 10) for i in ids[:n + 1])) for n in range(len(ids))] \
            if part else None
        if part and prompt % part:  # the last part is shorter: no other one is like it
            ids[-1] = 10**17 + 1000 * len(requests) + prompt
        requests.append((time, prompt, random.randint(1, 25), ids))
    dp, pp = random.choice([1, 1, 2, 3]), random.choice([1, 1, 2, 3, 4])
    prefills = random.choice([0, 0, 1, 2, 3])
    # Stages of different numbers of layers share nothing that other sequences tell.
    waits = random.choice([False, False, True]) and pp != 3
    drafts = random.choice([0, 1, 3, 6]) if pp != 3 and not waits else 0
    splits = draw_splits(random) if pp != 3 and not waits else None
    if splits and splits[0].attention_dp > 1:
        drafts = 0  # sequences of groups of other sizes would have to stand for the drafts
    drafter = drafts > 0 and not splits and random.choice([True, False])
    routers = ["round-robin", "least-loaded"] + (["prefix-aware"] if part else [])
    return {"requests": requests, "part": part,
            "hit": random.choice([0, 0.25, 0.625, 0.9375, 1]) if part == 0 else 0,
            "split": splits[0] if splits else Split(),
            "prefill_split": splits[1] if splits else Split(),
            "room": random.choice([4, 8, 15, 1000]) if splits else None,  # blocks
            "chunk": random.choice([0, 7, 16, 33, 64]),
            "max_num_seqs": random.choice([1, 2, 5, 12]), "dp": dp, "pp": pp,
            "prefills": prefills, "prefill_pp": random.choice([1, 1, 2, 4]),
            "link": random.choice([1 if waits else None, 0.3, 1]) if prefills else None,
            "waits": waits,
            "router": random.choice(routers) if dp > 1 or prefills > 1 else "round-robin",
            # The model that drafts takes 0.0289 of the memory.
            "reserve": random.choice([0.1, 0.8122, 0.8126, 0.8127, 0.8128]) - 0.0289 * drafter,
            "drafts": drafts, "acceptance": random.choice([0, 0.4, 0.8, 1]),
            "drafter": drafter,
            "by": random.choice(["expected", "ideal"]),
            "engine": random.choice([None, None, "vllm", "sglang", "trtllm"]),
            "interval": random.choice([1, 1, 2, 5]),
            # ms of a request, and of a step
            "host": random.choice([(0, 0), (0, 0), (20, 0), (20, 20), (30, 7)]),
            "step": random.choice([0, 0, 3]), "compile": random.choice([0, 0, 50]),
            "scale": random.choice([1, 1, 0.7, 2])}


def write_trace(path, case):
    with open(path, "w", encoding="utf-8") as file:
        if case["part"]:
            file.writelines(json.dumps({"arrival_s": t, "prompt": p, "generate": g,
                                        "hash_ids": ids}) + "\n"
                            for t, p, g, ids in case["requests"])
        else:
            file.write("arrival_s,prompt,generate\n")
            file.writelines(f"{t},{p},{g}\n" for t, p, g, _ in case["requests"])


def lightest(weights, turn):
    """The number of the least weight; of several, the first one from `turn` on."""
    return min(range(len(weights)), key=lambda i: (weights[i], (i - turn) % len(weights)))


def route(copies, case, requests):
    """Lets copies serve requests, which are given out as they come."""
    turn = 0
    for request in requests:
        weights = [0] * len(copies)
        if case["router"] != "round-robin":
            for copy in copies:
                copy.run(request.arrival)
            weight = Engine.burden if case["router"] == "prefix-aware" else Engine.load
            weights = [weight(copy, request) for copy in copies]
        request.copy = lightest(weights, turn)
        turn = request.copy + 1
        copies[request.copy].take(request)
    for copy in copies:
        copy.run()


def end_of(begin, time):
    """When a transfer ends: at a whole nanosecond."""
    return max(begin, nearest((begin + time) * 1e9) / 1e9)


def decode(copies, case, requests, first):
    """Sends the caches of prompts, when their prefills have ended, to the copies that decode."""
    mine, other = case["split"], case["prefill_split"]
    # When the lanes of copies are free: each group that shares attention has one.
    sends = [[0.0] * other.attention_dp for _ in range(case["prefills"])]
    gets = [[0.0] * mine.attention_dp for _ in range(case["dp"])]
    devices = case["prefills"] * case["prefill_pp"] * other.devices() + \
        case["dp"] * case["pp"] * mine.devices()
    link = 1e9 * (case["link"] or (450 if devices <= NODE else 50))
    stage = mine.token_bytes(case["pp"])
    receivers, senders = mine.tp * case["pp"], other.tp * case["prefill_pp"]
    way = []  # requests on their way

    def arrive(until):
        for r in sorted((r for r in way if r.moved <= until), key=lambda r: (r.moved, r.number)):
            way.remove(r)
            for copy in copies:
                copy.run(r.moved)
            if case["by"] == "ideal" or case["engine"] in ("sglang", "trtllm"):
                # the first token is handed over
                r.first, r.done = r.moved, 1
                if r.generate == 1:
                    r.last = r.moved
                    continue
            r.has_cache = True
            copies[r.copy].waiting.append(r)

    for number, (r, p) in enumerate(zip(requests, first)):
        r.number, r.prefilled, r.scheduled, r.cached = number, p.last, p.scheduled, p.cached
        r.preemptions, r.names, r.hit = p.preemptions, [], 0
    turn = 0
    for r in sorted(requests, key=lambda r: (r.prefilled, r.number)):
        arrive(r.prefilled)
        sender = first[r.number].copy
        weights = [0] * len(copies)
        if case["router"] != "round-robin":
            for copy in copies:
                copy.run(r.prefilled)
            weights = [copy.present() + sum(other.copy == i for other in way)
                       for i, copy in enumerate(copies)]
        r.copy = lightest(weights, turn)
        turn = r.copy + 1
        lane, goal = min(sends[sender]), min(gets[r.copy])
        begin = max(r.prefilled, lane, goal)
        r.ready = r.moved = end_of(begin, r.prompt * stage * max(1, receivers / senders) / link)
        sends[sender][sends[sender].index(lane)] = r.moved
        gets[r.copy][gets[r.copy].index(goal)] = end_of(begin, r.prompt * stage / link)
        way.append(r)
    arrive(math.inf)
    for copy in copies:
        copy.run()


def serve(case, requests, steps, capacities, pins):
    """Lets the copies of one kind, or of both, serve all requests."""
    mine = steps(case["by"], case["pp"], case["split"], case["link"], case["drafts"],
                 case["drafter"], case["waits"], case["scale"])
    copies = [Engine(case, case["pp"], mine, capacities[0], pins, case["prefills"] > 0)
              for _ in range(case["dp"])]
    if case["prefills"] == 0:
        route(copies, case, requests)
        return
    first = [Request(r.arrival, r.prompt, 1) for r in requests]
    for p, r in zip(first, requests):
        p.names, p.hit = r.names, r.hit
    other = steps(case["by"], case["prefill_pp"], case["prefill_split"], case["link"], 0, False,
                  case["waits"], case["scale"])
    route([Engine(case, case["prefill_pp"], other, capacities[1], pins)
           for _ in range(case["prefills"])], case, first)
    decode(copies, case, requests, first)


def split_options(case):
    mine, other = case["split"], case["prefill_split"]
    options = ["--dp", str(case["dp"]), "--pp", str(case["pp"])] + precision(mine)
    for key, value in mine.keys().items():
        options += [f"--{key}".replace("_", "-"), str(value)]
    if case["prefills"]:
        parts = [f"{key}={value}".replace("_", "-") for key, value in other.keys().items()]
        options += ["--prefill-copies", str(case["prefills"]), "--prefill-split",
                    ",".join([f"pp={case['prefill_pp']}"] + parts)]
    return options


def capacities_of(known):
    """The blocks of a copy, and of one that prefills."""
    return [known["kv_cache_tokens"] // BLOCK, known.get("prefill_kv_cache_tokens", 10**9) // BLOCK]


def reserved(program, case, command):
    """The part of the memory that is kept free so that the smaller cache has a number of blocks."""
    if case["room"] is None:
        return case["reserve"]
    result = program.run(command + ["--reserve", "0", "-f", "json"])
    if result.returncode:
        return 0
    most = case["max_num_seqs"]  # a group has its share of so many sequences
    share = [-(-most // split.attention_dp) / most * split.token_bytes(stages)
             for split, stages in ((case["split"], case["pp"]),
                                   (case["prefill_split"], case["prefill_pp"]))]
    return min((have - case["room"] - 0.5) * BLOCK * each / MEMORY
               for have, each in zip(capacities_of(json.loads(result.stdout)), share))


def check(program, plain, folder, case, steps):
    """What differs; None where the requests do not fit."""
    path = os.path.join(folder, "trace")
    write_trace(path, case)
    command = ["simulate", model_of(case["split"]), "-H", WAITING if case["waits"] else DEVICE,
               "--trace", path, "--chunk", str(case["chunk"]), "--max-num-seqs",
               str(case["max_num_seqs"]), "--by", case["by"]] + split_options(case)
    command += ["--prefix-hit", str(case["hit"])] if case["hit"] else []
    command += ["--prefix-cache", "--hash-tokens", str(case["part"])] if case["part"] else []
    command += ["--recv-interval", str(case["interval"])] if case["interval"] > 1 else []
    command += ["--router", case["router"]] if case["dp"] > 1 or case["prefills"] > 1 else []
    command += ["--draft-tokens", str(case["drafts"]), "--acceptance", str(case["acceptance"]),
                "--draft-model", DRAFTER if case["drafter"] else "none"] if case["drafts"] else []
    command += link_options(case["link"])
    command += ["--engine", case["engine"]] if case["engine"] else []
    command += ["--stack", "best"] if case["engine"] and not case["waits"] else []
    times = zip(("request", "front", "step", "compile"),
                (*case["host"], case["step"], case["compile"]))
    names = [f"{name}={time}ms" for name, time in times if time]
    command += ["--step-scale", str(case["scale"])] if case["by"] == "expected" else []
    command += device_options(case["waits"])
    command += ["--host-time", ",".join(["overlap=0us", *names]) if names else "none"]
    command += ["--reserve", str(reserved(plain, case, command))]
    summary = program.run(command + ["-f", "json"])
    if summary.returncode == 1 and "memory" in summary.stderr or "fits" in summary.stderr:
        return None
    if summary.returncode not in (0, 1) or not summary.stdout:
        sys.exit(f"{' '.join(command)}: {summary.stderr}")
    known = json.loads(summary.stdout)
    capacities = capacities_of(known)
    # With drafts a request of mean length has their places, too, which makes its tokens larger.
    if case["room"] and not case["drafts"] and abs(min(capacities) - case["room"]) > 1:
        return [f"{capacities} blocks, expected {case['room']}"]
    rows = list(csv.DictReader(io.StringIO(program.run(command + ["--rows", "requests", "-f",
                                                                  "csv"]).stdout)))
    first = case["requests"][0][0]
    requests = [Request(t - first, p, g, ids, case["part"]) for t, p, g, ids in case["requests"]]
    for number, r in enumerate(requests):
        r.id = number
        r.hit = min(math.floor(case["hit"] * r.prompt), r.prompt - 1)
    kept = [r for r in requests if blocks(r.most(case["drafts"])) <= capacities[0] and
            blocks(r.prompt) <= capacities[1]]
    if case["engine"] == "sglang":
        prefills = case["prefills"] > 0
        kept = [r for r in kept if r.prompt + (1 if prefills else r.generate) + 2 * BLOCK - 1 <
                BLOCK * capacities[prefills]]
    mean = math.ceil(sum(r.prompt for r in requests) / len(requests) - 1e-9)
    mean -= min(math.floor(case["hit"] * mean), mean - 1)
    chunk = case["chunk"] or mean
    serve(case, kept, steps, capacities, {min(mean, chunk), mean % chunk} - {0})
    if len(rows) != len(kept):
        return [f"{len(rows)} rows, {len(kept)} requests"]
    found = []
    for row, r in zip(rows, kept):
        for key, want in (("scheduled_s", r.scheduled), ("first_token_s", r.first),
                          ("last_token_s", r.last), ("preemptions", r.preemptions),
                          ("cached", r.cached), ("prefilled_s", r.prefilled),
                          ("moved_s", r.moved)):
            if (want is None) != (row[key] == ""):
                found.append(f"request {row['request']}, {key}: {row[key]}, expected {want}")
            elif want is not None and not math.isclose(float(row[key]), want, rel_tol=1e-9, abs_tol=1e-12):
                found.append(f"request {row['request']}, {key}: {row[key]}, expected {want}")
    case["seen"] = {
        "requests": len(kept), "preemptions": sum(r.preemptions for r in kept),
        "cached tokens": sum(r.cached for r in kept if r.hit == 0),
        "requests with hits of a fraction": sum(r.hit > 0 for r in kept),
        "with drafts": len(kept) if case["drafts"] else 0,
        "with attention DP": len(kept) if case["split"].attention_dp > 1 else 0,
        "with experts": len(kept) if case["split"].moe_tp else 0,
        "with steps that wait for the longest context":
            len(kept) if case["waits"] and case["by"] == "expected" else 0}
    return found


def main():
    options = command_line(__doc__, "simulation", 50, "random traces")
    random = randomness.Random(options.seed)
    seen, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        garble = (lambda text: text.replace("7", "8")) if options.self_test else None
        program, plain = Program(options.program, folder, garble), Program(options.program, folder)
        known = {}
        waiting = Waits(plain, options.data)

        def steps(by, pp, split, link, drafts, drafter, waits, scale):
            key = (by, pp, split, link, drafts, drafter, waiting if waits else None, scale)
            if key not in known:
                known[key] = Steps(plain, *key)
                known[key].plain = steps(by, pp, split, link, 0, False, waits, scale) \
                    if drafts else None
            return known[key]

        for _ in range(options.cases):
            case = draw(random)
            found = check(program, plain, folder, case, steps)
            if found is None:
                continue
            seen.update(case.pop("seen", {}))
            wrong += bool(found)
            for line in found[:3] if not options.self_test else []:
                print(case, line)
    print(f"{options.cases} cases, " + ", ".join(f"{n} {name}" for name, n in seen.items()) +
          f"; {wrong} cases differ")
    if options.self_test:
        sys.exit(0 if wrong > options.cases / 2 else "the self-test found too little")
    unseen = [name for name, n in seen.items() if n == 0 and name != "preemptions"]
    sys.exit(1 if wrong or unseen or not seen else 0)


if __name__ == "__main__":
    main()
