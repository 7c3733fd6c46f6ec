"""Installed packages bring vibes to all projects by the entry point `instrc.vibes`; none of them is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from instrc.vibes.packages import package_roots, unusable_entry_points  # where they are

LETTER = {"title": "Letter", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TRAP = "raise SystemExit('a package was imported')\n"


def install(site: Path, name: str = "acme", value: str = "acme_vibes.data", *, source: Path | None = None) -> Path:
    """Lay a package as pip does; with a `source`, as pip installs one that is worked on."""
    package = (source or site) / "acme_vibes"
    folder = package / "data" / "acme"
    folder.mkdir(parents=True)
    (package / "__init__.py").write_text(TRAP)
    (folder / "letter.vibe.json").write_text(json.dumps(LETTER))
    about = site / "acme_vibes-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-vibes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[console_scripts]\nacme = acme:main\n\n[instrc.vibes]\n# ours\n{name} = {value}\n\n[x]\n"
    )
    return folder


def instrc(place: Path, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "instrc", *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("editable", [False, True])
def test_a_project_sees_them_and_no_package_is_imported(tmp_path: Path, editable: bool) -> None:  # noqa: FBT001  -- a parameter
    site, place = tmp_path / "site", tmp_path / "project"
    (place / "schemas").mkdir(parents=True)
    (place / "schemas" / "reply.vibe.json").write_text(json.dumps({"title": "Reply", "allOf": [{"$ref": "aug:acme/letter"}]}))
    (place / "mail.aug").write_text("Reply(Letter(prompt))\n")
    assert "unresolved-reference" in instrc(place, site, "check").stderr
    install(site, source=tmp_path / "source" if editable else None)
    if editable:
        site = Path(f"{site}{os.pathsep}{tmp_path / 'source'}")  # as the `.pth` of a site folder adds it
    checked = instrc(place, site, "check")
    assert checked.returncode == 0, checked.stderr
    compiled = instrc(place, site, "compile", "mail.aug").stdout
    assert json.loads(compiled)["properties"]["step1_letter"]["properties"]["text"] == {"type": "string"}
    assert instrc(place, site, "lock").returncode == 0
    lock = (place / "aug.lock").read_text()
    assert "aug:acme/letter" in lock
    assert 'file = "installed/acme/letter.vibe.json"' in lock, "the same on every machine"
    assert instrc(place, site, "compile", "mail.aug", "--locked").returncode == 0
    assert "1 vibe, of an installed package" in instrc(place, site, "doctor").stdout


def test_a_vibe_of_the_project_comes_first(tmp_path: Path) -> None:
    site, place = tmp_path / "site", tmp_path / "project"
    install(site)
    (place / "schemas").mkdir(parents=True)
    (place / "schemas" / "letter.vibe.json").write_text(json.dumps({**LETTER, "title": "Ours"}))
    (place / "mail.aug").write_text("Letter(prompt)\n")
    assert '"Ours"' in instrc(place, site, "compile", "mail.aug").stdout


@pytest.mark.parametrize(
    ("name", "value"), [("other", "acme_vibes.data"), ("acme", "acme_vibes"), ("acme", "../secret"), ("acme", "acme_vibes:data")]
)
def test_an_entry_point_that_names_no_such_folder_brings_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """The folder has one of the name of the entry point, so that no package brings the names of another one."""
    install(tmp_path, name, value)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert package_roots() == ()
    assert unusable_entry_points() == [f"{name} = {value}"]


def test_what_cannot_be_read_brings_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path)
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[instrc.vibes]\n\xff = a\n")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "absent"), str(tmp_path), "nowhere.zip"])
    assert package_roots() == (folder.parent,)
