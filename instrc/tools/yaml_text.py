"""Parse YAML 1.2 to JSON values with their places.

PyYAML yields the events, using libyaml if available; its own values follow YAML 1.1, where `no` is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from math import inf, isfinite
from typing import Any, Final, TypeAlias

from msgspec import Struct

from instrc.problems.errors import CompileError, SettingsError
from instrc.problems.files import InvalidJson
from instrc.problems.importing import MissingLibrary
from instrc.text.arguments import excerpt
from instrc.text.jsontext import is_writable, loads
from instrc.text.jsonvalue import Json, JsonSyntaxError, Location
from instrc.text.source import Source, Span
from instrc.tools.sources import File, Given, of_text, of_value

Yaml: TypeAlias = Any  # the library is optional, and without types
"""A type from the YAML library: the module, an event or an error."""


def of_yaml(source: Source) -> Given:
    """Parse YAML text that is equivalent to JSON; raise `CompileError` with the place if it is not."""
    if source.text.lstrip().startswith(("{", "[")):
        with suppress(JsonSyntaxError):  # JSON is YAML, and has escapes and levels that libyaml refuses
            loads(source.text)
            return of_text(source)
    try:
        yaml: Yaml = import_module("yaml")  # optional: only needed for YAML
    except ImportError:
        raise SettingsError([MissingLibrary(library="PyYAML", extra="import")]) from None
    reader = _YamlReader(yaml, source)
    root = reader.root()
    return YamlGiven(of_value(root.value).value if reader.anchors else root.value, source, root)


class YamlGiven(Given):
    """A YAML text, with the spans of its parsed nodes."""

    def __init__(self, value: Json, source: Source, root: _YamlNode) -> None:
        super().__init__(value)
        self._yaml = source
        self._root = root

    def locate(self, path: Location) -> Span | None:
        """Return the span of a part, or of its innermost existing ancestor."""
        if path and path[0].__class__ is File:
            return super().locate(path)
        node = self._root
        for step in path:
            key = str(step) if isinstance(node.value, dict) else step
            if not isinstance(node, _Collection) or key not in node.parts:
                break
            node = node.parts[key]
        return self._yaml.span(node.start, node.end)


class _YamlNode(Struct, gc=False):
    """A value and its span."""

    value: Json
    start: int
    end: int
    text: str | None = None
    """Source text of a scalar."""
    merges: bool = False
    """Whether it is the key `<<`, which merges the keys of other mappings into this one."""
    size: int = 1
    """Number of values in it, with aliases expanded."""


class _Collection(_YamlNode, gc=False):
    """A list or a mapping, with the nodes of its parts by index or key."""

    parts: dict[str | int, _YamlNode] = {}
    is_open: bool = True
    key: _YamlNode | None = None
    """Key whose value comes next in a mapping."""
    merged: list[_Collection] = []
    """Mappings merged into this one; earlier ones take precedence."""


YAML_VALUES: Final = 100_000
"""Maximum values in a YAML text with aliases expanded; ten times the values before each place are always allowed."""
YAML_LEVELS: Final = 900
"""Maximum nesting of a YAML text; libyaml allows 1,000."""
_BREAKS: Final = "\x85\u2028\u2029"
"""Characters that break lines in YAML 1.1 and are ordinary text in YAML 1.2."""
_HALF: Final = "half of a pair of surrogates is not a character"


class _YamlReader:
    """Parses one text."""

    def __init__(self, yaml: Yaml, source: Source) -> None:
        self._yaml = yaml
        self._source = source
        text = source.text.replace("\ufeff", "\n", 1) if source.text.startswith("\ufeff") else source.text
        signs = {*text} if any(sign in text for sign in _BREAKS) else None
        free = [] if signs is None else [sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in signs]
        stand_ins = "".join(free[: len(_BREAKS)]) if len(free) >= len(_BREAKS) else ""
        self._text = text.translate(str.maketrans(_BREAKS, stand_ins)) if stand_ins else text
        self._back = str.maketrans(stand_ins, _BREAKS) if stand_ins else {}
        self._problems: list[InvalidJson] = []
        self.anchors: dict[str, _YamlNode] = {}

    def root(self) -> _YamlNode:
        """Return the node of the one document."""
        result: _YamlNode | None = None
        count = size = 0
        stack: list[_Collection] = []
        for event in self._events():
            match type(event).__name__:
                case "ScalarEvent":
                    node = self._scalar(event)
                case "AliasEvent":
                    node = self._alias(event)
                case "SequenceStartEvent" | "MappingStartEvent" as kind:
                    stack.append(self._collection(event, is_list=kind == "SequenceStartEvent"))
                    if len(stack) > YAML_LEVELS:
                        raise self._refusal(stack[-1], "it nests too deeply")
                    continue
                case "SequenceEndEvent" | "MappingEndEvent":
                    node = self._close(stack.pop(), event)
                case "DocumentStartEvent" if result is not None:
                    raise self._refusal(event.start_mark.index, "it holds several documents")
                case _:
                    continue
            count += 1
            size += node.size if type(event).__name__ == "AliasEvent" else 1
            if size > max(YAML_VALUES, 10 * count):  # before `<<` copies them
                raise self._refusal(node, f"its aliases stand for more than {size:,} values")
            if stack:
                self._put(stack[-1], node)
            else:
                result = node
        if result is None:
            raise self._refusal(0, "it holds nothing")
        if self._problems:
            raise CompileError(self._problems)
        return result

    def _events(self) -> Iterator[Yaml]:
        """Yield the events of the text; raise for errors of the library."""
        try:
            parser = getattr(self._yaml, "CSafeLoader", self._yaml.SafeLoader)(self._text)
            yield from iter(parser.get_event, None)
        except self._yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            said = [text for text in (getattr(error, "context", None), getattr(error, "problem", None)) if text]
            reason = ", ".join(said) or str(getattr(error, "reason", None) or "nothing more is known")
            raise self._refusal(mark.index if mark else getattr(error, "position", 0), reason) from None
        except UnicodeEncodeError as error:
            raise self._refusal(error.start, _HALF) from None

    def _scalar(self, event: Yaml) -> _YamlNode:
        text = event.value.translate(self._back) if self._back else event.value
        is_plain = event.implicit[0] and event.tag is None
        node = _YamlNode(text, event.start_mark.index, event.end_mark.index, text, is_plain and text == "<<")
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        try:
            if is_plain:
                node.value = _plain(text)
            elif event.tag not in {None, "!"}:
                node.value = _tagged(text, event.tag)
            elif not is_writable(text):  # as escapes, where libyaml is missing
                self._report(node, _HALF)
        except (ValueError, OverflowError) as error:
            self._report(node, str(error))
        return node

    def _alias(self, event: Yaml) -> _YamlNode:
        node = self.anchors.get(event.anchor)
        if node is None or (isinstance(node, _Collection) and node.is_open):
            reason = f"no anchor `{excerpt(event.anchor)}` precedes it" if node is None else "it would contain itself"
            raise self._refusal(event.start_mark.index, reason)
        return node

    def _collection(self, event: Yaml, *, is_list: bool) -> _Collection:
        node = _Collection([] if is_list else {}, event.start_mark.index, event.end_mark.index)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if event.tag is not None and event.tag not in {"!", f"{_TAG}{'seq' if is_list else 'map'}"}:
            self._report(node, f"JSON has no value for the tag `{_short_tag(event.tag)}`")
        return node

    def _put(self, parent: _Collection, node: _YamlNode) -> None:
        """Add a node to an open collection; in a mapping, keys and values alternate."""
        parent.size += node.size
        if isinstance(parent.value, list):
            parent.parts[len(parent.value)] = node
            parent.value.append(node.value)
        elif (key := parent.key) is None:
            parent.key = node
            if node.text is None:
                raise self._refusal(node, "a key of JSON is a text")
            if node.text in parent.parts and not node.merges:
                self._report(node, f"the key `{node.text}` is written twice in one mapping")
        else:
            parent.key = None
            if key.merges:
                sources = list(node.parts.values()) if isinstance(node, _Collection) and isinstance(node.value, list) else [node]
                mappings = [part for part in sources if isinstance(part, _Collection) and isinstance(part.value, dict)]
                if len(mappings) < len(sources):
                    self._report(node, "`<<` takes a mapping, or a list of mappings")
                parent.merged += mappings
            elif isinstance(parent.value, dict) and key.text is not None:
                parent.parts[key.text] = node
                parent.value[key.text] = node.value

    def _close(self, node: _Collection, event: Yaml) -> _Collection:
        """Finish a collection: merged members precede its own."""
        node.end, node.is_open = event.end_mark.index, False
        merged: dict[str | int, _YamlNode] = {}
        for key, part in (item for source in node.merged for item in source.parts.items()):
            merged.setdefault(key, part)
        if merged and isinstance(node.value, dict):
            node.parts = {**merged, **node.parts}
            node.value.clear()
            node.value.update((str(key), part.value) for key, part in node.parts.items())
        return node

    def _report(self, node: _YamlNode, reason: str) -> None:
        self._problems.append(InvalidJson(at=self._source.span(node.start, node.end), reason=reason))

    def _refusal(self, place: _YamlNode | int, reason: str) -> CompileError:
        start = place.start if isinstance(place, _YamlNode) else min(place, max(len(self._source.text) - 1, 0))
        return CompileError([InvalidJson(at=self._source.span(start, min(start + 1, len(self._source.text))), reason=reason)])


_WORDS: Final[dict[str, Json]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""Literals of the core schema of YAML 1.2, section 10.3.2; its numbers follow."""
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def _plain(text: str) -> Json:
    """Return the value of a plain scalar without a tag; raise `ValueError` for a number that JSON lacks."""
    if text in _WORDS or text[0] not in "-+.0123456789":
        return _WORDS.get(text, text)
    if _INTEGER.fullmatch(text):
        try:
            return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        except ValueError:  # more digits than Python reads
            raise ValueError(f"{excerpt(text)} cannot be read as a whole number") from None
    if not _FLOAT.fullmatch(text):
        return text
    value = inf if text[-1].isalpha() else float(text)
    if not isfinite(value):
        raise ValueError(f"JSON has no number `{text[:40]}`")
    return value


_TAG: Final = "tag:yaml.org,2002:"
_KINDS: Final = {
    "str": (str, "a text"),
    "null": (type(None), "null"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": (float, "a number"),
}
"""Types of scalars by tag."""


def _tagged(text: str, tag: str) -> Json:
    """Return the value of a tagged scalar; raise `ValueError` or `OverflowError` if it has none in JSON."""
    name = tag.removeprefix(_TAG)
    if name not in _KINDS:
        raise ValueError(f"JSON has no value for the tag `{_short_tag(tag)}`")
    value = text if name == "str" else _plain(text)
    value = float(value) if name == "float" and type(value) is int else value
    kind, words = _KINDS[name]
    if type(value) is not kind:
        raise ValueError(f"{excerpt(text)} cannot be read as {words}")
    return value


def _short_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
