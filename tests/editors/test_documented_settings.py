"""The settings on the page of editors work: Neovim and Emacs, where they are installed, show, rename and format with them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "grammar" / "editors" / "README.md").read_text("utf-8")
PROGRAM = "const a = ReadLetter(prompt)\nconst b =   WriteRepli(a)\nb\n"
VIBE = '{"type": "object", "properties": {"asks": {"type": "string"}}}\n'
WRONG = '{"type": "object", "properties": {"asks": {"type": "strng"}}}\n'


def documented(language: str) -> str:
    [settings] = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert isinstance(settings, str)
    return settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "schemas").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "letter.aug").write_text(PROGRAM)
    for name, text in {"read-letter": VIBE, "write-reply": VIBE, "wrong": WRONG}.items():
        (folder / "schemas" / f"{name}.vibe.json").write_text(text)
    return folder


def seen_in(project: Path, *command: str | Path) -> list[str]:
    """Return what an editor says that knows nothing but the documented settings."""
    home = project.parent / "home"
    home.mkdir()
    places = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "STATE", "DATA", "CACHE")}
    environment = os.environ | places | {"HOME": str(home)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=100, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def version(command: str) -> tuple[int, ...]:
    """Return the version of an editor, or nothing if it is not installed."""
    if shutil.which(command) is None:
        return ()
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    [numbers] = re.findall(r"^(?:NVIM v|GNU Emacs )(\d+\.\d+)", told, re.MULTILINE)
    return tuple(map(int, numbers.split(".")))


@pytest.mark.skipif(version("nvim") < (0, 11), reason="needs Neovim 0.11")
def test_neovim_shows_renames_formats_and_leads_to_vibes(project: Path) -> None:
    (project.parent / "init.lua").write_text(documented("lua"))
    seen = seen_in(
        project, "nvim", "--headless", "-u", project.parent / "init.lua", "letter.aug", "-c", f"luafile {HERE / 'drive.lua'}"
    )
    assert seen == [
        "problem aug 1 12 unknown-name",
        "hover **read-letter** · `aug:read-letter` · carried out by the model",
        "definition read-letter.vibe.json",
        "renamed const letter = ReadLetter(prompt) / const b =   WriteRepli(letter) / b",
        "formatted const letter = ReadLetter(prompt); / const b = WriteRepli(letter); / b;",
        "commented // const letter = ReadLetter(prompt); / const b = WriteRepli(letter); / b;",
        "problem json.vibe 0 51 invalid-schema",
    ]


@pytest.mark.skipif(version("emacs") < (28,), reason="needs Emacs with eglot")
def test_emacs_shows_renames_and_formats(project: Path) -> None:
    (project.parent / "init.el").write_text(f"(package-initialize)\n{documented('elisp')}")
    seen = seen_in(project, "emacs", "--batch", "-l", project.parent / "init.el", "-l", HERE / "drive.el")
    told = [line for line in seen if line.startswith(("problem ", "renamed ", "formatted ")) or "rror" in line]
    assert told == [
        "problem aug-mode instrc [unknown-name]: nothing is called `WriteRepli`",
        "renamed const letter = ReadLetter(prompt) / const b =   WriteRepli(letter) / b / ",
        "formatted const letter = ReadLetter(prompt); / const b = WriteRepli(letter); / b; / ",
    ]


def test_the_settings_of_helix_have_the_members_that_it_asks_for() -> None:
    settings = tomllib.loads(documented("toml"))
    [language] = settings["language"]
    assert {"name", "scope", "file-types"} <= set(language)
    assert language["language-servers"] == list(settings["language-server"])
    assert settings["language-server"]["instrc"] == {"command": "instrc", "args": ["lsp"]}
