"""`instrc eval` measures programs on their cases: its reports, its exit codes, and what it writes for `instrc test`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_lines import Instrc
from http_server import Answer, serving

import instrc as package

PROGRAM = '@{ title: "Mood", type: "object", properties: { mood: { enum: ["good", "bad"] }, "$sure": { type: "integer" } } }'
CASES = [
    {"id": f"<{n}>|", "input": f"case {n}", "expected": {"mood": "bad" if n % 4 == 3 else "good"}, "tags": ["t"]}
    for n in range(40)
]
SCRIPT = {"mood": {"mood": "good", "$sure": 7}}
"""Right in 30 of 40 cases: the interval of the rate is 60 to 86 %."""


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    (folder / "mood.aug").write_text(PROGRAM, encoding="utf-8")
    (folder / "mood.eval.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in CASES), encoding="utf-8")
    (folder / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    (folder / "checking.py").write_text("def sure(run):\n    return run.run.metrics != {}\n", encoding="utf-8")


CODES = [
    ((), 0, ""),
    (("--min", "0.5"), 0, ""),
    (("--min", "90%"), 1, ""),
    (("--min", "mood=0.75"), 3, ""),
    (("--min", "moood=0.75"), 1, "did you mean `mood`?"),
    (("--min", "2"), 2, "--min"),
    (("--check", "sure=checking:sure", "--min", "sure=0.9"), 0, ""),
    (("--check", "sure=checking:shure"), 1, "checking:shure"),
    (("--requests", "5"), 4, ""),
    (("--max-cost", "x"), 2, "--max-cost"),
    (("-k", "nothing"), 2, "no case has"),
    (("-o", "r.pdf"), 2, "r.pdf"),
    (("--data", "other.eval.jsonl"), 1, "other.eval.jsonl"),
]


@pytest.mark.parametrize(("options", "code", "said"), CODES)
def test_the_exit_code_says_whether_the_gate_is_kept(instrc: Instrc, options: tuple[str, ...], code: int, said: str) -> None:
    done = instrc("eval", "mood.aug", "--model", "scripted:script.json", "-q", *options)
    assert done.code == code, done
    assert said in done.err
    assert not done.err if not said else done.err


def test_where_answers_are_cut_a_run_and_its_evaluation_say_what_to_set(instrc: Instrc, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    choice = {"index": 0, "message": {"role": "assistant", "content": '{"mood": "g'}, "finish_reason": "length"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    with serving(lambda _: Answer(json.dumps(body).encode())) as url:
        monkeypatch.setenv("LLAMACPP_BASE_URL", f"{url}/v1")
        model = ("--model", "llamacpp:small", "--set", "max_tokens=20")
        run = instrc("run", "mood.aug", *model, "--input", "x", "--engine", "memory")
        measured = instrc("eval", "mood.aug", *model, "-k", "<1>|")
    assert (run.code, "`max_tokens` gives an answer more room, `maxLength` keeps a text short" in run.err) == (1, True)
    assert "`max_tokens` gives an answer more room" in measured.out


def test_a_folder_is_searched_and_what_has_no_cases_is_told(instrc: Instrc, folder: Path) -> None:
    assert "30/40" in instrc("eval", "--model", "scripted:script.json").out
    (folder / "mood.eval.jsonl").unlink()
    assert instrc("eval").code == 2
    assert "mood.eval.jsonl" in instrc("eval", "mood.aug").err


def test_a_model_that_is_not_chosen_is_not_invented(instrc: Instrc) -> None:
    done = instrc("eval", "mood.aug")
    assert (done.code, "no-model" in done.err) == (1, True)
    assert "`--model sample`" in done.err
    assert "--rehearse" not in done.err, "which this command does not know"


def test_the_reports_say_the_same_in_every_form(instrc: Instrc, folder: Path) -> None:
    files = ["r.html", "r.md", "r.json", "r.xml", "r.txt"]
    given = [word for file in files for word in ("-o", file)]
    done = instrc("eval", "mood.aug", "--model", "scripted:script.json", "--n", "2", *given)
    assert done.code == 0
    assert (folder / "r.txt").read_text("utf-8") == done.out
    for text in (done.out, (folder / "r.md").read_text("utf-8"), (folder / "r.html").read_text("utf-8")):
        assert "30/40" in text
        assert "60–86 %" in text
    suite = ET.parse(folder / "r.xml").getroot()[0]  # noqa: S314  -- our own
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("80", "20", "0")
    [found] = json.loads((folder / "r.json").read_text("utf-8"))["evaluations"]
    again = package.EvaluationResult.from_json(found)
    assert (again.program, len(again.results), found["summary"]["checks"][0]["passed"]["value"]) == ("mood.aug", 80, 0.75)
    assert "&lt;3&gt;|" in (folder / "r.html").read_text("utf-8")
    assert "&lt;3&gt;\\|" in (folder / "r.md").read_text("utf-8")


def test_a_file_of_answers_is_of_one_program_and_others_are_refused_before_anything_is_asked(
    instrc: Instrc, folder: Path
) -> None:
    for ending in ("aug", "eval.jsonl"):
        (folder / f"other.{ending}").write_text((folder / f"mood.{ending}").read_text("utf-8"), encoding="utf-8")
    done = instrc("eval", "--model", "scripted:script.json", "-o", "answers.json")
    assert (done.code, "a file of answers is of one program" in done.err) == (2, True)
    assert not (folder / ".instrc").exists()


def test_what_is_recorded_of_a_program_with_a_dot_in_its_name_has_its_name(instrc: Instrc, folder: Path) -> None:
    for ending in ("aug", "eval.jsonl"):
        (folder / f"mood.v2.{ending}").write_text((folder / f"mood.{ending}").read_text("utf-8"), encoding="utf-8")
    assert instrc("eval", "mood.v2.aug", "--model", "scripted:script.json", "-q", "--record").code == 0
    assert [file.name for file in folder.glob("*.md")] == ["mood.v2.eval.cases.md"]


PROCESS = """
const found = prompt | @{ title: "Find_Activity", properties: { output: { type: "array", items: { type: "string" } } } };
const mails = each name in found max 3 {
  @{ title: "Greet", type: "object", properties: { text: { type: "string" } }, required: ["text"] }
};
const all = mails | @{
  title: "Sum_Up", type: "object", properties: { _why: { type: "string" }, text: { type: "string", maxLength: 3 } },
};
all | @{ title: "Approve_User", type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }
"""


def test_what_it_records_is_of_the_export_and_of_runs_that_have_ended(instrc: Instrc, folder: Path) -> None:
    step = 'prompt | @{{ title: "{0}", type: "object", properties: {{ {0}: {{ type: "string" }} }} }}'
    asking = f'{step.format("b")} | @{{ title: "Approve_User", type: "object" }}'
    (folder / "two.aug").write_text(f"tool First = {step.format('a')};\ntool Second = {asking};\n", encoding="utf-8")
    (folder / "script.json").write_text('{"a": {"a": "x"}, "b": {"b": "y"}}', encoding="utf-8")
    cases = [{"id": "one", "input": "x", "answers": {"approve": {}}}, {"id": "two", "input": "y"}]
    (folder / "two.eval.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    done = instrc("eval", "two.aug", "--export", "Second", "--model", "scripted:script.json", "--record")
    assert "not recorded, as the first run did not come to an end: 1 case\n" in done.err
    assert "export=" in (folder / "two.eval.cases.md").read_text("utf-8")
    assert instrc("test", "two.aug").err == "1 passed\n"


def test_what_it_records_is_replayed_without_a_model(instrc: Instrc, folder: Path) -> None:
    """Answers that were not accepted are left out; of a step that answers several times each answer has its place."""
    (folder / "greet.aug").write_text(PROCESS, encoding="utf-8")
    sums = [{"text": "too long"}, {"_why": "a", "text": "ok"}]
    script = {"greet": [{"text": "Hi Ann"}, {"text": "Hi Bob"}], "sum_up": sums}
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    answers = {"find": [["Ann", "Bob"]], "approve": {"ok": True}}
    case = {"id": "a ``` b", "input": "x", "answers": answers, "expected": {"ok": True}}
    failing = {"id": "c", "input": "y", "answers": {"find": {"fail": "it is closed"}}}
    (folder / "greet.eval.jsonl").write_text(f"{json.dumps(case)}\n{json.dumps(failing)}\n", encoding="utf-8")
    done = instrc("eval", "greet.aug", "--model", "scripted:script.json", "--concurrency", "1", "--record")
    assert "1/2" in done.out, done
    text = (folder / "greet.eval.cases.md").read_text("utf-8")
    assert "too long" not in text
    assert (instrc("test", "greet.aug").err, instrc("test").err) == ("2 passed\n", "2 passed\n")
    (folder / "greet.eval.cases.md").write_text(text.replace("Hi Bob", "Hi Eve"), encoding="utf-8")
    assert instrc("test", "greet.aug").code == 0, "what a step says in the middle is not what is expected"
