#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Documents against schemas: schema.py SCHEMAS INDEX DOCUMENTS

A line of INDEX: "one", "list" (a JSON array), "each" (one document a line) or "header" (the columns of
CSV), then the schema (NAME, or NAME#DEFINITION), the file in DOCUMENTS, and what made it. Prints what is wrong, and exits with 1.
"""

import copy
import json
import sys
from pathlib import Path

import jsonschema

try:  # later versions of jsonschema find other schemas with it
    import referencing
    import referencing.jsonschema
except ImportError:
    referencing = None

# What the end of a key says of its unit; a rate may be 1/s.
UNITS = {"_us": "us", "_ms": "ms", "_bytes": "byte", "_gb_s": "GB/s", "_tflops": "TFLOP/s",
         "_gb": "GB", "_mhz": "MHz", "_w": "W"}
# Keys that only seem to end in a unit, or that are counts of bytes per something.
NO_UNIT = {"within"}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


class Schemas:
    """The schemas of a folder, and which of their keys were seen in documents."""

    def __init__(self, folder):
        self.folder = folder
        self.root = {path.stem: load(path) for path in sorted(folder.glob("*.json"))}
        self.seen = set()
        self.validators = {}
        for schema in self.root.values():
            jsonschema.Draft202012Validator.check_schema(schema)

    def resolve(self, name, ref):
        """The name of the schema and the node that a reference of schema `name` is to."""
        file, _, pointer = ref.partition("#")
        name = file[: -len(".json")] if file else name
        node = self.root[name]
        for step in pointer.split("/")[1:]:
            node = node[step]
        return name, node

    def start(self, wanted):
        name, _, definition = wanted.partition("#")
        return name, self.root[name]["$defs"][definition] if definition else self.root[name]

    def uri(self, name):
        return (self.folder / (name + ".json")).resolve().as_uri()

    def store(self):
        """The schemas by their URIs, as this version of jsonschema takes them."""
        schemas = {self.uri(name): schema for name, schema in self.root.items()}
        if referencing is None:
            return {"resolver": jsonschema.RefResolver("", {}, store=schemas)}
        make = referencing.jsonschema.DRAFT202012.create_resource
        return {"registry": referencing.Registry().with_resources(
            (uri, make(schema)) for uri, schema in schemas.items())}

    def validator(self, wanted):
        if wanted not in self.validators:
            name, _, definition = wanted.partition("#")
            ref = self.uri(name) + ("#/$defs/" + definition if definition else "")
            self.validators[wanted] = jsonschema.Draft202012Validator({"$ref": ref}, **self.store())
        return self.validators[wanted]

    def mark(self, value, name, node):
        """Notes the keys of a document."""
        if "$ref" in node:
            self.mark(value, *self.resolve(name, node["$ref"]))
        if isinstance(value, dict):
            for key, member in value.items():
                known = node.get("properties", {}).get(key)
                if known is not None:
                    self.seen.add((name, id(node), key))
                    self.mark(member, name, known)
                elif isinstance(node.get("additionalProperties"), dict):
                    self.mark(member, name, node["additionalProperties"])
        if isinstance(value, list) and "items" in node:
            for element in value:
                self.mark(element, name, node["items"])

    def has(self, key, name, node):
        """Whether an object can have a key."""
        return key in node.get("properties", {}) or (
            "$ref" in node and self.has(key, *self.resolve(name, node["$ref"])))

    def nodes(self):
        """Every part of every schema that has properties."""
        def below(name, node):
            if isinstance(node, dict):
                if isinstance(node.get("properties"), dict):
                    yield name, node
                for member in node.values():
                    yield from below(name, member)
            elif isinstance(node, list):
                for member in node:
                    yield from below(name, member)
        for name, schema in self.root.items():
            yield from below(name, schema)


def complaint(schemas, wanted, value):
    """What is wrong with a document; None: nothing."""
    error = jsonschema.exceptions.best_match(schemas.validator(wanted).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


def mutations(value):
    """Documents that are wrong in one thing: of what kind, and the document."""
    for key in value:
        wrong = copy.deepcopy(value)
        if isinstance(value[key], (int, float)):
            wrong[key] = "wrong"
        elif key == "schema":
            wrong[key] = "roofline/wrong/1"
        elif isinstance(value[key], list):
            wrong[key] = 1
        else:
            continue
        yield f"{key} = {wrong[key]!r}", wrong
    yield "a key more", {**value, "no_such_key": 1}


def check_mutations(schemas, wanted, value, open_ones):
    for what, wrong in mutations(value):
        if wanted not in open_ones and complaint(schemas, wanted, wrong) is None:
            yield f"{wanted}: a document with {what} is taken for valid"
    _, node = schemas.start(wanted)
    for key in node.get("required", []):
        wrong = {k: v for k, v in value.items() if k != key}
        if complaint(schemas, wanted, wrong) is None:
            yield f"{wanted}: a document without {key} is taken for valid"


def check_properties(schemas):
    """Each is described, was seen, and has the unit that its key says."""
    for name, node in schemas.nodes():
        for key, known in node["properties"].items():
            where = f"docs/schema/{name}.json: {key}"
            if not known.get("description") and "$ref" not in known and known.get("properties") is None:
                yield f"{where} has no description"
            if (name, id(node), key) not in schemas.seen:
                yield f"{where} is in no document"
            unit = next((u for end, u in UNITS.items() if key.endswith(end)), None)
            if known.get("type") in ("number", "integer") and unit is not None and known.get("unit") != unit:
                yield f"{where} has the unit {known.get('unit')}, where its key says {unit}"


def documents(kind, path):
    text = path.read_text(encoding="utf-8")
    if kind == "each":
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text) if kind == "list" else [json.loads(text)]


def main(folder, index, made):
    schemas = Schemas(Path(folder))
    open_ones = {"compared", "model-file"}  # other keys are allowed there
    wrong = []
    count = 0
    tried = set()
    for line in Path(index).read_text(encoding="utf-8").splitlines():
        kind, wanted, number, command = line.split("\t")
        if kind == "header":
            columns = (Path(made) / number).read_text(encoding="utf-8").splitlines()[0].split(",")
            wrong += [f"{command}: {wanted} has no key {column}" for column in columns
                      if not schemas.has(column, *schemas.start(wanted))]
            continue
        values = documents(kind, Path(made) / number)
        if not values:
            wrong.append(f"{command}: no documents")
        for value in values:
            count += 1
            problem = complaint(schemas, wanted, value)
            if problem is not None:
                wrong.append(f"{command}: {wanted}: {problem}")
                break
            schemas.mark(value, *schemas.start(wanted))
            if wanted not in tried:
                tried.add(wanted)
                wrong += check_mutations(schemas, wanted, value, open_ones)
    wrong += check_properties(schemas)
    for text in wrong:
        print("FAIL", text)
    print(f"schemas: {len(schemas.root)}, documents: {count}, problems: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
