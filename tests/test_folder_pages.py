"""The pages of folders: the table of modules is generated from their docstrings, and every file that a page names exists.

`python -m pytest tests/test_folder_pages.py --snapshot-update` writes the tables.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "instrc"
PAGES = sorted(PACKAGE.rglob("README.md"))
MARK = "<!-- modules -->"
LISTING = [page for page in PAGES if page.parent != PACKAGE and page.parent.name != "dialects"]


@pytest.mark.parametrize("page", LISTING, ids=lambda page: page.parent.relative_to(PACKAGE).as_posix())
def test_the_table_of_modules_is_generated_from_their_docstrings(page: Path, pytestconfig: pytest.Config) -> None:
    text = page.read_text(encoding="utf-8")
    before, _, after = text.split(MARK)
    expected = f"{before}{MARK}\n{table(page.parent)}\n{MARK}{after}"
    if pytestconfig.getoption("update_snapshots"):
        page.write_text(expected, encoding="utf-8")
    else:
        assert text == expected, "run it again with --snapshot-update"


def table(folder: Path) -> str:
    """Return a row for each module of a folder, subfolders included; a subfolder with its own page is one row."""
    rows = {}
    for path in folder.rglob("*.py"):
        package = next((parent for parent in path.parents[: -len(folder.parents)] if (parent / "README.md").exists()), folder)
        if package == folder and path.name != "__init__.py":
            rows[path.relative_to(folder).as_posix()] = path
        elif path.parent == package != folder and path.name == "__init__.py":
            rows[f"{package.relative_to(folder).as_posix()}/"] = path
    cells = [
        f"| `{name}` | {first_line(path)} |" for name, path in sorted(rows.items(), key=lambda row: (row[0].count("/"), row[0]))
    ]
    return "\n".join(["| module | what it does |", "|---|---|", *cells])


def first_line(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].replace("|", "\\|")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.relative_to(PACKAGE.parent).as_posix())
def test_the_modules_that_a_page_names_exist(page: Path) -> None:
    """A module is named by its path from the folder of the page, from the package, or from the root."""
    named = set(re.findall(r"`([a-z][a-z0-9_/]*\.py)`", page.read_text(encoding="utf-8")))
    places = (page.parent, PACKAGE, PACKAGE.parent)
    assert {name for name in named if not any((place / name).exists() for place in places)} == set()


def test_the_table_names_each_module_once() -> None:
    for page in LISTING:
        named = re.findall(r"^\| `([\w/]+\.py)`", page.read_text(encoding="utf-8").split(MARK)[1], re.MULTILINE)
        modules = {path.relative_to(page.parent).as_posix() for path in page.parent.rglob("*.py") if path.name != "__init__.py"}
        own = {path.parent.relative_to(page.parent).as_posix() for path in page.parent.rglob("README.md")} - {"."}
        assert sorted(named) == sorted(name for name in modules if not any(name.startswith(f"{folder}/") for folder in own)), page
