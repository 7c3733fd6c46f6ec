"""Compare what this tree makes with what another revision makes, byte for byte: `python tests/compare_with.py --base REV`.

Examples, cases, texts and data of the tests of REV, and programs and schemas that its generators draw, are given to both trees.
Each tree answers in processes of its own, by its public functions and its command line only, so that modules may move.
What REV answered is kept in `~/.cache/instrc/compare`.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import difflib
import hashlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

HERE = Path(__file__).resolve()
ROOT = HERE.parent.parent
CACHE = Path.home() / ".cache" / "instrc" / "compare"
ENVIRONMENT = {"PYTHONHASHSEED": "0", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "PYTHONWARNINGS": "ignore"}
SECONDS = 60
"""What one input may take; what takes longer is counted and not compared."""
SLOW = "took too long"
SHARDS = 6
QUICK = 1000
"""With fewer programs also the largest examples are spared."""
FORMATS = ("text", "json", "github", "sarif")
ALONE = frozenset(
    "check compile diff explain flatten fmt graph import lift lock new plan preview split targets test types".split()  # noqa: SIM905  -- a list would fill a page
)
"""Commands on the pages of the examples that need no store, no network and no clock."""


# --- Inputs: made once, in the tree of REV, as plain JSON and files


def make_inputs(tree: Path, into: Path, count: int, corpus: str) -> None:
    """Write all inputs, a line of JSON each, and the files they speak of."""
    tests = tree / "tests"
    sys.path[:0] = sorted({str(path.parent) for path in tests.rglob("*.py")} - {str(tests / "benchmarks")})
    shutil.copytree(tree / "examples", into / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(tests / "data", into / "data")
    makers = (_surface, _examples, _cases, _texts, _data, _programs, _schemas)
    lines = [line for make in makers for line in make(tree, into, count)]
    if corpus:
        lines += [{"part": "corpus", "do": "schema", **each} for each in _corpus(Path(corpus))]
    for number, line in enumerate(lines):
        line["key"] = f"{line['part']}/{line.get('key', number)}"
    (into / "inputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _cli(part: str, key: str, *commands: list[str], at: str = ".", given: str = "") -> dict[str, Any]:
    return {"part": part, "do": "cli", "key": key, "commands": commands, "at": at, "given": given}


def _surface(_tree: Path, _into: Path, _count: int) -> Iterator[dict[str, Any]]:
    yield {"part": "surface", "do": "surface", "key": "names"}
    found = {(): _captured([], "--help")}
    for name in re.findall(r"^  ([a-z]+) ", found[()].partition("Commands:")[2], re.MULTILINE):
        found[name,] = _captured([name], "--help")
        for inner in re.findall(r"^  ([a-z]+) ", found[name,].partition("Commands:")[2], re.MULTILINE):
            found[name, inner] = ""
    for words in found:
        yield _cli("surface", " ".join(("help", *words)), [*words, "--help"])
    listed = _captured(["explain"])
    yield _cli("pages", "all", ["explain"])
    for name in dict.fromkeys(re.findall(r"^\W*([a-z]+(?:-[a-z]+)*)\b", listed, re.MULTILINE)):
        yield _cli("pages", name, ["explain", name])


def _captured(command: list[str], *more: str) -> str:
    return _command([*command, *more], "").partition("\n")[2]


def _examples(tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    targets = list(_instrc().targets())[:: 1 if count >= QUICK else 5]
    for path in sorted((tree / "examples").rglob("*")):
        at = path.parent.relative_to(tree).as_posix()
        if path.suffix == ".aug" or path.name.endswith(".vibe.json"):
            name, vibe = path.name, path.suffix != ".aug"
            yield _cli(
                "examples", f"{at}/{name} check", *(["check", "--no-cache", "--format", each, name] for each in FORMATS), at=at
            )
            yield _cli("examples", f"{at}/{name} compile", ["compile", "--emit", "all", name], ["fmt", "--diff", name], at=at)
            lowered = [["compile", "--target", target, "--map", "m.json", name] for target in (targets[:2] if vibe else targets)]
            yield _cli("examples", f"{at}/{name} lower", *lowered, at=at)
        if path.suffix == ".aug":
            drawn = (["graph", "--format", each, name] for each in ("mermaid", "dot", "svg", "html"))
            yield _cli("examples", f"{at}/{name} graph", *drawn, ["types", name], at=at)
            yield _cli("examples", f"{at}/{name} preview", ["preview", name], ["preview", "--full", name], at=at)
            if count >= QUICK or "agents" not in at:
                yield _cli("examples", f"{at}/{name} run", ["run", "--every-branch", name], at=at)
            yield {"part": "examples", "do": "file", "key": f"{at}/{name}", "path": f"{at}/{name}"}
        if path.suffix == ".md":
            written = re.findall(r"^\$ instrc (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            plain = [shlex.split(line) for line in written if not set("|<>&$") & set(line)]
            yield _cli("examples", f"{at}/{path.name}", *(line for line in plain if line and line[0] in ALONE), at=at)


def _cases(tree: Path, into: Path, count: int) -> Iterator[dict[str, Any]]:
    from documents import cases_of  # type: ignore[import-not-found]  # of the tests of REV

    for path in sorted(tree.glob("tests/**/passes/cases/*.md")):
        for number, case in enumerate(cases_of(path)):
            folder = f"cases/{path.stem}-{number}"
            for name, text in case.vibes().items():
                (into / folder / name).parent.mkdir(parents=True, exist_ok=True)
                (into / folder / name).write_text(text, encoding="utf-8")
            (into / folder / "schemas").mkdir(parents=True, exist_ok=True)
            for index, block in enumerate((*case.of("aug"), *case.of("compile"))):
                words = dict(word.partition("=")[::2] for word in block.info[1:])
                options = {
                    "naming": words.get("naming"),
                    "hints": words.get("hints") != "no",
                    "batch": int(words.get("batch", "1")),
                }
                line = {"part": "cases", "do": "program", "key": f"{path.stem}-{number}-{index}", "at": f"{folder}/schemas"}
                yield {
                    **line,
                    "text": block.text.rstrip("\n"),
                    "options": {**options, "sketch": "sketch" in words},
                    "full": 2 if count >= QUICK or number % 3 == 0 else 1,
                }
    vocabulary(into)
    for path in sorted(tree.glob("tests/**/cases/*.md")):
        if "passes" not in path.parts:
            for number, text in enumerate(
                re.findall(r"^```aug[^\n]*\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
            ):
                yield {
                    "part": "cases",
                    "do": "program",
                    "key": f"{path.stem}-{number}",
                    "text": text.rstrip("\n"),
                    "at": "vibes",
                    "full": 2,
                }


def vocabulary(into: Path) -> None:
    """Write the instructions that generated programs call."""
    from marked_mistakes import LETTER_VIBES  # type: ignore[import-not-found]  # of the tests of REV
    from meaning import registry  # type: ignore[import-not-found]  # of the tests of REV

    for folder in ("vibes", "letters"):
        (into / folder).mkdir(exist_ok=True)
    registry(into / "vibes")
    for name, schema in LETTER_VIBES.items():
        (into / "letters" / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")


def _texts(tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield the programs that stand in tests as texts: most are wrong in some way."""
    found: dict[str, None] = {}
    for path in sorted(tree.glob("tests/**/*.py")):
        if "benchmarks" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _looks_like_a_program(node.value):
                    found[re.sub("[«»]", "", node.value)] = None
    chosen = sorted(found, key=_digest)
    for text in chosen[: count * 2]:
        yield {"part": "texts", "do": "program", "text": text, "at": "letters", "full": 1, "options": {"sketch": True}}


