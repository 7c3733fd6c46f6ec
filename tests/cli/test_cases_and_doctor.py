"""`instrc test` carries out the cases beside programs; `instrc doctor` says what counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_lines import Instrc

from instrc.text.files import MOST_BYTES  # the limit that is tried here

PROGRAM = """
const mail = prompt | @{
  title: "Draft", type: "object", required: ["text"],
  properties: { _why: { type: "string" }, text: { type: "string", maxLength: 9 }, "$score": { type: "number" } },
};
const answer = mail | @{
  title: "Approve_User", type: "object", properties: { decision: { enum: ["Approve", "Reject"] } }, required: ["decision"],
};
when answer.decision is "Approve" { mail | @{ title: "Send_Activity", properties: { output: { type: "string" } } } }
"""
CASES = """# Cases

## An answer is divided

```json answer
{ "step1_draft": { "_why": "short", "text": "Hi", "$score": 3 } }
```
```json output
{ "step1_draft": { "text": "Hi" } }
```
```json metrics
{
  "step1_draft.$score": 3
}
```

## An answer that is too long is refused

```json answer
{ "step1_draft": { "text": "0123456789" } }
```
```problems
/step1_draft/text "0123456789" is too long
```

## What a provider returns is lifted

```json answer openai
{
  "type": "function",
  "function": { "name": "mail", "arguments": "{\\"step1_draft\\": {\\"_why\\": null, \\"text\\": \\"Hi\\", \\"$score\\": null}}" }
}
```
```json output
{ "step1_draft": { "text": "Hi" } }
```

## A run in which a person agrees

```json answers
{ "draft": { "text": "Hi" }, "approve": { "decision": "Approve" }, "Send_Activity": "sent" }
```
```json value
"sent"
```

## A run that fails

