"""Ask whether the tests would notice a slip: change the code in one place, and run the tests that enter it.

    python tests/mutants.py map schema.json tests/schema [-n 2]
    python tests/mutants.py run instrc/schema instrc/flattening --maps schema.json --seed 1 --count 100

`map` runs the tests once, and writes which functions of the package each of them enters, and how long it takes.
`run` draws COUNT of all changes that are possible, plants each in a copy of this tree, and runs the tests that enter the changed
function, the shortest first; then, as caches and tables hide who enters, those that enter another function of its file.
A change is `killed` by the first test that fails, or that takes five times as long as before; otherwise it has `survived`,
and the line says how many tests there was no time for.  `--only 3 8` repeats these two of the same sample (map new tests first).

Nothing is run that reads the source instead of running it: the tests beside this file, and those of `_READ_SOURCE`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest
from changing import Mutant, mutants
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent
_MAP, _PLAN = "MUTANTS_MAP", "MUTANTS_PLAN"
"""Variables that tell the process of the tests what it is for, and where the command reads or writes."""
_READ_SOURCE = (
    "tests/test_",
    "tests/runtime/test_purity_of_the_interpreter.py",
    "tests/providers/lowering/test_new_target.py",
)
_MEMORY = 8 << 30
"""Bytes; a loop that no longer ends would take all there are."""

Places = dict[str, dict[str, float]]
"""For each function, as `file::name`, the tests that enter it, with their seconds."""


def pytest_configure(config: pytest.Config) -> None:
    """Be a plugin of the tests' own process; an example that fails is enough there, it need not be the smallest."""
    settings.register_profile("mutants", settings.get_profile("quick"), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")
    if _MAP in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ[_MAP])))
    if _PLAN in os.environ:
        config.pluginmanager.register(Judge(Path(os.environ[_PLAN])))


