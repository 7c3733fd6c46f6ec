"""How long the registry takes: `python tests/benchmarks/registry.py [FILES]`.

It writes a registry of 10,000 vibes into a temporary folder and prints milliseconds, the best of several runs,
with the time of one plain walk over the same folder beside them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from instrc.problems.suggest import nearest
from instrc.vibes.registry import Registry

SCHEMA = '{"title": "An instruction", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}\n'


def build(root: Path, files: int) -> None:
    """Write vibes, a hundred a folder, every tenth in a second version too."""
    for number in range(files):
        folder = root / f"area-{number // 100}"
        folder.mkdir(exist_ok=True)
        version = "@2" if number % 10 == 0 else ""
        (folder / f"instruction-number-{number}{version}.vibe.json").write_text(SCHEMA, encoding="utf-8")


def best(work: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of several runs in milliseconds."""
    runs = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        runs.append(time.perf_counter() - start)
    return min(runs) * 1000


def main() -> None:
    """Measure and print."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root, files)
        walk = best(lambda: [names for *_, names in os.walk(root)])
        index = best(lambda: Registry([root]).lookup("nothing"))
        registry = Registry([root])
        registry.lookup("nothing")
        names = [f"InstructionNumber{number}" for number in range(0, files, max(files // 1000, 1))]
        lookup = best(lambda: [registry.lookup(name) for name in names]) / len(names)
        direct = best(lambda: Registry([root]).load("aug:area-7/instruction-number-777"))
        load = best(lambda: [registry.load(uri) for name in names for uri in registry.lookup(name)], 1) / len(names)
        again = best(lambda: [registry.load(uri) for name in names for uri in registry.lookup(name)]) / len(names)
        start = time.perf_counter()
        suggestion = nearest("InstructonNumber4242", registry.names())
        suggest = (time.perf_counter() - start) * 1000
        assert suggestion[0] == "instruction-number-4242" or files < 5000
        print(f"{files} files, milliseconds")
        print(f"  a plain os.walk                        {walk:9.3f}")
        print(f"  index all names                        {index:9.3f}   {index / walk:.1f} walks")
        print(f"  look a name up, indexed                {lookup:9.4f}")
        print(f"  follow one reference, nothing indexed  {direct:9.3f}")
        print(f"  read a vibe, first time                {load:9.4f}")
        print(f"  read a vibe, again                     {again:9.4f}")
        print(f"  nearest names of a slip, first time    {suggest:9.3f}")


if __name__ == "__main__":
    main()
