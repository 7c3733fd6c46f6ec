"""Fixtures of pytest for tests of an application: a scripted model, recorded cases, every branch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:  # not imported by pytest sessions that use no fixture
    from instrc.api.app import App
    from instrc.api.preparation import ProgramLike
    from instrc.runtime.models.model import Scripted
    from instrc.testing.rehearsal import Rehearsal
    from instrc.tools.python_values import JsonLike

ScriptedApp: TypeAlias = "Callable[..., tuple[App, Scripted]]"
ReplayCases: TypeAlias = "Callable[..., None]"
EveryBranch: TypeAlias = "Callable[..., Rehearsal]"


@pytest.fixture
def scripted_app(tmp_path: Path) -> Iterator[ScriptedApp]:
    """Return a function that makes an `instrc.App` whose model gives the answers of a test, and the model.

    def test_a_letter(scripted_app):
        app, model = scripted_app({"draft": {"text": "Thank you!"}})
        run = asyncio.run(app.run("mail.aug", "Thank Ann"))
        assert "Thank Ann" in model.sent[0].message

    The answers are those of `instrc.Scripted`, the options those of `instrc.App`; runs are stored in a temporary folder.
    """
    from instrc.api.app import App
    from instrc.engines.hosts import close_store
    from instrc.runtime.models.model import Scripted

    used: list[tuple[str, str]] = []

    def build(answers: Sequence[JsonLike] | Mapping[str, JsonLike], **options: Any) -> tuple[App, Scripted]:  # noqa: ANN401  -- those of `App`
        model = Scripted(answers)
        given = {"model": model, "engine": "memory", "store": tmp_path, **options}
        used.append((given["engine"], given["store"]))
        return App(**given), model

    yield build
    for engine, store in used:
        close_store(engine, store)


@pytest.fixture
def replay_cases() -> ReplayCases:
    """Return a function that replays the cases beside programs, as `instrc test` does, and fails as it does.

    def test_the_cases_still_pass(replay_cases):
        replay_cases("programs")
    """

    def replay(*paths: str | os.PathLike[str]) -> None:
        from instrc.cli.app import run

        for path in paths or (".",):
            assert run(["test", str(path)]) == 0, "a case differs, or there is none: see the output"

    return replay


@pytest.fixture
def every_branch() -> EveryBranch:
    """Return a function that rehearses a program, and fails for a branch that no run takes.

    def test_every_branch(every_branch):
        assert len(every_branch("mail.aug").runs) == 2
    """

    def rehearse(program: ProgramLike, **options: Any) -> Rehearsal:  # noqa: ANN401  -- those of `instrc.rehearse`
        from instrc.api.runs import rehearse

        result = rehearse(program, **options)
        assert not result.missed, "\n".join(f"not reached: {item.branch} | {item.reason}" for item in result.missed)
        assert result.sound, str(result)
        return result

    return rehearse
