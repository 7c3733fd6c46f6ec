"""Programs with blocks: names, places and notations that mean the same come out the same; the cut is the best there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest
from blocks_at_random import Words, bodies, repeating, whole
from bodies import Body, Call, Expression, changed, expressions_of, paths_of, places_of, read_in, settled, walk, write, written
from hunting import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from meaning import compiled, same
from shortest import assert_shortest

from instrc.compiler.emit.emit import process_of  # the process beside the artefact that shows it
from instrc.compiler.emit.vibes import emit_vibe  # the process as a vibe, before it is a file
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.compiler.partition.sequence import sequence  # compared with a search by brute force
from instrc.process.process import Process
from instrc.schema.flattening.flatten import flatten
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.vibes.registry import Registry

QUICK = examples(120)


@QUICK
@given(body=whole())
def test_a_program_with_blocks_compiles_to_a_process_that_reads_back(body: Body, known: Registry) -> None:
    made = compiled(write(settled(body), top=True), known)
    assume(made != {"same-effect"})  # two lines that would do the same
    assert not isinstance(made, set), made
    for artefact in made:
        if "process" in artefact.documents:
            document = artefact.documents["process"]
            Draft202012Validator.check_schema(document)
            process = Process.from_json(document)
            assert dumps(process.to_json()) == dumps(document)
            assert artefact.plan is not None
            assert process_of(artefact.plan, sentences=CompileOptions().sentences) == process
            names = [context.name for context in process.contexts()]
            assert len(names) == len(set(names))
            assert set(_paths(document)) <= set(_known(document))


def _inline(process: Process) -> Json:
    """Return the contexts of a process wherever their schemas are written."""

    def without(node: Json) -> Json:
        if isinstance(node, list | tuple):
            return [without(each) for each in node]
        return {name: without(each) for name, each in node.items() if name != "definition"} if isinstance(node, dict) else node

    return without(msgspec.to_builtins(process.body))


@QUICK
@given(body=bodies(words=Words(races=True)))
def test_a_process_with_blocks_kept_as_a_vibe_is_the_same_process(body: Body, known: Registry) -> None:
    made = compiled(write(settled(body), top=True), known)
    assume(made != {"same-effect"})  # two lines that would do the same
    assert not isinstance(made, set), made
    for artefact in made:
        if "process" not in artefact.documents:
            continue
        document = artefact.documents["process"]
        kept = emit_vibe(flatten(document), "kept", batch=1)
        assert _inline(Process.from_json(kept.documents["process"])) == _inline(Process.from_json(document))
        assert kept.documents["tool"].get("properties") == artefact.documents["tool"].get("properties")
        assert list(kept.documents["result"]["properties"]) == list(artefact.documents["result"]["properties"])
        assert list(kept.documents["flat"]["properties"]) == list(artefact.documents["flat"]["properties"])


def _known(document: Json) -> Iterator[str]:
    """Yield what a path may begin with."""
    yield from document.get("inputs", {"prompt": {}})
    yield from ("round", "previous", "rounds", "error")
    for definition in document["$defs"].values():
        yield from definition.get("properties", {})
        for word in ("when", "each", "repeat", "try", "race", "do"):
            engine = definition.get(word, {})
            yield from (engine[part] for part in ("key", "item") if part in engine)


def _paths(document: Json) -> Iterator[str]:
    waiting = [document["$defs"]]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            yield from (path.partition(".")[0] for path in node.get("references", ()) if isinstance(path, str))
            yield from (node[word].partition(".")[0] for word in ("path", "value", "in") if isinstance(node.get(word), str))
            waiting.extend(node.values())


@QUICK
@given(body=whole(), salt=st.sampled_from(["z", "имя", "_q"]))
def test_renaming_local_names_changes_no_byte(body: Body, salt: str, known: Registry) -> None:
    body = settled(body)
    own = {name for each in walk(body) for name, _ in each.statements}
    other = changed(body, lambda name: f"{salt}_{name}" if name in own else name, lambda statements, _: statements)
    assert same(compiled(write(body, top=True), known), compiled(write(other, top=True), known))


@QUICK
@given(body=whole(), data=st.data())
def test_moving_names_that_are_read_changes_no_byte(body: Body, data: st.DataObject, known: Registry) -> None:
    """The lines of effects stay where they are: they are the order of these effects."""
    body = settled(body)
    read = read_in(body) - _with_effects(body)

    def moved(statements: list[tuple[str, Expression]], _: Body) -> list[tuple[str, Expression]]:
        shuffled = data.draw(st.permutations(statements))
        fixed = iter([each for each in statements if each[0] not in read])
        return [each if each[0] in read else next(fixed) for each in shuffled]

    other = changed(body, lambda name: name, moved)
    assert same(compiled(write(body, top=True), known), compiled(write(other, top=True), known))


def _with_effects(body: Body) -> set[str]:
    """Return the names of a program that have an effect, or read one that has: those lines order effects."""
    names: set[str] = set()
    statements = [(name, repr(value)) for each in walk(body) for name, value in each.statements]
    for _ in statements:
        for name, text in statements:
            if re.search(r"_Activity|_User|FindUser|Inner|Outer|Called|Process", text) or any(
                re.search(rf"\b{other}\b", text) for other in names
            ):
                names.add(name)
    return names


@QUICK
@given(body=st.one_of(whole(rounds=False), repeating()), data=st.data())
def test_writing_an_expression_in_the_place_of_its_name_changes_no_byte(body: Body, data: st.DataObject, known: Registry) -> None:
    body = settled(body)
    effects = _with_effects(body)
    places = [(each, number) for each in walk(body) for number, (name, _) in enumerate(each.statements) if name not in effects]
    chosen = [(each, number) for each, number in places if _may_be_inlined(body, each, each.statements[number])]
    if not chosen:
        return
    home, number = data.draw(st.sampled_from(chosen))
    name, value = home.statements[number]
    text = write(body, top=True)
    line = f"const {name} = {written(value)};"
    assert line in text
    other = text.replace(line, "", 1)
    other = _substituted(other, name, written(value))
    assert same(compiled(text, known), compiled(other, known))


BLOCKS = {
    "«B»": "do { const x = Ma(prompt); Mb(x) }",
    "«I»": "do { Introspect_Mixin(Mb(Ma(prompt))) }",
    "«U»": "do { Ma(prompt); Mb(prompt) }",
}


@pytest.mark.parametrize(
    ("named", "inlined"),
    [
        ("const b = «B»; Mc(b, do { const m = Ma(prompt); Mc(m, b) })", "Mc(«B», do { const m = Ma(prompt); Mc(m, «B») })"),
        ("const b = «B»; Mc(do { const m = Ma(prompt); Mc(m, b) }, b)", "Mc(do { const m = Ma(prompt); Mc(m, «B») }, «B»)"),
        ("Mc(do { const m = Ma(prompt); Mc(do { Mb(m) }) }, «B»)", "Mc(do { Mc(do { Mb(Ma(prompt)) }) }, «B»)"),
        ("Mc(«B», do { const m = Ma(prompt); Mc(m, do { Mb(m) }) })", "Mc(«B», do { Mc(Ma(prompt), do { Mb(Ma(prompt)) }) })"),
        (
            "const i = «I»; Mc(do { const m = Ma(prompt); Mc(m, i) }, i)",
            "Mc(do { const m = Ma(prompt); Mc(m, «I») }, «I»)",
        ),
        (
            "const b = «U»; do { const m = Ma(prompt); do { Mc(m, b); Mc(b) } }",
            "const b = «U»; do { const m = Ma(prompt); do { Mc(m, «U»); Mc(b) } }",
        ),
    ],
)
@pytest.mark.parametrize("around", ["do {{ {} }}", "do {{ do {{ {} }} }}"])
def test_a_block_that_equals_one_further_out_is_that_block_whatever_stands_between(
    named: str, inlined: str, around: str, known: Registry
) -> None:
    one, other = (around.format(re.sub("«.»", lambda found: BLOCKS[found[0]], each)) for each in (named, inlined))
    assert not isinstance(compiled(one, known), set)
    assert same(compiled(one, known), compiled(other, known))


def test_a_block_that_reads_another_round_is_no_block_further_out(known: Registry) -> None:
    inner = "repeat { const k = Ma(round); Mc(k, do { Mb(k) }) } until round is 2"
    [made] = compiled(f"repeat {{ const b = do {{ Mb(Ma(round)) }}; Mc(b, {inner}) }} until round is 2", known)
    assert [name for name in made.documents["process"]["$defs"] if name.startswith("DO")] == ["DO_1", "DO_2"]


@pytest.mark.parametrize(
    "block",
    [
        'when prompt is "a" { const x = Ma(prompt); Ma(x.a) }',
        "each e in prompt { Ma(e.b, Mb(e).b) }",
        'repeat { const x = Ma(prompt, previous.x.a, rounds); x } until x.a is "b"',
        "repeat e in prompt { const x = Ma(e.q, previous.x.a); x }",
        "try { const x = Ma(prompt); Log_Activity(x.a) } else { Ma(error.message) }",
        "do { do { const x = Ma(prompt); Ma(x.a) } }",
    ],
)
@pytest.mark.parametrize("around", ["{}", 'when prompt is "c" {{ {} }}'])
def test_a_block_with_paths_that_is_written_twice_is_one(block: str, around: str, known: Registry) -> None:
    named = compiled(around.format(f"const b = {block}; Ma(b, b)"), known)
    assert not isinstance(named, set)
    assert same(named, compiled(around.format(f"Ma({block}, {block})"), known))


def _may_be_inlined(body: Body, home: Body, statement: tuple[str, Expression]) -> bool:
    """Tell whether an expression may stand wherever its name does: no list of a block is a call, nothing reads `@ { … }.x`."""
    name, value = statement
    others = [each for inside in walk(body) for each in expressions_of(inside)]
    fixed = {path.partition(".")[0] for each in others for path in places_of(each)}
    timed = (
        not isinstance(value, str)
        and value.annotation
        and any(path.startswith(f"{name}.") for each in others for path in paths_of(each))
    )
    return name not in fixed and not timed and _read_directly(home, name)


def _read_directly(body: Body, name: str) -> bool:
    """Tell whether an argument of a call of this very body reads a name, so that its expression stands there as well."""
    calls = [*(value for _, value in body.statements), body.value]
    return any(isinstance(each, Call) and name in {text.partition(".")[0] for text in each.arguments} for each in calls)


def _substituted(text: str, name: str, expression: str) -> str:
    return re.sub(rf"\b{name}\b", lambda _: expression, text)


@QUICK
@given(
    st.integers(1, 6).flatmap(
        lambda size: st.tuples(
            st.lists(st.integers(0, 3), min_size=size, max_size=size),
            st.tuples(*(st.sets(st.integers(0, i - 1), max_size=i) if i else st.just(set()) for i in range(size))),
        )
    )
)
def test_the_cut_with_blocks_is_the_shortest_and_the_first_of_these(graph: tuple[list[int], tuple[set[int], ...]]) -> None:
    executors, reads = graph
    found, where = sequence(executors, [tuple(sorted(each)) for each in reads])
    assert set(where) == {node for node, executor in enumerate(executors) if executor == 3}
    assert sorted(where.values()) == [chunk for chunk, executor in enumerate(found) if executor == 3]
    assert_shortest(found, executors, reads, 4)
