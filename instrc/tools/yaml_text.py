"""Parse YAML to JSON values with their places."""

from __future__ import annotations

from importlib import import_module
from math import isfinite
from typing import Any, Final, TypeAlias

from instrc.problems.errors import CompileError, SettingsError
from instrc.problems.files import InvalidJson
from instrc.problems.importing import MissingLibrary
from instrc.text.arguments import excerpt
from instrc.text.jsonvalue import Json, Location
from instrc.text.source import Source, Span
from instrc.tools.sources import File, Given, of_value

YAML_VALUES: Final = 100_000
"""Values of a YAML text with its aliases written out; ten times what is written may always be."""
_TAG = "tag:yaml.org,2002:"
_OF_JSON = frozenset({"null", "bool", "int", "float", "str", "seq", "map"})
"""Tags of YAML whose values JSON has."""
_MERGE = f"{_TAG}merge"
"""That of the key `<<`, which puts the keys of other mappings into this one."""
_IN_WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
"""What the scalars are that PyYAML may fail to read, by their tags."""
Yaml: TypeAlias = Any  # the library is optional, and without types
"""Something of the library: itself, one of its nodes, one of its errors."""


class YamlGiven(Given):
    """A YAML text: places are those of the nodes that the parser saw."""

    def __init__(self, value: Json, source: Source, root: Yaml) -> None:
        super().__init__(value)
        self._yaml = source
        self._root = root

    def locate(self, path: Location) -> Span | None:
        """Return the place of a part, or of its innermost existing ancestor."""
        if path and path[0].__class__ is File:
            return super().locate(path)
        node = self._root
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            node = found
        return self._yaml.span(node.start_mark.index, node.end_mark.index)


def _child(node: Yaml, step: str | int) -> Yaml:
    if isinstance(node.value, list):
        for index, item in enumerate(node.value):
            if isinstance(item, tuple):
                if getattr(item[0], "value", None) == str(step):
                    return item[1]
            elif index == step:
                return item
    return None


def of_yaml(source: Source) -> Given:
    """Read a YAML text that says what JSON can say; a `CompileError` says where it does not."""
    try:
        yaml: Yaml = import_module("yaml")  # optional: only who has YAML needs it
    except ImportError:
        raise SettingsError([MissingLibrary(library="PyYAML", extra="import")]) from None
    try:
        loader = _loader(yaml)(source.text)
    except yaml.YAMLError as error:  # a sign that may not stand in YAML
        raise _refusal(source, getattr(error, "position", 0), _problem(error)) from None
    try:
        root = loader.get_single_node()
        if root is None:
            raise _refusal(source, 0, "it holds nothing")
        _refuse_growth(root, source)
        _refuse_what_json_lacks(root, source)
        value = loader.construct_document(root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise _refusal(source, mark.index if mark else 0, _problem(error)) from None
    except RecursionError:
        raise CompileError([InvalidJson(at=source.whole(), reason="it nests too deeply")]) from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):  # what PyYAML's own readers of scalars raise
        raise CompileError([_unread_scalar(loader.reading, source)]) from None
    finally:
        loader.dispose()
    return YamlGiven(of_value(value, key_of=_text).value, source, root)


def _loader(yaml: Yaml) -> Yaml:
    """Return a loader that reads what looks like a date, or is `=`, as the text that it is in JSON, and knows where it reads."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # `Any`: the library is optional
        reading: Yaml = None

        def construct_object(self, node: Yaml, deep: bool = False) -> Yaml:  # noqa: FBT001, FBT002  -- as the library calls it
            if not isinstance(node.value, list):
                self.reading = node
            return super().construct_object(node, deep=deep)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.removeprefix(_TAG) not in {"timestamp", "value"}]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _refusal(source: Source, start: int, reason: str) -> CompileError:
    start = min(start, max(len(source.text) - 1, 0))
    return CompileError([InvalidJson(at=source.span(start, min(start + 1, len(source.text))), reason=reason)])


def _problem(error: Yaml) -> str:
    said = [text for text in (getattr(error, "context", None), getattr(error, "problem", None)) if text]
    return ", ".join(said) or str(getattr(error, "reason", None) or "nothing more is known")


def _refuse_growth(root: Yaml, source: Source) -> None:
    """Refuse a text that stands for far more values than it holds, through aliases of aliases, or for one without an end."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        parts = _parts(node)
        if id(node) in sizes:
            stack.pop()
        elif id(node) in open_nodes:
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
            stack.pop()
        else:
            open_nodes.add(id(node))
            if any(id(part) in open_nodes and id(part) not in sizes for part in parts):
                raise _refusal(source, node.start_mark.index, "what stands here holds itself")
            stack.extend(part for part in parts if id(part) not in sizes)
    if sizes[id(root)] > max(YAML_VALUES, 10 * len(sizes)):
        raise _refusal(source, 0, f"its aliases stand for {sizes[id(root)]:,} values")


