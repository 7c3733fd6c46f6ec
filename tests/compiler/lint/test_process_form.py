"""A process written by hand that does not have the form of one: one problem that shows the place, whoever reads it.

The meta-schema for editors refuses the same forms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from jsonschema import Draft202012Validator
from objects import an_object as chunk

import instrc
from instrc import CompileError
from instrc.process.process import Process
from instrc.text import files  # JSON text in and out, as the package writes it
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import at, pointer, tokens

OK = {"type": "object", "properties": {"ok": {"type": "boolean"}, "list": {"type": "array"}}}
HOLDS = {"path": "ask.ok", "schema": {"const": True}}


def sound() -> Any:
    """Return a process with all blocks, one of them among the definitions."""
    repeat = {"type": "array", "items": chunk(userContext1=chunk(ask=OK)), "maxItems": 4}
    branch: list[Any] = [{"const": 0}, {"const": 1}]
    document = chunk(
        llmContext1=chunk(find=OK),
        eachContext1={"$ref": "#/$defs/EACH_1"},
        repeatContext1={**repeat, "repeat": {"until": HOLDS, "keep": 2, "hands": ["ask"], "value": "ask", "key": "asked"}},
        elseContext1={"anyOf": [{**chunk(llmContext3=chunk(last=OK)), "else": {"of": "repeatContext1"}}, {"type": "null"}]},
        repeatContext2={**repeat, "repeat": {"item": "one", "in": {"const": [1, 2]}}},
        whenContext1={
            "anyOf": [
                {**chunk(branch=branch[0], llmContext4=chunk(yes=OK)), "when": {"path": "find.ok", "schema": {"const": True}}},
                {**chunk(branch=branch[1], llmContext5=chunk(no=OK)), "when": {"value": {"said": "no", "why": {"const": 1}}}},
            ],
            "when": {"key": "found", "within": "P1W", "delay": "PT0.5S"},
        },
        tryContext1={
            "anyOf": [
                {
                    **chunk(branch=branch[0], serverContext1=chunk(send={"activity": "Send_Activity", "within": "PT9S"})),
                    "try": {},
                },
                {**chunk(branch=branch[1]), "try": {"value": ["find", {"path": "found", "optional": True}]}},
            ],
            "try": {},
        },
        doContext1={**chunk(llmContext6=chunk(end=OK)), "do": {"value": "end", "key": "done"}},
    )
    each = {"item": "it", "in": "find.list", "value": "write"}
    defs = {"EACH_1": {"type": "array", "items": chunk(llmContext2=chunk(write=OK)), "each": each}}
    return {**document, "value": "done", "$defs": defs}


def changed(place: str, value: Any, process: Any = None) -> Any:
    """Return a process, the sound one unless another is given, with another value at a place; `...` takes it away."""
    document = loads(dumps(process or sound()))  # parts that are shared become parts of their own
    *around, last = tokens(place)
    outer: Any = at(document, pointer(around))
    key = int(last) if isinstance(outer, list) else last
    if value is ...:
        del outer[key]
    elif isinstance(outer, list):
        outer[key : key + 1] = [value]
    else:
        outer[key] = value
    return document


EACH, REPEAT, LIST = "/$defs/EACH_1", "/properties/repeatContext1", "/properties/repeatContext2"
WHEN, TRY, ELSE = "/properties/whenContext1", "/properties/tryContext1", "/properties/elseContext1"
SEND = f"{TRY}/anyOf/0/properties/serverContext1/properties/send"
WRONG = [
    ("/value", 3, "/value"),
    (f"{EACH}/each", ..., EACH),
    (f"{EACH}/each/in", ..., f"{EACH}/each"),
    (f"{EACH}/each/item", ..., f"{EACH}/each"),
    (f"{EACH}/each/item", 3, f"{EACH}/each/item"),
    (f"{EACH}/each/in", True, f"{EACH}/each/in"),
    (f"{EACH}/each/in", -1, f"{EACH}/each/in"),
    (f"{EACH}/each/in", {"const": "abc"}, f"{EACH}/each/in"),
    (f"{EACH}/each/value", 3, f"{EACH}/each/value"),
    (f"{EACH}/each/key", "", f"{EACH}/each/key"),
    (f"{EACH}/each/until", True, f"{EACH}/each/until"),
    (f"{EACH}/each/until", {"path": "ask.ok"}, f"{EACH}/each/until"),
    (f"{EACH}/each/until", {**HOLDS, "is": True}, f"{EACH}/each/until/is"),
    (f"{EACH}/items/properties/write", OK, f"{EACH}/items/properties/write"),
    (f"{REPEAT}/repeat", [], f"{REPEAT}/repeat"),
    (f"{REPEAT}/repeat/until", ..., f"{REPEAT}/repeat"),
    (f"{REPEAT}/repeat/until", True, f"{REPEAT}/repeat/until"),
    (f"{REPEAT}/repeat/until/path", ..., f"{REPEAT}/repeat/until"),
    (f"{REPEAT}/repeat/until/schema", ..., f"{REPEAT}/repeat/until"),
    (f"{REPEAT}/repeat/until/is", True, f"{REPEAT}/repeat/until/is"),
    (f"{REPEAT}/repeat/until", {"anyOf": [HOLDS, {"path": "ask.ok"}]}, f"{REPEAT}/repeat/until/anyOf/1"),
    (f"{REPEAT}/repeat/keep", 0, f"{REPEAT}/repeat/keep"),
    (f"{REPEAT}/repeat/hands", "ask", f"{REPEAT}/repeat/hands"),
    (f"{REPEAT}/repeat/item", "one", f"{REPEAT}/repeat"),
    (f"{LIST}/repeat/in", ..., f"{LIST}/repeat"),
    (f"{ELSE}/anyOf/0/else/of", "repeatContext9", ELSE),
    (f"{ELSE}/anyOf/0/else", ..., f"{ELSE}/anyOf/0"),
    (f"{WHEN}/when", ..., WHEN),
    (f"{WHEN}/when/within", "soon", f"{WHEN}/when/within"),
    (f"{WHEN}/when/delay", 30, f"{WHEN}/when/delay"),
    (f"{WHEN}/when/wihtin", "PT9S", f"{WHEN}/when/wihtin"),
    (f"{WHEN}/anyOf/0/when", ..., f"{WHEN}/anyOf/0"),
    (f"{WHEN}/anyOf/0/when/path", ..., f"{WHEN}/anyOf/0/when"),
    (f"{WHEN}/anyOf/0/when/path", 3, f"{WHEN}/anyOf/0/when/path"),
    (f"{WHEN}/anyOf/0/properties/branch", ..., f"{WHEN}/anyOf/0"),
    (f"{WHEN}/anyOf/1/properties/branch/const", 7, f"{WHEN}/anyOf/1/properties/branch"),
    (f"{TRY}/anyOf/0/try", {"path": "find.ok"}, f"{TRY}/anyOf/0/try/path"),
    (f"{TRY}/anyOf/1", ..., TRY),
    (f"{SEND}/within", "soon", f"{SEND}/within"),
    (f"{SEND}/within", 30, f"{SEND}/within"),
    (f"{SEND}/delay", ["PT9S"], f"{SEND}/delay"),
    (f"{SEND}/fail", "yes", f"{SEND}/fail"),
    (f"{SEND}/fail", None, f"{SEND}/fail"),
    ("/properties/robotContext1", chunk(lift=OK), "/properties/robotContext1"),
    (f"{WHEN}/anyOf/0/when/schema", "string", f"{WHEN}/anyOf/0/when/schema"),
    ("/properties/doContext1/do", ..., "/properties/doContext1"),
    ("/properties/doContext1/do/value", {"x": None}, "/properties/doContext1/do/value"),
]


def check(document: Any, folder: Path) -> list[Any]:
    file = folder / "it.vibe.json"
    file.write_text(dumps(document), encoding="utf-8")
    return list(instrc.check(file))


def test_a_process_in_good_form_is_sound(tmp_path: Path) -> None:
    assert check(sound(), tmp_path) == []


@every_case(("place", "value", "shown"), WRONG, ids=lambda each: "absent" if each is ... else None)
def test_a_slip_in_the_form_is_one_problem_at_its_place(place: str, value: Any, shown: str, tmp_path: Path) -> None:
    document = changed(place, value)
    [found] = check(document, tmp_path)
    assert found.name == "unreadable-process"
    assert found.at is not None
    assert loads(found.at.text) == at(document, shown)
    with pytest.raises(CompileError) as raised:
        Process.from_json(document)
    assert [problem.name for problem in raised.value.problems] == ["unreadable-process"]


def test_of_several_slips_the_first_is_told(tmp_path: Path) -> None:
    slips = {f"{REPEAT}/repeat/until": ..., "/properties/doContext1/do": ..., f"{SEND}/within": 30, "/value": 7}
    document = sound()
    for place, value in slips.items():
        document = changed(place, value, document)
    assert [(problem.name, problem.pointer) for problem in check(document, tmp_path)] == [("unreadable-process", "/value")]


def test_a_path_is_judged_once_the_process_can_be_read(tmp_path: Path) -> None:
    steps = {"find": {**OK, "within": "soon"}, "ask": {**OK, "references": ["find.nothing"]}}
    [found] = check(chunk(llmContext1=chunk(**steps)), tmp_path)
    assert (found.name, found.at and found.at.text) == ("unreadable-process", '"soon"')
    steps["find"]["within"] = "PT5M"
    [found] = check(chunk(llmContext1=chunk(**steps)), tmp_path)
    assert (found.name, found.at and found.at.text) == ("dangling-reference", '"find.nothing"')


def test_whoever_reads_it_says_so(tmp_path: Path) -> None:
    document = changed(f"{REPEAT}/repeat/until", ...)
    (tmp_path / "slip.vibe.json").write_text(dumps(document), encoding="utf-8")
    program = tmp_path / "it.aug"
    program.write_text("LaunchProcess(aug:slip)", encoding="utf-8")
    readers = (
        lambda: instrc.compile(program, roots=[tmp_path]),
        lambda: instrc.lower(document, target="openai"),
        lambda: instrc.run(document, "hi", model="sample"),
    )
    for reader in readers:
        with pytest.raises(CompileError) as raised:
            reader()
        assert [problem.name for problem in raised.value.problems] == ["unreadable-process"]


def test_a_process_that_refers_to_its_blocks_is_judged_as_composed(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    each = {"type": "array", "items": chunk(llmContext1=chunk(write=OK)), "each": {"item": "a", "in": "prompt"}}
    (folder / "each.vibe.json").write_text(dumps(each), encoding="utf-8")
    assert check(chunk(eachContext1={"$ref": "aug:each"}), folder) == []
    del each["each"]
    (folder / "each.vibe.json").write_text(dumps(each), encoding="utf-8")
    assert [problem.name for problem in check(chunk(eachContext1={"$ref": "aug:each"}), folder)] == ["unreadable-process"]


ELSEWHERE = {f"{ELSE}/anyOf/0/else/of", f"{WHEN}/anyOf/1/properties/branch/const"}
"""What only a look at another place can tell, as no JSON Schema can: the name of a `repeat`, the number of a branch."""
META = Draft202012Validator(loads(files.read("schemas", "meta/vibe.schema.json")))
RIGHT = [
    ("/value", {"all": ["done", {"const": 1}, {"path": "found.ok", "optional": True}]}),
    (f"{EACH}/each/in", 3),
    (f"{EACH}/each/in", [1, 2]),
    (f"{EACH}/each/in", {"path": "find.list", "optional": True}),
    (f"{EACH}/each/within", "P1DT12H"),
    (f"{REPEAT}/repeat/until", {"anyOf": [HOLDS, HOLDS]}),
    (f"{REPEAT}/repeat/until/schema", False),
    (f"{REPEAT}/items", chunk(user_context_1=chunk(ask=OK))),
    (f"{WHEN}/anyOf/2", {"type": "null"}),
    (f"{WHEN}/anyOf/0/when", {"anyOf": [{"path": "find.ok", "schema": True}], "value": "yes"}),
    (f"{TRY}/anyOf/0/try", ...),
    (f"{TRY}/anyOf/2", {"type": "null"}),
    (f"{SEND}/delay", "PT0S"),
    ("/properties/doContext1/do", {"key": "done"}),
    ("/description", "An instruction may have a property `when`."),
]


@pytest.mark.long
def test_the_meta_schema_takes_a_process_in_good_form(tmp_path: Path) -> None:
    assert META.is_valid(sound())
    assert META.is_valid({"schema": sound()})
    for place, value in RIGHT:
        document = changed(place, value)
        assert check(document, tmp_path) == [], place
        assert META.is_valid(document), place


@every_case(
    ("place", "value", "shown"),
    [
        (f"{WHEN}/anyOf/0/when/schema", {"type": "strng"}, '"strng"'),
        (f"{REPEAT}/repeat/until", {"anyOf": [HOLDS, {"path": "ask.ok", "schema": {"minLength": "3"}}]}, '"3"'),
        ("/properties/llmContext1/properties/find/among", 3, "3"),
        ("/properties/llmContext1/properties/find/properties/ok/among", ["yes"], "[\n"),
    ],
)
def test_what_is_no_schema_or_no_path_is_told_at_its_place(place: str, value: Any, shown: str, tmp_path: Path) -> None:
    document = changed(place, value)
    [found] = check(document, tmp_path)
    assert found.name == "invalid-schema"
    assert found.at is not None
    assert found.at.text.startswith(shown)
    assert not META.is_valid(document)


def test_a_context_of_an_unknown_kind_is_told_only_beside_one_that_is_known(tmp_path: Path) -> None:
    assert check(chunk(robotContext1=chunk(lift=OK)), tmp_path) == []
    assert check(chunk(llmContext1=chunk(find=OK), note=OK), tmp_path) == []
    [found] = check(chunk(llmContext1=chunk(find=OK), lmContext2=chunk(write=OK)), tmp_path)
    assert (found.name, found.pointer) == ("unreadable-process", "/properties/lmContext2")


@pytest.mark.long
@every_case(("place", "value", "shown"), WRONG, ids=lambda each: "absent" if each is ... else None)
def test_the_meta_schema_refuses_what_is_refused(place: str, value: Any, shown: str) -> None:
    document = changed(place, value)
    for written in (document, {"schema": document}):
        assert META.is_valid(written) == (place in ELSEWHERE), shown


def test_the_meta_schema_leaves_what_is_composed_or_no_process_to_the_check(tmp_path: Path) -> None:
    each = {"type": "array", "items": chunk(llmContext1=chunk(write=OK))}
    composed = {"allOf": [each, {"each": {"item": "a", "in": "prompt"}}]}
    for document in (
        chunk(eachContext1=composed),
        chunk(context=OK),
        chunk(user_context=OK),
        chunk(userContext={"type": "string"}),
    ):
        assert not [problem for problem in check(document, tmp_path) if problem.name == "unreadable-process"]
        assert META.is_valid(document)
