"""What descriptions tell a model: what a tool is for, what a step reads, and what of it may be missing."""

from __future__ import annotations

from typing import Any

from every_case import every_case
from objects import an_object

import instrc

TEXT = {"type": "string"}
VIBES: dict[str, Any] = {
    "Draft": an_object(_plan=TEXT, text=TEXT),
    "Describe": {"description": "Describe it.", **an_object(text=TEXT)},
    "Named": {"title": "Named", "description": "Name it.", **an_object(text=TEXT)},
    "Check": an_object(ok={"type": "boolean"}, note={"type": ["string", "null"]}),
    "Confirm_User": an_object(comment={"type": ["string", "null"]}),
}
CHECK = "const c = Check(prompt); "


def hints(document: Any) -> list[str]:
    """Return all hints of a document, in order."""
    if isinstance(document, list):
        return [hint for each in document for hint in hints(each)]
    if not isinstance(document, dict):
        return []
    said = document.get("description")
    own = [said.rpartition("\n")[2]] if isinstance(said, str) and "Use " in said else []
    return own + [hint for value in document.values() for hint in hints(value)]


@every_case(
    ("program", "described", "root"),
    [
        ("Draft", None, "Use prompt."),
        ("tool Letter = Draft", "Letter", "Use prompt."),
        ("Describe", "Describe it.", "Use prompt."),
        ("tool Letter = Describe", "Describe it.", "Use prompt."),
        ("Named", "Name it.", "Use prompt."),
        ('"The goal" | Describe', "The goal", "Describe it.\nUse prompt."),
        ('"The goal" | Draft', "The goal", "Use prompt."),
        ("Describe(Draft)", None, None),
    ],
)
@every_case("target", ["openai", "anthropic", "mcp"])
def test_a_tool_is_described_by_its_goal_or_its_instruction_and_never_by_a_hint(
    program: str, described: str | None, root: str | None, target: str
) -> None:
    [made] = instrc.artefacts(program, vibes=VIBES)
    payload: Any = instrc.lower(made, target=target).payload
    tool = payload.get("function", payload)
    schema = next(tool[word] for word in ("parameters", "input_schema", "inputSchema") if word in tool)
    assert (tool.get("description") or None, schema.get("description")) == (described, root)


@every_case(
    ("program", "told"),
    [
        (CHECK + "const w = when c.ok { Draft }; Describe(w)", "Use step3_when_draft (may be null)."),
        (CHECK + "const w = when c.ok { Draft } else { Draft }; Describe(w)", "Use step4_when_draft."),
        ("const a = Confirm_User(prompt); Describe(prompt, a.comment)", "Use prompt, step1_confirm.comment (may be null)."),
        (
            "const a = Confirm_User(prompt); when a.comment @ {} { Describe(a.comment) }",
            "Use step1_confirm.comment.",
        ),
        (
            "const l = each i in 3 { const k = Check(i); k } until k.ok; each x in l { Describe(x) }",
            "Use x (may be null).",
        ),
        ("repeat { const d = Describe(previous.d); d } until round is 2", "Use previous.step1_describe (may be null)."),
        ("race { Describe(prompt) } or { null } | Describe @ 'again'", "Use step2_race (may be null)."),
    ],
)  # fmt: skip
def test_a_hint_says_what_may_be_null(program: str, told: str) -> None:
    [made] = instrc.artefacts(program, vibes=VIBES)
    assert told in hints(made.documents["process"])


@every_case(
    ("call", "told"),
    [
        ("Describe(mine: a._plan, other: b.ok)", "Use step1_draft._plan as mine, step2_check.ok as other."),
        ("Describe(other: a._plan, mine: b.ok)", "Use step1_draft._plan as other, step2_check.ok as mine."),
        ("Describe(draft: a, check: b)", "Use step1_draft, step2_check."),
        ("Describe(ok: b.ok, both: { a, x: b })", "Use step1_draft as both.a, step2_check as both.x."),
        ("Describe(mine: b, other: b)", "Use step2_check as mine and other."),
        ("Describe(whole: b, part: b.ok)", "Use step2_check as whole, step2_check.ok as part."),
        ("Describe({ b })", "Use step2_check as b."),
        ("Describe(b, b.ok)", "Use step2_check."),
    ],
)
def test_a_hint_gives_the_label_of_a_value(call: str, told: str) -> None:
    [made] = instrc.artefacts(f"const a = Draft(); const b = Check(a); {call}", vibes=VIBES, report=instrc.Report())
    assert hints(made.documents["tool"])[-1] == told


@every_case(
    ("program", "tool", "result"),
    [
        ("{ _plan: Draft, check: Check(_plan, prompt) }", "Use prompt, _plan.", "Use prompt."),
        ("{ _plan: Draft, check: Check(_plan) }", "Use _plan.", None),
        ("const d = Draft(); Check(d._plan, d)", "Use step1_draft._plan, step1_draft.", "Use step1_draft."),
        ("{ a: { _p: Draft, q: Check(_p) } }", "Use _p.", None),
    ],
)
def test_a_hint_of_a_result_names_no_thought(program: str, tool: str, result: str | None) -> None:
    [made] = instrc.artefacts(program, vibes=VIBES)
    assert hints(made.documents["tool"])[-1] == tool
    found = hints(made.documents["result"])
    assert not any("_p" in hint for hint in found)
    assert result is None or found[-1] == result


@every_case("hint", ["Use {paths}.", "Смотри {paths}, и снова {paths}"])
def test_paths_of_a_hint_are_renamed_and_what_is_said_of_them_is_not(hint: str, tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.instrc]\nhint = "{hint}"\n', encoding="utf-8")
    (tmp_path / "p.aug").write_text(
        'input тема @ "тема письма"; { язык: Describe(тема), b: Check(язык, тема) }', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    [made] = instrc.artefacts(tmp_path / "p.aug", vibes=VIBES)
    payload: Any = instrc.lower(made, target="anthropic").payload
    properties = payload["input_schema"]["properties"]
    listed = "тема (тема письма), yazyk"
    assert list(properties) == ["yazyk", "b"]
    assert properties["b"]["description"] == hint.replace("{paths}", listed)
