"""A bar appears only where a person waits."""

from __future__ import annotations

import io
import sys

import pytest

from instrc.cli.output import with_progress  # a disk and a terminal are played here


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_all_paths_come_in_their_order_with_and_without_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(number) for number in range(50)]
    assert list(with_progress(paths, "Checking")) == paths
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert list(with_progress(paths, "Checking", patience=-1)) == paths
    assert "Checking" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K"), "the bar goes when all is done"


def test_quick_runs_and_pipes_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, pipe = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(with_progress(["a", "b"], "Checking")) == ["a", "b"]
    assert list(with_progress(["a"], "Checking", patience=-1)) == ["a"]
    monkeypatch.setattr(sys, "stderr", pipe)
    assert list(with_progress(["a", "b"], "Checking", patience=-1)) == ["a", "b"]
    assert screen.getvalue() == pipe.getvalue() == ""
