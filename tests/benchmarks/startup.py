"""Measure whole processes: what a user waits for when the program is small.

    python tests/benchmarks/startup.py [RUNS]

Each command runs in turn, RUNS times (default 25), so that a busy moment of the machine hits all alike.
The figure is the processor time of the process, the median of its runs; the programs lie in a folder without a `pyproject.toml`.
The promise is about an environment with our own dependencies only: `pip install .`, and this file run by its Python.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "schedule-meeting"
SMALL = """\
const people = IdentifyParticipants(prompt);
const slot = Introspect_Mixin(FindCommonSlot(FetchAvailability_Activity(people)));
"Schedule a meeting" | DraftInvitation(people, slot)
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""With that variable set, each process would compile all modules anew, and nothing else would be measured."""
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "instrc")

PROCESSES: dict[str, list[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import typer": [sys.executable, "-c", "import typer"],
    "import lark, orjson": [sys.executable, "-c", "import lark, orjson"],
    "instrc --version": [SCRIPT, "--version"],
    "instrc --help": [SCRIPT, "--help"],
    "compile, three lines": [SCRIPT, "compile", "small.aug"],
    "check, three lines": [SCRIPT, "check", "small.aug"],
    "compile, the example": [SCRIPT, "compile", "schedule-meeting.aug"],
    "check, the example": [SCRIPT, "check", "schedule-meeting.aug"],
}
PROMISES = (
    ("instrc --version", "import typer", 1.5),
    ("instrc --help", "import typer", 2.5),
    ("compile, three lines", "import lark, orjson", 1.2),
    ("check, three lines", "import lark, orjson", 1.2),
    ("compile, the example", "import lark, orjson", 1.3),
    ("check, the example", "import lark, orjson", 1.3),
)
"""A process, what it is held against, and the most it may take of that."""


def processor_time(command: list[str], folder: str) -> float:
    """Return the seconds of a processor that a process takes, for itself and in the system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, cwd=folder, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(runs: int) -> None:
    """Print a table of the processes, then each promise with its ratio."""
    times: dict[str, list[float]] = {name: [] for name in PROCESSES}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        (Path(folder) / "small.aug").write_text(SMALL, encoding="utf-8")
        for turn in range(runs + 1):
            for name, command in PROCESSES.items():
                seconds = processor_time(command, folder)
                if turn:  # the first run of each reads its files from the disk
                    times[name].append(seconds)
    for name, found in times.items():
        print(f"{name:22} {median(found) * 1000:7.1f} ms")
    print()
    for name, against, most in PROMISES:
        ratio = median(one / other for one, other in zip(times[name], times[against], strict=True))
        print(f"{name:20} / {against:20} {ratio:5.2f}   (at most {most})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
