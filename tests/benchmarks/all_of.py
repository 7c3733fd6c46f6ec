"""Count how often `allOf` goes: `python tests/benchmarks/all_of.py [FOLDER …] [--pairs N] [--composites N] [--seconds S]`.

Three figures, each of conjunctions that `flatten` has left without any `allOf`:

* pairs: two made schemas under an `allOf`, of those that it can be gone from: where `flatten` or `jsonschema-rs`
  (`canonicalize(…).to_json_schema()`, the formats kept) writes the pair without one.
* real: schemas in the JSON files of the folders that have an `allOf` in them (JSON Schemas, and those of OpenAPI documents).
* composites: two schemas of one such file, or of two, under an `allOf`.

Each result is held against its origin with `jsonschema-rs` on the values that the two suggest: a verdict that changes is printed.
What stays is counted by the keywords of its branches.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs

sys.path.insert(0, str(Path(__file__).parent.parent))

from making import Maker

from instrc import CompileError
from instrc.schema.flattening.flatten import flatten
from instrc.schema.samples import instances  # many values near the bounds
from instrc.schema.walk import refers, walk
from instrc.text.jsonvalue import pointer

DATA = Path(__file__).parent.parent / "data"
LARGEST = 2_000_000
TRIED = 40


@dataclass
class Count:
    """What has been seen of one kind of conjunctions."""

    gone: int = 0
    could: int = 0
    """Those among the others that can be written without."""
    kept: int = 0
    failed: int = 0
    words: Counter[str] = field(default_factory=Counter)
    """The keywords in the branches that stay."""
    changed: list[Any] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    """Those of `could`, for whoever looks for a missing law."""


def has(schema: Any) -> bool:
    """Tell whether a schema has an `allOf` in it."""
    return any(isinstance(node, dict) and "allOf" in node for _, node in walk(schema))


def formats(schema: Any) -> set[str]:
    """Return the formats that a schema names."""
    return {node["format"] for _, node in walk(schema) if isinstance(node, dict) and isinstance(node.get("format"), str)}


def engine_has(schema: Any) -> bool:
    """Tell whether the engine writes a schema with an `allOf`, or not at all, or only without its formats."""
    try:
        written = jsonschema_rs.canonicalize(schema).to_json_schema()
    except BaseException:  # noqa: BLE001  -- it may panic
        return True
    return has(written) or not formats(schema) <= formats(written)


def keep_verdicts(schema: Any, flat: Any) -> bool:
    """Tell whether no value among those that both suggest is judged differently."""
    try:
        one, other = (jsonschema_rs.validator_for(each) for each in (schema, flat))
    except Exception:  # noqa: BLE001  -- what no engine takes cannot be held against anything
        return True
    return all(one.is_valid(value) == other.is_valid(value) for value in islice(instances(flat, schema), TRIED))


def count(into: Count, schema: Any, documents: dict[str, Any] | None = None, *, judged: bool = True) -> None:
    """Flatten one schema, and record what has become of its `allOf`; `documents` are those of OpenAPI."""
    try:
        flat = flatten(schema, documents, nullable=documents is not None)
    except CompileError:
        into.failed += 1
        return
    if judged and documents is None and not keep_verdicts(schema, flat):
        into.changed.append(schema)
    if not has(flat):
        into.gone += 1
        return
    into.kept += 1
    found = {word for _, node in walk(flat) if isinstance(node, dict) for branch in node.get("allOf", ()) for word in branch}
    into.words["+".join(sorted(found))] += 1
    if not engine_has(flat):
        into.could += 1
        into.shown.append((schema, flat))


def documents_of(folders: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield what lies in folders and may hold schemas."""
    for folder in folders:
        for path in sorted(folder.rglob("*.json")) if folder.is_dir() else [folder]:
            if path.stat().st_size > LARGEST:
                continue
            try:
                found = json.loads(path.read_bytes())
            except ValueError:
                continue
            if isinstance(found, dict):
                yield path, found