def _looks_like_a_program(text: str) -> bool:
    return (
        5 < len(text) < 2000 and re.search(r"[A-Z]\w*\(|\bconst \w|^(when|each|repeat|try|do) |\| [A-Z]|@ ?\{", text) is not None
    )


def _data(tree: Path, into: Path, _count: int) -> Iterator[dict[str, Any]]:
    yield {"part": "data", "do": "tools", "key": "tools"}
    for tools in sorted((into / "data/agents").glob("*.tools.json")):
        name = f"data/agents/{tools.name}"
        sample = ["plan", "sample", "--tools", name]
        yield _cli("data", tools.stem, sample, ["plan", "check", "--help"], ["import", "taskbench", name])
    for path in sorted((*tree.glob("tests/data/bench/*.json"), tree / "tests/data/sarif-2.1.0-rtm.5.json")):
        yield {"part": "data", "do": "schema", "key": path.stem, "schema": json.loads(path.read_text("utf-8")), "few": True}
    pitfalls = json.loads((tree / "tests/data/flatten-pitfalls.json").read_text("utf-8"))
    yield from ({"part": "data", "do": "schema", "schema": schema} for schema in _schemas_in(pitfalls))


def _schemas_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and "schema" in value:
        yield value["schema"]
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _schemas_in(each)


