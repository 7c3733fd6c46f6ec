"""A room imports only rooms before it, and no two modules import each other."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from every_case import every_case
from sources import FILES, ROOT, facts

ROOMS = [
    "version",
    "text",
    "problems",
    "schema",
    "process",
    "tools",
    "providers",
    "language",
    "vibes",
    "compiler",
    "runtime",
    "engines",
    "testing",
    "taskbench",
    "api",
    "lsp",
    "server",
    "cli",
    "__init__",
    "__main__",
]
"""A room imports only rooms before it."""


def room(module: str) -> str:
    """Return the room that a module inside the package belongs to: `schema` for `instrc.schema.walk`."""
    return module.split(".")[1] if "." in module else "__init__"


@cache
def imports(file: Path) -> set[str]:
    """Return the modules of the package that a file names: in an import anywhere in it, or in a string for `import_module`."""
    names = {alias.name for node in facts(file).imports for alias in node.names}
    for node in facts(file).imports_from:
        assert node.level == 0, f"{file}: imports are absolute"
        from_top = node.module == "instrc"
        names |= {f"instrc.{alias.name}" for alias in node.names} if from_top else {node.module or ""}
        names |= {f"{node.module}.{alias.name}" for alias in node.names if _is_file(f"{node.module}.{alias.name}")}
    if "import_module" in facts(file).names:
        named = (text.partition(":")[0] for text in facts(file).strings if re.fullmatch(r"instrc(\.\w+)+(:\w+)?", text))
        names |= {module for module in named if _is_module(module)}
    return {name for name in names if name.partition(".")[0] == "instrc"}


@cache
def _is_file(module: str) -> bool:
    return (ROOT / f"{module.replace('.', '/')}.py").exists()


@every_case("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_room_imports_only_rooms_before_it(file: Path) -> None:
    here = room("instrc." + ".".join(file.relative_to(ROOT / "instrc").with_suffix("").parts))
    assert here in ROOMS, f"{here} is no room"
    for module in imports(file):
        assert ROOMS.index(room(module)) <= ROOMS.index(here), f"{here} must not import {module}"


STARTS_RUNS = {f"instrc.engines.{name}" for name in ("equip", "hosts", "launch", "prepare", "projects")}
"""The modules of `engines/` that turn a program into a run; all others carry runs, for which a process is enough."""


def test_what_carries_runs_knows_no_compiler() -> None:
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in FILES}
    assert names.keys() >= STARTS_RUNS
    carriers = {name: file for name, file in names.items() if room(name) in {"runtime", "engines"} and name not in STARTS_RUNS}
    above = {"language", "vibes", "compiler"}
    assert {(name, module) for name, file in carriers.items() for module in imports(file) if room(module) in above} == set()


def test_the_page_of_the_package_shows_the_rooms_in_their_order() -> None:
    table = (ROOT / "instrc" / "README.md").read_text(encoding="utf-8").split("<!-- rooms -->")[1]
    shown = re.findall(r"^\| `(\w+)(?:/|\.py)?` \|", table, re.MULTILINE)
    assert shown == [name for name in ROOMS if name not in {"version", "__init__", "__main__"}]


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


def test_shared_limits_are_those_that_several_modules_read_each_with_a_word_on_it() -> None:
    """A limit stands beside what it limits; what only one module reads is not shared."""
    limits = ROOT / "instrc" / "text" / "limits.py"
    body = ast.parse(limits.read_text(encoding="utf-8")).body
    named = [
        (node.target.id, index)
        for index, node in enumerate(body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    assert [name for name, index in named if not isinstance([*body, None][index + 1], ast.Expr)] == []
    words = {file: set(re.findall(r"\w+", facts(file).text)) for file in FILES}
    readers = {name: [file for file, used in words.items() if name in used] for name, _ in named}
    assert [name for name, files in readers.items() if len(files) < 3 and not all("text" in file.parts for file in files)] == []


def test_each_hop_of_the_four_values_is_a_file_that_knows_the_type() -> None:
    page = (ROOT / "instrc" / "README.md").read_text(encoding="utf-8").split("## The path of four values")[1].split("## Rooms")[0]
    files = {name: ROOT / "instrc" / name for name in re.findall(r"`([\w/]+\.py|\w+/)`", page)}
    assert [name for name, file in files.items() if not file.exists()] == []
    hops = re.findall(r"`([\w/]+\.py)`[^`()]*(?:\([^`()]*\))?[^`()→]*\(`(\w+)`", page)
    assert len(hops) > 12
    assert [(name, type_) for name, type_ in hops if not re.search(rf"\b{type_}\b", files[name].read_text("utf-8"))] == []


def test_a_class_has_its_name_alone() -> None:
    """One meaning a word.

    A construct of the language keeps its name from form to form: `When` is one thing in the surface, the graph and the process.
    """
    places: dict[str, list[Path]] = {}
    for file in FILES:
        for name in facts(file).classes:
            places.setdefault(name, []).append(file)
    forms = {
        ROOT / "instrc" / name for name in ("language/surface.py", "compiler/ir.py", "process/flow.py", "process/picture.py")
    }
    assert {
        name: [str(file.relative_to(ROOT)) for file in files]
        for name, files in places.items()
        if len(files) > 1 and (not forms.issuperset(files) or len(set(files)) < len(files))
    } == {}


def _names_between_rooms() -> set[tuple[str, str]]:
    """Return what one room imports from another, as module and name: the public functions of the rooms."""
    found = set()
    for file in FILES:
        here = room("instrc." + ".".join(file.relative_to(ROOT / "instrc").with_suffix("").parts))
        for node in facts(file).imports_from:
            if node.module and room(node.module) != here:
                found |= {(node.module, alias.name) for alias in node.names}
                for alias in node.names:
                    inside = f"{node.module}.{alias.name}"
                    if room(inside) != here and _is_file(inside):
                        found |= {(inside, name) for name in _used_of(alias.asname or alias.name, file)}
    return found


def _used_of(module: str, file: Path) -> set[str]:
    """Return the members of an imported module that a file uses."""
    return {member for name, member in facts(file).members if name == module}


def inner_imports() -> list[tuple[str, int, str, str]]:
    """Return the imports of inner functions in tests that say no reason: file, line, module and name.

    A test may import what `instrc` has and what another room imports; a reason is a comment on the line of the import.
    """
    between, found = _names_between_rooms(), []
    for file in sorted(set((ROOT / "tests").rglob("*.py")) - set((ROOT / "tests").rglob("node_modules/**/*.py"))):
        lines = facts(file).text.splitlines()
        for node in facts(file).imports_from:
            if not (node.module or "").startswith("instrc."):
                continue
            module = str(node.module)
            for alias in node.names:
                inside = f"{module}.{alias.name}"
                wanted = {(inside, name) for name in _used_of(alias.asname or alias.name, file)} if _is_module(inside) else set()
                if (wanted or {(module, alias.name)}) <= between:
                    continue
                if not any(re.search(r"  # (?!noqa|type:)", lines[line - 1]) for line in (node.lineno, alias.lineno)):
                    found.append((str(file.relative_to(ROOT)), node.lineno, module, alias.name))
    return found


def _is_module(name: str) -> bool:
    place = ROOT / name.replace(".", "/")
    return place.is_dir() or _is_file(name)


def test_tests_reach_a_room_by_its_public_functions() -> None:
    """So a module can be merged or renamed without touching its tests; the exceptions say why they are."""
    assert inner_imports() == []
