"""The TextMate grammar colours programs as the language reads them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from instrc.language.tables import CONTEXTUAL

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
GRAMMAR = ROOT / "grammar" / "editors" / "aug.tmLanguage.json"
VSCODE = ROOT / "grammar" / "editors" / "vscode"
PROGRAM = """\
// 1 "not" a string
const письмо = Draft({ tone: 'wa\\'rm', when: 1 }) @ "x \\q";
"goal" | Send_Activity(письмо.to.$score) | aug:mail/note:2 /* two
lines */ | Confirm_User
when answer.ok is true { Process(a) } else { -1.5e3 }
"""


def all_strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in all_strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in all_strings(part)]
    return [value] if isinstance(value, str) else []


def test_every_word_of_the_language_has_a_colour() -> None:
    patterns = " ".join(all_strings(json.loads(GRAMMAR.read_text("utf-8"))))
    words = re.findall(r'^[A-Z]+: "([a-z]+)"$', (ROOT / "grammar" / "aug.lark").read_text("utf-8"), re.MULTILINE)
    assert len(words) > 15
    assert {word.lower() for word in CONTEXTUAL} <= set(words)
    for word in words:
        assert re.search(rf"[(|:]{word}(?:[|)]|\(\?=)", patterns), word  # some only before what follows them


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_extension_runs_under_node() -> None:
    """The editor itself cannot be started here: it is stood in for, and so is the client library."""
    command = ["node", str(HERE / "extension.js"), str(VSCODE)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    assert said["missing"] == []
    assert said["stopped"] == 1
    assert said["watched"] == ["**/{*.vibe.json,*.aug,pyproject.toml}"]
    ((name, title, server, client),) = said["started"]
    assert (name, title, server) == ("instrc", "instrc", {"command": "instrc", "args": ["lsp"]})
    assert {"language": "aug"} in client["documentSelector"]


def test_the_package_of_the_extension_has_what_a_marketplace_asks_for() -> None:
    package = json.loads((VSCODE / "package.json").read_text("utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
    for member in ("name", "publisher", "license", "repository", "engines", "description", "main"):
        assert package[member], member
    (grammar,) = package["contributes"]["grammars"]
    assert Path(grammar["path"]).name == GRAMMAR.name  # `vscode:prepublish` copies it
    assert {grammar["language"]} == {each["id"] for each in package["contributes"]["languages"]}
    assert (VSCODE / "README.md").is_file()
    copied = re.findall(r"copy\('([^']+)'", package["scripts"]["vscode:prepublish"])
    assert [(VSCODE / each).resolve() for each in copied] == [GRAMMAR, ROOT / "LICENSE"]
    assert all((VSCODE / each).is_file() for each in copied)


def test_the_package_leaves_out_what_the_editor_never_runs() -> None:
    left_out = (VSCODE / ".vscodeignore").read_text("utf-8").split("\n")
    assert {"node_modules/**/*.d.ts", "node_modules/**/*.map", "node_modules/**/browser/**"} <= set(left_out)
    kept_out = (VSCODE / ".gitignore").read_text("utf-8").split("\n")
    package = json.loads((VSCODE / "package.json").read_text("utf-8"))
    assert set(re.findall(r", '([^']+)'\)", package["scripts"]["vscode:prepublish"])) <= set(kept_out)


def test_the_extension_starts_the_server_and_nothing_else() -> None:
    package = json.loads((VSCODE / "package.json").read_text("utf-8"))
    assert package["contributes"]["configuration"]["properties"]["instrc.command"]["default"] == ["instrc", "lsp"]
    assert (VSCODE / package["main"]).is_file()
    assert json.loads((VSCODE / "language-configuration.json").read_text("utf-8"))["comments"]["lineComment"] == "//"


@pytest.mark.skipif(
    shutil.which("node") is None or not (HERE / "node_modules" / "vscode-textmate").is_dir(),
    reason="needs node and `npm install` in tests/editors",
)
def test_the_engine_of_the_editor_sees_the_right_colours() -> None:
    done = subprocess.run(["node", HERE / "colour.js"], input=PROGRAM.encode(), capture_output=True, check=True)
    found = {text: scope.removesuffix(".aug") for text, scope in json.loads(done.stdout)}
    for text, scope in {
        '1 "not" a string': "comment.line.double-slash",
        "const": "storage.type",
        "письмо": "variable.other",
        "Draft": "entity.name.function",
        "tone": "variable.other.property",
        "\\'": "constant.character.escape",
        "\\q": "invalid.illegal.escape",
        "Send_Activity": "entity.name.function.server",
        "Confirm_User": "entity.name.function.person",
        "$score": "variable.other.member",
        "aug:mail/note:2": "string.unquoted.reference",
        "lines": "comment.block",
        "is": "keyword.operator.word",
        "true": "constant.language",
        "Process": "support.function.special",
        "-1.5e3": "constant.numeric",
        "else": "keyword.control",
    }.items():
        assert found.get(text) == scope, (text, found)
