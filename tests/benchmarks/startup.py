"""Measure whole processes: what a user waits for when the program is small.

    python tests/benchmarks/startup.py [RUNS]

Each command runs in turn, RUNS times (default 15), so that a busy moment of the machine hits all alike;
the figure is the best run.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "schedule-meeting" / "schedule-meeting.aug"
SCRIPT = Path(sysconfig.get_path("scripts")) / "instrc"

PROCESSES: dict[str, list[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import typer": [sys.executable, "-c", "import typer"],
    "import lark, orjson": [sys.executable, "-c", "import lark, orjson"],
    "instrc --version": [str(SCRIPT), "--version"],
    "instrc --help": [str(SCRIPT), "--help"],
    "instrc compile": [str(SCRIPT), "compile", str(EXAMPLE)],
    "instrc check, known": [str(SCRIPT), "check", str(EXAMPLE)],
    "instrc check, unknown": [str(SCRIPT), "check", "--no-cache", str(EXAMPLE)],
}
PROMISES = (
    ("instrc --version", "import typer", 1.5),
    ("instrc --help", "import typer", 2.5),
    ("instrc compile", "import lark, orjson", 1.6),
    ("instrc check, known", "import lark, orjson", 1.35),
    ("instrc check, unknown", "import lark, orjson", 1.75),
)
"""A process, what it is held against, and the most it may take of that."""


def main(runs: int) -> None:
    """Print a table of the processes, then each promise with its ratio."""
    best = dict.fromkeys(PROCESSES, float("inf"))
    for _ in range(runs):
        for name, command in PROCESSES.items():
            start = perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            best[name] = min(best[name], perf_counter() - start)
    for name, seconds in best.items():
        print(f"{name:22} {seconds * 1000:7.1f} ms")
    print()
    for name, against, most in PROMISES:
        print(f"{name:18} / {against:20} {best[name] / best[against]:5.2f}   (at most {most})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