```json answers
{ "draft": { "text": "Hi" }, "approve": { "decision": "Approve" }, "Send_Activity": { "fail": "no line" } }
```
```json error
{ "kind": "failed", "message": "no line" }
```
"""


@pytest.fixture(autouse=True)
def program(folder: Path) -> None:
    (folder / "mail.aug").write_text(PROGRAM)
    (folder / "mail.cases.md").write_text(CASES)


def test_cases_that_hold_pass(instrc: Instrc) -> None:
    done = instrc("test")
    assert done.out == ""
    assert (done.code, done.err) == (0, "5 passed\n")


def test_the_only_step_of_a_program_is_answered_by_its_name(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.aug").write_text('prompt | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }')
    case = '## A run\n\n```json answers\n{ "draft": { "text": "Hi" } }\n```\n```json value\n{ "text": "Hi" }\n```\n'
    for name in ("draft", "Draft", "step1_draft", "llmContext1"):
        (folder / "mail.cases.md").write_text(case.replace("draft", name))
        assert instrc("test").err == "1 passed\n"


def test_a_direct_call_takes_the_answer_of_its_activity_and_refuses_one_that_nothing_takes(instrc: Instrc, folder: Path) -> None:
    send = '@{ title: "Send_Activity", properties: { text: {} } }'
    (folder / "mail.aug").write_text(
        f'prompt | @{{ title: "Draft", type: "object", properties: {{ text: {{ type: "string" }} }} }} | {send}'
    )
    case = '## A run\n\n```json answers\n{ "draft": { "text": "Hi" }%s }\n```\n```json %s\n%s\n```\n'
    failing = ', "%s": { "fail": "no line" }'
    for answer, word, value in (
        ("", "output", '{ "step1_draft": { "text": "Hi" } }'),
        (failing % "Send_Activity", "error", '{ "message": "no line" }'),
    ):
        (folder / "mail.cases.md").write_text(case % (answer, word, value))
        assert instrc("test").err == "1 passed\n"
    (folder / "mail.cases.md").write_text(case % (failing % "Sned_Activity", "output", '{ "step1_draft": { "text": "Hi" } }'))
    assert "there is no answer for `serverContext1.send_activity` or `Send_Activity`" in instrc("test").out


def test_cases_are_chosen_by_their_titles(instrc: Instrc) -> None:
    assert instrc("test", "-k", "person").err == "1 passed\n"
    assert instrc("test", "mail.aug", "-k", "refused").err == "1 passed\n"
    none = instrc("test", "-k", "nothing like it")
    assert (none.code, none.err) == (5, "none of the 5 cases contains `nothing like it` in its title or file\n")


def test_a_program_with_a_dot_in_its_name_has_cases_of_its_own(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.v2.aug").write_text("Foo(;")
    none = "mail.v2.aug has no cases: there is no mail.v2.cases.md beside it\n"
    assert instrc("test", "mail.v2.aug").err.startswith(none)
    (folder / "mail.v2.cases.md").write_text(CASES)
    assert instrc("test", "mail.v2.aug").err.endswith("0 passed, 5 failed\n")


def test_a_difference_is_shown_with_its_place(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.cases.md").write_text(CASES.replace('"sent"\n```\n', '"gone"\n```\n'))
    done = instrc("test")
    assert done.code == 1
    assert "mail.cases.md:38: A run in which a person agrees\n" in done.out
    assert '  -"gone"\n  +"sent"\n' in done.out
    assert done.err == "4 passed, 1 failed\n"


def test_what_comes_out_is_written_into_the_cases(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.cases.md").write_text(
        CASES.replace('"sent"\n```\n', "```\n").replace('/step1_draft/text "0123456789" is too long', "x")
    )
    assert instrc("test", "--update").err == "wrote mail.cases.md\n5 passed\n"
    assert (folder / "mail.cases.md").read_text() == CASES
    assert instrc("test").code == 0


def test_lines_of_a_file_may_end_as_on_windows_and_stay_so(instrc: Instrc, folder: Path) -> None:
    cases = folder / "mail.cases.md"
    cases.write_bytes(CASES.replace("\n", "\r\n").encode())
    assert instrc("test").err == "5 passed\n"
    cases.write_bytes(CASES.replace('"sent"\n```\n', "```\n").replace("\n", "\r\n").encode())
    assert instrc("test", "--update").err == "wrote mail.cases.md\n5 passed\n"
    assert cases.read_bytes() == CASES.replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("```json output\n{}\n```", "it gives nothing"),
        ("```json answer\n{}\n```", "it expects nothing"),
        ("```json answer\n{\n```\n```json output\n{}\n```", "is not JSON"),
        (
            '```json answer\n{"a": 1, "a": 2}\n```\n```json output\n{}\n```',
            "the block `answer` has the key `a` twice in one object",
        ),
        (
            "```json answer openai gemini\n{}\n```\n```json output\n{}\n```",
            "the block `answer` names several targets, `openai`, `gemini`: make a case of each",
        ),
        ("```json answers\n{}\n```\n```json value\n1\n```", "there is no answer for"),
        ("```json answers\n5\n```\n```json value\n1\n```", "is an object"),
        ("```json answer export=x\n{}\n```\n```json output\n{}\n```", "there is no export `x`"),
    ],
)
def test_a_case_that_cannot_be_carried_out_says_why(instrc: Instrc, folder: Path, case: str, said: str) -> None:
    (folder / "mail.cases.md").write_text(f"## It\n\n{case}\n")
    done = instrc("test")
    assert done.code == 1
    assert said in done.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"prompt": "a", "langauge": "de"}', "no run takes its `input`: the input `langauge` is not declared"),
        ('{"prompt": "a", "language": "fr"}', "no run takes its `input`: the input `language` does not fit"),
        ('"a"', '"text": "Hallo"'),
    ],
)
def test_the_input_of_a_case_is_that_of_a_run(instrc: Instrc, folder: Path, given: str, said: str) -> None:
    vibe = 'prompt | @{{ title: "{}", type: "object", properties: {{ text: {{ type: "string" }} }} }}'
    branches = " else ".join(f"{{ {vibe.format(name)} }}" for name in ("German", "English"))
    (folder / "mail.aug").write_text(
        f'input language @ {{ enum: ["de", "en"], default: "de" }};\nwhen language is "de" {branches}\n'
    )
    answers = '{ "german": { "text": "Hallo" }, "english": { "text": "Hello" } }'
    blocks = {"input": given, "answers": answers, "value": "1"}
    written = "".join(f"```json {word}\n{value}\n```\n" for word, value in blocks.items())
    (folder / "mail.cases.md").write_text(f"## One\n\n{written}")
    done = instrc("test")
    assert done.code == 1
    assert said in done.out


def test_steps_of_one_chunk_are_answered_by_their_names(instrc: Instrc, folder: Path) -> None:
    (folder / "two.aug").write_text(
        '@{ title: "FirstDraft", type: "object" } | @{ title: "Draft", type: "object" }'
        ' | @{ title: "Approve_User", type: "object" }'
    )
    answers = '{ "first_draft": { "text": "a" }, "draft": [{ "text": "b" }], "approve": { "ok": true } }'
    case = f"## It\n\n```json answers\n{answers}\n```\n```json value\n{{}}\n```\n"
    (folder / "two.cases.md").write_text(case)
    assert instrc("test", "two.aug", "--update").code == 0
    assert '"ok": true' in (folder / "two.cases.md").read_text()
    (folder / "two.cases.md").write_text(case.replace("first_draft", "fist_draft"))
    assert "there is no answer for `llmContext1`, nor for its steps `step1_first_draft`" in instrc("test", "two.aug").out


def test_no_cases_are_an_exit_code_of_their_own(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.cases.md").unlink()
    assert instrc("test").code == 5


def test_a_program_with_mistakes_fails_its_cases(instrc: Instrc, folder: Path) -> None:
    (folder / "mail.aug").write_text("Nothing")
    done = instrc("test")
    assert done.code == 1
    assert "[unknown-name]" in done.err


def test_the_doctor_says_what_is_there_and_what_counts(instrc: Instrc, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    done = instrc("doctor", "--root", "schemas")
    assert (done.code, done.err) == (0, "")
    assert "instrc " in done.out
    assert re.search(r"^  schemas  \d+ vibes?, given by --root or --shared$", done.out, re.MULTILINE)
    assert "  schemas  " in (beside := instrc("doctor").out)
    assert "vibes, beside what is compiled\n" in beside
    assert "--root" not in beside
    assert "extras:" in done.out
    assert re.search(r"^  openai +OPENAI_API_KEY is not set, OPENAI_BASE_URL is not set$", done.out, re.MULTILINE)
    monkeypatch.setenv("LLAMACPP_BASE_URL", "http://user:word@elsewhere/v1")
    told = instrc("doctor").out
    assert re.search(r"^  llamacpp +LLAMACPP_BASE_URL is set$", told, re.MULTILINE)
    assert "elsewhere" not in told
    assert re.search(r"^  vllm .*VLLM_BASE_URL is not set \(http://127\.0\.0\.1:8000/v1\)$", told, re.MULTILINE)
    (folder / "pyproject.toml").write_text("[tool.instrc]\nroots = 5\n")
    assert instrc("doctor").code == 1


def test_a_case_of_a_target_that_does_not_exist_is_told(instrc: Instrc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.aug").write_text(PROGRAM)
    (tmp_path / "x.cases.md").write_text("## A\n\n```json answer opnai\n{}\n```\n```json output\n```\n")
    done = instrc("test")
    assert (done.code, done.out) == (1, "x.cases.md:1: A: there is no target `opnai`; did you mean `openai`?\n")


def test_a_program_that_is_named_and_has_no_cases_is_told(instrc: Instrc, folder: Path) -> None:
    (folder / "other.aug").write_text(PROGRAM)
    done = instrc("test", "mail.aug", "other.aug")
    assert (done.code, done.err) == (0, "other.aug has no cases: there is no other.cases.md beside it\n5 passed\n")


@pytest.mark.parametrize("path", ["", "mial.aug"])
def test_a_path_that_leads_nowhere_is_a_problem(instrc: Instrc, path: str) -> None:
    done = instrc("test", "mail.aug", path)
    assert done.code == 1
    assert "there is no such file [unreadable-file]" in done.err


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (
            '```json answer\n{ "step1_draft": { "text": 5 } }\n```\n```json output\n{ "step1_draft": { "text": 5 } }\n```\n',
            "/step1_draft/text 5 is",
        ),
        (
            '```json answer openai\n{ "name": "mail", "arguments": {} }\n```\n```json metrics\n{}\n```\n',
            '"step1_draft" is a required',
        ),
        (
            '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n```json metric\n{}\n```\n```json thoughts\n{}\n```\n',
            "did you mean `metrics`?",
        ),
        (
            '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n```json wanted\n{}\n```\n',
            "a block `json wanted` has no meaning: there are `answer`",
        ),
        (
            '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n```problem\n```\n```json thoughts\n{}\n```\n',
            "a block `problem` has no meaning: did you mean `problems`?",
        ),
    ],
    ids=["a wrong answer", "a wrong call", "a misspelt word", "an unknown word", "a misspelt word without json"],
)
def test_nothing_wrong_passes_in_a_case(instrc: Instrc, tmp_path: Path, blocks: str, said: str) -> None:
    (tmp_path / "mail.aug").write_text(PROGRAM)
    (tmp_path / "mail.cases.md").write_text(f"## One\n\n{blocks}")
    for words in ((), ("--update",)):
        done = instrc("test", str(tmp_path), *words)
        assert done.code == 1
        assert said in done.out
        assert (tmp_path / "mail.cases.md").read_text() == f"## One\n\n{blocks}"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("jsonc", "`jsonc` has no meaning"),
        ("{json}", "`{json}` has no meaning"),
        ("JSON", "expected output"),
        (" json", "expected"),
    ],
)
def test_each_spelling_of_a_block_of_json_is_read_or_told(instrc: Instrc, folder: Path, language: str, said: str) -> None:
    blocks = '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n```json thoughts\n{}\n```\n'
    (folder / "mail.cases.md").write_text(f"## One\n\n{blocks}```{language} output\n{{}}\n```\n")
    done = instrc("test")
    assert done.code == 1
    assert said in done.out


def test_a_block_of_another_language_is_no_part_of_a_case(instrc: Instrc, tmp_path: Path) -> None:
    (tmp_path / "mail.aug").write_text(PROGRAM)
    note = '```python\nprint(1)\n```\n```json\n{ "any": 1 }\n```\n'
    case = '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n```json thoughts\n{}\n```\n'
    (tmp_path / "mail.cases.md").write_text(f"## One\n\n{note}{case}")
    assert instrc("test", str(tmp_path)).code == 0


TIMED = """
const asked = repeat { const poll = prompt | @{
  title: "Poll_Activity", properties: { output: { type: "object", properties: { ready: { type: "boolean" } } } },
} @ { delay: "PT1H" }; poll } until poll.ready max 5;
(try { asked | @{ title: "Approve_User", type: "object" } @ { within: "P2D" } } else { error.kind }) @ { within: "P3D" }
"""


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{ "ok": true }', '{\n  "ok": true\n}'),
        ('{ "fail": { "kind": "timeout" } }', '"timeout"'),
        ('{ "fail": "ill" }', '"failed"'),
    ],
)
def test_deadlines_pass_only_for_whom_the_case_says_so(instrc: Instrc, folder: Path, answer: str, value: str) -> None:
    (folder / "timed.aug").write_text(TIMED)
    answers = f'{{ "poll": [{{ "ready": false }}, {{ "ready": true }}], "approve": {answer} }}'
    (folder / "timed.cases.md").write_text(f"## It\n\n```json answers\n{answers}\n```\n```json value\n{value}\n```\n")
    done = instrc("test", "timed.aug")
    assert (done.out, done.code) == ("", 0)


def test_a_deadline_that_delays_use_up_passes(instrc: Instrc, folder: Path) -> None:
    (folder / "timed.aug").write_text(TIMED.partition("(try")[0].replace("repeat", "try { (repeat") + "asked")
    text = (folder / "timed.aug").read_text().replace("max 5;", 'max 5) @ { within: "PT90M" } } else { error.kind };')
    (folder / "timed.aug").write_text(text)
    answers = '{ "poll": { "ready": false } }'
    (folder / "timed.cases.md").write_text(f'## It\n\n```json answers\n{answers}\n```\n```json value\n"timeout"\n```\n')
    assert instrc("test", "timed.aug").out == ""


def test_a_run_that_fails_unexpectedly_says_why(instrc: Instrc, folder: Path) -> None:
    answers = '{ "draft": { "text": "Hi" }, "approve": { "decision": "Approve" }, "Send_Activity": { "fail": "no line" } }'
    case = f'## It\n\n```json answers\n{answers}\n```\n```json value\n"sent"\n```\n'
    (folder / "mail.cases.md").write_text(case)
    done = instrc("test")
    assert done.code == 1
    assert "It: the run failed: no line (failed); if that is right, write a block `json error`" in done.out
    (folder / "mail.cases.md").write_text(f"{case}```json error\n```\n")
    assert '-"sent"' in instrc("test").out


ANSWER = '```json answer\n{ "step1_draft": { "text": "a" } }\n```\n'
OUTPUT = '```json output\n{ "step1_draft": { "text": "a" } }\n```\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"# Mail\n\n{ANSWER}{OUTPUT}",
            "3: before the first case: this block belongs to no case: write a heading `## …` before it",
        ),
        (f"##Mail\n{ANSWER}{OUTPUT}", "2: before the first case: this block belongs to no case"),
        (f"{ANSWER}\n## Mail\n{ANSWER}{OUTPUT}", "1: before the first case: this block belongs to no case"),
        (f"## Mail\n{ANSWER}{ANSWER}{OUTPUT}", "1: Mail: it has two blocks `json answer`: make two cases of it"),
        (f"## Mail\n{ANSWER}```json answers\n{{}}\n```\n{OUTPUT}", "1: Mail: it has both `json answer` and `json answers`"),
        (f"## Mail\n{ANSWER}```json input\n{{}}\n```\n{OUTPUT}", "1: Mail: `json input` is for a whole run"),
        (f"## Mail\n{ANSWER}{OUTPUT}```json thoughts\n{{}}\n", "1: Mail: the block of line 8 is not closed: write ```` ``` ````"),
        (f"## Mail\n{ANSWER.replace('answer', 'answer export=mial')}{OUTPUT}", "no export `mial`: did you mean `mail`?"),
    ],
)
def test_blocks_without_effect_fail_a_file_of_cases(instrc: Instrc, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "mail.aug").write_text(PROGRAM)
    (tmp_path / "mail.cases.md").write_text(text)
    done = instrc("test", str(tmp_path))
    assert done.code == 1
    assert said in done.out


def test_blocks_may_be_indented_as_in_a_list(instrc: Instrc, tmp_path: Path) -> None:
    (tmp_path / "mail.aug").write_text(PROGRAM)
    blocks = "".join(f"  {line}\n" for line in (ANSWER + OUTPUT).splitlines())
    (tmp_path / "mail.cases.md").write_text(f"## Mail\n\n{blocks}")
    assert instrc("test", str(tmp_path)).code == 0


def test_a_wrong_value_is_shown_in_the_form_of_what_came(instrc: Instrc) -> None:
    """However the case is written, only the lines that differ are marked."""
    Path("mail.aug").write_text(PROGRAM, encoding="utf-8")
    case = '## A\n```json answer\n{"step1_draft": {"text": "Hi"}}\n```\n```json output\n{"step1_draft": {"text": "Ho"}}\n```\n'
    Path("mail.cases.md").write_text(case, encoding="utf-8")
    printed = instrc("test").out.splitlines()
    assert [line.strip() for line in printed if line.lstrip()[:1] in "+-"][2:] == ['-    "text": "Ho"', '+    "text": "Hi"']


def test_a_file_without_a_case_is_told(instrc: Instrc) -> None:
    Path("mail.aug").write_text(PROGRAM, encoding="utf-8")
    Path("mail.cases.md").write_text("# Cases\n\n### Too deep\n```json\n{}\n```\n", encoding="utf-8")
    done = instrc("test")
    assert done.code == 5
    assert done.err.startswith("mail.cases.md has no cases: a case is a heading `## …`, and blocks below it")


@pytest.mark.parametrize(
    ("data", "name"), [(CASES.encode().replace(b"short", b"sh\xffrt"), "not-utf8"), (b"\n" * (MOST_BYTES + 1), "too-large")]
)
def test_a_file_of_cases_that_cannot_be_read_whole_is_told_and_kept(instrc: Instrc, data: bytes, name: str) -> None:
    Path("mail.aug").write_text(PROGRAM, encoding="utf-8")
    Path("mail.cases.md").write_bytes(data)
    done = instrc("test", "--update")
    assert (done.code, f"[{name}]" in done.err) == (1, True)
    assert Path("mail.cases.md").read_bytes() == data


def test_models_and_the_doctor_show_what_was_refused_until_it_is_forgotten(instrc: Instrc, folder: Path) -> None:
    from instrc.runtime.models.forms import learn  # as a run does

    assert "anthropic*:claude-opus-5*  forced unless thinking is off" in (shown := instrc("models").out)
    assert "refused here: nothing" in shown
    learn(folder / ".instrc" / "models.sqlite", "openai:m\x1b", "forced", "tool_choice is not supported")
    for command in ("models", "doctor"):
        line = next(line for line in instrc(command).out.splitlines() if "tool_choice is not supported" in line)
        assert "forced, on 20" in line
        assert "\x1b" not in line
    assert "forgotten: 1 refused" in instrc("doctor", "--forget").out
    assert "refused here: nothing" in instrc("models").out
