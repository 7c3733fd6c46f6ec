"""What is true of everything that comes out."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hunting import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from meaning import MIXINS, MODELS, OTHERS, Around, Step, Tree, compiled, registry, trees, write
from shortest import assert_shortest

from instrc import Artefact, Report
from instrc.compiler.driver import compile_vibe  # one program with its own registry and options
from instrc.compiler.emit.vibes import emit_vibe  # the process as a vibe, before it is a file
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.compiler.partition.sequence import shortest_sequence  # compared with a search by brute force
from instrc.process.chunk_json import write_chunk  # one chunk of a process
from instrc.process.flow import Chunk
from instrc.process.process import Process
from instrc.schema.flattening.flatten import flatten
from instrc.schema.strip import ENGINE, strip  # the names of what is taken out
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.vibes.registry import Registry

QUICK = examples(150)


def processes() -> st.SearchStrategy[Tree]:
    """Return programs that need somebody else than the model, and go on after that."""
    wholes = st.builds(lambda name, tree: Step(name, ("",), (tree,)), st.sampled_from(OTHERS[1:]), trees())
    return st.builds(lambda tree, name: Step(name, ("", "x"), (tree, tree)), wholes, st.sampled_from(MODELS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vibes")


@pytest.fixture(scope="module")
def known(folder: Path) -> Registry:
    return registry(folder)


def _artefact(tree: Tree, known: Registry, **options: object) -> Artefact:
    made = compiled(write(tree), known, **options)
    assume(not isinstance(made, set))
    return made[0]  # type: ignore[return-value]  # assumed in the line above


def _chunks(process: Json) -> list[tuple[str, dict[str, Json]]]:
    """Return the executor and the steps of each chunk; fields of mixins are no steps."""
    found = []
    for context, reference in process["properties"].items():
        chunk = process["$defs"][reference["$ref"].rpartition("/")[2]]["properties"]
        found.append((context.partition("Context")[0], {key: step for key, step in chunk.items() if key[0] not in "_$"}))
    return found


@QUICK
@given(tree=processes(), batch=st.sampled_from([1, 1, 2]))
def test_each_step_lies_in_one_chunk_after_what_it_reads(tree: Tree, batch: int, known: Registry) -> None:
    artefact = _artefact(tree, known, batch=batch)
    done: set[str] = {"prompt", *(f"prompt_item{item}" for item in range(1, 3))}
    asked: set[str] = set()
    for executor, steps in _chunks(artefact.documents["process"]):
        assert steps
        for key, step in steps.items():
            own = step["arguments"] == key
            assert own == (key in asked)
            for path in step["references"]:
                assert path in done or (own and path == key)
            if own:
                assert (executor, list(step["properties"])) == ("server", ["output"])
                done.add(f"{key}.output")
                continue
            assert key not in done
            given_ = step["arguments"] if isinstance(step["arguments"], list) else [step["arguments"]]
            given_ = list(given_[0].values()) if isinstance(given_[0], dict) else given_
            assert set(given_) == set(step["references"])
            if "find_user" in key:
                asked.add(key)
            elif "output" in step["properties"]:
                done.add(f"{key}.output")
            else:
                done.add(key)
            assert ("activity" in step) == (executor == "server")


@QUICK
@given(tree=processes())
def test_neighbouring_chunks_have_different_executors_and_no_step_could_be_later(tree: Tree, known: Registry) -> None:
    artefact = _artefact(tree, known)
    chunks = _chunks(artefact.documents["process"])
    executors = [executor for executor, _ in chunks]
    assert all(one != other for one, other in itertools.pairwise(executors))
    where = {key: i for i, (_, steps) in reversed(list(enumerate(chunks))) for key in steps}
    definitions = artefact.documents["process"]["$defs"]
    for i, (executor, steps) in enumerate(chunks):
        name = f"{executor.upper()}_{1 + executors[:i].count(executor)}"
        if any(key[0] in "_$" for key in definitions[name]["properties"]):
            continue  # what a mixin holds moves together
        for key in steps:
            if key in where and where[key] != i:
                continue  # the answer of a blocking call
            readers = [
                (j, reader)
                for j, (_, others) in enumerate(chunks)
                for reader, step in others.items()
                if any(path.partition(".")[0] == key for path in step["references"])
            ]
            last = max((j for j, each in enumerate(executors) if each == executor), default=i)
            limit = min((j for j, _ in readers), default=last)
            assert not any(executors[j] == executor for j in range(i + 1, limit + 1))


@QUICK
@given(
    st.integers(1, 7).flatmap(
        lambda size: st.tuples(
            st.lists(st.integers(0, 2), min_size=size, max_size=size),
            st.tuples(*(st.sets(st.integers(0, i - 1), max_size=i) if i else st.just(set()) for i in range(size))),
        )
    )
)
@example(([2, 0, 1, 0], (set(), {0}, {0, 1}, set())))  # what is begun by what can be done first takes one chunk more
def test_the_cut_is_the_shortest_and_the_first_of_these(graph: tuple[list[int], tuple[set[int], ...]]) -> None:
    executors, reads = graph
    found = shortest_sequence(executors, [tuple(sorted(each)) for each in reads])
    assert_shortest(found, executors, reads, 3)


def around_names() -> st.SearchStrategy[str]:
    """Return programs in which mixins are around local names that several steps read, and around what these stand for."""
    names = st.sampled_from(["v0", "v1"])
    calls = st.sampled_from([*MODELS, "Log_Activity", "FindUser"])
    mixed = st.builds("{}({})".format, st.sampled_from(MIXINS), names)
    local = st.builds("{}({}({}))".format, st.sampled_from(MODELS), st.sampled_from(MIXINS), st.sampled_from([*MODELS, "Mb(v0)"]))
    used = mixed | st.builds("{}({})".format, calls, mixed) | st.builds("{}({}, {})".format, calls, mixed, names | calls)
    braces = st.lists(used, min_size=1, max_size=3).map(_braces)
    whole = st.lists(used | braces, min_size=2, max_size=3).map(_braces)
    return st.builds("const v0 = {}; const v1 = {}; {}".format, local.filter(lambda text: "v0" not in text), local, whole)


def _braces(values: list[str]) -> str:
    return "{ " + ", ".join(f"{key}: {value}" for key, value in zip("abc", values, strict=False)) + " }"


@examples(300)
@given(text=around_names())
def test_each_step_has_one_place_whatever_mixins_are_around_names(text: str, known: Registry) -> None:
    made = compiled(text, known)
    if isinstance(made, set):
        assert made <= {"empty-mixin", "unused-binding", "entangled-mixins"}
        return
    for documents in (artefact.documents for artefact in made):
        written = dumps(documents.get("process", documents["tool"]))
        places = re.findall(r'"(step\d+_(?!find_user)\w+)": \{', written)
        assert len(places) == len(set(places))
        assert set(re.findall(r"step\d+_(?!find_user)\w+", written)) == set(places)


def _engine_words(schema: Json) -> set[str]:
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found |= node.keys() & set(ENGINE)
            waiting.extend(node.get("properties", {}).values())
            waiting.extend(node.get("$defs", {}).values())
    return found


CALLED = Step(
    "Log_Activity", ("",), (Around("Introspect_Mixin", Around("Introspect_Mixin", Step("Ma", ("",), (Step("Ma", (), ()),)))),)
)
"""What one mixin says twice around two steps of the model has one name twice, which is counted before items are."""


@examples(40)
@example(tree=Step("Ma", ("", "x"), (CALLED, CALLED)), batch=2)
@given(tree=processes(), batch=st.sampled_from([2, 3]))
def test_a_process_that_is_kept_is_multiplied_as_its_program_is(tree: Tree, batch: int, known: Registry) -> None:
    kept, many = (_artefact(tree, known, hints=False, batch=each).documents["process"] for each in (1, batch))
    written = flatten(kept)
    again = emit_vibe(written, "kept", batch=batch).documents["process"]
    assert _chunks_of(again) == _chunks_of(many)


def _chunks_of(process: Json) -> list[JsonObject]:
    """Return the chunks as they are written, wherever that is."""
    return [write_chunk(context) for context in Process.from_json(process).contexts() if isinstance(context, Chunk)]


@QUICK
@given(tree=trees(), batch=st.sampled_from([1, 2]), naming=st.sampled_from(["step", "camel"]))
def test_views_are_for_models(tree: Tree, batch: int, naming: str, known: Registry) -> None:
    documents = _artefact(tree, known, batch=batch, naming=naming).documents
    for kind in ("tool", "result", "flat"):
        if kind in documents:
            assert _engine_words(documents[kind]) == set()
    if "process" not in documents:
        assert dumps(documents["result"]) == dumps(strip(documents["tool"], {"all"}))
    else:
        keys = list(dict.fromkeys(key for _, steps in _chunks(documents["process"]) for key in steps))
        assert list(documents["result"]["properties"]) == keys
        assert [key for key in documents["flat"]["properties"] if key[0] not in "_$"] == keys
    assert not any(name[0] in "_$" for name in documents["result"]["properties"])


def _instance(schema: Json, *, null: bool) -> Json:
    """Return what a model may answer: every property, null where that is allowed and wanted."""
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = "null" if null and "null" in kind else kind[0]
    if kind == "object":
        return {name: _instance(each, null=null) for name, each in schema.get("properties", {}).items()}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "null": None, "array": []}[kind]


@QUICK
@given(tree=trees(), batch=st.sampled_from([1, 2]))
def test_every_document_is_a_schema_that_can_be_filled_in(tree: Tree, batch: int, known: Registry) -> None:
    documents = _artefact(tree, known, batch=batch).documents
    for kind, document in documents.items():
        schema = document["tool"] if kind == "call" else document
        Draft202012Validator.check_schema(schema)
        if kind in {"tool", "result", "flat"}:
            for null in (False, True):
                answer = _instance(schema, null=null)
                assert Draft202012Validator(schema).is_valid(answer)
                if schema.get("required"):
                    assert not Draft202012Validator(schema).is_valid({})


@QUICK
@given(tree=processes())
def test_a_process_kept_as_a_vibe_compiles_to_itself(tree: Tree, folder: Path, known: Registry) -> None:
    made = _artefact(tree, known, hints=False)  # the flat form of a vibe written by hand says nothing of its own
    (folder / "kept@1.vibe.json").write_text(dumps(made.documents["process"]), encoding="utf-8")
    registry_ = Registry([folder])
    report = Report()
    again = compile_vibe(registry_.load("aug:kept:1"), registry_, CompileOptions(), report, stem="kept")[0]
    assert not report.failed
    inputs_are_known = "get_Activity" not in dumps(made.documents["process"])  # it shows what it gives back, not what it is given
    for kind in ("tool", "result", *(["flat"] if inputs_are_known else [])):
        assert dumps(again.documents[kind]) == dumps(made.documents[kind])
    assert dumps(again.documents["process"]) == dumps(flatten(made.documents["process"]))
    launched = compiled("LaunchProcess(Kept)", registry_)
    assert not isinstance(launched, set)
    entry = launched[0].documents["tool"]["properties"]["llmContext1"]
    assert entry["properties"] == made.documents["tool"].get("properties", {})


@QUICK
@given(tree=trees())
def test_compiling_reads_its_input_only(tree: Tree, known: Registry) -> None:
    first = _artefact(tree, known)
    before = dumps(first.documents)
    compiled(write(tree), known, batch=2)
    second = compiled(write(tree), known)
    assert not isinstance(second, set)
    assert dumps(first.documents) == before == dumps(second[0].documents)


PROGRAMS = """
{ a: Ma, b: Introspect_Mixin(Mb(a, x: Fetch_Activity(Mc))), c: Loop_Mixin({ default: { k: Ma, l: Mb(k) } }) } | Confirm_User
Draft(zzz, Ma)
Md(Ma, Fetch_Activity(Mb), Get_Activity(Mc), Confirm_User(Ma))
"""


def test_bytes_do_not_depend_on_the_seed_of_hashes(folder: Path, known: Registry) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from instrc.vibes.registry import Registry\n"
        "from instrc.text.jsontext import dumps\n"
        "from meaning import compiled\n"
        "for text in sys.stdin.read().strip().splitlines():\n"
        "    made = compiled(text, Registry([Path(sys.argv[2])]))\n"
        "    print(sorted(made) if isinstance(made, set) else dumps([each.documents for each in made]))\n"
    )
    printed = set()
    for seed in ("0", "1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent), str(folder)],
            input=PROGRAMS, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        printed.add(ran.stdout)
    assert len(printed) == 1
    assert "step" in printed.pop()


def test_every_executor_takes_part() -> None:
    assert {name.rpartition("_")[2] for name in OTHERS} == {"Activity", "FindUser", "User"}
