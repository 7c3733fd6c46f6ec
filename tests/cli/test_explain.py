"""`instrc explain` is the manual of the problems."""

from __future__ import annotations

import pytest
from command_lines import Instrc

from instrc.problems.catalogue import classes, page  # every problem and its page


@pytest.mark.parametrize("name", ["unknown-name", "[unknown-name]"])
def test_a_page_is_printed_by_name(instrc: Instrc, name: str) -> None:
    done = instrc("explain", name)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"# unknown-name\n\n{page(classes()['unknown-name'])}\n"
    assert "```aug " in done.out


def test_without_a_name_all_are_listed(instrc: Instrc) -> None:
    done = instrc("explain")
    assert [line.split()[0] for line in done.out.splitlines()] == list(classes())
    assert all(line.endswith(".") for line in done.out.splitlines())


def test_a_name_that_nobody_knows_is_answered_with_the_nearest(instrc: Instrc) -> None:
    done = instrc("explain", "unkown-nane")
    assert (done.code, done.out) == (2, "")
    assert "`unknown-name`" in done.err
    assert instrc("explain", "@").code == 2
