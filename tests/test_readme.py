"""The first page is true: every block on it is run, and what it shows is what comes out."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from http_server import Answer, Asked, serving
from pages import agrees, typed

from instrc.cli import main
from instrc.runtime.models.catalogue import ADAPTERS, adapter_of  # the table of providers is made from them
from instrc.text import jsontext
from instrc.vibes.settings import read_settings

ROOT = Path(__file__).parent.parent


class Block(NamedTuple):
    language: str
    text: str


PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
RUN_BELOW = {"aug", "console", "python", "py", "sh"}
GUIDES = ROOT / "examples" / "guides"


def only(language: str) -> list[str]:
    return [block.text for block in BLOCKS if block.language == language]


def test_no_block_is_left_out() -> None:
    assert {block.language for block in BLOCKS} <= RUN_BELOW


def test_the_program_is_the_one_that_is_compiled() -> None:
    [approval, program] = only("aug")
    assert (ROOT / "examples" / "tutorial" / "5-person" / "answer.aug").read_text(encoding="utf-8") == approval
    assert (ROOT / "examples" / "reply" / "reply.aug").read_text(encoding="utf-8") == program
    assert len(program.splitlines()) <= 8


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) <= 200


def test_the_command_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    [block] = only("console")
    [command] = typed(block)
    assert main(command.command.removeprefix("instrc ").split()) == 0
    printed = capsys.readouterr()
    assert agrees(command.shown, printed.out)
    assert printed.err == ""
    whole = (ROOT / "examples" / "reply" / "README.md").read_text(encoding="utf-8")
    assert f"```json\n{printed.out}```" in whole
    assert f"has {len(printed.out.splitlines())} lines" in PAGE


def test_the_install_command_compiles_the_program_of_the_page() -> None:
    [install, tests] = only("sh")
    assert install == "pip install . && instrc compile examples/reply/reply.aug\n"
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "'.[dev]'" in tests
    assert "'.[dev]'" in run
    assert tests.strip().endswith("python -m pytest")
    assert re.search(r"^(?:if ! )?python -m pytest(?: >.*)?$", run, re.MULTILINE), "the one test command, without arguments"


def test_the_python_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "reply", tmp_path / "examples" / "reply")
    for code in only("python"):
        subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True)


def test_the_hook_on_the_page_is_one_of_ours() -> None:
    page = (GUIDES / "checks.md").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    for name in re.findall(r"- id: (\S+)", page):
        assert f"id: {name}" in hooks


def test_the_picture_shows_every_stage_of_the_driver() -> None:
    page = (ROOT / "instrc" / "README.md").read_text(encoding="utf-8")
    [picture] = re.findall(r"^```\n([^`]*aug:[^`]*)^```", page, re.MULTILINE)
    driver = (ROOT / "instrc" / "compiler" / "driver.py").read_text(encoding="utf-8")
    for stage in ("parse", "bind", "compose", "partition", "emit"):
        assert f" {stage} " in picture
        assert f"{stage}(" in driver


def test_the_table_of_targets_is_the_one_computed_from_the_dialects() -> None:
    from table_of_targets import reported, table

    page = (ROOT / "instrc" / "providers" / "dialects" / "README.md").read_text(encoding="utf-8")
    assert page.split("<!-- targets -->")[1].strip() == table().strip()
    assert reported() in page


def test_every_command_on_the_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    known = capsys.readouterr().out
    page = (GUIDES / "commands.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `instrc (\w+)", page, re.MULTILINE)
    assert len(told) > 20
    for command in told:
        assert re.search(rf"\b{command}\b", known), command


def test_the_table_of_extras_is_that_of_the_package() -> None:
    page = (GUIDES / "settings.md").read_text(encoding="utf-8")
    assert page.split("<!-- extras -->")[1].strip() == extras_table()


def extras_table() -> str:
    """Return the extras with the reasons beside them in `pyproject.toml`; those without one are adapters of providers."""
    section = (
        (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project.optional-dependencies]")[1].split("\ndev = [")[0]
    )
    rows = [re.fullmatch(r"(\w+) = \[.*\]\s*(?:#\s*(.*))?", line) for line in section.strip().splitlines()]
    assert all(rows)
    cells = [f"| `{row[1]}` | {row[2]} |" for row in filter(None, rows) if row[2]]
    return "\n".join(["| extra | for |", "|---|---|", *cells])


def test_the_table_of_providers_is_that_of_the_adapters() -> None:
    page = (GUIDES / "models.md").read_text(encoding="utf-8")
    assert page.split("<!-- providers -->")[1].strip() == providers_table()


def providers_table() -> str:
    """Return what each provider of models needs, as its adapters say it."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for kind in ADAPTERS:
        adapter = adapter_of(kind)
        extra, key = adapter.extra or kind.partition("-")[0], f"`{adapter.key}`" if adapter.key else ""
        usual = "it is needed" if adapter.usual_url == "" else adapter.usual_url or "the provider's"
        alike.setdefault((f"`{extra}`", key, f"`{adapter.url}`", usual), []).append(f"`{kind}:NAME`")
    rows = [f"| {', '.join(kinds)} | {' | '.join(cells)} |" for cells, kinds in alike.items()]
    return "\n".join(["| model | extra | key | address | if none is set |", "|---|---|---|---|---|", *rows])


