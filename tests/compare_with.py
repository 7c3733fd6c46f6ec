"""Compare what this tree makes with what another revision makes, byte for byte: `python tests/compare_with.py --base REV`.

Examples, cases, texts and data of the tests of REV, and programs and schemas that its generators draw, are given to both trees.
Each tree answers in processes of its own, by its public functions and its command line only, so that modules may move.
What REV answered is kept in `~/.cache/instrc/compare`.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from compared_answers import SLOW, digest_of, say

HERE = Path(__file__).resolve()
ROOT = HERE.parent.parent
CACHE = Path.home() / ".cache" / "instrc" / "compare"
ENVIRONMENT = {
    "PYTHONHASHSEED": "0", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "PYTHONWARNINGS": "ignore",
    "RUST_BACKTRACE": "0",
}  # fmt: skip
SHARDS = 6
ANSWERS = HERE.with_name("compared_answers.py")


class Side(NamedTuple):
    """A tree, and what it is asked."""

    tree: Path
    inputs: Path
    only: tuple[str, ...]

    def process(self, *words: str, given: str = "") -> str:
        """Run this file in a process that has this tree's `instrc`."""
        with tempfile.TemporaryDirectory() as home:
            places = {"PYTHONPATH": str(self.tree), "XDG_CACHE_HOME": home, "COMPARED_PARTS": " ".join(self.only)}
            environment = {**os.environ, **ENVIRONMENT, **places}
            command = [sys.executable, "-P", str(ANSWERS), *words]
            ran = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode:
            sys.exit(f"{self.tree}: {' '.join(words)[:200]} failed")
        return ran.stdout

    def results(self, kept: Path | None, workers: int) -> dict[tuple[str, str, str], str]:
        """Return digests by part, key and facet, from the file in which they are kept."""
        if kept is None or not kept.exists():
            with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
                files = [Path(folder) / str(number) for number in range(SHARDS)]
                shards = [
                    pool.submit(self.process, "answer", str(self.inputs), f"{i}/{SHARDS}", str(f)) for i, f in enumerate(files)
                ]
                for shard in shards:
                    shard.result()
                text = "".join(file.read_text(encoding="utf-8") for file in files)
            if kept is not None:
                kept.write_text(text, encoding="utf-8")
        else:
            text = kept.read_text(encoding="utf-8")
        rows = (line.split("\t") for line in text.split("\n") if line)
        return {(part, key, facet): digest for part, key, facet, digest in rows}

    def texts(self, keys: list[str]) -> dict[tuple[str, str], str]:
        """Return the texts of some inputs by key and facet."""
        said = self.process("answer", str(self.inputs), "0/1", "-", given="\n".join(keys)) if keys else ""
        return {(key, facet): text for key, facet, text in map(json.loads, said.splitlines())}


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


def tree_of(revision: str) -> Path:
    """Return the folder with the files of a revision."""
    folder = CACHE / _git("rev-parse", "--verify", f"{revision}^{{commit}}")[:12]
    if not (folder / "tree").exists():
        with tempfile.TemporaryDirectory() as made:
            archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", made], input=archive, check=True)
            shutil.copytree(made, folder / "tree", dirs_exist_ok=True)
    return folder / "tree"


def allowed(path: Path | None) -> Callable[[str], str]:
    """Return what writes new words for old ones, of a list of `{"old", "new"}` in JSON; `{}` in them stands for any text."""
    changes: list[tuple[re.Pattern[str], str]] = []
    for each in json.loads(path.read_text(encoding="utf-8")) if path is not None else []:
        for written in (str, lambda text: json.dumps(text, ensure_ascii=False)[1:-1]):  # also as it stands in JSON
            old, new = (written(each[name]).split("{}") for name in ("old", "new"))
            groups = "".join(f"\\g<{number}>{part.replace(chr(92), chr(92) * 2)}" for number, part in enumerate(new[1:], 1))
            changes.append((re.compile("(.*?)".join(map(re.escape, old))), new[0].replace("\\", "\\\\") + groups))

    def renew(text: str) -> str:
        for old, new in changes:
            text = old.sub(new, text)
        return text

    return renew


