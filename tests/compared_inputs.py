"""Make the inputs of `compare_with.py` in the tree of a revision, from its examples, its tests and their generators."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from compared_answers import FORMATS, command_line, digest_of, instrc_here

QUICK = 1000
"""With fewer programs the largest examples and some targets are spared."""
ALONE = frozenset(
    "check compile diff explain flatten fmt graph import lift lock new plan preview split targets test types".split()  # noqa: SIM905  -- a list would fill a page
)
"""Commands on the pages of the examples that need no store, no network and no clock."""


def make_inputs(tree: Path, into: Path, count: int, corpus: str) -> None:
    """Write all inputs, a line of JSON each, and the files they speak of."""
    tests = tree / "tests"
    sys.path[:0] = sorted({str(path.parent) for path in tests.rglob("*.py")} - {str(tests / "benchmarks")})
    shutil.copytree(tree / "examples", into / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(tests / "data", into / "data")
    makers = (_surface, _examples, _cases, _texts, _data, _programs, _schemas)
    lines = [line for make in makers for line in make(tree, into, count)]
    if corpus:
        lines += [{"part": "corpus", "do": "schema", **each} for each in _corpus(Path(corpus))]
    for number, line in enumerate(lines):
        line["key"] = f"{line['part']}/{line.get('key', number)}"
    (into / "inputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _cli(part: str, key: str, *commands: list[str], at: str = ".", given: str = "") -> dict[str, Any]:
    return {"part": part, "do": "cli", "key": key, "commands": commands, "at": at, "given": given}


def _surface(_tree: Path, _into: Path, _count: int) -> Iterator[dict[str, Any]]:
    yield {"part": "surface", "do": "surface", "key": "names"}
    found = {(): _captured([], "--help")}
    for name in re.findall(r"^  ([a-z]+) ", found[()].partition("Commands:")[2], re.MULTILINE):
        found[name,] = _captured([name], "--help")
        for inner in re.findall(r"^  ([a-z]+) ", found[name,].partition("Commands:")[2], re.MULTILINE):
            found[name, inner] = ""
    for words in found:
        yield _cli("surface", " ".join(("help", *words)), [*words, "--help"])
    listed = _captured(["explain"])
    yield _cli("pages", "all", ["explain"])
    for name in dict.fromkeys(re.findall(r"^\W*([a-z]+(?:-[a-z]+)*)\b", listed, re.MULTILINE)):
        yield _cli("pages", name, ["explain", name])


def _captured(command: list[str], *more: str) -> str:
    return command_line([*command, *more], "").partition("\n")[2]


def _examples(tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    targets = list(instrc_here().targets())[:: 1 if count >= QUICK else 5]
    for path in sorted((tree / "examples").rglob("*")):
        at = path.parent.relative_to(tree).as_posix()
        if path.suffix == ".aug" or path.name.endswith(".vibe.json"):
            name, vibe = path.name, path.suffix != ".aug"
            yield _cli("examples", f"{at}/{name} check", *(["check", "--format", each, name] for each in FORMATS), at=at)
            yield _cli("examples", f"{at}/{name} compile", ["compile", "--emit", "all", name], ["fmt", "--diff", name], at=at)
            lowered = [["compile", "--target", target, "--map", "m.json", name] for target in (targets[:2] if vibe else targets)]
            yield _cli("examples", f"{at}/{name} lower", *lowered, at=at)
        if path.suffix == ".aug":
            drawn = (["graph", "--format", each, name] for each in ("mermaid", "svg", "html"))
            yield _cli("examples", f"{at}/{name} graph", *drawn, ["types", name], at=at)
            yield _cli("examples", f"{at}/{name} preview", ["preview", name], ["preview", "--full", name], at=at)
            if count >= QUICK or "agents" not in at:
                yield _cli("examples", f"{at}/{name} run", ["run", "--every-branch", name], at=at)
            yield {"part": "examples", "do": "file", "key": f"{at}/{name}", "path": f"{at}/{name}"}
        if path.suffix == ".md":
            written = re.findall(r"^\$ instrc (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            plain = [shlex.split(line) for line in written if not set("|<>&$") & set(line)]
            yield _cli("examples", f"{at}/{path.name}", *(line for line in plain if line and line[0] in ALONE), at=at)


def _cases(tree: Path, into: Path, count: int) -> Iterator[dict[str, Any]]:
    from documents import cases_of  # type: ignore[import-not-found]  # of the tests of REV

    for path in sorted(tree.glob("tests/**/passes/cases/*.md")):
        for number, case in enumerate(cases_of(path)):
            folder = f"cases/{path.stem}-{number}"
            for name, text in case.vibes().items():
                (into / folder / name).parent.mkdir(parents=True, exist_ok=True)
                (into / folder / name).write_text(text, encoding="utf-8")
            (into / folder / "schemas").mkdir(parents=True, exist_ok=True)
            for index, block in enumerate((*case.of("aug"), *case.of("compile"))):
                words = dict(word.partition("=")[::2] for word in block.info[1:])
                options = {
                    "naming": words.get("naming"),
                    "hints": words.get("hints") != "no",
                    "batch": int(words.get("batch", "1")),
                }
                line = {"part": "cases", "do": "program", "key": f"{path.stem}-{number}-{index}", "at": f"{folder}/schemas"}
                yield {
                    **line,
                    "text": block.text.rstrip("\n"),
                    "options": {**options, "sketch": "sketch" in words},
                    "full": 2 if count >= QUICK or number % 3 == 0 else 1,
                }
    vocabulary(into)
    for path in sorted(tree.glob("tests/**/cases/*.md")):
        if "passes" not in path.parts:
            for number, text in enumerate(
                re.findall(r"^```aug[^\n]*\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
            ):
                yield {
                    "part": "cases",
                    "do": "program",
                    "key": f"{path.stem}-{number}",
                    "text": text.rstrip("\n"),
                    "at": "vibes",
                    "full": 2,
                }


def vocabulary(into: Path) -> None:
    """Write the instructions that generated programs call."""
    from marked_mistakes import LETTER_VIBES  # type: ignore[import-not-found]  # of the tests of REV
    from meaning import registry  # type: ignore[import-not-found]  # of the tests of REV

    for folder in ("vibes", "letters"):
        (into / folder).mkdir(exist_ok=True)
    registry(into / "vibes")
    for name, schema in LETTER_VIBES.items():
        (into / "letters" / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")


def _texts(tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield the programs that stand in tests as texts: most are wrong in some way."""
    found: dict[str, None] = {}
    for path in sorted(tree.glob("tests/**/*.py")):
        if "benchmarks" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _looks_like_a_program(node.value):
                    found[re.sub("[«»]", "", node.value)] = None
    chosen = sorted(found, key=digest_of)
    for text in chosen[: count * 2]:
        yield {"part": "texts", "do": "program", "text": text, "at": "letters", "full": 1, "options": {"sketch": True}}


