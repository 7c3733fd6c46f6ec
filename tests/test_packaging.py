"""What is shipped is what is meant to be shipped, and it runs from anywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
SHIPPED = ("instrc", "grammar", "schemas", "pyproject.toml", "README.md", "LICENSE", ".gitignore")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from a copy of the tree, with strays in it that no build may pick up."""
    tree = tmp_path_factory.mktemp("tree")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    (tree / "instrc" / "__pycache__").mkdir()
    (tree / "instrc" / "__pycache__" / "stray.cpython-311.pyc").write_bytes(b"")
    (tree / "tests").mkdir()
    (tree / "tests" / "test_stray.py").write_text("")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tree / "dist")]
    done = subprocess.run(build, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (tree / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_both_data_folders_and_nothing_else(wheel: Path) -> None:
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    code = {path.relative_to(ROOT).as_posix() for path in (ROOT / "instrc").rglob("*") if path.is_file()}
    data = {
        f"instrc/{path.relative_to(ROOT).as_posix()}"
        for folder in ("grammar", "schemas")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert {"instrc/grammar/aug.lark", "instrc/py.typed"} <= shipped
    assert any(name.startswith("instrc/schemas/") and name.endswith(".vibe.json") for name in shipped)
    assert shipped == {name for name in code if "__pycache__" not in name} | data


def test_the_data_folders_hold_no_python() -> None:
    assert not [path for folder in ("grammar", "schemas") for path in (ROOT / folder).rglob("*.py")]


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
        (points,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        assert "instrc = instrc.__main__:main" in archive.read(points).decode()
        assert "[pytest11]\ninstrc.cli.pytest_plugin = instrc.cli.pytest_plugin" in archive.read(points).decode()
    assert "Requires-Python: >=3.11" in text
    assert "License-Expression: MIT" in text


def test_the_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    program = tmp_path / "greet.aug"
    program.write_text('"Greet" | Introspect_Mixin(@{ title: "Hi", type: "object", properties: { text: { type: "string" } } })\n')
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import instrc, instrc.cli; "
        f"assert instrc.__file__.startswith({str(tmp_path)!r}); sys.exit(instrc.cli.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "compile", str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert '"text"' in done.stdout
    assert '"_considerations"' in done.stdout


def test_the_package_is_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "instrc", "--version"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("instrc ")


LOADED_BY = {
    "a2a,serve": ("instrc.server.a2a", "instrc.server.hosting"),
    "agui,serve": ("instrc.server.agui", "instrc.server.hosting"),
    "durable": ("instrc.engines.dbos.durable_engine", "cronsim"),
    "eval": ("instrc.testing.evaluation.page", "instrc.testing.evaluation.statistics"),
    "http": ("instrc.runtime.http_activities",),
    "lsp": ("instrc.lsp.server",),
    "mcp": ("instrc.server.mcp_runs", "instrc.server.hosting", "instrc.runtime.mcp_activities"),
    "lsp,serve": ("instrc.server.studio",),
    "serve": ("instrc.server.hosting", "instrc.engines.dbos.durable_engine"),
    "temporal": ("instrc.engines.temporal.temporal_engine", "instrc.engines.temporal.worker", "cronsim"),
}


def _brought_by(requirements: list[str]) -> set[str]:
    """Return the packages that an installation of some requirements brings, as their files name them."""
    found: set[str] = set()
    waiting = [(Requirement(each), "") for each in requirements]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        key = (requirement.name.lower().replace("_", "-"), frozenset(requirement.extras))
        if key in seen or (requirement.marker is not None and not requirement.marker.evaluate({"extra": extra})):
            continue
        seen.add(key)
        try:
            needs = metadata.requires(requirement.name) or []
        except metadata.PackageNotFoundError:
            continue  # a package for another machine
        found.add(key[0])
        waiting += [(Requirement(need), each) for need in needs for each in ({""} | requirement.extras)]
    return found


@pytest.mark.long
@pytest.mark.parametrize("extra", LOADED_BY)
def test_an_extra_brings_all_that_its_modules_load(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [*project["dependencies"], *(each for name in extra.split(",") for each in project["optional-dependencies"][name])]
    brought = _brought_by(required)
    hidden = {
        module
        for module, packages in metadata.packages_distributions().items()
        if not {each.lower().replace("_", "-") for each in packages} & (brought | {"instrc"})
    }
    script = f"""
import sys
hidden = {sorted(hidden)!r}
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"{{name}} is not among what {extra} brings", name=name)
sys.meta_path.insert(0, Hide())
import {", ".join(LOADED_BY[extra])}
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