def real(found: dict[str, Any]) -> list[tuple[Any, dict[str, Any] | None]]:
    """Return the schemas of a file: itself, or those that an OpenAPI document defines."""
    if "openapi" in found or "swagger" in found:
        names = ("definitions",) if "swagger" in found else ("components", "schemas")
        held: Any = found
        for name in names:
            held = held.get(name, {}) if isinstance(held, dict) else {}
        if not isinstance(held, dict):
            return []
        base = "https://openapi.example/it"
        return [({"$ref": f"{base}#{pointer((*names, name))}"}, {base: found}) for name in held]
    return [(found, None)] if {"$schema", "properties", "$ref", "allOf", "definitions"} & found.keys() else []


def reaches(schema: Any, documents: dict[str, Any] | None) -> bool:
    """Tell whether a schema has an `allOf`, itself or one that it refers to (in an OpenAPI document)."""
    if documents is None:
        return has(schema)
    (base, whole), *_ = documents.items()
    stack, seen = [schema["$ref"].removeprefix(f"{base}#")], set()
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        node: Any = whole
        for step in at.split("/")[1:]:
            node = node.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, dict) else {}
        for _, below in walk(node):
            if isinstance(below, dict):
                if "allOf" in below:
                    return True
                reference = below.get("$ref")
                if isinstance(reference, str) and reference.startswith("#"):
                    stack.append(reference[1:])
    return False


def row(name: str, seen: Count) -> None:
    """Print what has been counted."""
    total, could = seen.gone + seen.kept, seen.gone + seen.could
    if not total:
        return
    print(
        f"{name:26} {total:6} conjunctions: gone {seen.gone / total:6.1%}, of those it can be gone from {seen.gone / could:6.1%}"
        f"; {seen.failed} not read, {len(seen.changed)} verdicts changed"
    )
    for words, times in seen.words.most_common(12):
        print(f"    {times:5}  {words}")


class Progress:
    """Says on the standard error how far a part has come, every few seconds."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.told = time.monotonic()

    def tell(self, done: int, seen: Count) -> None:
        """Say it if the last time is some seconds ago."""
        if time.monotonic() - self.told > 5:
            self.told = time.monotonic()
            all_ = seen.gone + seen.kept
            print(f"{self.part} {done}: {seen.gone} of {all_} conjunctions are gone", file=sys.stderr, flush=True)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--composites", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=120, help="processor time for real schemas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="how many to show of those that could go")
    wanted = parser.parse_args()
    made, shared, actual, of_apis, composed = (Count() for _ in range(5))
    progress = Progress("pair")
    for seed in range(wanted.seed, wanted.seed + wanted.pairs):
        progress.tell(seed, made)
        maker = Maker(seed)
        one, other = maker.schema(1), maker.schema(1)
        count(made, {"allOf": [one, other]})
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() & other.keys():
            count(shared, {"allOf": [one, other]})
    row("pairs", made)
    row("pairs that share a keyword", shared)
    chance = Random(wanted.seed)  # noqa: S311  -- repeatable
    files = list(documents_of([*wanted.folders, DATA / "sarif-2.1.0-rtm.5.json"]))
    chance.shuffle(files)
    started = time.process_time()
    parts: list[Any] = []
    progress = Progress("file")
    for number, (_, found) in enumerate(files):
        progress.tell(number, actual)
        if time.process_time() - started > wanted.seconds:
            break
        schemas = [pair for pair in real(found) if reaches(*pair)]
        for schema, documents in chance.sample(schemas, min(len(schemas), 20)):
            count(of_apis if documents else actual, schema, documents, judged=False)
        if "openapi" not in found and "swagger" not in found and len(parts) < 20_000:
            nodes = [node for _, node in walk(found) if isinstance(node, dict) and len(node) > 1]
            parts += [node for node in nodes if not refers(node)]
    row("real", actual)
    row("real, of OpenAPI documents", of_apis)
    progress = Progress("composite")
    for number in range(wanted.composites if len(parts) > 1 else 0):
        progress.tell(number, composed)
        count(composed, {"allOf": chance.sample(parts, 2)})
    row("composites", composed)
    for seen in (made, composed):
        for schema, flat in seen.shown[: wanted.show]:
            print(json.dumps(schema), "\n   ->", json.dumps(flat))
        for schema in seen.changed[:5]:
            print("CHANGED", json.dumps(schema))
    return 1 if made.changed or composed.changed else 0


if __name__ == "__main__":
    sys.exit(main())