def _looks_like_a_program(text: str) -> bool:
    return (
        5 < len(text) < 2000 and re.search(r"[A-Z]\w*\(|\bconst \w|^(when|each|repeat|try|do) |\| [A-Z]|@ ?\{", text) is not None
    )


def _data(tree: Path, into: Path, _count: int) -> Iterator[dict[str, Any]]:
    yield {"part": "data", "do": "tools", "key": "tools"}
    for tools in sorted((into / "data/agents").glob("*.tools.json")):
        name = f"data/agents/{tools.name}"
        sample = ["plan", "sample", "--tools", name]
        yield _cli("data", tools.stem, sample, ["plan", "check", "--help"], ["import", "taskbench", name])
    for path in sorted((*tree.glob("tests/data/bench/*.json"), tree / "tests/data/sarif-2.1.0-rtm.5.json")):
        yield {"part": "data", "do": "schema", "key": path.stem, "schema": json.loads(path.read_text("utf-8")), "few": True}
    pitfalls = json.loads((tree / "tests/data/flatten-pitfalls.json").read_text("utf-8"))
    yield from ({"part": "data", "do": "schema", "schema": schema} for schema in _schemas_in(pitfalls))


def _schemas_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and "schema" in value:
        yield value["schema"]
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _schemas_in(each)


def _programs(_tree: Path, into: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield generated programs: with blocks, with plans, with repetitions, of trees, without meaning, and with slips."""
    import blocks_at_random as random_blocks  # type: ignore[import-not-found]  # of the tests of REV
    import meaning
    import programs
    from bodies import settled, write  # type: ignore[import-not-found]  # of the tests of REV
    from hypothesis import strategies as st
    from printing import print_program

    vocabulary(into)
    blocks = random_blocks.whole().map(lambda body: write(settled(body), top=True))
    slips = st.tuples(blocks | meaning_texts(meaning), programs.mutations()).map(lambda pair: programs.mutated(*pair))
    kinds = {
        "blocks": (0.35, blocks),
        "plans": (0.1, random_blocks.planning().map(lambda body: write(settled(body), top=True))),
        "repetitions": (0.1, random_blocks.repeating().map(lambda body: write(settled(body), top=True))),
        "trees": (0.2, meaning_texts(meaning)),
        "surface": (0.1, programs.programs().map(print_program)),
        "slips": (0.15, slips),
    }
    for kind, (share, strategy) in kinds.items():
        for number, text in enumerate(drawn(strategy, int(count * share))):
            yield {"part": f"programs-{kind}", "do": "program", "text": text, "at": "vibes", "full": 1 if number % 5 else 2}


def meaning_texts(meaning: Any) -> Any:
    """Return a strategy of programs without blocks."""
    return meaning.trees().map(meaning.write)


def drawn(strategy: Any, count: int) -> list[Any]:
    """Return the same examples of a strategy each time."""
    from hypothesis import HealthCheck, Phase, given, settings

    found: list[Any] = []
    options = settings(max_examples=max(count, 1), derandomize=True, deadline=None, database=None, phases=[Phase.generate])

    @settings(options, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found[:count]


def _schemas(_tree: Path, _into: Path, count: int) -> Iterator[dict[str, Any]]:
    from adversarial import Adversarial  # type: ignore[import-not-found]  # of the tests of REV
    from generate import Schemas  # type: ignore[import-not-found]  # of the tests of REV

    for number in range(count // 8):
        for kind in (Schemas, Adversarial):
            yield {"part": "schemas", "do": "schema", "schema": kind(Random(number)).document()}  # noqa: S311  -- reproducible, not secret


def _corpus(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the schemas of a folder: a file of JSON each, or a line each."""
    for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
        texts = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
        for number, text in enumerate(texts):
            with contextlib.suppress(ValueError):
                yield {"key": f"{path.relative_to(folder)}:{number}", "schema": json.loads(text)}
