"""Measure what twice as much costs: every command and function on inputs of many shapes, in processor time and memory.

    python tests/benchmarks/growth.py [--kind schemas|programs] [--shape PART]… [--work PART]… [--bytes 100000] [--all]

Each measurement is a process of its own with 3 GB and 10 seconds.  A line is printed where the whole takes more than a second
or 400 MB, where twice as much takes more than three times as long, and where something is raised; `--all` prints every one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from shapes import PROGRAMS, SCHEMAS, fitting, text_of

import instrc
from instrc.cli import main as command
from instrc.lsp import completion, hints, navigation  # questions to a session without a client
from instrc.lsp.hints import hover, signature  # questions to a session without a client
from instrc.lsp.session import EditorSession, diagnostics  # a session without a client
from instrc.providers.targets import TargetName  # the table on the page of targets
from instrc.text.jsontext import dumps, loads

SECONDS, GIGABYTES = 10, 3
NOTICED, MUCH = 0.4, 1.0
"""Seconds from which on growth matters, and beyond which the whole does."""
TARGETS: list[TargetName] = ["openai", "gemini", "anthropic-strict", "vllm"]
_ACTIVITY = {"type": "object", "properties": {"output": {"type": "object"}}}
_OPEN = {"type": "object", "properties": {"text": {"type": "string"}}}

Work = Callable[[], object]


class Measured(NamedTuple):
    """What one piece of work took."""

    seconds: float
    megabytes: float
    failed: str = ""


def measured(work: Work) -> Measured:
    """Carry work out in a process of its own and return what it took."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work_and_tell(work, writer)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    told: Any = loads(text) if text else None
    return Measured(*told) if text else Measured(SECONDS, 0, f"killed by {signal.Signals(status & 127).name}")


def _work_and_tell(work: Work, writer: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silent, stream)
    before, start, failed = _peak(), time.process_time(), ""
    try:
        work()
    except instrc.CompileError as error:
        failed = f"({error.problems[0].name})" if error.problems else "(refused)"
    except BaseException as error:  # noqa: BLE001  -- whatever it is, it is told
        failed = f"{type(error).__name__}: {error}"[:100]
    told = json.dumps([time.process_time() - start, _peak() - before, failed])
    os.write(writer, told.encode())
    os._exit(0)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def typed(line: str) -> Work:
    """Return a command as it is typed."""

    def work() -> None:
        if code := command(line.split()):
            raise SystemExit(code)

    return work


def lowered(schema: Any, target: TargetName) -> Work:
    """Return a lowering to one target."""
    return lambda: instrc.lower(schema, target, report=instrc.Report())


def of_schemas(text: str) -> dict[str, Work]:
    """Return what is done with a schema, which lies in the folder as well."""
    schema: Any = loads(text)
    works: dict[str, Work] = {line: typed(line) for line in SCHEMA_LINES}
    works |= {f"lower({target})": lowered(schema, target) for target in TARGETS}
    works["lower_all"] = lambda: instrc.lower_all([("a", schema), ("b", schema)], "openai", report=instrc.Report())
    works["flatten()"] = lambda: instrc.flatten(schema, trace=True)
    works["strip()"] = lambda: instrc.strip(schema, {"all"})
    works["subsumes() of itself"] = lambda: instrc.subsumes(schema, loads(text))
    works["subsumes() of another"] = lambda: instrc.subsumes(schema, changed(schema))
    works["import_tools()"] = lambda: instrc.import_tools("mcp", {"tools": [{"name": "x", "inputSchema": schema}]})
    works["types()"] = lambda: instrc.types("X(prompt)", vibes={"X": schema})
    works["artefacts()"] = lambda: instrc.artefacts("Introspect_Mixin(X) | Y", vibes={"X": schema, "Y": _OPEN})
    works["lint"] = lambda: instrc.compile("X | Y", vibes={"X": schema, "Y": _OPEN}, report=instrc.Report())
    works["registry()"] = lambda: instrc.registry(".")
    return works


SCHEMA_LINES = [
    "check x.vibe.json",
    "flatten x.json",
    "fmt x.vibe.json --check",
    *(f"graph x.vibe.json --format {kind}" for kind in ("mermaid", "html")),
    "types x.vibe.json",
    "lock --check",
    "preview x.vibe.json --target openai",
    "diff x.json y.json",
    "verify x.vibe.json --target vllm",
    "compile x.vibe.json",
    "compile x.vibe.json --target gemini",
    "split x.json z.json",
    "run x.vibe.json --engine memory --model sample --input x -q",
]
PROGRAM_LINES = [
    "check x.aug",
    "compile x.aug",
    "compile x.aug --target openai",
    "compile x.aug --batch 2",
    "fmt x.aug --check",
    *(f"graph x.aug --format {kind}" for kind in ("mermaid", "html")),
    "types x.aug",
    "lock x.aug --check",
    "preview x.aug",
    "diff x.aug y.aug",
    "run x.aug --engine memory --model sample --rehearse --input x -q",
    "run x.aug --rehearse --every-branch --input x -q",
]