def _parts(node: Yaml) -> list[Yaml]:
    if not isinstance(node.value, list):
        return []
    return [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]


def _refuse_what_json_lacks(root: Yaml, source: Source) -> None:
    """Refuse tags that JSON has no value for, and keys that stand twice in one mapping, of which only the last would count."""
    told: list[InvalidJson] = []
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.tag == _MERGE and node.value == "<<":
            told.append(_problem_at(node, source, '`<<` without quotes is a key that merges mappings: write the text as `"<<"`'))
        elif node.tag.removeprefix(_TAG) not in _OF_JSON:
            told.append(_problem_at(node, source, f"JSON has no value for the tag `{_short_tag(node.tag)}`"))
        elif node.tag == f"{_TAG}float" and isinstance(node.value, str) and _is_beyond_json(node.value):
            told.append(_problem_at(node, source, f"JSON has no number `{node.value[:40]}`"))
        elif node.tag == f"{_TAG}map" and isinstance(node.value, list):
            known: set[tuple[str, str]] = set()
            for key, value in node.value:
                if key.tag == _MERGE and key.value == "<<":
                    seen.add(id(key))
                    if not all(part.tag == f"{_TAG}map" for part in _merged(value)):
                        told.append(_problem_at(value, source, "`<<` takes a mapping, or a list of mappings"))
                    continue
                if not isinstance(key.value, str):
                    told.append(_problem_at(key, source, "a key of JSON is a text"))
                    seen.add(id(key))  # what such a key holds is no part of a value
                    continue
                if (key.tag, key.value) in known:
                    told.append(_problem_at(key, source, f"the key `{key.value}` is written twice in one mapping"))
                known.add((key.tag, key.value))
        stack.extend(reversed(_parts(node)))
    if told:
        raise CompileError(told)


def _problem_at(node: Yaml, source: Source, reason: str) -> InvalidJson:
    return InvalidJson(at=source.span(node.start_mark.index, node.end_mark.index), reason=reason)


def _short_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag


def _is_beyond_json(written: str) -> bool:
    """Return whether a number of YAML is none of JSON: `.nan`, `-.inf`, or too large."""
    plain = written.lower().replace("_", "")
    try:
        return plain.lstrip("+-") in {".nan", ".inf"} or not isfinite(float(plain))
    except ValueError:  # another spelling of YAML, or none
        return False


def _merged(value: Yaml) -> list[Yaml]:
    """Return the mappings whose keys `<<` puts into another, as they are given."""
    return value.value if value.tag == f"{_TAG}seq" and isinstance(value.value, list) else [value]


def _unread_scalar(node: Yaml, source: Source) -> InvalidJson:
    """Return the problem of a scalar that is not what its form or its tag says, such as `0x_` or `!!int abc`."""
    tag = _short_tag(node.tag)
    wanted = _IN_WORDS.get(tag.removeprefix("!!"), f"a value of the tag `{tag}`")
    return _problem_at(node, source, f"{excerpt(node.value)} cannot be read as {wanted}")


def _text(key: Yaml) -> Yaml:
    """Return the key that an object of JSON would have: `200:` is `"200"`."""
    if key is None or isinstance(key, bool):
        return {True: "true", False: "false", None: "null"}[key]
    return str(key) if isinstance(key, int | float) else key
