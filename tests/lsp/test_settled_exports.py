"""A check that knows what was right before finds what a check from scratch finds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypeAlias

import pytest
from hunting import examples
from hypothesis import example, given
from hypothesis import strategies as st

from instrc import Problem
from instrc.compiler.bind import bind as binding  # counted or replaced here
from instrc.lsp.session import EditorSession  # a session without a client

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
VIBES = {
    "draft": TEXT,
    "identify": {"type": "object", "properties": {"organizer": {"type": "string"}, "all": {"type": "array", "items": TEXT}}},
    "send_Activity": {"type": "object", "properties": {"sent": {"type": "boolean"}}},
    "page_Mixin": {"type": "object", "properties": {"header": {}, "default": {}}, "required": ["header"]},
    "old": TEXT,
    "old@1": TEXT,
    "wrong": {"type": "object", "properties": {"a": {"type": "strin"}}},
    "never": {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"a": {"type": "null"}}}]},
}
CALLED = (
    "input about; tool letter = Draft(about);",
    "tool letter = Draft(prompt);",
    "tool letter = Page_Mixin(Draft(prompt));",
    "",
)
"""What a program that others call may say."""
NAMES = ("a", "b", "é", "x·y", "header")
RIGHT = (
    "const {0} = Draft({1});",
    "const {0} = Identify({1});",
    "tool {0} = Draft({1}) @ 'Be brief.';",
    "const {0} = {1};",
    "input {0};",
    "input {0} @ {{ type: 'object', properties: {{ text: {{}} }} }}; Draft({0}.text);",
    "Draft({1});",
    "'Answer it' | Draft({1}) | Send_Activity;",
    'when Identify({1}).organizer is "Ada" {{ Send_Activity({1}) }} else {{ const x = Draft({1}); Send_Activity(x) }};',
    "const {0} = repeat {{ const d = Draft({1}); d }} until d.text max 3;",
    "Page_Mixin({{ header: Draft({1}) }});",
    "tool {0} = Draft({{ text: '{1}' }}); // {1}",
)
TOLD = (
    "const {0} = Page_Mixin(Draft({1}));",
    "Page_Mixin(Draft({1}));",
    "each p in Identify({1}).all {{ const {0}1 = Draft(p); {0}1 }};",
    'when Draft({1}).text is "Ada" {{ Draft(prompt) }};',
    "Letter({1});",
    "tool {0} = Old({1});",
    "tool {0} = Letter({{ about: {1} }});",
)
WRONG = (
    "Never({1});",
    "Wrong({1});",
    "{1}.nothing;",
    "Unknown({1});",
    "return Draft({1});",
    "const Fail = {1};",
    "try {{ Draft({1}) }} else {{ Fail(error.message) }};",
    "const {1} = Draft(prompt);",
)
Part: TypeAlias = tuple[str, str, int]
"""A statement, the name it defines, and which of the names before it stands in it."""
Edit: TypeAlias = "tuple[int, int, Part | None, str, bool]"
"""Where, how many statements go, which one comes, what is typed there, and whether all that is taken back behind it."""

statements = st.sampled_from([*RIGHT * 4, *TOLD * 2, *WRONG])
parts = st.tuples(statements, st.sampled_from(NAMES), st.integers(0, 9))
typed = st.sampled_from([*["", "\n", "// no\n"] * 4, "x", ";", "prompt", "{"])
edits = st.tuples(st.integers(0, 1000), st.integers(0, 1), st.one_of(st.none(), parts), typed, st.booleans())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("settled")
    (folder / "pyproject.toml").write_text("")
    (folder / "schemas").mkdir()
    for name, schema in VIBES.items():
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
    return str(folder / "a.aug")


def written(part: Part, number: int, before: list[str]) -> str:
    """Return a statement that defines a name of its own and reads one that was defined before it, or is wrong in its way."""
    statement, name, read = part
    known = ["prompt", *(found for each in before for found in re.findall(r"^(?:const|tool|input) (\S+?)(?= |;)", each))]
    return statement.format(f"{name}{number}", known[read % len(known)])


def told(session: EditorSession, file: str, text: str) -> list[object]:
    return [shown(problem) for problem in session.check(session.put(file, text))]


def shown(problem: Problem) -> object:
    at = problem.at
    place = None if at is None else (at.source.name, at.start, at.end)
    labels = [(label.span.source.name, label.span.start, label.span.end, label.text) for label in problem.labels]
    return problem.name, problem.severity, place, problem.message, problem.hint, labels


changes_of_texts = st.lists(st.tuples(edits, st.sampled_from(CALLED)), min_size=1, max_size=6)


@examples(200)
@example([("const {0} = Draft({1});", "a", 0), ("tool {0} = Old({1});", "b", 0)], [((1000, 0, None, "", True), CALLED[0])])
@given(st.lists(parts, max_size=8), changes_of_texts)
def test_each_check_tells_what_one_from_scratch_tells(file: str, row: list[Part], changes: list[tuple[Edit, str]]) -> None:
    session = EditorSession()
    rows: list[str] = []
    for number, part in enumerate(row):
        rows.append(written(part, number, rows))
    start = (0, 0, None, "", False), CALLED[0]
    for number, ((where, gone, part, typing, back), called) in enumerate([start, *changes], start=len(row)):
        at = where * (len(rows) + 1) // 1001
        added = [] if part is None else [written(part, number, rows[:at])]
        texts = ["\n".join([*rows[:at], typing, *added, *rows[at + gone :]])]
        if back:
            texts.append("\n".join(rows))
        else:
            rows = [*rows[:at], *added, *rows[at + gone :]]
        Path(file).with_name("schemas").joinpath("letter.aug").write_text(called)
        for text in texts:
            assert told(session, file, text) == told(EditorSession(), file, text), text


def test_only_the_exports_that_an_edit_touches_are_bound_again(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []
    graph_of = binding._graph_of
    monkeypatch.setattr(
        binding, "_graph_of", lambda export, *rest: bound.append(export.expression.span.text) or graph_of(export, *rest)
    )
    session = EditorSession()
    text = "const a = Draft(prompt); const b = Draft(prompt);\n"
    text += "tool x = Identify(a);\ntool y = Send_Activity(a);\ntool z = Identify(b);\n"

    def bound_by(text: str) -> list[str]:
        bound.clear()
        assert not told(session, file, text)
        return list(bound)

    assert bound_by(text) == ["Identify(a)", "Send_Activity(a)", "Identify(b)"]
    assert bound_by("// a comment\n" + text) == []
    assert bound_by(text.replace("a = Draft(prompt)", "a = Draft(prompt) @ 'Be brief.'")) == ["Identify(a)", "Send_Activity(a)"]
