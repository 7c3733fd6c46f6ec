"""The first text of one instruction, mixin or process."""

from __future__ import annotations

from typing import Literal, TypeAlias

from instrc.ir.fusion import SUFFIXES
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.naming import snake, words

ScaffoldKind: TypeAlias = Literal["instruction", "mixin", "process"]


def new(kind: ScaffoldKind, name: str, folder: str) -> dict[str, str] | None:
    """Return the files of a new instruction, mixin or process by path; `None` if a name has no letter or digit in it.

    `name` may have folders before it (`mail/FindSlot`) and a suffix (`Send_Activity`); vibes lie below `folder`.
    """
    *above, last = name.replace("\\", "/").split("/")
    suffix = next((suffix for suffix in SUFFIXES if last.endswith(suffix)), "")
    if kind == "mixin":
        suffix = "_Mixin"
    stem = "-".join(words(last.removesuffix(suffix)))
    if not stem or any(not words(part) for part in above):
        return None
    if kind == "process":
        return {"/".join([*above, f"{stem}.aug"]): _process(stem)}
    schema = _mixin(stem) if suffix == "_Mixin" else _instruction(stem, suffix)
    return {"/".join([folder, *above, f"{stem}{suffix}.vibe.json"]): f"{dumps(schema)}\n"}


def _instruction(stem: str, suffix: str) -> Json:
    return {
        "description": f"What is to be done here ({_title_of(stem)}), as you would tell it to {_WHO[suffix]}.",
        "type": "object",
        "properties": {"result": {"description": "What comes out.", "type": "string"}},
        "required": ["result"],
    }


_WHO = {"": "the model", "_Activity": "the server", "_User": "a person", "_Human": "a person"}


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
