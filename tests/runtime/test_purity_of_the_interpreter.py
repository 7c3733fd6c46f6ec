"""The interpreter reads no clock, draws no chance, and does nothing on its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "instrc"
FORBIDDEN = {
    *("asyncio", "concurrent", "datetime", "http", "io", "multiprocessing", "os", "pathlib", "queue", "random", "secrets"),
    *(
        "select",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    ),
}
FILES = sorted((ROOT / "runtime" / "interpreter").rglob("*.py")) + [
    ROOT / name for name in ("text/durations.py", "runtime/plan.py", "runtime/models/model.py", "runtime/activities.py")
]
ASYNCHRONOUS = {"plan.py": ["wait_first", "fire", "drive"], "model.py": ["answer", "answer", "answer"]}
"""The loop with what an engine gives it, and what models are."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_file_of_the_interpreter_imports_nothing_that_acts(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {(node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert named.isdisjoint(FORBIDDEN)
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"open", "print", "input", "eval", "exec", "__import__", "id", "hash"})


def test_the_interpreter_imports_only_what_is_pure_of_the_runtime() -> None:
    allowed = {"instrc.runtime.activities"}
    for file in (ROOT / "runtime" / "interpreter").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if module is not None and module.startswith("instrc.runtime"):
                assert module in allowed or module.startswith("instrc.runtime.interpreter"), f"{file} imports {module}"


def test_asynchronous_code_is_only_the_loop() -> None:
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found = [node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
        assert sorted(found) == sorted(ASYNCHRONOUS.get(file.name, [])), file
        assert file.name == "plan.py" or not any(isinstance(node, ast.Await) for node in ast.walk(tree)), file
