"""First files: a new project, and single instructions, mixins and processes to begin with."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from instrc.compiler.ir import SUFFIXES
from instrc.text import files
from instrc.text.files import TomlError, read_toml
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.names import snake, words

ScaffoldKind: TypeAlias = Literal["instruction", "mixin", "process"]


def new(kind: ScaffoldKind, name: str, folder: str) -> dict[str, str] | None:
    """Return the files of a new instruction, mixin or process by path, or `None` if a name has no letter or digit in it.

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
META_SCHEMA: Final = ".vscode/vibe.schema.json"
"""The schema of vibe files, for editors: it says which keywords a vibe has, and offers them."""
_SOURCE = """\
// Read a letter, think, answer it: one tool, filled in from top to bottom.
// `instrc compile answer.aug` prints it; `instrc preview answer.aug` shows what the model receives.
"Answer a letter"
  | ReadLetter
  | Introspect_Mixin(WriteReply)
"""
_READ: Json = {
    "description": "Read the letter and say what it is about.",
    "type": "object",
    "properties": {
        "asks": {"description": "What the writer wants, in one sentence.", "type": "string"},
        "tone": {"description": "How the letter is written.", "enum": ["friendly", "formal", "angry"]},
    },
    "required": ["asks", "tone"],
}
_WRITE: Json = {
    "description": "Answer in the language of the letter.",
    "type": "object",
    "properties": {"text": {"description": "The reply, ready to be sent.", "type": "string", "maxLength": 900}},
    "required": ["text"],
}
_CASES = """\
# Cases of `answer.aug`

`instrc test` runs these; `instrc test --update` writes what comes out into the blocks after `answer`.

## Thoughts are no part of the output

```json answer
{
  "step1_read_letter": { "asks": "when the fair is", "tone": "friendly" },
  "step2_write_reply": { "_considerations": "Short is best.", "text": "On Monday, Ann!", "_feedback": "-" }
}
```

```json output
{
  "step1_read_letter": {
    "asks": "when the fair is",
    "tone": "friendly"
  },
  "step2_write_reply": {
    "text": "On Monday, Ann!"
  }
}
```

## A reply without a text is a problem

```json answer
{
  "step1_read_letter": { "asks": "when the fair is", "tone": "friendly" },
  "step2_write_reply": { "_considerations": "-", "_feedback": "-" }
}
```

```problems
/step2_write_reply "text" is a required property
```
"""
TABLE: Final = """\
[tool.instrc]
roots = ["schemas"]  # folders of vibes, earlier ones first
# hint = "Use {paths}."  # the sentence that says which results a step reads
# naming = "step"        # or "camel"
# keywords = []          # keywords of JSON Schema that are your own
"""
_HOOKS = """\
# `pre-commit install` runs these before each commit; they use the `instrc` that is installed in your environment.
repos:
  - repo: local
    hooks:
      - id: instrc-check
        name: instrc check
        entry: instrc check --dependents
        language: system
        files: \\.(aug|vibe\\.json)$
        require_serial: true
        always_run: true  # also for a commit that only deletes a vibe
      - id: instrc-fmt
        name: instrc fmt
        entry: instrc fmt
        language: system
        files: \\.(aug|vibe\\.json)$
"""
_EDITOR: Json = {
    "files.associations": {"*.aug": "aug", "*.cases.md": "markdown"},
    "json.schemas": [{"fileMatch": ["*.vibe.json"], "url": f"./{META_SCHEMA}"}],
    "files.insertFinalNewline": True,
}


def project() -> dict[str, str]:
    """Return the files of a new project by their paths below its folder."""
    return {
        PROGRAM: _SOURCE,
        "answer.cases.md": _CASES,
        "schemas/read-letter.vibe.json": f"{dumps(_READ)}\n",
        "schemas/write-reply.vibe.json": f"{dumps(_WRITE)}\n",
        SETTINGS: TABLE,
        ".pre-commit-config.yaml": _HOOKS,
        ".vscode/settings.json": f"{dumps(_EDITOR)}\n",
        META_SCHEMA: files.read("schemas", "meta/vibe.schema.json"),
    }


def with_table(settings: str) -> str | None:
    """Return a `pyproject.toml` that exists with our table behind it, or `None` if it has one, or cannot take one."""
    ending = "\r\n" if "\r\n" in settings else "\n"
    joined = f"{settings.rstrip()}\n\n{TABLE}".lstrip().replace("\r\n", "\n").replace("\n", ending)
    try:
        tools = read_toml(settings).get("tool", {})
        read_toml(joined)  # behind `tool = {…}` there can be no further table
    except TomlError:
        return None
    return None if isinstance(tools, dict) and "instrc" in tools else joined
