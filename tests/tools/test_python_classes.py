"""`instrc types`: the module imports, passes mypy, keeps order, and takes what models answer."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import BaseModel, ValidationError

import instrc
from instrc.cli import main
from instrc.tools.python_classes import class_name, module, module_parts  # one name without a module

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(path for path in (ROOT / "examples").glob("*/*.aug") if path.parent.name != "mistakes")
HOSTILE = [
    *("class", "model_config", "model_dump", "model_validate", "model_fields", "copy", "schema", "json", "validate", "self"),
    *("str", "int", "list", "date", "BaseModel", "Field", "Annotated", "Literal", "Any", "None", "True", "async", "Body"),
    *("", " ", "a b", "a-b", "a.b", "a/b", "1x", "$", "_", "__", "__init__", "__class__", "text", "Text", "_text", "$text"),
    *('x"y', "x\\y", "x\ny", '"""', "#/$defs/a", "%s", "{}", "{{x}}", "{% raw %}", "имя", "日本", "e\u0301", "é", "😀"),
    *("step1_class", "step2_BaseModel", "step3_str", "step4_", "step5_имя", "field_", "field_str"),
]
NUMBERS = count()


def loaded(text: str) -> ModuleType:
    """Return a module made of its text, as an import does it."""
    made = ModuleType(f"written_{next(NUMBERS)}")
    sys.modules[made.__name__] = made  # pydantic looks there for names
    exec(compile(text, made.__name__, "exec"), made.__dict__)  # noqa: S102  -- that it imports is the test
    return made


def classes(text: str) -> dict[str, type[BaseModel]]:
    """Return the models of a module by name, in its order."""
    found = vars(loaded(text)).items()
    return {
        name: each for name, each in found if isinstance(each, type) and issubclass(each, BaseModel) and each is not BaseModel
    }


def judged(place: Path) -> str:
    """Return what mypy has against a module."""
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(place)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_a_tool_its_steps_and_its_result_have_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "models.py"
    assert main(["types", str(ROOT / "examples/reply/reply.aug"), "-o", str(place)]) == 0
    assert "models.py" in capsys.readouterr().err
    found = classes(place.read_text())
    assert set(found) == {"AnswerALetter", "AnswerALetterResult", "ReadLetter", "WriteReply", "WriteReplyResult"}
    assert list(found["AnswerALetter"].model_fields) == ["step1_read_letter", "step2_write_reply"]
    assert list(found["WriteReply"].model_fields) == ["considerations", "text", "feedback"]
    assert list(found["WriteReplyResult"].model_fields) == ["text"]


