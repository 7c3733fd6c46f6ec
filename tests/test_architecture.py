"""A file imports lower floors only, and parts of one floor never meet."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS: dict[str, int] = {
    part: floor
    for floor, parts in enumerate(
        [
            [
                "arguments",
                "arriving",
                "collector",
                "durations",
                "limits",
                "source",
                "json",
                "naming",
                "plain_values",
                "regular",
                "resources",
                "tomltext",
                "version",
                "visible",
            ],
            ["problems"],
            ["ir", "python"],
            ["schema"],
            ["flattening", "syntax", "vibes"],
            ["codecs", "dialects", "passes", "plans", "sandbox"],
            ["draw", "emit", "format", "importers", "lifting", "lint", "lowering", "scaffold"],
            ["cases", "comparing", "compiler", "files"],
            ["finding", "importing", "runtime", "workspace"],
            ["checking", "launching", "lsp", "rehearsing", "testing"],
            ["previewing"],
            ["classes", "mcp", "running"],
            ["api", "cli"],
            ["__init__", "__main__"],
        ]
    )
    for part in parts
}
ONE_PART = dict.fromkeys(("jsonkeys", "jsonplaces", "jsonreader", "jsontext", "jsonvalue"), "json")
"""Values, their text, its exact reader and the places in it are one language."""
FILES = sorted((ROOT / "instrc").rglob("*.py"))


def part(module: str) -> str:
    """Return the part that a module inside the package belongs to: `flattening` for `instrc.flattening.flatten`."""
    name = module.split(".")[1] if "." in module else "__init__"
    return ONE_PART.get(name, name)


def imports(file: Path) -> set[str]:
    """Return the modules of the package that a file names, wherever in it the import stands."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            from_top = node.module == "instrc"
            names |= {f"instrc.{alias.name}" for alias in node.names} if from_top else {node.module or ""}
            names |= {f"{node.module}.{alias.name}" for alias in node.names if _is_file(f"{node.module}.{alias.name}")}
    return {name for name in names if name.partition(".")[0] == "instrc"}


def _is_file(module: str) -> bool:
    return (ROOT / f"{module.replace('.', '/')}.py").exists()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_file_imports_only_lower_floors(file: Path) -> None:
    here = part("instrc." + ".".join(file.relative_to(ROOT / "instrc").with_suffix("").parts))
    assert here in FLOORS, f"{here} has no floor"
    for module in imports(file):
        there = part(module)
        assert there == here or FLOORS[there] < FLOORS[here], f"{here} must not import {module}"


def test_the_page_of_the_package_shows_the_same_floors() -> None:
    table = (ROOT / "instrc" / "README.md").read_text(encoding="utf-8").split("<!-- floors -->")[1]
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", table, re.MULTILINE)
    shown = {name: int(floor) for floor, cell in rows for name in re.findall(r"`(\w+)(?:/|\.py)?`", cell)}
    there = {file.relative_to(ROOT / "instrc").with_suffix("").parts[0] for file in FILES}
    assert there <= set(shown)
    assert shown == {name: FLOORS[ONE_PART.get(name, name)] for name in shown}


def _circles() -> set[frozenset[str]]:
    """Return the groups of files that import each other, directly or not, imports for types and late ones included."""
    by_name = {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in FILES}
    graph = {name: {_file(module, by_name) for module in imports(file)} & by_name.keys() for name, file in by_name.items()}
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        stack = [start]
        while stack:
            for there in graph[stack.pop()] - seen:
                seen.add(there)
                stack.append(there)
        reached[start] = seen
    return {frozenset(other for other in graph if other in reached[name] and name in reached[other]) for name in graph} - {
        frozenset()
    }


def _file(module: str, by_name: dict[str, Path]) -> str:
    """Return the file that a module, or a name in one, stands in."""
    return module if module in by_name else module.rpartition(".")[0]


def test_no_files_import_each_other() -> None:
    assert [circle for circle in _circles() if len(circle) > 1] == []


LIMIT = re.compile(r"(?:^|_)(?:MOST|MAX|LONGEST|LARGEST|DEEPEST)(?:_|$)")
ALONE = {"sandbox/child.py"}
"""It runs as a process of its own."""


def test_limits_stand_in_one_place_with_a_word_on_each() -> None:
    """What the lowest floor reads with has its limits beside it: nothing lies below that floor."""
    package = ROOT / "instrc"
    elsewhere = [
        f"{file.relative_to(package)}: {target.id}"
        for file in FILES
        if FLOORS[part(".".join(("instrc", *file.relative_to(package).with_suffix("").parts)))]
        and file.relative_to(package).as_posix() not in ALONE
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.BinOp)
        for target in node.targets
        if isinstance(target, ast.Name) and LIMIT.search(target.id)
    ]
    assert elsewhere == []
    for file in (package / "limits").glob("[!_]*.py"):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        places = [index for index, node in enumerate(body) if isinstance(node, ast.AnnAssign)]
        silent = [body[index].lineno for index in places if not isinstance([*body, None][index + 1], ast.Expr)]
        assert (file.name, silent) == (file.name, [])


def test_each_hop_of_the_four_values_is_a_file_that_knows_the_type() -> None:
    page = (
        (ROOT / "instrc" / "README.md").read_text(encoding="utf-8").split("## The path of four values")[1].split("## Floors")[0]
    )
    files = {name: ROOT / "instrc" / name for name in re.findall(r"`([\w/]+\.py|\w+/)`", page)}
    assert [name for name, file in files.items() if not file.exists()] == []
    hops = re.findall(r"`([\w/]+\.py)`[^`()]*(?:\([^`()]*\))?[^`()→]*\(`(\w+)`", page)
    assert len(hops) > 12
    assert [(name, type_) for name, type_ in hops if not re.search(rf"\b{type_}\b", files[name].read_text("utf-8"))] == []


def test_a_class_has_its_name_alone() -> None:
    """One meaning a word.

    In `ir/` a construct of the language keeps its name from form to form: `When` is one thing in the surface, the graph and the
    process.
    """
    places: dict[str, list[Path]] = {}
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(file)
    forms = ROOT / "instrc" / "ir"
    assert {
        name: [str(file.relative_to(ROOT)) for file in files]
        for name, files in places.items()
        if len(files) > 1 and (any(file.parent != forms for file in files) or len(set(files)) < len(files))
    } == {}
