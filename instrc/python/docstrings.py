"""What the docstring of a function says of its parameters, in the style of Google, numpy or Sphinx: `griffe` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from griffe import DocstringSection

_STYLES: tuple[Literal["google", "numpy", "sphinx"], ...] = ("google", "numpy", "sphinx")


def share_docstring(text: str, schema: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """Return what of a docstring is about the whole function, and the schema with what is about its parameters there.

    A parameter that has a description keeps it. What finds no place in the schema stays in the text.
    Without the library, or where the docstring has no list of parameters, all stays as it is.
    """
    properties = schema.get("properties")
    sections = _sections(text)
    if not isinstance(properties, dict) or not sections:
        return text, schema
    rest: list[str] = []
    described = dict(properties)
    for section in sections:
        if section.kind.value == "parameters":
            for each in section.value:
                said, own = each.description.strip(), described.get(each.name)
                if isinstance(own, dict) and "description" not in own:
                    described[each.name] = {**own, "description": said} if said else own
                elif said and not (isinstance(own, dict) and own["description"] == said):
                    rest.append(f"{each.name}: {said}")
        else:
            words = _words(section)
            if words is None:
                return text, {**schema, "properties": described}
            rest.append(words)
    return "\n\n".join(filter(None, rest)), {**schema, "properties": described}


def _sections(text: str) -> list[DocstringSection]:
    """Return the sections of a docstring by the first style in which it has a list of parameters; none without one."""
    try:
        from griffe import Docstring  # optional
    except ImportError:
        return []
    for style in _STYLES:
        sections = Docstring(text, lineno=1).parse(style, warnings=False)
        if any(section.kind.value == "parameters" for section in sections):
            return sections
    return []


def _words(section: DocstringSection) -> str | None:
    """Return a section as text; `None` for one that the library takes apart in another way."""
    match section.kind.value:
        case "text":
            return str(section.value).strip()
        case "returns" | "yields":
            return f"{section.kind.value.title()}: {'; '.join(each.description.strip() for each in section.value)}"
        case "raises":
            return "\n".join(f"Raises {each.annotation}: {each.description.strip()}" for each in section.value)
        case _:
            return None
