"""Every example and every kind of chunk on a real server with a small model: `.ci/models` builds one and calls this.

`python tests/benchmarks/models.py FOLDER [WORD…]` takes the folder of `llama-server` and `model.gguf`; words choose programs.
It prints the table of `models.md`. Activities are rehearsed, people are answered for; only the model is real.
Each program runs twice at the same time: as it is, and with parts of its answers (streamed).
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import instrc
from instrc.engines.prepare import prepare
from instrc.runtime.models.model import instance_of
from instrc.testing.rehearsal import made_inputs

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
"""For one program: a small model never ends some loops."""
SETTINGS = {"temperature": 0, "seed": 7, "max_tokens": 300, "attempts": 2}
KINDS = {
    "text": "text: { type: 'string' }",
    "bounded text": "text: { type: 'string', minLength: 5, maxLength: 60 }",
    "enum": "mood: { enum: ['good', 'bad', 3, null] }",
    "integer with bounds": "days: { type: 'integer', minimum: 1, exclusiveMaximum: 8 }",
    "number with bounds": "share: { type: 'number', minimum: 0, maximum: 1 }",
    "boolean and null": "done: { type: ['boolean', 'null'] }",
    "list with bounds": "tags: { type: 'array', items: { type: 'string', maxLength: 12 }, minItems: 1, maxItems: 3 }",
    "list of objects": "all: { type: 'array', maxItems: 2, items: { type: 'object', properties: { name: { type: 'string' } } } }",
    "map": "ages: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } }",
    "tuple": "pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 }",
    "union": "it: { oneOf: [{ type: 'object', properties: { kind: { const: 'a' }, x: { type: 'integer' } }, required: ['kind'] },"
    " { type: 'object', properties: { kind: { const: 'b' }, y: { type: 'string' } }, required: ['kind'] }] }",
    "date and pattern": "day: { type: 'string', format: 'date' }, code: { type: 'string', pattern: '^[A-Z]{2}[0-9]{2}$' }",
    "optional": "may: { type: 'string', maxLength: 20 }",
    "anything": "free: {}",
    "other scripts": "'тема': { type: 'string', maxLength: 30 }",
    "thoughts and metrics": "_considerations: { type: 'string', maxLength: 200 }, text: { type: 'string', maxLength: 60 },"
    " '$score': { type: 'integer', minimum: 1, maximum: 10 }",
}
"""The properties of a step for each kind of value, as a program writes them."""
BLOCKS = {
    "two steps": "{one} | {two}",
    "when": "const a = {choice}; when a.pick is 'left' {{ {one} }} else {{ {two} }}",
    "each": "const a = {list}; each word in a.words max 3 {{ {one} }}",
    "repeat": "repeat {{ {one} }} until round is 2",
    "try": "try {{ {one} }} else {{ {two} }}",
}


def step(title: str, properties: str, required: str = "") -> str:
    """Return an inline instruction."""
    said = properties.replace("'", '"')
    head = f'title: "{title}", description: "Fill this in about a day at the sea.", type: "object"'
    return f"@{{ {head}, properties: {{ {said} }}{required} }}"


def programs() -> Iterator[tuple[str, Any]]:
    """Yield each program with its name."""
    for file in sorted((ROOT / "examples").rglob("*.aug")):
        if not {"mistakes", "schemas"} & set(file.parts):
            yield file.relative_to(ROOT / "examples").as_posix(), file
    for name, properties in KINDS.items():
        word = properties.partition(":")[0].strip("'").lstrip()
        required = "" if name == "optional" else f', required: ["{word}"]'
        yield f"kind: {name}", step("Fill", properties, required)
    parts = {
        "one": step("First", "text: { type: 'string', maxLength: 80 }", ', required: ["text"]'),
        "two": step("Second", "text: { type: 'string', maxLength: 80 }", ', required: ["text"]'),
        "list": step("List", KINDS["list with bounds"].replace("tags", "words"), ', required: ["words"]'),
        "choice": step("Choose", "pick: { enum: ['left', 'right'] }", ', required: ["pick"]'),
    }
    for name, text in BLOCKS.items():
        yield f"block: {name}", text.replace("'", '"').format(**parts)


@contextmanager
def server(folder: Path, at_once: int = 2) -> Iterator[str]:
    """Give the base URL of a server with the model, for as long as it is needed; it answers so many requests at the same time."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", int(os.environ.get("PORT", "0"))))
        port = free.getsockname()[1]
    threads = os.environ.get("THREADS") or str(os.cpu_count() or 1)
    command = [str(folder / "llama-server"), "-m", str(folder / "model.gguf"), "--host", "127.0.0.1", "--port", str(port)]
    command += ["-c", str(8192 * at_once), "-np", str(at_once), "-t", threads]
    command += ["--no-repack"]  # else it uses AMX wherever the processor has it, and virtual machines may end it for that
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            until = monotonic() + 120
            while monotonic() < until:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                    break
                except (urllib.error.URLError, OSError):
                    if process.poll() is not None:
                        log.seek(0)
                        sys.exit(f"the server has ended ({process.returncode}):\n{log.read().decode(errors='replace')[-2000:]}")
                    sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


