"""What is shipped can be trusted: the same bytes each time, licences that allow it, no address that is made up in a corner."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESSES = tomllib.loads((GITHUB / "addresses.toml").read_text(encoding="utf-8"))
SHIPPED = ("instrc", "grammar", "schemas", "pyproject.toml", "README.md", "LICENSE", ".gitignore")


def built(tree: Path, kind: str, umask: int) -> bytes:
    """Return the bytes of a build from a copy of the tree, whose files are of another day."""
    tree.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile)
        else:
            shutil.copyfile(ROOT / name, tree / name)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tree / "dist")]
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, umask=umask)
    [file] = (tree / "dist").iterdir()
    return file.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_two_builds_have_the_same_bytes(kind: str, tmp_path: Path) -> None:
    assert built(tmp_path / "one", kind, 0o022) == built(tmp_path / "another", kind, 0o077)


FREE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla Public License|CC0|LGPL|zlib)\b",
    re.IGNORECASE,
)
"""Licences under which a package may be needed by ours. Those of weak copyleft (MPL, LGPL) bind only changes of the package."""


def needed(names: list[str], *, extra: str = "") -> set[str]:
    """Return the installed packages that a list of requirements leads to."""
    found: set[str] = set()
    waiting = [(name, extra) for name in names]
    while waiting:
        requirement, _ = waiting.pop()
        if "extra ==" in requirement:
            continue
        name = re.split(r"[^\w.-]", requirement.strip())[0].lower()
        if name in found:
            continue
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # of another platform, or of an extra that is not installed here
            continue
        found.add(name)
        waiting += [(each, "") for each in requires]
    return found


def licence(name: str) -> str:
    """Return what a package says about its licence, or else the beginning of the licence that it has with it."""
    package = distribution(name)
    classifiers = [each for each in package.metadata.get_all("Classifier") or [] if each.startswith("License ::")]
    said = [package.metadata.get("License-Expression") or "", (package.metadata.get("License") or "")[:200], *classifiers]
    texts = [each for each in package.files or [] if "licen" in each.name.lower() and ".dist-info" in str(each)]
    return " ".join(filter(None, said)) or " ".join(each.read_text()[:300] for each in texts)


def test_the_licences_of_all_that_is_needed_allow_it() -> None:
    extras = [each for name, group in PROJECT["optional-dependencies"].items() if name != "dev" for each in group]
    names = needed([*PROJECT["dependencies"], *extras])
    assert len(names) > 20
    assert {name: licence(name) for name in names if not FREE.search(licence(name))} == {}


def test_each_dependency_says_why_it_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = text.split("\ndependencies = [")[1].split("\n]")[0].strip().splitlines()
    assert [line for line in lines if not re.search(r'",\s+# \S', line)] == []


def test_addresses_that_do_not_exist_yet_stand_in_one_file() -> None:
    """A text of the tree that looks like an address of ours begins with one of those."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    places = [ROOT / name for name in names if name.endswith((".md", ".toml", ".yml", ".yaml", ".json", ".py"))]
    ours = re.compile(
        r"(?:https?://)?[\w.-]*(?:instrc\.(?:dev|io|org|com|github|example)\b|(?:github\.com|pypi\.org/project)/instrc\b)[\w./@-]*"
    )
    known = [str(value) for value in ADDRESSES.values()]
    found = {
        f"{place.relative_to(ROOT)}: {text[0]}"
        for place in places
        if place.exists() and place != GITHUB / "addresses.toml" and "tests" not in place.parts
        for text in ours.finditer(place.read_text(encoding="utf-8"))
        if not any(text[0].startswith(each) for each in known)
    }
    assert found == set()
    assert PROJECT["urls"]["Homepage"] == ADDRESSES["repository"]
    assert PROJECT["name"] == ADDRESSES["package"]


@pytest.mark.parametrize("file", sorted((GITHUB / "workflows").glob("*.yml")), ids=lambda file: file.stem)
def test_a_workflow_has_few_rights_and_runs_files_that_exist(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    for path in re.findall(r"(?<![\w/])(\.(?:ci|github)/[\w./-]+)", text):
        assert (ROOT / path).exists() or path.startswith(".ci/site/out"), path
    assert "secrets." not in text, "publishing is trusted: there is no token"


def test_the_matrix_has_each_python_that_the_package_says() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "test.yml").read_text(encoding="utf-8"))
    said = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert set(said) <= set(workflow["jobs"]["matrix"]["strategy"]["matrix"]["python"])


def test_actions_are_pinned_by_digest_and_what_is_built_asks_for_no_identity() -> None:
    workflows = {file.name: file.read_text(encoding="utf-8") for file in GITHUB.glob("workflows/*.yml")}
    for name, text in workflows.items():
        for used in re.findall(r"uses: (?!\./)(.+)", text):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", used), (name, used)
        for job, said in yaml.safe_load(text)["jobs"].items():
            runs = any("run" in step for step in said.get("steps", ()))
            assert not (runs and "id-token" in said.get("permissions", {})), (name, job)
