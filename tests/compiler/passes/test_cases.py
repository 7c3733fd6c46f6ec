"""Every case of every document comes out as written."""

from __future__ import annotations

import os
from pathlib import Path

from documents import Block, Case, cases_of, outline
from every_case import every_case

from instrc import Artefact, CompileError, Problem, Report, Source
from instrc.compiler.driver import check_source, compile_source, compile_vibe  # one program with its own registry and options
from instrc.compiler.ir import CompileOptions  # options of the driver
from instrc.text.jsontext import dumps, loads
from instrc.vibes.registry import Registry

HERE = Path(__file__).parent
CASES = [case for path in sorted((HERE / "cases").glob("*.md")) for case in cases_of(path)]
UPDATE = bool(os.environ.get("UPDATE_CASES"))


def _options(info: tuple[str, ...]) -> CompileOptions:
    words = dict(word.partition("=")[::2] for word in info)
    return CompileOptions(
        naming=words.get("naming", "step"),
        hints=words.get("hints") != "no",
        batch=int(words.get("batch", "1")),
        sketch="sketch" in words,
    )


def _compile(block: Block, registry: Registry) -> tuple[tuple[Artefact, ...], tuple[Problem, ...]]:
    report = Report()
    try:
        made = compile_source(Source("t.aug", block.text.rstrip("\n")), registry, _options(block.info), report, stem="t")
    except CompileError as error:
        return (), error.problems
    return made, report.ordered()


def _check(block: Block, registry: Registry) -> tuple[Problem, ...]:
    report = Report()
    try:
        check_source(Source("t.aug", block.text.rstrip("\n")), registry, _options(block.info), report, stem="t")
    except CompileError as error:
        return error.problems
    return report.ordered()


def _compile_vibe(block: Block, registry: Registry) -> tuple[tuple[Artefact, ...], tuple[Problem, ...]]:
    report = Report()
    try:
        made = compile_vibe(registry.load(block.text.strip()), registry, _options(block.info), report, stem="t")
    except CompileError as error:
        return (), error.problems
    return made, report.ordered()


def _written(problems: tuple[Problem, ...]) -> str:
    lines = []
    for problem in problems:
        at = f"{problem.at.line}:{problem.at.column}" if problem.at is not None else "-"
        lines.append(f"{at} {problem.name}" + (" (warning)" if problem.severity == "warning" else ""))
    return "\n".join(lines)


def _outlined(artefacts: tuple[Artefact, ...], kind: str | None) -> str:
    lines = []
    for artefact in artefacts:
        chosen = kind or artefact.kind
        title = "" if artefact.title is None else f" {dumps(artefact.title, indent=False)}"
        lines.append(f"{chosen} {artefact.name}{title}")
        document = artefact.documents.get(chosen)
        lines.append("  " + ("nothing" if document is None else outline(document, chosen).replace("\n", "\n  ")))
    return "\n".join(lines)


def _bytes(artefacts: tuple[Artefact, ...]) -> list[tuple[str, str | None, str]]:
    return [(each.name, each.title, dumps(each.documents)) for each in artefacts]


@every_case("case", CASES, ids=lambda case: f"{case.path.stem}: {case.title}")
def test_a_case_comes_out_as_written(case: Case, tmp_path: Path) -> None:
    for name, text in case.vibes().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    registry = Registry([tmp_path / "schemas"])
    programs = case.of("aug")
    artefacts, problems = _compile(programs[0], registry) if programs else _compile_vibe(case.of("compile")[0], registry)
    if programs:
        assert _written(_check(programs[0], registry)) == _written(problems), "a check leaves out only what cannot go wrong"
    checks = [(block, _written(problems)) for block in case.of("problems")]
    if not case.of("problems"):
        assert _written(problems) == ""
    checks += [(block, _outlined(artefacts, block.info[1] if len(block.info) > 1 else None)) for block in case.of("outline")]
    if UPDATE:
        _rewrite(case, checks)
    else:
        for block, actual in checks:
            assert actual == block.text.rstrip("\n")
    for block in case.of("json"):
        if len(block.info) > 1 and "/" not in block.info[1]:
            assert dumps(artefacts[0].documents[block.info[1]]) == dumps(loads(block.text))  # type: ignore[index]  # a kind, or it fails
    for block in programs[1:]:
        others, _ = _compile(block, registry)
        assert others
        if block.info[1] == "same":
            assert _bytes(others) == _bytes(artefacts)
        elif block.info[1] == "other":
            assert _bytes(others) != _bytes(artefacts)
    assert checks or len(programs) > 1 or case.of("json"), "a case says what it expects"


def _rewrite(written: Case, checks: list[tuple[Block, str]]) -> None:
    """Write what comes out into the document; its other cases may have been rewritten already."""
    for index, actual in sorted(((written.blocks.index(block), actual) for block, actual in checks), reverse=True):
        text = written.path.read_text(encoding="utf-8")
        block = next(case for case in cases_of(written.path) if case.title == written.title).blocks[index]
        written.path.write_text(text[: block.start] + actual + "\n" + text[block.end :], encoding="utf-8")
