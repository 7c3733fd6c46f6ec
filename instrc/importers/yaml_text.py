"""YAML, in which many OpenAPI documents are written: the same values as in JSON, with their places."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from instrc.importers.given import File, Given, of_value
from instrc.jsonvalue import Json
from instrc.problems.importing import MissingLibrary
from instrc.problems.problem import CompileError
from instrc.problems.rim import InvalidJson
from instrc.schema.walk import Path
from instrc.source import Source, Span


class YamlGiven(Given):
    """A YAML text: places are those of the nodes that the parser saw."""

    def __init__(self, value: Json, source: Source, root: Any) -> None:
        super().__init__(value)
        self._yaml = source
        self._root = root

    def locate(self, path: Path) -> Span | None:
        """Return the place of a part, or of the innermost part on the way that exists."""
        if path and path[0].__class__ is File:
            return super().locate(path)
        node = self._root
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            node = found
        return self._yaml.span(node.start_mark.index, node.end_mark.index)


def of_yaml(source: Source) -> Given:
    """Read a YAML text that says what JSON can say; a `CompileError` says where it does not."""
    try:
        yaml: Any = import_module("yaml")  # optional: only who has YAML needs it
    except ImportError:
        raise CompileError([MissingLibrary(library="PyYAML", extra="import")]) from None
    try:
        root = yaml.compose(source.text, Loader=yaml.SafeLoader)
        value = yaml.load(source.text, Loader=_loader(yaml))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        start = min(mark.index if mark else 0, max(len(source.text) - 1, 0))
        reason = f"it is no YAML: {getattr(error, 'problem', None) or 'it cannot be read'}"
        raise CompileError([InvalidJson(at=source.span(start, min(start + 1, len(source.text))), reason=reason)]) from None
    except RecursionError:
        raise CompileError([InvalidJson(at=source.whole(), reason="it nests too deeply")]) from None
    return YamlGiven(of_value(value, key_of=_text).value, source, root)


def _loader(yaml: Any) -> Any:
    """Return a loader that reads what looks like a date as the text that it is in JSON."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # `Any`: the library is optional
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _text(key: Any) -> Any:
    """Return the key that an object of JSON would have: `200:` is `"200"`."""
    if key is None or isinstance(key, bool):
        return {True: "true", False: "false", None: "null"}[key]
    return str(key) if isinstance(key, int | float) else key


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node.value, list):
        for index, item in enumerate(node.value):
            if isinstance(item, tuple):
                if getattr(item[0], "value", None) == str(step):
                    return item[1]
            elif index == step:
                return item
    return None
