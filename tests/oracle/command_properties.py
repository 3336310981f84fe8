# SPDX-License-Identifier: MIT
"""What must hold of command lines, whatever they ask (see docs/testing.md)."""
import csv
import io
import json
import math
import os
import re
import subprocess

import cases
import formats
import model_properties
import operators


def surroundings(check):
    """Environments that may change nothing: locales, some of which have decimal commas, and what
    makes getopt stop at the first operand."""
    folder = os.path.join(check.program.folder, "locales")
    if not os.path.exists(folder):
        os.makedirs(folder)
        built = os.path.exists("/usr/share/i18n/locales/de_DE") and not subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
            capture_output=True, check=False).returncode
        if not built and not check.quiet:
            print("de_DE.UTF-8 cannot be built here (package locales): only its name is set")
    return (dict(LC_ALL="de_DE.UTF-8"), dict(LC_ALL="de_DE.UTF-8", LOCPATH=folder),
            dict(LC_ALL="", LC_NUMERIC="de_DE.UTF-8", LOCPATH=folder), dict(POSIXLY_CORRECT="1"),
            dict(LANG="tr_TR.UTF-8", LC_ALL="tr_TR.UTF-8"))


def words_of(record):
    """Options that say what a record says."""
    words = []
    for key, value in record.items():
        option = ("-" if len(key) == 1 else "--") + key.replace("_", "-")
        if key in ("causal", "gain", "sparse"):
            words += [[option]] if value in (1, True) else []
        else:
            words.append([option, str(value)] if len(key) == 1 else [f"{option}={value}"])
    return words


