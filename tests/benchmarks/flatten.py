"""Time `flatten` beside its peers on the same files in one run: `python tests/benchmarks/flatten.py [--node FOLDER] [--turns N]`.

FOLDER holds a `node_modules` with json-schema-merge-allof, allof-merge, @apidevtools/json-schema-ref-parser and
@x0k/json-schema-merge; without it only `jsonschema-rs` runs beside.  Medians in milliseconds; a dash is a peer that fails.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import jsonschema_rs
import orjson

from instrc.schema.flattening.flatten import flatten

DATA = Path(__file__).parent.parent / "data" / "bench"


def timed(work: Callable[[Any], object], schema: Any, runs: int) -> float | str:
    """Return the median in milliseconds, or why there is none."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        try:
            work(schema)
        except BaseException as error:  # noqa: BLE001  -- a peer may panic
            return str(error)[:60]
        times.append((time.perf_counter() - start) * 1000)
    return median(times)


def pairs(count: int) -> list[Any]:
    """Make pairs of small schemas under `allOf`."""
    from random import Random
    from sys import path

    path.insert(0, str(Path(__file__).parent.parent))
    from making import Maker

    found = []
    for seed in range(count):
        maker = Maker(seed)
        maker.random = Random(seed)  # noqa: S311  -- repeatable
        found.append({"allOf": [maker.schema(1), maker.schema(1)]})
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", help="a folder that holds node_modules")
    parser.add_argument(
        "--turns", type=int, default=0, help="take the libraries of node in turn so often, and print ratios to the best"
    )
    options = parser.parse_args()
    if options.turns:
        in_turn(options.turns, options.node)
        return
    others = timed_by_node(options.node)
    print(f"{'input':36}{'instrc':>9}  peers (ratio of instrc to each)")
    for file in sorted(DATA.glob("*.json")):
        schema = orjson.loads(file.read_bytes())
        runs = 300 if file.name.startswith("small") else 9
        own = timed(flatten, schema, runs)
        rust = timed(lambda schema: jsonschema_rs.canonicalize(schema).to_json_schema(), schema, runs)
        beside = {**others.get(file.name, {}), "jsonschema-rs": rust}
        line(file.name, own, beside)
    made = pairs(500)
    own = median([took for schema in made if not isinstance(took := timed(flatten, schema, 5), str)])
    rust = median(
        [
            took
            for schema in made
            if not isinstance(took := timed(lambda s: jsonschema_rs.canonicalize(s).to_json_schema(), schema, 5), str)
        ]
    )
    line("500 small pairs", own, {"jsonschema-rs": rust})


def timed_by_node(folder: str | None) -> dict[str, dict[str, float | str]]:
    """Return what the libraries of node take, by file."""
    node = shutil.which("node")
    if not folder or not node:
        return {}
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run([node, str(script), folder, str(DATA)], stdout=subprocess.PIPE, check=True)
    found: dict[str, dict[str, float | str]] = orjson.loads(done.stdout)
    return found


def in_turn(turns: int, folder: str | None) -> None:
    """Print the ratio of our time to that of the best library of node: the median of all turns, the least and the most."""
    ratios: dict[str, list[float]] = {}
    for _ in range(turns):
        for name, peers in timed_by_node(folder).items():
            own = timed(flatten, orjson.loads((DATA / name).read_bytes()), 9)
            best = min((took for took in peers.values() if not isinstance(took, str)), default=None)
            if best is not None and not isinstance(own, str):
                ratios.setdefault(name, []).append(own / best)
    for name, found in ratios.items():
        print(f"{name:36}{median(found):6.2f}  ({min(found):.2f}–{max(found):.2f})")


def line(name: str, own: float | str, beside: dict[str, float | str]) -> None:
    """Print a row."""
    shown = [
        f"{peer} {took:.2f} ({own / took:.1f}×)" if not isinstance(took, str) and not isinstance(own, str) else f"{peer} –"
        for peer, took in beside.items()
    ]
    print(f"{name:36}{own:9.3f}  {'  '.join(shown)}")


if __name__ == "__main__":
    main()
