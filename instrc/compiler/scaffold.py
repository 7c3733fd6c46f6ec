"""The first files of a new project, and skeletons of instructions, mixins and processes."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

from instrc.compiler.ir import suffix_of
from instrc.text import files
from instrc.text.files import TomlError, read_toml
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.names import snake, words

ScaffoldKind: TypeAlias = Literal["instruction", "mixin", "process"]


def new(kind: ScaffoldKind, name: str, folder: str) -> dict[str, str] | None:
    """Return the files of a new instruction, mixin or process by path, or `None` if a name has no letter or digit.

    `name` may have folders before it (`mail/FindSlot`) and a suffix (`Send_Activity`); vibes are created below `folder`.
    """
    *above, last = name.replace("\\", "/").split("/")
    suffix = suffix_of(last)
    if kind == "mixin":
        suffix = "_Mixin"
    stem = "-".join(words(last.removesuffix(suffix)))
    if not stem or any(not words(part) for part in above):
        return None
    if kind == "process":
        return {"/".join([*above, f"{stem}.aug"]): _process(stem)}
    schema = _mixin(stem) if suffix == "_Mixin" else _instruction(stem, suffix)
    return {"/".join([folder, *above, f"{stem}{suffix}.vibe.json"]): f"{dumps(schema)}\n"}


def _process(stem: str) -> str:
    said = _title_of(stem)
    return f"""\
// A process: the model asks, the server looks it up, the model proposes, a person decides.
// The schemas stand here to begin with: `instrc new instruction NAME` makes a vibe to move each into.
"{said[:1].upper()}{said[1:]}"
  | @{{ title: "Ask", type: "object", properties: {{ question: {{ type: "string" }} }}, required: ["question"] }}
  | @{{ title: "LookUp_Activity", type: "object", properties: {{ found: {{ type: "string" }} }}, required: ["found"] }}
  | @{{ title: "Propose", type: "object", properties: {{ proposal: {{ type: "string" }} }}, required: ["proposal"] }}
  | @{{ title: "Confirm_User", type: "object", properties: {{ agrees: {{ type: "boolean" }} }}, required: ["agrees"] }}
"""


def _title_of(stem: str) -> str:
    return stem.replace("-", " ")


def _mixin(stem: str) -> Json:
    key = snake(stem)
    return {
        "description": f"What is added around an instruction ({_title_of(stem)}).",
        "type": "object",
        "properties": {
            f"_{key}_before": {"description": "Asked before the instruction that is put in.", "type": "string"},
            "default": {},
            f"_{key}_after": {"description": "Asked after it.", "type": "string"},
        },
        "required": [f"_{key}_before", f"_{key}_after"],
    }


_WHO = {"": "the model", "_Activity": "the server", "_User": "a person", "_Human": "a person"}


def _instruction(stem: str, suffix: str) -> Json:
    return {
        "description": f"What is to be done here ({_title_of(stem)}), as you would tell it to {_WHO[suffix]}.",
        "type": "object",
        "properties": {"result": {"description": "What comes out.", "type": "string"}},
        "required": ["result"],
    }


PROGRAM: Final = "answer.aug"
SETTINGS: Final = "pyproject.toml"
_FILES: Final = {
    PROGRAM: "answer.aug",
    "answer.cases.md": "answer.cases.md",
    "schemas/read-letter.vibe.json": "read-letter.vibe.json",
    "schemas/write-reply.vibe.json": "write-reply.vibe.json",
    SETTINGS: "settings.toml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".vscode/settings.json": "vscode-settings.json",
}
"""Files of a new project, by path, in the folder `project` next to this module: without the dots that tools look for."""


def project() -> dict[str, str]:
    """Return the files of a new project by their paths below its folder."""
    texts = {path: _text(name) for path, name in _FILES.items()}
    return texts | {".vscode/vibe.schema.json": files.read("schemas", "meta/vibe.schema.json")}


def _text(name: str) -> str:
    return (Path(__file__).parent / "project" / name).read_text("utf-8")


def with_table(settings: str) -> str | None:
    """Return an existing `pyproject.toml` with our table appended, or `None` if it has one or cannot take one."""
    ending = "\r\n" if "\r\n" in settings else "\n"
    joined = f"{settings.rstrip()}\n\n{_text(_FILES[SETTINGS])}".lstrip().replace("\r\n", "\n").replace("\n", ending)
    try:
        tools = read_toml(settings).get("tool", {})
        read_toml(joined)  # `tool = {…}` cannot be followed by another table
    except TomlError:
        return None
    return None if isinstance(tools, dict) and "instrc" in tools else joined
