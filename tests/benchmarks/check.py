"""Time `instrc check` of a large tree as a whole process.

`python tests/benchmarks/check.py [VIBES] [SOURCES]`; 5,000 and 500 unless told otherwise.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

EACH = 50
"""Vibes in a folder."""


def build(folder: Path, vibes: int, sources: int) -> None:
    """Write a tree: every tenth vibe refers to another one, every program pipes three."""
    chance = random.Random(7)  # noqa: S311  -- the same tree each time
    (folder / "pyproject.toml").write_text('[tool.instrc]\nroots = ["schemas"]\n')
    for number in range(vibes):
        place = folder / "schemas" / f"part{number // EACH}"
        place.mkdir(parents=True, exist_ok=True)
        text = {"type": "string", "description": "One sentence.", "maxLength": 900}
        people = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
        vibe: dict[str, object] = {"type": "object", "properties": {"text": text, "people": people}, "required": ["text"]}
        if number % 10 == 9:
            vibe = {"allOf": [{"$ref": f"aug:part{(number - 1) // EACH}/vibe{number - 1}"}, vibe]}
        (place / f"vibe{number}.vibe.json").write_text(json.dumps(vibe, indent=2))
    (folder / "programs").mkdir()
    for number in range(sources):
        a, b, c = (chance.randrange(vibes) for _ in range(3))
        program = f'"Goal {number}" | Vibe{a} | Introspect_Mixin(Vibe{b}) | Vibe{c}\n'
        (folder / "programs" / f"program{number}.aug").write_text(program)


def timed(folder: Path) -> tuple[float, float]:
    """Return seconds on the clock and of the processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    subprocess.run([sys.executable, "-m", "instrc", "check", "."], cwd=folder, check=True, env=environment)
    elapsed = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print what a check costs."""
    vibes, sources = (int(word) for word in [*sys.argv[1:], *("5000", "500")[len(sys.argv) - 1 :]])
    with TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, vibes, sources)
        timed(folder)  # stores bytecode
        for _ in range(3):
            elapsed, processors = timed(folder)
            print(f"{elapsed:.2f} s on the clock, {processors:.2f} s of processors")


if __name__ == "__main__":
    main()