def _programs(_tree: Path, into: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield generated programs: with blocks, with plans, with repetitions, of trees, without meaning, and with slips."""
    import blocks_at_random as random_blocks  # type: ignore[import-not-found]  # of the tests of REV
    import meaning
    import programs
    from bodies import settled, write  # type: ignore[import-not-found]  # of the tests of REV
    from hypothesis import strategies as st
    from printing import print_program

    vocabulary(into)
    blocks = random_blocks.whole().map(lambda body: write(settled(body), top=True))
    slips = st.tuples(blocks | meaning_texts(meaning), programs.mutations()).map(lambda pair: programs.mutated(*pair))
    kinds = {
        "blocks": (0.35, blocks),
        "plans": (0.1, random_blocks.planning().map(lambda body: write(settled(body), top=True))),
        "repetitions": (0.1, random_blocks.repeating().map(lambda body: write(settled(body), top=True))),
        "trees": (0.2, meaning_texts(meaning)),
        "surface": (0.1, programs.programs().map(print_program)),
        "slips": (0.15, slips),
    }
    for kind, (share, strategy) in kinds.items():
        for number, text in enumerate(drawn(strategy, int(count * share))):
            yield {"part": f"programs-{kind}", "do": "program", "text": text, "at": "vibes", "full": 1 if number % 5 else 2}


def meaning_texts(meaning: Any) -> Any:
    """Return a strategy of programs without blocks."""
    return meaning.trees().map(meaning.write)


def drawn(strategy: Any, count: int) -> list[Any]:
    """Return the same examples of a strategy each time."""
    from hypothesis import HealthCheck, Phase, given, settings

    found: list[Any] = []
    options = settings(max_examples=max(count, 1), derandomize=True, deadline=None, database=None, phases=[Phase.generate])

    @settings(options, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found[:count]


def _schemas(_tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    from adversarial import Adversarial  # type: ignore[import-not-found]  # of the tests of REV
    from generate import Schemas  # type: ignore[import-not-found]  # of the tests of REV

    for number in range(count // 8):
        for kind in (Schemas, Adversarial):
            yield {"part": "schemas", "do": "schema", "schema": kind(Random(number)).document()}  # noqa: S311  -- reproducible, not secret


def _corpus(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the schemas of a folder: a file of JSON each, or a line each."""
    for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
        texts = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
        for number, text in enumerate(texts):
            with contextlib.suppress(ValueError):
                yield {"key": f"{path.relative_to(folder)}:{number}", "schema": json.loads(text)}


# --- One side: what a tree answers, by public functions and commands only


def _instrc() -> Any:
    import instrc

    return instrc


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in which nobody waits: the clock goes on to the next timer."""

    now = 0.0

    def __init__(self) -> None:
        super().__init__()
        wait = self._selector.select  # type: ignore[attr-defined]  # asyncio's own name for it

        def select(timeout: float | None = None) -> Any:
            VirtualLoop.now += max(timeout or 0, 0)
            return wait(0 if timeout is not None else None)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        return VirtualLoop.now


def answer_side(inputs: Path, shard: str, out: Path | None) -> None:
    """Write key, facet and digest of each facet of the inputs of a shard; without a file, print the texts of keys on stdin."""
    time.time = lambda: 1_700_000_000 + VirtualLoop.now  # before anything of the tree takes it
    warnings.simplefilter("ignore")
    os.chdir(inputs)
    number, _, shards = shard.partition("/")
    wanted = None if out is not None else set(sys.stdin.read().splitlines())
    parts = tuple(os.environ["COMPARED_PARTS"].split()) or ("",)
    with (out or Path(os.devnull)).open("w", encoding="utf-8") as file:
        for index, line in enumerate((inputs / "inputs.jsonl").read_text(encoding="utf-8").splitlines()):
            job = json.loads(line)
            if not job["part"].startswith(parts):
                continue
            if (index % int(shards) != int(number)) if wanted is None else (job["key"] not in wanted):
                continue
            for facet, text in _answers(job):
                said = text.replace(str(inputs), "INPUTS").replace(os.environ["PYTHONPATH"], "TREE")
                if wanted is None:
                    file.write(f"{job['part']}\t{job['key']}\t{facet}\t{SLOW if said == SLOW else _digest(said)}\n")
                else:
                    sys.__stdout__.write(json.dumps([job["key"], facet, said]) + "\n")  # type: ignore[union-attr]  # there is one


def _answers(job: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facets of an input; one that takes too long ends it."""
    makers: dict[str, Callable[..., Iterator[tuple[str, Any]]]] = {
        "surface": _surface_of, "cli": _commands, "program": _program, "file": _file, "schema": _schema, "tools": _tools,
    }  # fmt: skip

    def ring(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    facet = "?"
    try:
        for facet, value in makers[job["do"]](job):
            yield facet, value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, indent=1)
    except TimeoutError:
        yield "time", SLOW
    except RecursionError as error:
        yield "crash", f"after {facet}: {error}"
    finally:
        signal.alarm(0)


def plain(value: Any) -> Any:
    """Return a value of ours as JSON: facts of problems, fields of results, no names of classes."""
    instrc = _instrc()
    if isinstance(value, instrc.Problem):
        names = ("name", "severity", "message", "hint", "with_hint", "characters", "at", "labels", "calls", "fixes")
        return {"str": str(value), **{name: plain(getattr(value, name)) for name in names}}
    if isinstance(value, instrc.Span):
        return [value.source.name, value.start, value.end]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    fields = (
        getattr(value, "__struct_fields__", None)
        or getattr(value, "_fields", None)
        or getattr(value, "__dataclass_fields__", None)
    )
    if fields:
        return {name: plain(getattr(value, name)) for name in fields if name[0] != "_" and name != "record"}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else re.sub(r" at 0x\w+", "", repr(value))


def tried(work: Callable[[], Any]) -> Any:
    """Return what a call gives, or what it raises, as JSON."""
    try:
        return work()
    except _instrc().CompileError as error:
        return {"problems": error.problems}
    except (TypeError, ValueError, KeyError, _instrc().Inexpressible) as error:
        return {"raised": type(error).__name__, "says": str(error)}


def _surface_of(_job: Any) -> Iterator[tuple[str, Any]]:
    instrc = _instrc()
    yield "all", list(instrc.__all__)
    for name in instrc.__all__:
        value = getattr(instrc, name)
        if callable(value):
            with contextlib.suppress(ValueError):
                yield f"signature {name}", re.sub(r" at 0x\w+", "", str(inspect.signature(value)))
            yield f"document {name}", inspect.getdoc(value) or ""
        if inspect.isclass(value):
            yield f"members {name}", [each for each in dir(value) if not each.startswith("_")]
    project = tomllib.loads((Path(os.environ["PYTHONPATH"]) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield "entry points", {"scripts": project["scripts"], "extras": sorted(project["optional-dependencies"])}
    yield "targets", list(instrc.targets())


def _commands(job: Any) -> Iterator[tuple[str, Any]]:
    """Yield what commands say, run one after another in a fresh copy of their folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as kept:
        folder = (
            shutil.copytree(job["at"], Path(kept) / "x" / Path(job["at"]).name, symlinks=True) if job["at"] != "." else before
        )
        try:
            os.chdir(folder)
            for number, command in enumerate(job["commands"]):
                said = _command(command, job["given"])
                yield f"{number} {shlex.join(command)}"[:100], said.replace(kept, "KEPT")
        finally:
            os.chdir(before)
        if folder != before:
            made = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
            yield "files", {name: _digest(path.read_bytes().decode("utf-8", "replace")) for name, path in made.items()}


def _command(command: list[str], given: str) -> str:
    """Return the exit code, the output and the errors of a command line."""
    from instrc.cli import main

    texts = [io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", write_through=True) for text in (given.encode(), b"", b"")]
    sys.stdin, sys.stdout, sys.stderr = texts
    try:
        code: Any = main(command)
    except SystemExit as error:
        code = error.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    out, told = (text.buffer.getvalue().decode() for text in texts[1:])  # type: ignore[attr-defined]  # of BytesIO
    return f"exit {code}\n{out}\n--- stderr\n{told}"


def _program(job: Any) -> Iterator[tuple[str, Any]]:
    instrc = _instrc()
    source, roots = instrc.Source("t.aug", job["text"]), [job["at"]]
    options = {name: value for name, value in job.get("options", {}).items() if value is not None}
    yield from _compiled(source, roots, options, job["full"])
    problems = tried(lambda: instrc.check(source, roots=roots))
    yield "check", problems
    if problems and problems != {"problems": ()}:
        for format_ in FORMATS[: 2 * job["full"]]:
            yield (
                f"check {format_}",
                _command(["check", "--no-cache", "--format", format_, "--root", job["at"], "-"], job["text"]),
            )
    elif job["full"] > 1:
        for command in (["graph", "--root", job["at"], "-"], ["fmt", "-"], ["preview", "--root", job["at"], "-"]):
            yield command[0], _command(command, job["text"])


def _file(job: Any) -> Iterator[tuple[str, Any]]:
    yield from _compiled(job["path"], [], {}, 2)


def _compiled(program: Any, roots: list[str], options: Any, full: int) -> Iterator[tuple[str, Any]]:
    """Yield artefacts, problems, payloads with their maps, a run and a rehearsal."""
    instrc = _instrc()
    report = instrc.Report()
    made = tried(lambda: instrc.artefacts(program, roots=roots, report=report, **options))
    yield "problems", made if isinstance(made, dict) else report.once()
    if isinstance(made, dict):
        return
    yield "artefacts", [[each.name, each.title, each.kind, each.step, each.documents] for each in made]
    for number, each in enumerate(made[:3]):
        yield from _lowered(each.documents["tool"], f"{number} ", few=full < 2)
        document = each.documents.get("process", each.documents["tool"])
        yield f"{number} run", tried(lambda document=document: _run(document))
        if full > 1:
            yield f"{number} rehearsal", tried(lambda document=document: instrc.rehearse(document).to_json())


def _run(document: Any) -> Any:
    """Run a document on a clock of its own."""
    VirtualLoop.now = 0
    with contextlib.closing(VirtualLoop()) as loop:
        return loop.run_until_complete(_played(document))


async def _played(document: Any) -> Any:
    """Run a document with made answers; return its events, its outcome and its record."""
    instrc = _instrc()
    events: list[Any] = []
    run = await instrc.run_async(document, "a", model=Made(), rehearse=True, id="r1", watch=events.append, requests=40)
    for _ in range(8):
        if run.status != "waiting" or not run.questions:
            break
        question = run.questions[0]
        events.append(question)
        run = await run.answer_async(question.id, filled(question.schema, Random(question.id)))  # noqa: S311  -- reproducible, not secret
    said = json.loads(json.dumps(plain(events)))
    for event in said:
        if isinstance(event, dict):
            event.pop("seconds", None)
    return {"events": said, "status": run.status, "outcome": run.outcome, "record": run.record}


class Made:
    """A model whose answers depend on the command and the schema only."""

    async def answer(self, request: Any) -> Any:
        answer = filled(request.schema, Random(request.key))  # noqa: S311  -- reproducible, not secret
        return _instrc().Reply(answer, model="made", usage={"input_tokens": len(request.message), "output_tokens": 1})


def filled(schema: Any, random: Random) -> Any:
    """Return a value for a schema; most are valid."""
    if not isinstance(schema, dict):
        return "x"
    for word in ("const", "enum", "anyOf", "oneOf"):
        if word in schema:
            chosen = schema[word] if word == "const" else random.choice(schema[word])
            return chosen if word in {"const", "enum"} else filled(chosen, random)
    kind = schema.get("type", "object")
    kind = random.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        wanted = schema.get("properties", {})
        return {
            name: filled(each, random)
            for name, each in wanted.items()
            if name in schema.get("required", wanted) or random.random() < 0.8
        }
    if kind == "array":
        return [
            filled(schema.get("items", {}), random)
            for _ in range(random.randint(schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)))
        ]
    return {"string": random.choice("abx"), "integer": random.randint(0, 3), "number": 1.5, "boolean": random.random() < 0.5}.get(
        kind
    )


def _schema(job: Any) -> Iterator[tuple[str, Any]]:
    instrc, schema = _instrc(), job["schema"]
    yield "flat", tried(lambda: instrc.flatten(schema, trace=True))
    yield "stripped", tried(lambda: instrc.strip(schema, {"all"}))
    yield from _lowered(schema, "", few=job.get("few", False))


def _lowered(schema: Any, before: str, *, few: bool) -> Iterator[tuple[str, Any]]:
    """Yield payload, map, losses and problems for targets, and a sample answer there and back."""
    instrc = _instrc()
    targets = list(instrc.targets())
    if few:
        number = int(_digest(json.dumps(schema)), 16)
        targets = [targets[number % len(targets)], targets[number // 97 % len(targets)]]
    value = _sample(schema)
    for target in targets:
        report = instrc.Report()
        lowered = tried(lambda target=target, report=report: instrc.lower(schema, target, "my.tool", report=report))
        if isinstance(lowered, dict):
            yield f"{before}{target}", lowered
            continue
        yield f"{before}{target}", [lowered.payload, lowered.map, lowered.schema, lowered.losses, lowered.problems, report.once()]
        sent = tried(lambda lowered=lowered: instrc.encode(value, lowered, check=False))
        yield f"{before}{target} answer", [sent, tried(lambda sent=sent, lowered=lowered: instrc.lift(sent, lowered))]


def _sample(schema: Any) -> Any:
    try:
        asked = _instrc().Sample().answer(_instrc().Request("r/c", "t", "", _instrc().flatten(schema)))
        asked.send(None)
    except StopIteration as done:
        return done.value.answer
    except _instrc().CompileError:
        return {}


def _tools(_job: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tools of others, imported and sent together to every target."""
    instrc = _instrc()
    kinds = {
        "bfcl.jsonl": "bfcl",
        "mcp.json": "mcp",
        "openai.json": "openai",
        "openapi.yaml": "openapi",
        "smolagents.json": "smolagents",
        "swagger.json": "openapi",
    }
    for name, kind in kinds.items():
        tools = tried(lambda name=name, kind=kind: instrc.import_tools(kind, Path("data/functions") / name))
        yield name, tools
        for target in instrc.targets():
            sent = tried(lambda tools=tools, target=target: instrc.lower_all(tools, target))
            yield f"{name} {target}", sent if isinstance(sent, dict) else [sent.payload, sent.map, sent.losses, sent.problems]


# --- A store whose runs wait

TEXT = {"type": "string"}


def _of(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": list(names)}


WAITING_VIBES = {
    "Ma": _of("a"), "Mb": _of("b"), "Send_Activity": _of("id"), "Later_Activity": _of("id"), "Confirm_User": _of("decision"),
}  # fmt: skip
WAITING = {
    "person": "const d = Ma(prompt); const c = Confirm_User(d); Mb(d, Send_Activity(c))",
    "deadline": 'try { Confirm_User(prompt) @ { within: "PT4S" } } else { Send_Activity(Mb(prompt)) }',
    "delay": 'const s = Send_Activity(Ma(prompt)) @ { delay: "PT9S" }; Mb(s)',
    "system": "const l = Later_Activity(Ma(prompt)); Mb(l, Confirm_User(l))",
    "each": "each x in 3 { Mb(Confirm_User(Ma(prompt, x)), x) }",
    "rounds": "repeat { const c = Confirm_User(Ma(prompt)); Mb(c) } until round is 3 max 4",
    "branch": 'when prompt is "a" { do { Mb(Confirm_User(Send_Activity(prompt))) } } else { Ma(prompt) }',
    "plain": "Confirm_User(prompt)",
}
"""Programs that wait for a person, a deadline, a delay or a system, at their beginning, in a chain, and in blocks."""


def begin_runs(store: Path) -> None:
    """Begin a run of each program and leave it where it waits; the one that waits for its own time is killed."""

    def begin(name: str) -> Any:
        given = {"vibes": WAITING_VIBES, "engine": "durable", "store": store, "id": name, **_equipment()}
        return _instrc().run(WAITING[name], "a", **given)

    for name in WAITING:
        if name != "delay":
            say(f"{name} {begin(name).status}")
    threading.Thread(target=begin, args=["delay"], daemon=True).start()
    time.sleep(3)
    say("delay killed")
    os._exit(0)


def _equipment() -> dict[str, Any]:
    acts = {"Send_Activity": lambda given: {"id": f"sent {given}"}, "Later_Activity": lambda _given: _instrc().PENDING}
    return {"model": Made(), "activities": acts}


def finish_runs(store: Path) -> None:
    """Print each run as it is found, answer it until it ends, and print how it ends."""
    instrc = _instrc()
    for name in WAITING:
        run = instrc.find_run(name, store=store, **_equipment())
        before = [run.status, run.record, run.questions]
        for _ in range(20):
            if run.status not in {"waiting", "running"}:
                break
            questions = [] if name == "deadline" else run.questions
            run = run.answer(questions[0].id, filled(questions[0].schema, Random(name))) if questions else run.resume()  # noqa: S311  -- reproducible, not secret
            time.sleep(0 if questions else 1)
        trace = [{key: value for key, value in event.items() if key not in {"at", "seconds"}} for event in run.trace]
        trace.sort(key=lambda event: json.dumps(event, sort_keys=True))  # what happens at the same time has no order
        say(json.dumps([name, plain([*before, run.status, run.outcome, run.record, trace])], indent=1))
    instrc.close_stores()


def compare_stores(base: Side, ours: Side) -> int:
    """Let REV begin runs that wait, and both sides finish them; return 1 if they end in different ways."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "1"), Path(folder, "2")
        begun = base.process("begin", str(first))
        shutil.copytree(first, second)
        said = [side.process("finish", str(store)).splitlines() for side, store in ((base, first), (ours, second))]
    shown = list(difflib.unified_diff(*said, "REV alone", "begun by REV, finished here", n=4, lineterm=""))
    say(
        "\n".join(shown[:80])
        or f"{begun.strip()}\nwaiting store: {len(WAITING)} runs, {_digest(chr(10).join(said[0]))}, no difference"
    )
    return 1 if shown else 0


# --- Both sides


class Side(NamedTuple):
    """A tree, and what it is asked."""

    tree: Path
    inputs: Path
    only: tuple[str, ...]

    def process(self, *words: str, given: str = "") -> str:
        """Run this file in a process that has this tree's `instrc`."""
        with tempfile.TemporaryDirectory() as home:
            places = {"PYTHONPATH": str(self.tree), "XDG_CACHE_HOME": home, "COMPARED_PARTS": " ".join(self.only)}
            environment = {**os.environ, **ENVIRONMENT, **places}
            command = [sys.executable, "-P", str(HERE), "--within", *words]
            ran = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode:
            sys.exit(f"{self.tree}: {' '.join(words)[:200]} failed")
        return ran.stdout

    def results(self, kept: Path | None, workers: int) -> dict[tuple[str, str, str], str]:
        """Return digests by part, key and facet, from the file in which they are kept."""
        if kept is None or not kept.exists():
            with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
                files = [Path(folder) / str(number) for number in range(SHARDS)]
                shards = [
                    pool.submit(self.process, "answer", str(self.inputs), f"{i}/{SHARDS}", str(f)) for i, f in enumerate(files)
                ]
                for shard in shards:
                    shard.result()
                text = "".join(file.read_text(encoding="utf-8") for file in files)
            if kept is not None:
                kept.write_text(text, encoding="utf-8")
        else:
            text = kept.read_text(encoding="utf-8")
        rows = (line.split("\t") for line in text.split("\n") if line)
        return {(part, key, facet): digest for part, key, facet, digest in rows}

    def texts(self, keys: list[str]) -> dict[tuple[str, str], str]:
        """Return the texts of some inputs by key and facet."""
        said = self.process("answer", str(self.inputs), "0/1", "-", given="\n".join(keys)) if keys else ""
        return {(key, facet): text for key, facet, text in map(json.loads, said.splitlines())}


def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()[:24]


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


def tree_of(revision: str) -> Path:
    """Return the folder with the files of a revision."""
    folder = CACHE / _git("rev-parse", "--verify", f"{revision}^{{commit}}")[:12]
    if not (folder / "tree").exists():
        with tempfile.TemporaryDirectory() as made:
            archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", made], input=archive, check=True)
            shutil.copytree(made, folder / "tree", dirs_exist_ok=True)
    return folder / "tree"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def allowed(path: Path | None) -> Callable[[str], str]:
    """Return what writes new words for old ones, of a list of `{"old", "new"}` in JSON; `{}` in them stands for any text."""
    changes: list[tuple[re.Pattern[str], str]] = []
    for each in json.loads(path.read_text(encoding="utf-8")) if path is not None else []:
        for written in (str, lambda text: json.dumps(text, ensure_ascii=False)[1:-1]):  # also as it stands in JSON
            old, new = (written(each[name]).split("{}") for name in ("old", "new"))
            groups = "".join(f"\\g<{number}>{part.replace(chr(92), chr(92) * 2)}" for number, part in enumerate(new[1:], 1))
            changes.append((re.compile("(.*?)".join(map(re.escape, old))), new[0].replace("\\", "\\\\") + groups))

    def renew(text: str) -> str:
        for old, new in changes:
            text = old.sub(new, text)
        return text

    return renew


def compare(base: Side, ours: Side, kept: Path, options: argparse.Namespace) -> int:
    """Print a line for each part, and the first differences; return 1 if there are any."""
    before = base.results(kept, options.workers)
    after = ours.results(None, options.workers)
    different = sorted(
        row for row in {*before, *after} if before.get(row) != after.get(row) and SLOW not in {before.get(row), after.get(row)}
    )
    keys = list(dict.fromkeys(key for _, key, _ in different))
    keys = (
        keys
        if options.allow
        else [key for part in {row[0] for row in different} for key in [k for p, k, _ in different if p == part][:30]]
    )
    old, new = base.texts(keys), ours.texts(keys)
    renew = allowed(options.allow)
    failed: dict[str, list[tuple[str, str]]] = {}
    for part, key, facet in different:
        said = [side.get((key, facet), "") for side in (old, new)]
        if options.allow is None or renew(said[0]) != renew(said[1]):
            failed.setdefault(part, []).append((key, facet))
    for part in sorted({row[0] for row in {*before, *after}}):
        rows = sorted(row for row in before if row[0] == part)
        slow = sum(before[row] == SLOW for row in rows)
        whole = _digest("".join(f"{row}{before[row]}" for row in rows))
        wrong = failed.get(part, [])
        inputs = len({key for _, key, _ in rows})
        say(f"{part}: {inputs:,} inputs, {len(rows):,} texts, {slow} too slow, {len(wrong):,} differ, {whole}")
        for key, facet in [place for place in wrong if place in old or place in new][: options.show]:
            lines = [side.get((key, facet), "(nothing)").splitlines() for side in (old, new)]
            shown = list(difflib.unified_diff(*lines, f"{key} {facet} before", f"{key} {facet} after", n=2, lineterm=""))
            say("\n".join(f"    {line[:400]}" for line in shown[:30]) or f"    {key} {facet}: not the same in each run")
    return 1 if failed else 0


def main() -> int:
    """Compare, or work within one side."""
    if sys.argv[1:2] == ["--within"]:
        return _within(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, metavar="REV")
    parser.add_argument("--tree", type=Path, default=ROOT, help="what is compared with REV: this tree")
    parser.add_argument("--programs", type=int, default=10_000, help="how many programs are drawn; 300 is quick")
    parser.add_argument("--corpus", default="", metavar="FOLDER", help="a folder of JSON Schemas, one a file or one a line")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="parts by the beginning of their names")
    parser.add_argument("--allow", type=Path, metavar="FILE", help='intended changes: a list of {"old": …, "new": …} in JSON')
    parser.add_argument("--show", type=int, default=3, help="how many differences of a part are shown")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--waiting-store", action="store_true", help="only open a store of REV here, and finish the runs that wait in it"
    )
    options = parser.parse_args()
    tree = tree_of(options.base)
    if options.waiting_store:
        return compare_stores(Side(tree, tree, ()), Side(options.tree.resolve(), tree, ()))
    corpus = (
        "".join(_digest(path.read_bytes()) for path in sorted(Path(options.corpus).rglob("*.json*"))) if options.corpus else ""
    )
    mark = _digest(HERE.read_bytes() + f"{options.programs}{corpus}{sys.version}".encode())[:12]
    inputs = tree.parent / f"inputs-{mark}"
    base, ours = (Side(each.resolve(), inputs, tuple(options.only)) for each in (tree, options.tree))
    if not (inputs / "inputs.jsonl").exists():
        shutil.rmtree(inputs, ignore_errors=True)
        inputs.mkdir()
        base.process(
            "make", str(tree), str(inputs), str(options.programs), options.corpus and str(Path(options.corpus).resolve())
        )
    if options.corpus:
        say(f"corpus {options.corpus}: {_digest(corpus)}")
    return compare(base, ours, tree.parent / f"results-{mark}-{_digest(' '.join(options.only))[:6]}.tsv", options)


def _within(what: str, *words: str) -> int:
    """Do one side's work, with the `instrc` of the path."""
    assert Path(_instrc().__file__).is_relative_to(os.environ["PYTHONPATH"])
    if what in {"begin", "finish"}:
        (begin_runs if what == "begin" else finish_runs)(Path(words[0]))
    elif what == "make":
        make_inputs(Path(words[0]), Path(words[1]), int(words[2]), words[3])
    else:
        answer_side(Path(words[0]), words[1], None if words[2] == "-" else Path(words[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