async def play(program: Any, seen: list[Any], parts: list[Any] | None = None) -> str:
    """Run a program with the model; return how it ended."""
    inputs = made_inputs(prepare(str(program)).inputs) if isinstance(program, Path) else None
    given = {"prompt": "A day at the sea with Ann, in July."}
    app = instrc.App(
        model="llamacpp:smollm2",
        settings=SETTINGS,
        requests=12,
        watch=seen.append,
        parts=None if parts is None else parts.append,
    )
    began = app.run(program, {**inputs, **given} if isinstance(inputs, dict) else given, rehearse=True)
    try:
        run = await asyncio.wait_for(began, SECONDS)
        while run.questions:
            await run.answer_async(run.questions[0].id, instance_of(run.questions[0].schema))
        status = run.status
    except TimeoutError:
        return f"still running after {SECONDS:.0f} s"
    except instrc.CompileError as error:
        return f"problem: {error.problems[0].name}"
    failed = next((event for event in reversed(seen) if event["event"] == "failed"), None)
    return f"failed: {failed['code'] or failed['error']}"[:60] if status == "failed" and failed is not None else status


def answers_of(seen: list[Any]) -> list[Any]:
    """Return what the model has answered, as the trace tells it."""
    return [event for event in seen if event["event"] == "answered" and not event.get("invented")]


async def row(name: str, program: Any) -> Counter[str]:
    """Run a program both ways and print its row; return the counts."""
    seen: list[Any] = []
    streamed: list[Any] = []
    parts: list[Any] = []
    began = monotonic()
    status, status_streamed = await asyncio.gather(play(program, seen), play(program, streamed, parts))
    answers = answers_of(seen)
    first = [event for event in answers if "#" not in event["id"].rpartition(".")[2]]
    cut = [event for event in answers if any("cut off" in each["message"] for each in event["complaints"])]
    counts = Counter(
        answers=len(answers),
        accepted=sum(not event["complaints"] for event in answers),
        first=len(first),
        first_valid=sum(not event["complaints"] for event in first),
        repaired=sum(bool(event["repairs"]) for event in answers),
        cut=len(cut),
        given=sum(event["usage"].get("input_tokens", 0) for event in answers),
        written=sum(event["usage"].get("output_tokens", 0) for event in answers),
        streamed=len(answers_of(streamed)),
        streamed_accepted=sum(not event["complaints"] for event in answers_of(streamed)),
        parts=len(parts),
    )
    cells: list[object] = [f"{counts['accepted']} of {counts['answers']}", f"{counts['first_valid']} of {counts['first']}"]
    cells += [counts[key] for key in ("cut", "given", "written")]
    cells += [f"{counts['streamed_accepted']} of {counts['streamed']}", counts["parts"]]
    cells += [status if status == status_streamed else f"{status}; streamed {status_streamed}", f"{monotonic() - began:.0f}"]
    print(f"| {name} | {' | '.join(map(str, cells))} |", flush=True)
    return counts


def faults(folder: Path) -> int:
    """Put each fault of servers between runs and the real one; return the exit code of the tests."""
    tests = ROOT / "tests" / "runtime" / "test_faults_of_servers.py"
    with server(folder) as url:
        host = url.removeprefix("http://").removesuffix("/v1")
        command = [sys.executable, "-m", "pytest", "-m", "slow", str(tests)]
        return subprocess.run(command, env={**os.environ, "INSTRC_REAL_SERVER": host}, check=False).returncode


def main(folder: Path, words: list[str]) -> int:
    """Print the table; return 1 if no answer was accepted."""
    if words == ["faults"]:
        return faults(folder)
    began, total = monotonic(), Counter[str]()
    with server(folder) as os.environ["LLAMACPP_BASE_URL"]:
        print("| program | accepted | at first | cut | tokens given | written", end=" ")
        print("| streamed: accepted | parts | ended | seconds |\n" + "|---" * 10 + "|")
        for name, program in programs():
            if not words or any(word in name for word in words):
                total += asyncio.run(row(name, program))
    share = f"{total['first_valid']} of {total['first']}"
    print(f"\n{total['answers']} answers, {total['accepted']} accepted, {share} at first, {total['cut']} cut,", end=" ")
    print(f"{total['repaired']} repaired, {total['given']} tokens given, {total['written']} written; streamed", end=" ")
    print(f"{total['streamed']}, {total['streamed_accepted']} accepted, in {total['parts']} parts; {monotonic() - began:.0f} s")
    return 0 if total["accepted"] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
