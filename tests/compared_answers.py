"""Say what a tree answers to the inputs of `compare_with.py`, by its public functions and its command line only."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

SECONDS = 60
"""Of computing, what one input may take; what takes longer is counted and not compared."""
SLOW = "took too long"
FORMATS = ("text", "json", "github")


def instrc_here() -> Any:
    import instrc

    return instrc


def errors_here() -> type[Exception]:
    """Return the base class of errors; releases before it had only one."""
    kind: type[Exception] = getattr(instrc_here(), "InstrcError", instrc_here().CompileError)
    return kind


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

    def run_in_executor(self, _executor: Any, work: Any, *given: Any) -> Any:
        """Do at once what threads would do at some time."""
        done = self.create_future()
        try:
            done.set_result(work(*given))
        except Exception as error:  # noqa: BLE001  -- as an executor does
            done.set_exception(error)
        return done

    def time(self) -> float:
        return VirtualLoop.now


def answer_side(inputs: Path, shard: str, out: Path | None) -> None:
    """Write key, facet and digest of each facet of the inputs of a shard; without a file, print the texts of keys on stdin."""
    time.time = lambda: 1_700_000_000 + VirtualLoop.now  # before anything of the tree takes it
    time.monotonic = time.process_time  # so that what has a limit of time does not depend on the load of the machine
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
                    file.write(f"{job['part']}\t{job['key']}\t{facet}\t{SLOW if said == SLOW else digest_of(said)}\n")
                else:
                    sys.__stdout__.write(json.dumps([job["key"], facet, said]) + "\n")  # type: ignore[union-attr]  # there is one


def _answers(job: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facets of an input; one that takes too long ends it."""
    makers: dict[str, Callable[..., Iterator[tuple[str, Any]]]] = {
        "surface": _surface_of, "cli": _commands, "program": _program, "file": _file, "schema": _schema, "tools": _tools,
    }  # fmt: skip

    def ring(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    facet = "?"
    try:
        for facet, value in makers[job["do"]](job):
            yield facet, value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, indent=1)
    except TimeoutError:
        yield "time", SLOW
    except RecursionError as error:
        yield "crash", f"after {facet}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def plain(value: Any) -> Any:
    """Return a value of ours as JSON: facts of problems, fields of results, no names of classes."""
    instrc = instrc_here()
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
    except errors_here() as error:
        return {"problems": error.problems}
    except (TypeError, ValueError, KeyError, instrc_here().Inexpressible) as error:
        return {"raised": type(error).__name__, "says": str(error)}


def _surface_of(_job: Any) -> Iterator[tuple[str, Any]]:
    instrc = instrc_here()
    yield "all", list(instrc.__all__)
    for name in instrc.__all__:
        value = getattr(instrc, name)
        if callable(value):
            with contextlib.suppress(ValueError):
                said = re.sub(r" at 0x\w+", "", str(inspect.signature(value)))
                yield f"signature {name}", re.sub(r"\binstrc(?:\.\w+)*\.(?=\w)", "", said)  # modules may move
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
                said = command_line(command, job["given"])
                yield f"{number} {shlex.join(command)}"[:100], said.replace(kept, "KEPT")
        finally:
            os.chdir(before)
        if folder != before:
            made = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
            yield "files", {name: digest_of(path.read_bytes().decode("utf-8", "replace")) for name, path in made.items()}


def command_line(command: list[str], given: str) -> str:
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
    instrc = instrc_here()
    source, roots = instrc.Source("t.aug", job["text"]), [job["at"]]
    options = {name: value for name, value in job.get("options", {}).items() if value is not None}
    yield from _compiled(source, roots, options, job["full"])
    problems = tried(lambda: instrc.check(source, roots=roots))
    yield "check", problems
    if problems and problems != {"problems": ()}:
        for format_ in FORMATS[: 2 * job["full"]]:
            yield (
                f"check {format_}",
                command_line(["check", "--format", format_, "--root", job["at"], "-"], job["text"]),
            )
    elif job["full"] > 1:
        for command in (["graph", "--root", job["at"], "-"], ["fmt", "-"], ["preview", "--root", job["at"], "-"]):
            yield command[0], command_line(command, job["text"])


def _file(job: Any) -> Iterator[tuple[str, Any]]:
    yield from _compiled(job["path"], [], {}, 2)


def _compiled(program: Any, roots: list[str], options: Any, full: int) -> Iterator[tuple[str, Any]]:
    """Yield artefacts, problems, payloads with their maps, a run and a rehearsal."""
    instrc = instrc_here()
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
    instrc = instrc_here()
    events: list[Any] = []
    app = instrc.App(model=Made(), watch=events.append, requests=40)
    run = await app.run(document, "a", rehearse=True, id="r1")
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
        return instrc_here().Reply(answer, model="made", usage={"input_tokens": len(request.message), "output_tokens": 1})


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
    instrc, schema = instrc_here(), job["schema"]
    yield "flat", tried(lambda: instrc.flatten(schema, trace=True))
    yield "stripped", tried(lambda: instrc.strip(schema, {"all"}))
    yield from _lowered(schema, "", few=job.get("few", False))


def _lowered(schema: Any, before: str, *, few: bool) -> Iterator[tuple[str, Any]]:
    """Yield payload, map, losses and problems for targets, and a sample answer there and back."""
    instrc = instrc_here()
    targets = list(instrc.targets())
    if few:
        number = int(digest_of(json.dumps(schema)), 16)
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
        asked = instrc_here().Sample().answer(instrc_here().Request("r/c", "t", "", instrc_here().flatten(schema)))
        asked.send(None)
    except StopIteration as done:
        return done.value.answer
    except errors_here():
        return {}


def _tools(_job: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tools of others, imported and sent together to every target."""
    instrc = instrc_here()
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


def digest_of(text: str | bytes) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()[:24]


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


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
        return instrc_here().run(WAITING[name], "a", **given)

    for name in WAITING:
        if name != "delay":
            say(f"{name} {begin(name).status}")
    threading.Thread(target=begin, args=["delay"], daemon=True).start()
    time.sleep(3)
    say("delay killed")
    os._exit(0)


def _equipment() -> dict[str, Any]:
    acts = {"Send_Activity": lambda given: {"id": f"sent {given}"}, "Later_Activity": lambda _given: instrc_here().PENDING}
    return {"model": Made(), "activities": acts}


def finish_runs(store: Path) -> None:
    """Print each run as it is found, answer it until it ends, and print how it ends."""
    instrc = instrc_here()
    for name in WAITING:
        run = instrc.find_run(name, engine="durable", store=store, **_equipment())
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


def main(what: str, *words: str) -> None:
    """Do one side's work, with the `instrc` of the path."""
    assert Path(instrc_here().__file__).is_relative_to(os.environ["PYTHONPATH"])
    if what == "make":
        sys.path.insert(0, str(Path(__file__).parent))
        from compared_inputs import make_inputs

        make_inputs(Path(words[0]), Path(words[1]), int(words[2]), words[3])
    elif what in {"begin", "finish"}:
        (begin_runs if what == "begin" else finish_runs)(Path(words[0]))
    else:
        answer_side(Path(words[0]), words[1], None if words[2] == "-" else Path(words[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