def changed(schema: Any) -> Any:
    """Return a schema whose innermost last part is another."""
    other: Any = loads(dumps(schema, indent=False))
    place = other
    while True:
        inner = [
            each for each in (place.values() if isinstance(place, dict) else place) if isinstance(each, dict | list) and each
        ]
        if not inner:
            break
        place = inner[-1]
    if isinstance(place, dict):
        place["minimum"] = 7
        place.pop("type", None)
    return other


def of_programs(text: str) -> dict[str, Work]:
    """Return what is done with a program, which lies in the folder as well."""

    def asked(question: Callable[[Any, int, EditorSession], object]) -> Work:
        def work() -> None:
            session = EditorSession()
            document = session.put(str(Path("x.aug").resolve()), text)
            question(document, len(text) // 2, session)

        return work

    works: dict[str, Work] = {line: typed(line) for line in PROGRAM_LINES}
    works["editor: all that is wrong"] = asked(
        lambda document, _, session: diagnostics(session.check(document), document, session)
    )
    works["editor: hover"] = asked(hover)
    works["editor: completion"] = asked(lambda document, at, session: completion.completion(document, at, session, snippets=True))
    works["editor: signature"] = asked(signature)
    works["editor: definition"] = asked(navigation.definition)
    works["editor: references"] = asked(lambda document, at, _: navigation.references(document, at, declaration=True))
    works["editor: symbols"] = asked(lambda document, _, __: navigation.symbols(document))
    works["editor: colours"] = asked(lambda document, _, __: hints.semantic_tokens(document))
    works["compile() of names unknown"] = lambda: instrc.compile(text, report=instrc.Report())
    return works


def prepared(shape: str, size: int, folder: Path) -> str:
    """Write the files of a shape and return its text."""
    text = text_of(shape, size)
    if shape in SCHEMAS:
        (folder / "schemas").mkdir()
        for name in ("x.vibe.json", "x.json"):
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "y.json").write_text(dumps(changed(loads(text)), indent=False), encoding="utf-8")
        (folder / "z.json").write_text("{}", encoding="utf-8")
        return text
    (folder / "x.aug").write_text(text, encoding="utf-8")
    (folder / "y.aug").write_text(text_of(shape, size + 1), encoding="utf-8")
    (folder / "schemas").mkdir()
    for name in set(re.findall(r"\b[A-Z]\w*", f"{text} {text_of(shape, size + 1)}")):
        if (
            len(name) < 100
            and name not in {"Process", "Plan", "OneOf", "Introspect_Mixin"}
            and not name.endswith(("_Context", "PlanX"))
        ):
            schema = (
                _ACTIVITY
                if name.endswith("_Activity")
                else {"type": "object", "properties": {"default": {}, f"t{name}": {}}}
                if name.endswith("_Mixin")
                else _OPEN
            )
            (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    return text


def works_of(shape: str, text: str, wanted: list[str]) -> dict[str, Work]:
    """Return what is to be done with a text."""
    works = of_schemas(text) if shape in SCHEMAS else of_programs(text)
    return {key: work for key, work in works.items() if not wanted or any(part in key for part in wanted)}


@contextmanager
def laid_out(shape: str, size: int) -> Iterator[str]:
    """Stand in a folder with the files of a shape."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        yield prepared(shape, size, Path(name))


def warm(shape: str, wanted: list[str]) -> None:
    """Load and keep what the first call of each work loads."""
    with laid_out(shape, 4) as text, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        for work in works_of(shape, text, wanted).values():
            with suppress(Exception, SystemExit):  # one that refuses what it is given is loaded as well
                work()


def lines(shape: str, length: int, wanted: list[str], *, everything: bool) -> Iterator[str]:
    """Yield what stands out of one shape; the half is measured only where the whole takes long."""
    size = fitting(shape, length)
    with laid_out(shape, size) as text:
        whole = {key: measured(work) for key, work in works_of(shape, text, wanted).items()}
        length = len(text)
    slow = [key for key, one in whole.items() if everything or one.seconds > NOTICED]
    with laid_out(shape, size // 2) as text:
        half = {key: measured(work) for key, work in works_of(shape, text, slow).items() if key in slow} if slow else {}
    for key, one in whole.items():
        before = half.get(key, one)
        crashed = one.failed and not one.failed.startswith("(") and "SystemExit" not in one.failed
        if everything or one.seconds > MUCH or one.megabytes > 400 or crashed or one.seconds > 3 * before.seconds:
            yield (
                f"{shape} · {key}: {before.seconds:.2f} → {one.seconds:.2f} s ({one.seconds / max(before.seconds, 0.001):.1f}), "
                f"{before.megabytes:.0f} → {one.megabytes:.0f} MB of {length // 1000} kB {one.failed}"
            )
    yield f"    {shape}: {len(whole)} works, {sum(each.seconds for each in whole.values()):.0f} s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--work", action="append", default=[])
    parser.add_argument("--bytes", type=int, default=100_000)
    parser.add_argument("--kind", choices=["schemas", "programs"])
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    shapes = [*(SCHEMAS if asked.kind != "programs" else ()), *(PROGRAMS if asked.kind != "schemas" else ())]
    shapes = [shape for shape in shapes if not asked.shape or any(part in shape for part in asked.shape)]
    for first in {("wide" if shape in SCHEMAS else "chain") for shape in shapes}:
        warm(first, asked.work)
    for shape in shapes:
        for line in lines(shape, asked.bytes, asked.work, everything=asked.all):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
