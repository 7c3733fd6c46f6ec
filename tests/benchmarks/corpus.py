"""Hunt with tools of others: import whatever lies in a folder, lower it to every target, and come back.

    python tests/benchmarks/corpus.py FOLDER [--most N] [--seconds S] [--seed N] [--engines] [--target NAME]…

Reads OpenAPI documents (JSON or YAML), tool lists of OpenAI, Anthropic and MCP, smolagents tools and function lists, each by
its content.  For each tool and target it demands: no exception; no rule of the target broken; the engines compile what is meant
for them (`--engines`); what is lifted of an answer that the payload allows is valid, or a loss names the keyword; each value of
the schema comes back as it was, so no property is lost.
Prints what breaks, by kind, with the tools that did; the exit code is 1 if anything does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "providers" / "lowering"))

from journeys import ENDINGS, Find, tools, tried

from instrc import targets


def hunted(path: Path, names: list[str], *, engines: bool, counts: Counter[str], over: Callable[[], bool]) -> Iterator[Find]:
    """Yield what breaks about one file, until it is over."""
    try:
        found = list(tools(path))
    except Exception as error:  # noqa: BLE001  -- whatever it is, it is what is hunted
        yield Find("import: crash", str(path), f"{type(error).__name__}: {error}")
        return
    counts["files"] += 1
    for name, schema in found:
        if over():
            return
        counts["tools"] += 1
        for target in names:
            counts["lowerings"] += 1
            try:
                yield from tried(name, schema, target, engines=engines)
            except Exception as error:  # noqa: BLE001  -- as above
                yield Find(f"{target}: crash", name, f"{type(error).__name__}: {error}"[:300])


def main() -> int:
    """Hunt through a folder and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=3000, help="tools to try")
    parser.add_argument("--largest", type=int, default=2_000_000, help="bytes of the largest file to read")
    parser.add_argument("--seed", type=int, help="read the files in an order of chance")
    parser.add_argument("--seconds", type=float, default=150, help="processor time to spend")
    parser.add_argument("--engines", action="store_true", help="ask the grammar engines that are installed")
    parser.add_argument("--target", action="append", choices=list(targets()))
    wanted = parser.parse_args()
    counts: Counter[str] = Counter()
    finds: defaultdict[str, list[Find]] = defaultdict(list)
    started = time.process_time()
    files = [path for path in sorted(wanted.folder.rglob("*")) if path.suffix in ENDINGS and path.is_file()]
    if wanted.seed is not None:
        Random(wanted.seed).shuffle(files)  # noqa: S311  -- reproducible, not secret

    def over() -> bool:
        return counts["tools"] >= wanted.most or time.process_time() - started > wanted.seconds

    for path in files:
        if over():
            break
        if path.stat().st_size > wanted.largest:
            continue
        for find in hunted(path, wanted.target or list(targets()), engines=wanted.engines, counts=counts, over=over):
            finds[find.kind].append(find)
    for kind, each in sorted(finds.items()):
        print(f"{kind}: {len(each)}")
        for find in each[:3]:
            print(f"    {find.tool}: {find.detail}")
    seconds = time.process_time() - started
    print(f"{counts['files']} files, {counts['tools']} tools, {counts['lowerings']} lowerings, {seconds:.0f} s")
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