@every_case("said", ["[tool.ruff]\nline-length = 20\n", "[tool.black", "\ufeff[tool.black]\n"])
def test_settings_of_other_tools_change_nothing(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vibe = {"type": "object", "properties": {"text": {"type": "string", "description": "a text that is " + "long " * 9}}}
    before = instrc.types("Draft", vibes={"Draft": vibe})
    (tmp_path / "pyproject.toml").write_text(said, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert instrc.types("Draft", vibes={"Draft": vibe}) == before


def test_docstrings_say_nothing_of_what_a_model_reads() -> None:
    program = ROOT / "examples/schedule-meeting/schedule-meeting.aug"
    assert "Use step" in json.dumps(instrc.compile(program))
    assert "Use " not in instrc.types(program)


def test_an_answer_becomes_an_instance_and_goes_back() -> None:
    program = ROOT / "examples/reply/reply.aug"
    [tool] = instrc.compile(program)
    lowered = instrc.lower(tool, "openai", "answer")
    found = classes(instrc.types(program))
    reply = {"_considerations": "short", "text": "On Monday.", "_feedback": "none"}
    value = {"step1_read_letter": {"asks": "a date"}, "step2_write_reply": reply}
    lifted = instrc.lift(value, lowered)
    whole: Any = lifted.as_model(found["AnswerALetter"])
    assert whole.step2_write_reply.considerations == "short"
    assert whole.model_dump(by_alias=True) == value
    result: Any = lifted.as_model(found["AnswerALetterResult"])
    assert result.step2_write_reply.model_dump() == {"text": "On Monday."}


def test_the_calls_of_a_process_have_a_class_each() -> None:
    found = classes(instrc.types(ROOT / "examples/schedule-meeting/schedule-meeting.aug"))
    assert list(found["ScheduleAMeeting"].model_fields) == ["step1_identify_participants", "step2_fetch_availability"]
    assert list(found["ScheduleAMeetingLlmContext2"].model_fields) == ["step4_find_common_slot", "step5_draft_invitation"]
    assert "step3_fetch_availability" in found["ScheduleAMeetingResult"].model_fields


def test_partial_classes_hold_an_answer_that_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    node = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "below": {"$ref": "#/$defs/node"}}}
    whole = {"title": "Draft", "type": "object", "required": ["text", "node"], "$defs": {"node": node}}
    whole["properties"] = {"text": {"type": "string", "minLength": 2}, "node": {"$ref": "#/$defs/node"}}
    (tmp_path / "draft.aug").write_text("Draft;")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/Draft.vibe.json").write_text(json.dumps(whole))
    assert main(["types", "draft.aug", "--partial", "-o", "models.py"]) == 0
    text = (tmp_path / "models.py").read_text()
    assert text == instrc.types("draft.aug", partial=True)
    found = classes(text)
    assert not set(found) - set(classes(instrc.types("draft.aug"))) - {"PartialDraft", "PartialDraftResult", "PartialNode"}
    assert found["PartialDraft"]() is not None
    with pytest.raises(ValueError, match="node"):
        found["Draft"](text="Dear")

    async def grown() -> list[Any]:
        app = instrc.App(model=instrc.Scripted([{"text": "Dear", "node": {"n": 1, "below": {"n": 2}}}]))
        return [part async for part in app.stream("draft.aug").values(found["PartialDraft"])]

    [part] = asyncio.run(grown())
    assert isinstance(part.node, found["PartialNode"])
    assert part.node.below.n == 2
    assert part.node.below.below is None


@pytest.mark.long
def test_the_modules_of_all_examples_import_and_pass_mypy(tmp_path: Path) -> None:
    assert PROGRAMS
    for number, program in enumerate(PROGRAMS):
        text = instrc.types(program, partial=True)
        assert text == instrc.types(program, partial=True)
        assert classes(text)
        (tmp_path / f"program{number}.py").write_text(text, encoding="utf-8")
    assert judged(tmp_path) == ""
    laid_out = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", str(tmp_path)]
    assert subprocess.run(laid_out, capture_output=True, check=False).returncode == 0


def test_equal_definitions_of_several_calls_are_one_class() -> None:
    def tree(value: str) -> dict[str, Any]:
        inside = {"value": {"type": value}, "inside": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}
        defined = {"tree": {"type": "object", "properties": inside, "required": ["value", "inside"]}}
        return {"type": "object", "properties": {"top": {"$ref": "#/$defs/tree"}}, "required": ["top"], "$defs": defined}

    vibes = {"Grow": tree("string"), "Count": tree("integer"), "Look_User": {"type": "object", "properties": {"ok": {}}}}
    found = classes(instrc.types('"Trees" | Grow | Look_User | Grow | Count', vibes=vibes))
    assert sorted(name for name in found if name.startswith("Tree") and "top" not in found[name].model_fields) == [
        "Tree",
        "Tree2",
        "Trees",
        "TreesLlmContext2",
        "TreesResult",
    ]
    assert found["Tree"].model_validate({"value": "a", "inside": [{"value": "b", "inside": []}]})
    assert found["Tree2"].model_validate({"value": 1, "inside": []})


def nested(name: str, *, inside: bool = True) -> dict[str, Any]:
    """Return a schema with a name in every place that a name can have."""
    properties: dict[str, Any] = {
        name: {"type": ["integer", "null"], "description": f'"""\n{name}\\'},
        "day": {"type": "array", "items": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}},
    }
    if inside:
        properties[name] = nested(name, inside=False)
    return {"type": "object", "title": name, "description": f'{name}"""', "properties": properties, "required": [name, "day"]}


