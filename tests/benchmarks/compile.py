"""How long compiling takes: `python tests/benchmarks/compile.py [STEPS]`.

Programs of 1,000 steps, unless told otherwise, in several shapes, then ten times as many.
Each runs in a process of its own; what is printed is processor time, the best of several runs, from text to JSON,
beside lark's bare LALR parse of the same text, and how much longer and larger ten times as many steps are.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

VIBES = {
    "draft": ("subject", "body"),
    "identify": ("organizer", "attendee"),
    "fetch": ("who",),
    "fetch_Activity": ("slots",),
    "send_Activity": ("id",),
    "confirm_User": ("decision",),
    "find_user": ("query", "output"),
}
SHAPES: dict[str, Callable[[int], str]] = {
    "local names, each read by the next": lambda n: (
        "const a0 = Identify(prompt);\n" + "".join(f"const a{i} = Draft(a{i - 1});\n" for i in range(1, n))
    ),
    "one pipe": lambda n: '"Do it all" | ' + " | ".join(["Identify", "Draft"] * (n // 2)),
    "one wide object": lambda n: "{ " + ", ".join(f"k{i}: Draft" for i in range(n)) + " }",
    "model and server by turns": lambda n: " | ".join(["Identify", "Send_Activity"] * (n // 2)),
    "a third of them waiting for a person": lambda n: " | ".join(["Draft", "Send_Activity", "Confirm_User"] * (n // 3)),
    "blocking calls": lambda n: " | ".join(["FindUser"] * n),
    "a mixin around each": lambda n: "{ " + ", ".join(f"k{i}: Introspect_Mixin(Draft)" for i in range(n)) + " }",
    "a mixin around each two": lambda n: " | ".join(f'Introspect_Mixin(Draft(Identify @ "{i}"))' for i in range(n // 2)),
    "ten steps a block, each block read by the next": lambda n: (
        "const b0 = Identify(prompt);\n"
        + "".join(
            f"const b{i + 1} = do {{ "
            + "".join(f"const s{i}_{j} = Draft({f's{i}_{j - 1}' if j else f'b{i}'}); " for j in range(9))
            + f"Identify(s{i}_8) }};\n"
            for i in range(n // 10)
        )
    ),
    "each reads the ten before it": lambda n: "".join(
        f"const a{i} = Draft({', '.join(f'a{j}' for j in range(max(0, i - 10), i)) or 'prompt'});\n" for i in range(n)
    ),
}


def registry(folder: Path) -> None:
    """Write the vibes."""
    for name, properties in VIBES.items():
        schema = {"type": "object", "properties": {each: {"type": "string"} for each in properties}, "required": list(properties)}
        (folder / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")


def measure(shape: str, steps: int, folder: str, times: int = 3) -> None:
    """Print seconds of compiling, seconds of a bare parse, megabytes at most and the size of the source, as JSON."""
    from instrc.compiler.driver import compile_source  # one program with its own registry and options
    from instrc.compiler.ir import CompileOptions  # options of the driver
    from instrc.problems.report import Report
    from instrc.text.jsontext import dumps
    from instrc.text.source import Source
    from instrc.vibes.registry import Registry

    text = SHAPES[shape](steps)

    def compile_it() -> None:
        for made in compile_source(Source("b.aug", text), Registry([Path(folder)]), CompileOptions(), Report(), stem="b"):
            dumps(made.documents[made.kind])

    seconds = best(compile_it, times)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    from lark import Lark

    bare = Lark((ROOT / "grammar" / "aug.lark").read_text(encoding="utf-8"), parser="lalr")
    print(json.dumps([seconds, best(lambda: bare.parse(text), times), memory, len(text)]))


def best(work: Callable[[], object], times: int) -> float:
    """Return the least processor time of several runs, in seconds."""
    runs = []
    for _ in range(times):
        start = time.process_time()
        work()
        runs.append(time.process_time() - start)
    return min(runs)


def main(steps: int) -> None:
    """Measure every shape in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        registry(Path(folder))

        def run(shape: str, count: int) -> list[float]:
            command = [sys.executable, __file__, "--one", shape, str(count), folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found: list[float] = json.loads(done.stdout)
            return found

        print(f"{'':48} {'kB':>6} {'ms':>7} {'/ lark':>7}   {'x10: ms':>8} {'times':>6} {'MB':>5}")
        for shape in SHAPES:
            few, many = run(shape, steps), run(shape, steps * 10)
            print(
                f"{shape:48} {few[3] / 1000:6.1f} {few[0] * 1000:7.0f} {few[0] / few[1]:7.1f}"
                f"   {many[0] * 1000:8.0f} {many[0] / few[0]:6.1f} {many[2]:5.0f}"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