def written(check, name, text):
    path = os.path.join(check.program.folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def command_lines(check):
    """Each command, as its operands and options, in each output format; figures are drawn."""
    random = check.random
    devices = random.sample(sorted(check.shipped), 2)
    chip = random.choice(check.drawn)

    def op(*names):
        name = random.choice(names or operators.ALL)
        return name, words_of(cases.operator(random, name))
    m, n, k = (cases.size(random, 12) for _ in range(3))
    gemm = [["-m", str(m)], ["-n", str(n)], ["-k", str(k)]]
    rows = written(check, "rows.csv", "layer,operator,m,n,k,weights,measured_us\n" + "".join(
        f"{i},gemm,{cases.size(random, 12)},{n},{k},fp16,{random.uniform(1, 1e4)!r}\n"
        for i in range(5)))
    checks = written(check, "some.json", json.dumps({"schema": "roofline/check/1", "checks": [
        {"name": "one", "inputs": {"operator": "gemv", "n": n, "k": k},
         "expect": {"bytes": n, "time_us": {"value": 1.5, "relative": 0.25}}}]}))
    where, set_to = [["-H", devices[0]]], [["--set", f"bandwidth_gb_s={random.uniform(1, 9999)!r}"]]
    both = [["-H", ",".join(devices)]]
    llama, format_of = ["model", "llama-3-8b"], [["-p", random.choice(("fp16", "bf16", "fp8"))]]
    request = [[f"--batch={cases.size(random, 5)}"], [f"--context={cases.size(random, 12)}"]]
    for output in ("text", "json", "ndjson", "csv", "md"):
        as_output = [["-f", output]]
        name, dims = op("gemm", "flash-attention", "moe", "rope", "router", "mla-decode")
        yield ["predict"], [name], dims + where + set_to + as_output
        name, dims = op("gemm", "attention", "softmax", "router", "moe-down")
        if output in ("text", "json"):
            yield ["predict"], [name], dims + [["-H", chip], ["--why"]] + as_output
        yield ["predict"], llama, request + where + format_of + as_output
        yield ["predict"], [], [["--from", rows]] + where + as_output
        yield ["predict"], ["gemm"], gemm + [["--explain", ",".join(devices)]] + as_output
        yield ["sweep"], ["gemm"], [["-m", "1:64:x4"]] + gemm[1:] + both + [["-p", "fp16,fp8"]] + \
            as_output
        yield ["sweep"], llama, [["--batch", "1,8"], ["--tp", "1,2"]] + where + as_output
        yield ["recommend"], ["gemm"], gemm + where + as_output
        yield ["recommend"], llama, [["--devices", "2"], ["--batch", "1,8"], ["--context", "2k"],
                                     ["--max-tpot", "1.5s"], ["--top", "3"]] + both + as_output
        for what in ("hardware", "precisions", "operators", "models", "layouts", "engines"):
            yield ["list"], [what], as_output
        if output in ("text", "json"):
            yield ["list"], ["hardware", devices[0]], as_output
            yield ["compare"], [rows], [["--group-by", "layer"], ["--summary"]] + where + as_output
        if output in ("ndjson", "csv"):
            yield ["compare"], [rows], where + as_output
    for output in ("text", "json", "gnuplot", "html"):
        yield ["plot"], ["gemm"], [["-m", "1:64:x4"]] + gemm[1:] + both + [
            ["--line", f"some={random.uniform(1, 99)!r}TB/s"], ["--title", "1.5"],
            ["-f", output]] + ([["--charset", "ascii"]] if output == "text" else [])
    for output in ("text", "json", "tap", "junit"):
        yield ["check"], [checks], [["-f", output]]
    for engine in ("vllm", "sglang"):
        yield ["recommend"], llama, [["--emit", engine], ["--devices", "1"], ["-H", "h100-sxm"],
                                     ["--context", "2k"], ["--batch", "4"]]
    yield ["completion"], ["bash"], []
    yield ["predict"], llama, request + where + [["-f", "html"]]


def commands(check):
    """For every command: neither the order of options nor operands between them nor the environment
    changes a byte."""
    random, program = check.random, check.program

    def told(words, **environment):
        result = program.run(words, **environment)
        return result.returncode, result.stdout, result.stderr
    for _ in range(max(1, check.count // 1000)):
        for command, operands, options in command_lines(check):
            flat = [word for option in options for word in option]
            plain = told(command + operands + flat)
            shuffled = list(options)
            random.shuffle(shuffled)
            places = sorted(random.randint(0, len(shuffled)) for _ in operands)
            for at, operand in reversed(list(zip(places, operands))):
                shuffled.insert(at, [operand])
            flat = [word for option in shuffled for word in option]
            check.hold(f"{command[0]}: the order of options and operands",
                       told(command + flat) == plain, command + flat)
            for environment in random.sample(surroundings(check), 2) + [
                    dict(POSIXLY_CORRECT="1", LC_ALL="de_DE.UTF-8",
                         LOCPATH=os.path.join(program.folder, "locales"))]:
                check.hold(f"{command[0]}: the environment",
                           told(command + flat, **environment) == plain,
                           (command + flat, environment))


def model_text(check, records, *options, **environment):
    lines = "".join(json.dumps(record) + "\n" for record in records)
    return check.program.run(["predict", "model", "--from", "-"] + list(options), lines,
                             **environment).stdout


def shown(value):
    """What a table for people has of a value, as a number; None: a word or nothing."""
    return float(value) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", value) else None


def outputs_of_models(check):
    """JSON, NDJSON and CSV of models say the same, to the last digit; tables for people round it to
    four digits. Neither locales nor POSIXLY_CORRECT change it, nor the order of members."""
    drawn = model_properties.drawn(check, check.count // 2)
    records = [record for record, row in zip(drawn, check.program.records(["model"], drawn)) if row]

    def exact(text):
        return json.loads(text, parse_float=str, parse_int=str)
    plain = model_text(check, records, "-f", "ndjson")
    lines = [exact(line) for line in plain.splitlines()]
    array = exact(model_text(check, records, "-f", "json") or "[]")
    table = list(csv.DictReader(io.StringIO(model_text(check, records, "-f", "csv"))))
    columns = [key for key in (table[0] if table else {}) if key != "schema"]
    people = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in model_text(
        check, records, "-f", "md", "--columns", ",".join(columns)).splitlines()[2:]]
    check.hold("models: rows of JSON, NDJSON, CSV and tables", len(lines) == len(array) ==
               len(table) == len(people) == len(records), len(records))
    for record, line, one, row, cells in zip(records, lines, array, table, people):
        flat = {key: {True: "1", False: "0"}[value] if isinstance(value, bool) else value
                for key, value in line.items()}
        check.hold("models: JSON = NDJSON", one == line, record)
        check.hold("models: CSV = NDJSON", {k: v for k, v in row.items() if v != ""} ==
                   {k: v for k, v in flat.items() if k in row}, record)
        for key, cell in zip(columns, cells):
            exactly = line.get(key)
            if exactly is None or isinstance(exactly, bool):
                continue
            rounded, value = shown(cell), shown(exactly)
            check.hold("models: tables round", cell == exactly if value is None else
                       rounded is not None and abs(rounded - value) <= 5.001e-4 * abs(value),
                       (key, cell, exactly, record))
    for environment in surroundings(check):
        check.hold("models: environment", model_text(check, records, "-f", "ndjson",
                                                     **environment) == plain, environment)
    shuffled = []
    for record in records:
        keys = list(record)
        check.random.shuffle(keys)
        shuffled.append({key: record[key] for key in keys})
    for one, other in zip(plain.splitlines(),
                          model_text(check, shuffled, "-f", "ndjson").splitlines()):
        check.hold("models: the order of members", one == other, one)


def sweeps_of_models(check):
    """A sweep of models is predictions, point by point and alone."""
    random, program = check.random, check.program
    for _ in range(max(4, check.count // 30)):
        base = model_properties.drawn(check, 1, without=(
            "prompt", "generate", "static", "layout"))[0]
        name, where = base.pop("model"), base.pop("hardware")
        if base.get("phase") != "mixed":
            base.pop("chunk", None)
        axes = {key: str(value) for key, value in base.items()}
        for key in ("batch", "context", "tp", "pp"):
            if random.random() < 0.5:
                axes[key] = ",".join(str(cases.size(random, 3)) for _ in range(
                    random.randint(1, 3))) if key != "context" else "600:900:150"
        for key in ("weights", "kv"):
            if key in axes and random.random() < 0.5:
                axes[key] += "," + random.choice(formats.NAMES)
        options = words_of(axes) + [["-H", where]]
        texts = []
        for _ in range(2):
            random.shuffle(options)
            flat = [word for option in options for word in option]
            texts.append(program.run(["sweep", "model", name] + flat + ["-f", "ndjson"]).stdout)
        check.hold("models: the order of options", texts[0] == texts[1], (name, options))
        if not texts[0]:
            continue
        # What no column says is said again.
        again = program.run(["predict", "model", "--from", "-", "-f", "ndjson", "-H", where] + [
            word for key in ("reserve", "routing", "compute") if key in axes
            for word in ["--" + key, axes[key]]], texts[0])
        check.hold("models: a sweep, point by point", again.stdout == texts[0],
                   (name, options, again.stderr))
        line = random.choice(texts[0].splitlines())
        row = json.loads(line)
        alone = {key: row.get(key, value) for key, value in axes.items()}
        alone.update({key: row[key] for key in ("weights", "activations", "out", "kv")})
        words = [word for option in words_of(alone) for word in option]
        one = program.run(["predict", "model", name, "-H", where, "-f", "ndjson"] + words)
        check.hold("models: a point of a sweep, alone", one.stdout == line + "\n",
                   (name, where, words, one.stderr))


def answers(check, questions):
    """What `check` gets for (inputs, keys): many command lines in one process."""
    path = written(check, "questions.json", json.dumps({
        "schema": "roofline/check/1",
        "checks": [{"name": str(i), "inputs": inputs, "expect": {key: None for key in keys}}
                   for i, (inputs, keys) in enumerate(questions)]}))
    result = check.program.run(["check", path, "-f", "json"])
    if not result.stdout:
        raise SystemExit(f"check: {result.stderr}")
    return [{value["key"]: value["got"] for value in one["values"]}
            for one in json.loads(result.stdout)["results"]]


INTEGERS = {"": 1, "k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9, "Ki": 2 ** 10, "Mi": 2 ** 20,
            "Gi": 2 ** 30}
SECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}  # in microseconds
PREFIXES = {"": 1e-12, "k": 1e-9, "M": 1e-6, "G": 1e-3, "T": 1, "P": 1e3}  # in units of tera
GEMV = dict(operator="gemv", n=64, k=64)


def digits(random, low, high):
    """A number with up to 15 digits, which a double holds, evenly on a log scale."""
    return float(f"%.{random.randint(1, 15)}g" % 10 ** random.uniform(math.log10(low),
                                                                      math.log10(high)))


def quantities(check):
    """A number is the same with each suffix and unit, and comes back as it was given."""
    random, questions, wanted = check.random, [], []

    def ask(name, inputs, key, value):
        questions.append((inputs, [key]))
        wanted.append((name, key, value))
    for _ in range(check.count // 4):
        suffix = random.choice(list(INTEGERS))
        value = random.randint(1, 900)
        ask("integers with suffixes", dict(operator="add", tokens=1, hidden=f"{value}{suffix}"),
            "hidden", value * INTEGERS[suffix])
        suffix = random.choice([x for x in INTEGERS if INTEGERS[x] < 10 ** 6])
        ask("integers with suffixes", dict(model="llama-3-8b", context=f"{value}{suffix}"),
            "context", value * INTEGERS[suffix])
        value, unit = round(random.uniform(1, 999), random.randint(0, 9)), random.choice(
            list(SECONDS))
        ask("times with units", dict(GEMV, measured_us=f"{value!r}{unit}"), "measured_us",
            value * SECONDS[unit])
        value = digits(random, 0.01, 1e6)
        ask("parse(format(x)) = x", dict(GEMV, set=f"bandwidth_gb_s={value!r}"), "bandwidth_gb_s",
            value)
        value = digits(random, 0.01, 1e4)
        ask("parse(format(x)) = x", dict(GEMV, set=f"vector_tflops.fp32={value!r}",
                                         precision="fp32", hardware="t4"), "peak_tflops", value)
        value = digits(random, 0.001, 1e9)
        ask("parse(format(x)) = x", dict(GEMV, measured_us=value), "measured_us", value)
        value = random.random()
        ask("parse(format(x)) = x", dict(model="llama-3-8b", draft_tokens=1,
                                         acceptance=repr(value)), "acceptance", value)
    for (inputs, _), (name, key, value), got in zip(questions, wanted, answers(check, questions)):
        if name.startswith("parse"):
            check.hold(name, got[key] == value, (inputs, got))
        else:
            check.near(name, got[key], value, inputs)
    for _ in range(max(1, check.count // 500)):
        rates, lines = [], []
        for number in range(30):
            value = round(random.uniform(1, 999), random.randint(0, 6))
            prefix, unit = random.choice(list(PREFIXES)), random.choice(("FLOPS", "FLOP/s", "OPS",
                                                                         "B/s"))
            if prefix == "":
                prefix, value = "M", value + 1
            rates.append(value * PREFIXES[prefix] * (1000 if unit == "B/s" else 1))
            lines += ["--line", f"line{number}={value!r}{prefix}{unit}"]
        chart = check.program.run(["plot", "-H", "h100", "-f", "json"] + lines)
        if not chart.stdout:
            raise SystemExit(f"plot: {chart.stderr}")
        for rate, line, said in zip(rates, json.loads(chart.stdout)["lines"], lines[1::2]):
            check.near("rates with units", line.get("tflops", line.get("bandwidth_gb_s")), rate,
                       said)


def figures(check):
    """A device with any figures comes back from list hardware -f json to the last digit."""
    random = check.random
    for number in range(max(2, check.count // 100)):
        def figure(low, high):
            return digits(random, low, high)
        device = {"id": "any", "bandwidth_gb_s": figure(0.1, 1e5), "link_gb_s": figure(1, 1e3),
                  "network_gb_s": figure(1, 1e3), "peer_link_gb_s": figure(1, 1e3), "link_latency_us": figure(0.01, 10),
                  "network_latency_us": figure(0.01, 10), "tdp_w": figure(1, 1e3),
                  "memory_capacity_bytes": random.randint(1, 10 ** 12)}
        # Sparse peaks below dense ones, and narrow formats far below wide ones, are refused.
        for key, low, high in (("peak_tflops", 400, 1e4), ("sparse_tflops", 1e4, 2e4),
                               ("vector_tflops", 0.1, 1e4)):
            device[key] = {name: figure(low, high) for name in ("fp16", "fp32", "fp8_e4m3")}
        path = written(check, f"any-{number}.json", json.dumps(device))
        got = json.loads(check.program.run(["list", "hardware", path, "-f", "json"]).stdout or "{}")
        for key, value in device.items():
            if isinstance(value, dict):
                for name, peak in value.items():
                    check.hold("figures of a device, to the last digit",
                               got.get(key, {}).get(name, {}).get("value") == peak, (key, peak))
            elif key != "id":
                check.hold("figures of a device, to the last digit",
                           got.get(key, {}).get("value") == value, (key, value))


def updates(check):
    """check --update puts in what it got: then all is as expected, and nothing is to change."""
    random, checks, wrong = check.random, [], 0
    records, rows = check.records(check.count // 4)
    drawn = model_properties.drawn(check, check.count // 8, layouts=False)
    for record, row in zip(drawn, check.program.records(["model"], drawn)):
        if row:
            records.append(record)
            rows.append(row)
    for record, row in zip(records, rows):
        expect = {}
        for key in random.sample(sorted(row), 4):
            value = row[key]
            if key in record or key in ("case", "schema", "operator", "model", "hardware") or \
                    isinstance(value, (list, dict)):
                continue
            if random.random() < 0.3:
                value = not value if isinstance(value, bool) else "other" if \
                    isinstance(value, str) else value + 1 + abs(value)
                wrong += 1
            expect[key] = value
        inputs = {key: bool(value) if key in ("causal", "gain", "static") else value
                  for key, value in record.items()}
        if expect:
            checks.append(dict(name=str(len(checks)), inputs=inputs, expect=expect))
    path = written(check, "update.json", json.dumps({
        "schema": "roofline/check/1", "checks": checks}, indent=1))

    def run(*options):
        return check.program.run(["check", path] + list(options))
    result = run("-f", "json")
    told = json.loads(result.stdout or "{}")
    check.hold("check: values that deviate are counted", told.get("deviations") == wrong and
               result.returncode == (wrong > 0), (told.get("deviations"), wrong, result.stderr))
    check.hold("check --update", run("--update").returncode == 0, wrong)
    once = check.program.read(path)
    again = run("-f", "json")
    check.hold("check: updated values are as expected", again.returncode == 0 and
               json.loads(again.stdout).get("deviations") == 0, again.stdout[:200])
    run("--update")
    check.hold("check --update twice changes nothing", once == check.program.read(path), path)
    for one, other in zip(checks, json.loads(once)["checks"]):
        check.hold("check --update changes values alone", dict(one, expect=0) ==
                   dict(other, expect=0) and list(one["expect"]) == list(other["expect"]), one)


FUNCTIONS = dict(fmin=min, fmax=max, max=max, ceil=lambda x: x if math.isinf(x) else math.ceil(x),
                 floor=lambda x: x if math.isinf(x) else math.floor(x), expm1=math.expm1,
                 log1p=lambda x: math.log1p(x) if x > -1 else -math.inf)
TOKEN = re.compile(r"\s*(\d[\d.]*(?:e[+-]?\d+)?|\w+|[><=]=|\S)")


class Expression:
    """The value of a C expression of numbers, conditions and functions."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text) + [""]

    def taken(self, *tokens):
        """The next token, if it is one of these."""
        return self.tokens.pop(0) if self.tokens[0] in tokens else None

    def value(self):
        condition = self.comparison()
        if not self.taken("?"):
            return condition
        first = self.value()
        self.tokens.pop(0)
        other = self.value()
        return first if condition else other

    def comparison(self):
        one, sign = self.sum(), self.taken(">", "<")
        if not sign:
            return one
        return one > self.sum() if sign == ">" else one < self.sum()

    def sum(self):
        value = self.product()
        while self.tokens[0] in ("+", "-"):
            value = value + self.product() if self.tokens.pop(0) == "+" else value - self.product()
        return value

    def product(self):
        value = self.factor()
        while self.tokens[0] in ("*", "/"):
            if self.tokens.pop(0) == "*":
                value *= self.factor()
            else:  # the side of a condition that does not hold may divide by zero
                other = self.factor()
                value = value / other if other else math.inf
        return value

    def factor(self):
        token = self.tokens.pop(0)
        if token == "-":
            return -self.factor()
        if token == "(":
            value = self.value()
            self.tokens.pop(0)
            return value
        if token in FUNCTIONS:
            values = []
            while self.tokens.pop(0) != ")":
                values.append(self.value())
                if self.taken(")"):
                    break
                self.tokens[0] = "("
            return FUNCTIONS[token](*values)
        return float(token)


def whys(check):
    """Each step of --why comes to what it says, and the bytes of a role are those of its steps."""
    for number in range(max(len(operators.ALL), check.count // 20)):
        op = operators.ALL[number % len(operators.ALL)]
        words = [word for option in words_of(cases.operator(check.random, op)) for word in option]
        words += ["-H", check.random.choice(list(check.shipped))]
        for key, value in cases.asked_formats(check.random, op).items():
            words += ["--" + key, value]
        result = check.program.run(["predict", op, "--why", "-f", "json"] + words)
        if not result.stdout:
            continue
        row, sums = json.loads(result.stdout), {}
        for step in row["why"]:
            said = re.match(r"-?[\d.]+(e[+-]?\d+)?", step.get("result", ""))
            if not said or "numbers" not in step:
                continue
            value = Expression(step["numbers"]).value()
            unit = step["result"][said.end():].strip()
            # The parts of a composite are added in microseconds, all else is in seconds.
            value *= 1e6 if unit.startswith("us") and step["name"] != "time" else 1
            value *= 1e-9 if unit.startswith("GB/s") else 1
            check.hold("steps of --why", abs(float(said.group()) - value) <= 1e-12 * abs(value),
                       (op, words, step))
            role = {"indices": "out_bytes", "bias": "weights_bytes"}.get(step["name"], step["name"])
            sums[role] = sums.get(role, 0) + float(said.group())
        for key in ["flops", "bytes"] + [f"{role}_bytes" for role in operators.ROLES]:
            check.near("steps of --why add up", sums.get(key, 0), row[key], (key, op, words))


PROPERTIES = (commands, outputs_of_models, sweeps_of_models, quantities, figures, updates, whys)