class Recorder:
    """Notes the functions of the package that each test enters; a tracer that asks for no lines costs little."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.json"
        self.entered: set[CodeType] = set()
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.passed = True

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> None:
        self.entered.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.entered.clear()
        self.passed, begun = True, time.perf_counter()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            if self.passed:
                names = {_place(code) for code in self.entered.copy() if "/instrc/" in code.co_filename}
                self.tests[item.nodeid] = (time.perf_counter() - begun, sorted(names))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed &= report.passed

    def pytest_sessionfinish(self) -> None:
        self.file.write_text(json.dumps(self.tests), encoding="utf-8")


def _place(code: CodeType) -> str:
    """Return `file::name`; what a comprehension does, its function does."""
    return f"instrc/{code.co_filename.rpartition('/instrc/')[2]}::{code.co_qualname.partition('.<locals>.<')[0]}"


class Judge:
    """Runs the tests of a plan in its order, and stops when its time is over."""

    def __init__(self, plan: Path) -> None:
        self.seconds, self.tests = json.loads(plan.read_text(encoding="utf-8"))
        self.order = {test: at for at, test in enumerate(self.tests)}
        self.left = plan.with_suffix(".left")
        self.begun = self.waiting = 0.0
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid])
        for item in items:
            item.add_marker(pytest.mark.timeout(10 + 5 * self.tests[item.nodeid]))
        self.begun, self.waiting = time.monotonic(), len(items)

    def pytest_runtest_logfinish(self) -> None:
        self.waiting -= 1
        self.left.write_text(str(self.waiting), encoding="utf-8")
        if self.waiting and time.monotonic() - self.begun > self.seconds:
            pytest.exit("no more time", returncode=0)


def _pytest(root: Path, variable: str, value: Path, arguments: list[str], seconds: float | None) -> tuple[int, str]:
    """Run pytest with this file as a plugin; without an answer in time, it and all that it started is ended."""
    environment = {**os.environ, variable: str(value), "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants", "-p", "no:cacheprovider", *arguments]
    with tempfile.TemporaryFile("w+") as output:
        tests = subprocess.Popen(command, cwd=root, env=environment, stdout=output, stderr=output, start_new_session=True)
        try:
            code = tests.wait(seconds)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(tests.pid, signal.SIGKILL)
            tests.wait()
        output.seek(0)
        return code, output.read()


def record(target: Path, arguments: list[str]) -> None:
    """Write the map of the tests that pass."""
    places: Places = defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        _, output = _pytest(ROOT, _MAP, Path(folder), ["--timeout=900", "--tb=line", *arguments], None)
        sys.stdout.write(output)
        for part in Path(folder).iterdir():
            for test, (seconds, names) in json.loads(part.read_bytes()).items():
                for name in names if not test.startswith(_READ_SOURCE) else ():
                    places[name][test] = round(seconds, 3)
    target.write_text(json.dumps(places), encoding="utf-8")


def _chosen(mutant: Mutant, places: Places) -> dict[str, float]:
    """Return the tests that may notice: those of its function, then of its file, or where nothing enters that, of its folder."""
    own = places.get(f"{mutant.file}::{mutant.function}", {})
    near: dict[str, float] = {}
    for above in (f"{mutant.file}::", f"{Path(mutant.file).parent}/", "instrc/"):
        near = near or {test: cost for name in places if name.startswith(above) for test, cost in places[name].items()}
    return dict(sorted((near | own).items(), key=lambda each: (each[0] not in own, each[1])))


def judge(mutant: Mutant, root: Path, places: Places, seconds: float) -> tuple[str, str]:
    """Plant it in the copy, run the tests, and take it out: return the verdict, and where it comes from."""
    tests = _chosen(mutant, places)
    file, plan = root / mutant.file, root / "plan.json"
    plan.write_text(json.dumps([seconds, tests]), encoding="utf-8")
    text = file.read_bytes()
    file.write_bytes(text[: mutant.first] + mutant.after.encode() + text[mutant.last :])
    try:
        arguments = ["-x", "--tb=no", *sorted({test.partition("::")[0] for test in tests})]
        code, output = _pytest(root, _PLAN, plan, arguments, 3 * seconds + 120)
    finally:
        file.write_bytes(text)
    if code == 0:
        return "survived", f"{len(tests)} tests, {plan.with_suffix('.left').read_text(encoding='utf-8')} of them left out"
    if code < 0:
        return "timeout", "no answer, or not enough memory"
    return "killed", next((line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))), output[-100:]).strip()


def run(parts: list[str], maps: list[Path], seed: int, count: int, seconds: float, only: list[int]) -> None:
    """Judge a random sample, with a line for each."""
    places: Places = defaultdict(dict)
    for each in maps:
        for name, tests in json.loads(each.read_bytes()).items():
            places[name] |= tests
    files = [file for part in parts for file in ([ROOT / part] if part.endswith(".py") else sorted((ROOT / part).rglob("*.py")))]
    found = [each for file in files for each in mutants(file, ROOT)]
    sample = random.Random(seed).sample(found, min(count, len(found)))  # noqa: S311 -- chance, no secret
    sys.stdout.write(f"# {len(sample)} of {len(found)} mutants of {' '.join(parts)}, seed {seed}\n")
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "node_modules", "__pycache__"))
        compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "instrc"]
        subprocess.run(compiling, cwd=root, check=True)
        for number, mutant in enumerate(sample):
            if only and number not in only:
                continue
            begun = time.monotonic()
            verdict, why = judge(mutant, root, places, seconds)
            verdicts[verdict] += 1
            change = f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.before[:120]!r} -> {mutant.after[:120]!r}"
            sys.stdout.write(f"{number} {verdict} {change} {time.monotonic() - begun:.0f}s {why}\n")
            sys.stdout.flush()
    sys.stdout.write(f"# {dict(verdicts)}\n")


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    mapping = commands.add_parser("map")
    mapping.add_argument("file", type=Path)
    running = commands.add_parser("run")
    running.add_argument("parts", nargs="+")
    running.add_argument("--maps", nargs="+", type=Path, required=True)
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--count", type=int, default=100)
    running.add_argument("--seconds", type=float, default=60, help="of tests for each change")
    running.add_argument("--only", nargs="*", type=int, default=[], help="numbers of the sample")
    given, rest = parser.parse_known_args()
    if given.command == "map":
        record(given.file, rest)
    else:
        run(given.parts, given.maps, given.seed, given.count, given.seconds, given.only)


if __name__ == "__main__":
    main()