def test_hostile_names_keep_place_order_and_meaning(tmp_path: Path) -> None:
    properties = {name: nested(name) for name in HOSTILE}
    words = {f"one of {name}": {"enum": [name, "other"]} for name in HOSTILE}
    schema = {"type": "object", "properties": {**properties, **words}, "required": [*properties, *words]}
    text = module('"""\\', module_parts({'na"""me': ({'na"""me': schema}, schema)}))
    (tmp_path / "hostile.py").write_text(text, encoding="utf-8")
    assert judged(tmp_path / "hostile.py") == ""
    inner = {name: {name: 3, "day": [{name: "x"}]} for name in HOSTILE if name != "day"}
    value = {name: {name: inner[name], "day": [{name: "x"}]} for name in HOSTILE} | {f"one of {name}": name for name in HOSTILE}
    model = next(each for each in classes(text).values() if len(each.model_fields) == 2 * len(HOSTILE))
    instance = instrc.lift(value, instrc.lower(schema, "jsonschema", "x")).as_model(model)
    back = json.loads(instance.model_dump_json(by_alias=True, exclude_unset=True))
    assert back == value
    assert list(back) == list(value)


VALUES = st.one_of(
    st.just({"type": "string", "pattern": r"^\p{L}+(?=x)$"}),
    st.just({"type": "string", "format": "uri"}),
    st.just({"type": "number", "multipleOf": 0.1}),
    st.just({"enum": [{"$ref": "http://127.0.0.1:1/x"}, 1.5, None]}),
    st.just({"const": {"$ref": "file:///etc/passwd"}}),
    st.just({"default": {"$ref": "file:///etc/passwd"}}),
    st.just({"type": "array", "prefixItems": [{"type": "integer"}], "uniqueItems": True}),
    st.just({"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"type": "null"}}}]}),
    st.just({"type": "object", "patternProperties": {"^(?<=a)": {"type": "string"}}}),
    st.just({"type": "object", "additionalProperties": {"type": "integer"}}),
    st.just({"allOf": [{"type": "string"}, {"minLength": 2}]}),
    st.just({"$ref": "#"}),
    st.sampled_from([True, {}, {"not": {}}, {"type": "null"}, {"type": ["string", "integer", "null"]}]),
)


@examples(25)
@given(
    st.dictionaries(st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"), max_size=6)), VALUES, max_size=5)
)
def test_any_schema_gives_a_module_that_imports(properties: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": properties}
    found = classes(module("x", module_parts({"it": ({"it": schema}, {"type": "object"})})))
    assert set(found) >= {"It", "ItResult"}
    names = [name if field.alias is None else field.alias for name, field in found["It"].model_fields.items()]
    assert names == list(properties)


@every_case(
    "said",
    [
        {"type": "array", "minItems": 1e300},
        {"type": "string", "maxLength": 10**400},
        {"type": "integer", "maximum": 10**5000},
        {"type": "number", "minimum": -(10**5000)},
        {"enum": [1, 10**5000]},
        {"const": 10**5000},
    ],
)
def test_numbers_that_the_libraries_cannot_read_are_left_to_the_schema(said: Any) -> None:
    found = classes(
        module("x", module_parts({"it": ({"it": {"type": "object", "properties": {"a": said}}}, {"type": "object"})}))
    )
    assert list(found["It"].model_fields) == ["a"]


@every_case(
    ("name", "written"),
    [
        ("find_slot", "FindSlot"),
        ("", "Class"),
        ("1x", "Class1x"),
        ("none", "None_"),
        ("имя", "Имя"),
        ("😀", "Class"),
        ("a💥b", "AB"),
    ],
)
def test_names_of_classes_are_identifiers(name: str, written: str) -> None:
    assert class_name(name) == written


def test_a_mistake_is_a_problem_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "models.py"
    (tmp_path / "wrong.aug").write_text("Nobody")
    assert main(["types", str(tmp_path / "wrong.aug"), "-o", str(place)]) == 1
    assert "unknown-name" in capsys.readouterr().err
    assert not place.exists()


def test_a_missing_generator_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datamodel_code_generator", None)
    with pytest.raises(instrc.SettingsError) as caught:
        instrc.types(ROOT / "examples/reply/reply.aug")
    assert "instrc[types]" in (caught.value.problems[0].hint or "")


@every_case("name", ["models.txt", "models.json", "models.ts"])
def test_a_module_is_not_written_under_another_ending(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.aug").write_text('@{ title: "Letter", type: "object", properties: { a: { type: "string" } } }')
    assert main(["types", str(tmp_path / "letter.aug"), "-o", str(tmp_path / name)]) == 2
    assert "whose name ends with .py" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / name).exists()


MEMBERS = ["user-id", "user_id", "user id", "class", "date", "day", "a", "A", "x-1", "_t", "model_dump", "str", "имя", "1x"]
KINDS: list[tuple[Any, list[Any]]] = [
    ({"type": "string"}, ["", "x", "0"]),
    ({"type": "integer"}, [0, -3, 2**60]),
    ({"type": ["number", "null"]}, [0.5, None, 1]),
    ({"type": "boolean"}, [True, False]),
    ({"type": "string", "format": "date"}, ["2026-01-02", "1999-12-31"]),
    ({"enum": ["no", 1, None]}, ["no", 1, None]),
    ({"type": "array", "items": {"type": "integer"}}, [[], [1, 2]]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"user-id": 1}]),
    ({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False}, [{}, {"x-1": 1}]),
    ({"type": "object", "properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False}, [{"x-1": 1}]),
    ({"type": "object", "properties": {"a-b": {"type": "string"}}}, [{}, {"a-b": "x"}, {"a-b": "x", "a_b": 1}]),
    ({"type": "object", "properties": {"a-b": {"type": "string"}}, "additionalProperties": False}, [{}, {"a-b": "x"}]),
]


@examples(25)
@given(st.data())
def test_a_class_takes_what_lift_takes_and_gives_it_back(data: st.DataObject) -> None:
    properties, value = {}, {}
    for name in data.draw(st.lists(st.sampled_from(MEMBERS), unique=True, min_size=1, max_size=5)):
        schema, values = data.draw(st.sampled_from(KINDS))
        kind = data.draw(st.sampled_from(["filled", "left", "further"]))
        if kind != "further":
            properties[name] = schema
        if kind != "left":
            value[name] = data.draw(st.sampled_from(values))
    schema = {"type": "object", "properties": properties}
    lifted = instrc.lift(value, instrc.lower(schema, "jsonschema", "it"))
    if not lifted.ok:
        return
    found = classes(module("x", module_parts({"it": ({"it": schema}, schema)})))
    instance: Any = lifted.as_model(found["It"]) if not any(name.startswith("_") for name in value.keys() - properties) else None
    instance = found["It"].model_validate(lifted.value) if instance is None else instance
    assert instance.model_dump(mode="json", by_alias=True, exclude_unset=True) == lifted.value
    members = {field.alias or name for name, field in found["It"].model_fields.items()}
    assert members == set(properties)


LEAVES: list[Any] = [
    *(True, {}, {"type": "boolean"}, {"type": "integer", "minimum": 2}, {"type": "number"}, {"const": "a"}),
    *({"type": ["number", "null"], "minimum": 2.5}, {"type": "string", "minLength": 2, "maxLength": 3}, {"enum": [1, "1", None]}),
    *(
        {"type": "string", "pattern": "^a"},
        {"type": "string", "format": "uri"},
        {"type": "string", "format": "date"},
        {"not": {}},
    ),
    *({"type": "integer", "multipleOf": 2}, {"enum": [1.5, [1]]}, {"minimum": 2}, {"type": "array", "uniqueItems": True}),
    *({"type": "object", "required": ["q"]}, {"type": "array", "prefixItems": [{"type": "integer"}]}, {"const": True}),
    *({"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"allOf": [{"type": "string"}, {"minLength": 2}]}),
]
SCHEMAS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items, "minItems": 1}, inner),
        st.builds(lambda *branches: {"anyOf": [*branches]}, inner, st.one_of(inner, st.just({"type": "null"}))),
        st.builds(
            lambda p, q, required, rest: {
                "type": "object",
                "properties": {"p": p, "q": q},
                "required": required,
                "additionalProperties": rest,
            },
            inner,
            inner,
            st.lists(st.sampled_from("pq"), unique=True),
            st.booleans(),
        ),
    ),
    max_leaves=4,
)
SCALARS = [None, True, False, 0, 1, 2, 3.0, 1.5, 2**53 + 1, "", "a", "ab", "abcd", "1", "true", "2026-01-02"]
INSTANCES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("pqz"), inner)),
    max_leaves=5,
)


