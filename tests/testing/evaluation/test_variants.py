"""Versions of a program: other vibes, mixins left out, an earlier revision, each part changed in turn."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import instrc
from instrc.compiler.tuned import PromptForm
from instrc.engines.prepare import prepare
from instrc.testing.evaluation.variants import (  # as a command makes them
    Version,
    at_revision,
    parts_of,
    with_vibes,
    without,
)

DRAFT = {
    "title": "Draft",
    "description": "Write it.",
    "type": "object",
    "properties": {"_plan": {"type": "string", "description": "First."}, "text": {"type": "string"}},
    "required": ["_plan", "text"],
}
PROGRAM = '"Letter" | Introspect_Mixin(Draft(prompt));\n'


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "letter.aug").write_text(PROGRAM)
    write(tmp_path / "schemas/Draft.vibe.json", DRAFT)
    short = DRAFT["properties"] | {"text": {"type": "string", "maxLength": 9}}
    write(tmp_path / "schemas/Short.vibe.json", DRAFT | {"title": "Short", "properties": short})
    write(tmp_path / "schemas/More.vibe.json", {"allOf": [{"$ref": "aug:Draft"}, {"properties": {"end": {"const": "Bye"}}}]})
    monkeypatch.chdir(tmp_path)
    return "letter.aug"


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def shown(prepared: Any) -> str:
    return json.dumps(prepared.document)


def properties(prepared: Any) -> dict[str, Any]:
    return prepared.document["properties"]


def test_parts_are_mixins_thoughts_descriptions_and_the_order(program: str) -> None:
    assert [(part.kind, part.name) for part in parts_of(program)] == [
        ("mixin", "Introspect_Mixin"),
        ("description", "draft"),
        ("order", "draft"),
        ("thought", "draft._considerations"),
        ("description", "draft._considerations"),
        ("thought", "draft._plan"),
        ("description", "draft._plan"),
        ("thought", "draft._feedback"),
        ("description", "draft._feedback"),
    ]


def test_a_program_without_a_part_is_the_same_but_for_it(program: str) -> None:
    whole = prepare(program)
    for part in parts_of(program):
        made = without(program, part)
        assert shown(made) != shown(whole)
        expected = json.loads(shown(whole))
        match part.kind, part.name.split(".")[1:]:
            case "mixin", _:
                left = ("_considerations", "_feedback")
                expected["properties"] = {key: each for key, each in expected["properties"].items() if key not in left}
                expected["required"] = [key for key in expected["required"] if key not in left]
            case "thought", [name]:
                del expected["properties"][name]
                expected["required"].remove(name)
            case "description", [name]:
                del expected["properties"][name]["description"]
            case "description", _:
                expected["description"] = expected["description"].replace("Write it.\n", "")
            case "order", _:
                assert list(properties(made)) == list(reversed(properties(whole)))
                expected["required"] = made.document["required"]
        assert made.document == expected, part


@pytest.mark.parametrize("other", ["Short", "schemas/Short.vibe.json", "aug:Short"])
def test_another_vibe_is_called_by_the_old_name(program: str, other: str) -> None:
    made = with_vibes(program, {"Draft": other}, ())
    assert properties(made)["text"] == {"type": "string", "maxLength": 9}
    assert made.step == prepare(program).step


def test_another_vibe_may_extend_the_one_that_it_replaces(program: str) -> None:
    made = with_vibes(program, {"Draft": "More"}, ("Introspect_Mixin",))
    assert list(properties(made)) == ["_plan", "text", "end"]


def test_inline_steps_and_each_export_have_parts_too(tmp_path: Path) -> None:
    file = tmp_path / "two.aug"
    inline = '@{ title: "%s", type: "object", properties: { _why: { type: "string" }, %s: { type: "string" } } }'
    file.write_text(f"tool first = {inline % ('First', 'a')};\ntool second = {inline % ('Second', 'b')};\n")
    [order, thought, *_] = parts_of(str(file), export="second")
    assert (order.kind, thought.name) == ("order", "second._why")
    assert list(properties(without(str(file), thought, export="second"))) == ["b"]


def test_steps_of_one_request_are_tried_with_one_each(tmp_path: Path) -> None:
    file = tmp_path / "two.aug"
    step = '@{ title: "%s", type: "object", properties: { text: { type: "string" } } }'
    file.write_text(f"prompt | {step % 'First'} | {step % 'Second'};\n")
    [calls] = [part for part in parts_of(str(file)) if part.kind == "calls"]
    assert (calls.name, calls.form) == ("each", PromptForm(calls="each"))
    assert list(prepare(str(file)).document["properties"]) == ["step1_first", "step2_second"]
    assert list(properties(without(str(file), calls))) == ["llmContext1", "llmContext2"]


def test_steps_that_are_cut_by_hand_are_tried_in_one_request(tmp_path: Path) -> None:
    file = tmp_path / "two.aug"
    step = '@{ title: "%s", type: "object", properties: { text: { type: "string" } } }'
    contexts = f"LLM_Context({{ a: {step % 'First'} }}), LLM_Context({{ b: {step % 'Second'} }})"
    file.write_text(f"Process({contexts});\n")
    [calls] = [part for part in parts_of(str(file)) if part.kind == "calls"]
    assert calls.name == "one"
    assert list(properties(prepare(str(file)))) == ["llmContext1", "llmContext2"]
    assert list(properties(without(str(file), calls))) == ["a", "b"]


def test_properties_of_items_are_parts(tmp_path: Path) -> None:
    file = tmp_path / "list.aug"
    item = '{ type: "object", properties: { a: { type: "string", description: "A." }, b: { enum: [1, 2] } } }'
    file.write_text(f'@{{ title: "List", type: "object", properties: {{ all: {{ type: "array", items: {item} }} }} }};')
    assert [(part.kind, part.name) for part in parts_of(str(file))] == [
        ("order", "list.all[]"),
        ("description", "list.all[].a"),
        ("values", "list.all[].b"),
    ]


def test_versions_that_ask_the_same_are_known_as_that(program: str) -> None:
    whole = Version("now", prepare(program))
    assert whole.is_like(Version("unused", with_vibes(program, {"Nobody": "Short"}, ())))
    assert not whole.is_like(Version("other model", whole.prepared, "sample"))
    order = next(part for part in parts_of(program) if part.kind == "order")
    assert not whole.is_like(Version("reversed", without(program, order)))


def test_the_values_of_an_enum_are_reversed(tmp_path: Path) -> None:
    file = tmp_path / "mood.aug"
    file.write_text('@{ title: "Mood", type: "object", properties: { mood: { enum: ["a", "b", "c"] } } };')
    values = next(part for part in parts_of(str(file)) if part.kind == "values")
    assert values.name == "mood.mood"
    assert properties(without(str(file), values))["mood"] == {"enum": ["c", "b", "a"]}


def git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(program: str) -> str:
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    git("tag", "v1")
    write(Path("schemas/Draft.vibe.json"), DRAFT | {"description": "Write it well."})
    Path("pyproject.toml").write_text('[tool.instrc.run]\nmodel = "sample"\n')
    return program


def test_a_revision_has_its_own_vibes_and_the_settings_of_today(repository: str) -> None:
    made = at_revision(repository, "v1")
    assert "Write it.\n" in made.document["description"]
    assert "Write it well." in prepare(repository).document["description"]
    assert made.settings.run == {"model": "sample"}
    assert made.folder == prepare(repository).folder
    assert at_revision(repository, "HEAD").document == made.document


def test_a_folder_of_vibes_that_is_given_is_that_of_the_revision(repository: str) -> None:
    Path("schemas").rename("more")
    git("add", ".")
    git("commit", "-qm", "second")
    write(Path("more/Draft.vibe.json"), DRAFT | {"description": "Write it again."})
    project = instrc.vibes.project.Project(roots=("more",))
    assert "well" in at_revision(repository, "HEAD", project=project).document["description"]


def test_links_of_a_revision_lead_nowhere(repository: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "Draft.vibe.json"
    write(outside, DRAFT)
    Path("schemas/Draft.vibe.json").unlink()
    Path("schemas/Draft.vibe.json").symlink_to(outside)
    git("add", ".")
    git("commit", "-qm", "a link")
    Path("schemas/Draft.vibe.json").unlink()
    write(Path("schemas/Draft.vibe.json"), DRAFT)
    with pytest.raises(instrc.CompileError) as raised:
        at_revision(repository, "HEAD")
    assert raised.value.problems[0].name == "unknown-name"


@pytest.mark.parametrize("revision", ["nothing", "--help", "-x", "v1:letter.aug", "HEAD~99", "", "a\nb", "a b", "ä"])
def test_what_is_no_revision_is_refused(repository: str, revision: str) -> None:
    with pytest.raises(instrc.SettingsError, match="the revision") as raised:
        at_revision(repository, revision)
    assert raised.value.problems[0].name == "unusable-setting"


def test_a_program_that_the_revision_has_not_is_refused(repository: str) -> None:
    Path("new.aug").write_text(PROGRAM)
    with pytest.raises(instrc.SettingsError, match=r"it has no `new\.aug`"):
        at_revision("new.aug", "v1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"Draft": "Nobody"}, "no vibe has this name"),
        ({"Draft": "none.json"}, "none.json"),
        ({"Draft": "bad.json"}, "bad.json"),
    ],
)
def test_a_vibe_that_is_not_there_is_refused(program: str, given: dict[str, str], said: str) -> None:
    Path("bad.json").write_text("{")
    with pytest.raises(instrc.SettingsError, match=said):
        with_vibes(program, given, ())