def test_the_settings_on_the_page_are_those_there_are() -> None:
    from instrc.vibes.settings import KEYS  # the names that the page lists

    page = (GUIDES / "settings.md").read_text(encoding="utf-8").split("## Settings")[1]
    told = re.findall(r"^\| `(?:\[tool\.instrc\.)?(\w+)[\]\s`]", page, re.MULTILINE)
    assert set(KEYS) <= set(told)


def test_links_work_on_the_package_index_and_lead_somewhere() -> None:
    """A page there has no folder around it, so links are whole addresses."""
    links = re.findall(r"\]\(([^)\s]+)\)", PAGE)
    assert links
    for link in links:
        path = link.removeprefix("https://github.com/instrc/instrc/blob/main/")
        assert path != link, link
        assert (ROOT / path).exists(), link


def test_the_russian_tutorial_quotes_the_files_of_its_steps() -> None:
    page = (ROOT / "examples" / "tutorial" / "README.ru.md").read_text(encoding="utf-8")
    quoted = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert len(quoted) >= 8
    for name, text in quoted:
        assert text in (ROOT / "examples" / "tutorial" / name).read_text(encoding="utf-8"), name


def test_pages_of_folders_link_to_what_is_there() -> None:
    folders = ("examples", "grammar", "instrc", "schemas", "tests")
    pages = [page for folder in folders for page in (ROOT / folder).rglob("README.md") if "node_modules" not in page.parts]
    pages += [*GUIDES.glob("*.md"), ROOT / "examples" / "tutorial" / "README.ru.md"]
    assert len(pages) > 20
    for page in pages:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, heading = link.partition("#")
            if link.startswith("http"):
                continue
            there = page.parent / file if file else page
            assert there.exists(), f"{page}: {link}"
            assert not heading or heading in headings(there), f"{page}: {link}"


def headings(page: Path) -> set[str]:
    """Return the anchors that the headings of a page have on GitHub."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def reply(asked: Asked) -> Answer:
    """Answer as the provider does, with a call of the tool that it was sent."""
    [tool] = jsontext.loads(asked.body)["tools"]
    parts = tool["function"]["parameters"]["properties"]["step2_write_reply"]["properties"]
    arguments = {
        "step1_read_letter": {"asks": "a date"},
        "step2_write_reply": {**dict.fromkeys(parts, "…"), "text": "On Monday."},
    }
    function = {"name": tool["function"]["name"], "arguments": jsontext.dumps(arguments)}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return Answer(
        jsontext.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
    )


def test_the_call_of_the_real_sdk_works(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    [code] = only("py")
    with serving(reply) as url:
        environment = {**os.environ, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
        check = f'{code}\nassert reply.text == "On Monday.", reply\n'
        check += 'assert "_considerations" not in answer.calls[0].output["step2_write_reply"]\n'
        subprocess.run([sys.executable, "-c", check], cwd=tmp_path, check=True, env=environment)


def test_help_of_each_function_has_an_example_that_runs(tmp_path: Path) -> None:
    import instrc

    lines = ["import asyncio", "from pathlib import Path", "import jsonschema", "import instrc"]
    (tmp_path / "reply.aug").write_text('@{ title: "Reply", type: "object", properties: { text: { type: "string" } } }')
    for name in instrc.__all__:
        function = getattr(instrc, name)
        if callable(function) and not isinstance(function, type):
            example = [line[4:] for line in (inspect.getdoc(function) or "").splitlines() if line.startswith("    ")]
            assert any(f"instrc.{name}(" in line for line in example), name
            lines += [f"def example_of_{name}() -> None:", *(f"    {line}" for line in example), f"example_of_{name}()"]
    subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(lines)], cwd=tmp_path, check=True)


def test_help_begins_with_the_functions_and_their_examples_run(tmp_path: Path) -> None:
    import instrc

    said = instrc.__doc__ or ""
    functions = [name for name in instrc.__all__ if inspect.isfunction(getattr(instrc, name))]
    assert {"compile", "lift", "run_async", "find_run", "check_plan", "uniform_plan"} <= set(functions)
    for name in functions:
        if name == "current_call":  # for the inside of an activity
            continue
        assert f"{name}(" in said or f"`{name}`" in said, name
    examples = "\n".join(line[4:] for line in said.splitlines() if line.startswith("    "))
    subprocess.run([sys.executable, "-W", "error", "-c", examples], cwd=tmp_path, check=True)


def test_the_settings_can_be_used(tmp_path: Path) -> None:
    page = (GUIDES / "models.md").read_text(encoding="utf-8")
    [text] = re.findall(r'^```toml title="pyproject.toml"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert read_settings(tmp_path).requests