def compare(base: Side, ours: Side, kept: Path, options: argparse.Namespace) -> int:
    """Print a line for each part, and the first differences; return 1 if there are any."""
    before = base.results(kept, options.workers)
    after = ours.results(None, options.workers)
    different = sorted(
        row for row in {*before, *after} if before.get(row) != after.get(row) and SLOW not in {before.get(row), after.get(row)}
    )
    keys = list(dict.fromkeys(key for _, key, _ in different))
    keys = (
        keys
        if options.allow
        else [key for part in {row[0] for row in different} for key in [k for p, k, _ in different if p == part][:30]]
    )
    old, new = base.texts(keys), ours.texts(keys)
    renew = allowed(options.allow)
    failed: dict[str, list[tuple[str, str]]] = {}
    for part, key, facet in different:
        said = [side.get((key, facet), "") for side in (old, new)]
        if options.allow is None or renew(said[0]) != renew(said[1]):
            failed.setdefault(part, []).append((key, facet))
    for part in sorted({row[0] for row in {*before, *after}}):
        rows = sorted(row for row in before if row[0] == part)
        slow = sum(before[row] == SLOW for row in rows)
        whole = digest_of("".join(f"{row}{before[row]}" for row in rows))
        wrong = failed.get(part, [])
        inputs = len({key for _, key, _ in rows})
        say(f"{part}: {inputs:,} inputs, {len(rows):,} texts, {slow} too slow, {len(wrong):,} differ, {whole}")
        for key, facet in [place for place in wrong if place in old or place in new][: options.show]:
            lines = [side.get((key, facet), "(nothing)").splitlines() for side in (old, new)]
            shown = list(difflib.unified_diff(*lines, f"{key} {facet} before", f"{key} {facet} after", n=2, lineterm=""))
            say("\n".join(f"    {line[:400]}" for line in shown[:30]) or f"    {key} {facet}: not the same in each run")
    return 1 if failed else 0


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, metavar="REV")
    parser.add_argument("--tree", type=Path, default=ROOT, help="what is compared with REV: this tree")
    parser.add_argument("--programs", type=int, default=10_000, help="how many programs are drawn; 300 is quick")
    parser.add_argument("--corpus", default="", metavar="FOLDER", help="a folder of JSON Schemas, one a file or one a line")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="parts by the beginning of their names")
    parser.add_argument("--allow", type=Path, metavar="FILE", help='intended changes: a list of {"old": …, "new": …} in JSON')
    parser.add_argument("--show", type=int, default=3, help="how many differences of a part are shown")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--waiting-store", action="store_true", help="only open a store of REV here, and finish the runs that wait in it"
    )
    options = parser.parse_args()
    tree = tree_of(options.base)
    if options.waiting_store:
        return compare_stores(Side(tree, tree, ()), Side(options.tree.resolve(), tree, ()))
    corpus = (
        "".join(digest_of(path.read_bytes()) for path in sorted(Path(options.corpus).rglob("*.json*"))) if options.corpus else ""
    )
    mark = digest_of(
        b"".join(file.read_bytes() for file in sorted(HERE.parent.glob("compared_*.py")))
        + f"{options.programs}{corpus}{sys.version}".encode()
    )[:12]
    inputs = tree.parent / f"inputs-{mark}"
    base, ours = (Side(each.resolve(), inputs, tuple(options.only)) for each in (tree, options.tree))
    if not (inputs / "inputs.jsonl").exists():
        shutil.rmtree(inputs, ignore_errors=True)
        inputs.mkdir()
        base.process(
            "make", str(tree), str(inputs), str(options.programs), options.corpus and str(Path(options.corpus).resolve())
        )
    if options.corpus:
        say(f"corpus {options.corpus}: {digest_of(corpus)}")
    return compare(base, ours, tree.parent / f"results-{mark}-{digest_of(' '.join(options.only))[:6]}.tsv", options)


def compare_stores(base: Side, ours: Side) -> int:
    """Let REV begin runs that wait, and both sides finish them; return 1 if they end in different ways."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "1"), Path(folder, "2")
        begun = base.process("begin", str(first))
        shutil.copytree(first, second)
        said = [side.process("finish", str(store)).splitlines() for side, store in ((base, first), (ours, second))]
    shown = list(difflib.unified_diff(*said, "REV alone", "begun by REV, finished here", n=4, lineterm=""))
    say(
        "\n".join(shown[:80])
        or f"{begun.strip()}\nwaiting store: {len(begun.splitlines())} runs, {digest_of(chr(10).join(said[0]))}, no difference"
    )
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main())
