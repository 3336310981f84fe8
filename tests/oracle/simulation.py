#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scheduler of `simulate` written a second time, from docs/simulation.md: small random traces,
request by request. simulation.py PROGRAM DATA --cases N --seed S; DATA is not read."""
import csv
import io
import json
import math
import os
import sys
import tempfile

from program import Program, command_line, randomness

BLOCK = 16
MODEL, DEVICE = "llama-3-8b", "h100-sxm"
SHARED_CONTEXT = 1024


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


class Steps:
    """The times of steps in a pipeline of so many stages: points are predicted, and kept."""

    def __init__(self, program, by, stages):
        self.program, self.stages, self.known = program, stages, {}
        self.step, self.path = {"expected": ("expected_step_ms", "expected_time_us"),
                                "ideal": ("step_ms", "time_us")}[by]

    def record(self, decoding, context, tokens, mean):
        """The step of `predict` with these sequences and tokens, in each stage."""
        record = {"model": MODEL, "hardware": DEVICE, "pp": self.stages}
        prompts = 1 if 2 * mean - 1 >= tokens else max(1, nearest(tokens / (2 * mean - 1)))
        each = max(1, nearest(tokens / prompts))
        end = max(each, nearest(mean + (tokens / prompts - 1) / 2))
        decoding, prompts = decoding * self.stages, prompts * self.stages
        if decoding and tokens:
            return dict(record, phase="mixed", batch=decoding, context=context, chunk=each,
                        prefill_batch=prompts, prefill_context=end)
        if decoding:
            return dict(record, phase="decode", batch=decoding, context=context)
        return dict(record, phase="prefill", batch=prompts, chunk=each, context=end)

    def point(self, decoding, context, tokens, mean):
        """A step of whole numbers, in seconds: the slowest stage, and the path through all. A
        decode step of `predict` is a turn of all stages, and a prefill the path and the turns of
        those that follow."""
        key = (decoding, context, tokens, mean)
        if key not in self.known:
            row = self.program.records(["model"], [self.record(*map(float, key))])[0]
            step, path = row[self.step] / 1e3, row[self.path] / 1e6
            if self.stages == 1:
                self.known[key] = step, step
            elif decoding:
                self.known[key] = step / self.stages, path
            else:
                self.known[key] = (step - path) / (self.stages - 1), path
        return self.known[key]

    def shared(self, decoding, tokens):
        fresh = (tokens + 1) / 2
        parts = (self.point(decoding, SHARED_CONTEXT, tokens, fresh),
                 self.point(decoding, SHARED_CONTEXT, 0, 0), self.point(0, 0, tokens, fresh))
        return [both - one - other for both, one, other in zip(*parts)]

    def time(self, decoding, context, tokens, mean, pins):
        """Any step: the slowest stage, and the path."""
        sequences = around(decoding, 8) if decoding else []
        chunks = [(tokens, 1)] if tokens in pins else around(tokens, 8) if tokens else []
        weighed = [(a * b, self.point(d, c, 0, 0)) for d, a in sequences
                   for c, b in around(context, 2)]
        weighed += [(a * b, self.point(0, 0, h, k)) for h, a in chunks for k, b in around(mean, 4)]
        weighed += [(a * b, self.shared(d, h)) for d, a in sequences for h, b in chunks]
        return [sum(weight * times[i] for weight, times in weighed) for i in (0, 1)]


def blocks(tokens):
    return -(-tokens // BLOCK)


class Request:
    """A request, and what was done for it."""

    def __init__(self, arrival, prompt, generate):
        self.arrival, self.prompt, self.generate = arrival, prompt, generate
        self.done = self.stored = self.preemptions = 0
        self.scheduled = self.first = self.last = None

    @property
    def needed(self):
        """Tokens to prefill before the next one is generated."""
        return self.prompt + self.done_before

    def begin(self):
        self.done_before, self.stored, self.group = self.done, 0, None


class Engine:
    """One copy of the model: a group of sequences for each stage, one queue and one cache."""

    def __init__(self, requests, case, steps, capacity, pins):
        self.case, self.steps, self.capacity, self.pins = case, steps, capacity, pins
        self.waiting, self.running = list(requests), []
        self.stages = case["pp"]
        self.exits = [None] * self.stages  # of the steps that are under way, by group
        self.work = [None] * self.stages  # what these do
        self.free_at = [0.0] * self.stages
        self.turn, self.now = 0, 0.0

    def free(self):
        return self.capacity - sum(blocks(r.stored) for r in self.running)

    def preempt(self, candidates):
        victim = [r for r in self.running if r in candidates][-1]
        self.running.remove(victim)
        victim.preemptions += 1
        self.waiting.insert(0, victim)

    def begin(self, group):
        """Tries to begin a step of a group."""
        partial = [r for r in self.running if r.group is None]
        own = [r for r in self.running if r.group == group]
        preempted, budget = False, self.case["chunk"] or math.inf
        # 1. Each sequence of the group that decodes needs a place for one token.
        while sum(r.stored % BLOCK == 0 for r in own if r in self.running) > self.free():
            self.preempt(own + partial)
            preempted = True
        decoding = [r for r in self.running if r.group == group]
        context = sum(r.stored + 1 for r in decoding)
        for r in decoding:
            r.stored += 1
        tokens, seen, complete = 0, 0, []

        def prefill(r, count):
            nonlocal tokens, seen, budget
            seen += sum(range(r.stored + 1, r.stored + count + 1))
            r.stored += count
            tokens += count
            budget -= count
            if r.stored == r.needed:
                r.group = group
                complete.append(r)

        # 2. The prompt that was prefilled in part.
        for r in [r for r in self.running if r.group is None]:
            count = min(r.needed - r.stored, budget)
            if blocks(r.stored + count) - blocks(r.stored) > self.free():
                self.preempt([r])
                preempted = True
            else:
                prefill(r, count)
        # 3. New requests.
        arrived = sum(r.arrival <= self.now for r in self.waiting)
        there = min(len(self.running) + arrived, self.case["max_num_seqs"])
        while not preempted and self.waiting and self.waiting[0].arrival <= self.now and \
                budget > 0 and len(self.running) < self.case["max_num_seqs"] and \
                all(r.group is not None for r in self.running) and \
                len(decoding) + len(complete) < -(-there // self.stages):
            first = self.waiting[0]
            first.begin()
            count = min(first.needed, budget)
            if blocks(count) > self.free():
                break
            self.running.append(self.waiting.pop(0))
            first.scheduled = self.now if first.scheduled is None else first.scheduled
            prefill(first, count)
        if not decoding and not tokens:
            return False
        slowest, path = self.steps.time(len(decoding), context / max(1, len(decoding)), tokens,
                                        seen / max(1, tokens), self.pins)
        at = self.now
        for k in range(self.stages):
            own_time = slowest if k + 1 == self.stages else (path - slowest) / (self.stages - 1)
            at = self.free_at[k] = max(at, self.free_at[k]) + own_time
        self.exits[group], self.work[group] = at, decoding + complete
        self.turn = (group + 1) % self.stages
        return True

    def end(self, group):
        """Ends the step of a group."""
        self.now, self.exits[group] = self.exits[group], None
        for r in self.work[group]:
            r.done += 1
            r.first = self.now if r.first is None else r.first
            if r.done == r.generate:
                r.last = self.now
                self.running.remove(r)

    def run(self):
        """Runs to the end of all requests."""
        while self.waiting or self.running:
            flying = [(at, g) for g, at in enumerate(self.exits) if at is not None]
            soonest = max(self.now, self.free_at[0])
            if flying and (len(flying) == self.stages or min(flying)[0] <= soonest):
                self.end(min(flying)[1])
                continue
            self.now = soonest
            if not self.running:
                self.now = max(self.now, self.waiting[0].arrival)
            groups = [(self.turn + i) % self.stages for i in range(self.stages)]
            if any(self.begin(g) for g in groups if self.exits[g] is None):
                continue
            if not flying and not self.running:  # the only one was put back
                continue
            events = [at for at, _ in flying]
            if self.waiting and self.waiting[0].arrival > self.now:
                events.append(self.waiting[0].arrival)
            if flying and min(events) == min(flying)[0]:
                self.end(min(flying)[1])
            self.now = min(events)


def draw(random):
    """A case: few requests, close together, and an engine with little of everything."""
    time, requests = 0.0, []
    for _ in range(random.randint(1, 12)):
        time = round(time + random.choice([0, 0.001, 0.01, 0.02]), 6)
        requests.append((time, random.randint(1, 60), random.randint(1, 25)))
    return {"requests": requests, "chunk": random.choice([0, 7, 16, 33, 64]),
            "max_num_seqs": random.choice([1, 2, 5, 12]), "dp": random.choice([1, 1, 2, 3]),
            "pp": random.choice([1, 1, 2, 3, 4]),
            "reserve": random.choice([0.1, 0.8122, 0.8126, 0.8127, 0.8128]),
            "by": random.choice(["expected", "ideal"])}


def check(program, folder, case, steps):
    """What differs; None where the requests do not fit."""
    path = os.path.join(folder, "trace.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("arrival_s,prompt,generate\n")
        file.writelines(f"{t},{p},{g}\n" for t, p, g in case["requests"])
    command = ["simulate", MODEL, "-H", DEVICE, "--trace", path, "--chunk", str(case["chunk"]),
               "--max-num-seqs", str(case["max_num_seqs"]), "--reserve", str(case["reserve"]),
               "--by", case["by"], "--dp", str(case["dp"]), "--pp", str(case["pp"])]
    summary = program.run(command + ["-f", "json"])
    if summary.returncode == 1 and "memory" in summary.stderr or "fits" in summary.stderr:
        return None
    capacity = json.loads(summary.stdout)["kv_cache_tokens"] // BLOCK
    rows = list(csv.DictReader(io.StringIO(program.run(command + ["--rows", "requests", "-f",
                                                                  "csv"]).stdout)))
    first = case["requests"][0][0]
    requests = [Request(t - first, p, g) for t, p, g in case["requests"]]
    kept = [r for r in requests if blocks(r.prompt + r.generate - 1) <= capacity]
    mean = math.ceil(sum(p for _, p, _ in case["requests"]) / len(requests) - 1e-9)
    chunk = case["chunk"] or mean
    for copy in range(case["dp"]):  # they get the requests in turn
        Engine(kept[copy::case["dp"]], case, steps[case["by"], case["pp"]], capacity,
               {min(mean, chunk), mean % chunk} - {0}).run()
    if len(rows) != len(kept):
        return [f"{len(rows)} rows, {len(kept)} requests"]
    found = []
    for row, r in zip(rows, kept):
        for key, want in (("scheduled_s", r.scheduled), ("first_token_s", r.first),
                          ("last_token_s", r.last), ("preemptions", r.preemptions)):
            if not math.isclose(float(row[key]), want, rel_tol=1e-9, abs_tol=1e-12):
                found.append(f"request {row['request']}, {key}: {row[key]}, expected {want}")
    case["preempted"] = sum(r.preemptions for r in kept)
    return found


def main():
    options = command_line(__doc__, "simulation", 50, "random traces")
    random = randomness.Random(options.seed)
    compared = preempted = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        garble = (lambda text: text.replace("7", "8")) if options.self_test else None
        program, plain = Program(options.program, folder, garble), Program(options.program, folder)
        steps = {(by, pp): Steps(plain, by, pp) for by in ("expected", "ideal")
                 for pp in (1, 2, 3, 4)}
        for _ in range(options.cases):
            case = draw(random)
            found = check(program, folder, case, steps)
            if found is None:
                continue
            compared += len(case["requests"])
            wrong += bool(found)
            preempted += case.get("preempted", 0)
            for line in found[:3] if not options.self_test else []:
                print(case, line)
    print(f"{options.cases} cases, {compared} requests, {preempted} preemptions, {wrong} cases "
          "differ")
    if options.self_test:
        sys.exit(0 if wrong > options.cases / 2 else "the self-test found too little")
    sys.exit(1 if wrong or compared == 0 else 0)


if __name__ == "__main__":
    main()
