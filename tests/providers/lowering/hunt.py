"""Hunt for schemas that break a law of lowering, for every target, seed by seed: stop it at any time and go on later.

    python tests/providers/lowering/hunt.py FIRST COUNT [--target NAME]... [--seconds SECONDS]

Each seed is one schema of `adversarial.py`.  What breaks is printed as a line of the law, the seed, the target and the facts.
The last line says where to go on.  A seed may take 30 seconds, and all of it 4 GB; what takes more is printed, too.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adversarial import adversarial, instances
from jsonschema import Draft202012Validator
from judges import keywords

from instrc import Inexpressible, Lowering, lower, targets
from instrc.problems.errors import InstrcError
from instrc.providers.lowering.context import Loss  # one step of a lowering
from instrc.providers.lowering.verify import breaches  # the rules alone, without asking the engines
from instrc.providers.maps import tool_map  # the map of one tool, by itself
from instrc.providers.transcode import Transcoder  # a value without the checks around it
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import equal

_GIGABYTES = 4
_SECONDS_A_SEED = 30


class Find(NamedTuple):
    """Something that breaks a law."""

    law: str
    target: str
    facts: str


def finds(schema: Any, target: str, seed: int) -> Iterator[Find]:
    """Yield what breaks when a schema goes to a target, and answers and values to and fro."""
    before = dumps(schema)
    try:
        result = lower(schema, target, "my.tool")
    except InstrcError:
        return
    if dumps(schema) != before:
        yield Find("untouched", target, "the schema was changed in place")
    told = any(problem.name == "budget-exceeded" for problem in result.problems)
    for breach in [each for each in breaches(result.payload, target) if not (told and each.rule == "budget")][:2]:
        yield Find("rules", target, str(breach))
    if loads(dumps(result.map)) != result.map:
        yield Find("map", target, "the map is no plain JSON")
    transcoder = Transcoder(tool_map(result.map), fold=False)  # what is legal needs no mending
    yield from _from_answers(schema, result, target, transcoder, seed)
    yield from _from_values(schema, result, target, transcoder, seed)


def _from_answers(schema: Any, result: Lowering, target: str, transcoder: Transcoder, seed: int) -> Iterator[Find]:
    """What an answer stands for is valid, or the report names, for each thing wrong with it, a constraint as lost."""
    judge = Draft202012Validator(schema)
    reported = {loss.keyword for loss in result.losses if loss.kind in {"unenforced", "part"}}
    renamed = _renamed(result.map)
    for answer in instances(result.schema, seed, 4):
        if renamed and _names(answer) & renamed:
            continue  # our own name for a renamed key is understood, so it is no undeclared one
        value = transcoder.read(answer)
        errors = [(set(keywords(error)), tuple(error.absolute_path)) for error in judge.iter_errors(value)]
        for broken, path in errors:
            lower_down = any(words & reported and place[: len(path)] == path for words, place in errors)
            if not broken & reported and not (broken <= _OF_THE_REST and lower_down):
                yield Find("valid", target, f"{sorted(broken)} {short(answer)} is {short(value)}")
                return


_OF_THE_REST = {"unevaluatedProperties", "unevaluatedItems"}
"""Keywords that fail where another beside them does, which then has evaluated nothing."""


def _from_values(schema: Any, result: Lowering, target: str, transcoder: Transcoder, seed: int) -> Iterator[Find]:
    """A valid value has an answer that lifts to it, or the report says that such values are left out."""
    payload = Draft202012Validator(result.schema)
    excuse = excused(result)
    for value in instances(schema, seed, 5):
        try:
            answer = transcoder.write(value)
        except Inexpressible as error:
            if not excuse(value):
                yield Find("sayable", target, f"{short(value)}: {error}")
            continue
        back = transcoder.read(answer)
        if not (equal(back, value) and payload.is_valid(answer)) and not excuse(value):
            fits = "no answer" if equal(back, value) else f"back comes {short(back)}"
            yield Find("sayable", target, f"{short(value)} is {short(answer)}: {fits}")


def excused(result: Lowering) -> Any:
    """Return a judge of values that nobody means, or that the report says cannot be written.

    What is left out by convention is known exactly: properties that are not declared, items after the places of a tuple,
    and values of other types where none is given; a value without such parts has no excuse.
    """
    excuses = [loss for loss in result.losses if loss.kind in {"narrowed", "convention"}]
    if not excuses:
        return lambda _value: False
    if any(not _conventional(loss) for loss in excuses):
        return lambda _value: True
    meant = Draft202012Validator(_closed(result.map["schema"], root=True))
    return lambda value: not meant.is_valid(value)


def _conventional(loss: Loss) -> bool:
    return loss.keyword in {"additionalProperties", "items"} or (loss.keyword == "type" and "is not given" in loss.reason)


_BY_KIND = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"}
    | {"maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"},
    "array": {"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"}
    | {"minContains", "maxContains"},
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def _closed(schema: Any, *, root: bool = False) -> Any:
    """Return what is commonly meant by a schema: stricter than it is, so that what satisfies it has no excuse."""
    if not isinstance(schema, dict):
        return {"type": "object", "maxProperties": 0} if root and schema is True else schema
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in {"properties", "patternProperties", "$defs", "definitions"} and isinstance(value, dict):
            result[keyword] = {name: _closed(child) for name, child in value.items()}
        elif keyword in {"anyOf", "oneOf", "allOf", "prefixItems"} and isinstance(value, list):
            result[keyword] = [_closed(child) for child in value]
        elif keyword in {"items", "additionalProperties"}:
            result[keyword] = _closed(value)
        else:
            result[keyword] = value
    if "type" not in result and (kinds := [kind for kind, words in _BY_KIND.items() if words & result.keys()]):
        result["type"] = kinds
    if root and not result.keys() - {"$schema", "$id", "title", "description", "$defs", "definitions"}:
        result["type"] = "object"
    nameless = not (result.keys() & {"additionalProperties", "unevaluatedProperties"} or result.get("patternProperties"))
    if nameless and ("properties" in result or "required" in result or (root and result.get("type") == "object")):
        result["properties"] = {**dict.fromkeys(result.get("required", ()), True), **result.get("properties", {})}
        result["additionalProperties"] = False
    if "prefixItems" in result and "items" not in result and "unevaluatedItems" not in result:
        result["items"] = False
    return result


def _renamed(record: Any) -> set[str]:
    """Return our names for keys that are sent under others."""
    found: set[str] = set()
    stack = [record.get("codec"), *(record.get("codecs") or {}).values()]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            found |= (
                {entry["key"] for entry in (node.get("keys") or {}).values() if isinstance(entry, dict) and "key" in entry}
                if (node.get("as") == "object")
                else set()
            )
            found |= set((node.get("keys") or {}).values()) if node.get("as") == "names" else set()
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return found


def _names(value: Any) -> set[str]:
    """Return all keys of a value."""
    found: set[str] = set()
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            found |= node.keys()
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return found


def short(value: Any, most: int = 240) -> str:
    """Return a value as JSON, cut."""
    text = dumps(value, indent=False)
    return text if len(text) <= most else f"{text[:most]}…"


def _is_of_the_judge(error: BaseException) -> bool:
    """Say whether the validator cannot bear a schema that asks for itself in its own place; its maps panic then, or it does."""
    step = error.__traceback__
    ours = ""
    while step is not None:
        if "instrc" in step.tb_frame.f_code.co_filename or "hunt" in step.tb_frame.f_code.co_filename:
            ours = step.tb_frame.f_code.co_qualname.partition(".")[0]
        step = step.tb_next
    return type(error).__name__ in {"RecursionError", "PanicException"} and ours in {"_from_answers", "_from_values", "excused"}


class TooSlow(Exception):  # noqa: N818  -- what a seed is, not what went wrong
    """A seed that takes longer than it may."""


def _alarm(*_: object) -> None:
    raise TooSlow


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def hunt(first: int, count: int, wanted: list[str], seconds: float) -> Counter[str]:
    """Try seeds until they, or the time, are used up, and return how often each law was broken."""
    broken: Counter[str] = Counter()
    start, seed = time.monotonic(), first
    while seed < first + count and time.monotonic() - start < seconds:
        schema = adversarial(seed)
        for target in wanted:
            signal.alarm(_SECONDS_A_SEED)
            try:
                found = list(finds(schema, target, seed))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  -- whatever is raised is a find
                found = [] if _is_of_the_judge(error) else [Find("crash", target, f"{type(error).__name__}: {error}"[:300])]
            finally:
                signal.alarm(0)
            for find in found:
                broken[find.law] += 1
                _say(f"{find.law} {seed} {find.target} {find.facts}")
        seed += 1
    _say(f"{seed - first} schemas, {sum(broken.values())} finds {dict(broken)}; go on with {seed}")
    return broken


def main() -> None:
    """Read the command line and hunt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--target", action="append", choices=list(targets()))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_GIGABYTES << 30, _GIGABYTES << 30))
    signal.signal(signal.SIGALRM, _alarm)
    sys.exit(bool(hunt(asked.first, asked.count, asked.target or list(targets()), asked.seconds)))


if __name__ == "__main__":
    main()