def held(schema: Any, *, inside: bool = False) -> Any:
    """Return what the page of commands says that a class holds of a schema."""
    if not isinstance(schema, dict):
        return schema
    result = {
        word: item for word, item in schema.items() if word not in {"pattern", "multipleOf", "not", "uniqueItems", "prefixItems"}
    }
    if "type" not in schema or inside:
        result = {word: item for word, item in result.items() if word not in {"minimum", "minLength", "maxLength"}}
    if result.get("format") != "date":
        result.pop("format", None)
    if any(isinstance(item, float | list) for item in result.get("enum", ())):
        del result["enum"]
    for word in ("anyOf", "oneOf", "allOf"):
        if word in result:
            result["anyOf" if word == "oneOf" else word] = [held(branch, inside=word == "allOf") for branch in result.pop(word)]
    if "items" in result:
        result["items"] = held(result["items"])
    result["required"] = [name for name in schema.get("required", ()) if name in schema.get("properties", {})]
    if "properties" in schema:
        result["properties"] = {
            name: held(item) if name in result["required"] else {"anyOf": [held(item), {"type": "null"}]}
            for name, item in schema["properties"].items()
        }
    return result


def judge(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(schema, format_checker=FormatChecker(["date"]))


@examples(60)
@given(SCHEMAS, st.lists(INSTANCES, min_size=1, max_size=30))
def test_a_class_takes_what_its_schema_takes_and_holds_what_the_page_says(schema: Any, values: list[Any]) -> None:
    whole = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    found = classes(module("x", module_parts({"whole": ({"whole": whole}, whole)})))["Whole"]
    for value in values:
        try:
            instance: Any = found.model_validate({"it": value})
        except ValidationError:
            assert not judge(schema).is_valid(value), value
            continue
        kept = instance.model_dump(mode="json", by_alias=True, exclude_unset=True)["it"]
        assert judge(held(schema)).is_valid(kept), (value, kept)
        if judge(schema).is_valid(value):
            assert kept == value


def test_a_schema_without_a_type_is_an_object_or_a_list_by_its_keywords() -> None:
    whole = {"type": "object", "properties": {"a": {"properties": {"p": {}}}, "b": {"items": {"type": "integer"}}}}
    found = classes(module("x", module_parts({"whole": ({"whole": whole}, whole)})))["Whole"]
    assert found.model_validate({"a": {"p": 1}, "b": [1]})
    for wrong in ({"a": "x"}, {"b": "x"}):
        with pytest.raises(ValidationError):
            found.model_validate(wrong)


@every_case("text", ["0", "86400", "2026-1-2", "2026-02-30", "x", 0, "2026-01-02T00:00:00"])
def test_a_field_of_a_date_takes_dates_only(text: object) -> None:
    schema = {"type": "object", "properties": {"date": {"type": "string", "format": "date"}, "day": {"type": "string"}}}
    found = classes(module("x", module_parts({"it": ({"it": schema}, schema)})))["It"]
    with pytest.raises(ValueError, match="date"):
        found.model_validate({"date": text})
    assert "2026-01-02" in found.model_validate({"date": "2026-01-02"}).model_dump_json()


def test_thoughts_are_left_out_of_a_result_that_takes_further_properties() -> None:
    [tool] = instrc.compile("Draft", vibes={"Draft": {"type": "object", "properties": {"_why": {}, "text": {}}}})
    text = instrc.types("Draft", vibes={"Draft": {"type": "object", "properties": {"_why": {}, "text": {}}}})
    lifted = instrc.lift({"_why": "x", "text": "y", "more": 1}, instrc.lower(tool, "jsonschema", "it"))
    (result,) = (each for name, each in classes(text).items() if name.endswith("Result"))
    assert lifted.as_model(result).model_dump() == {"text": "y", "more": 1}
