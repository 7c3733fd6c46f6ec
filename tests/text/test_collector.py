"""The garbage collector is paused while a program is compiled, and is afterwards as it was before."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

import instrc
from instrc import Report, Source
from instrc.language.parser import parse
from instrc.text.collector import paused_collector

_VIBES: dict[str, object] = {"draft": {"type": "object", "properties": {"text": {"type": "string"}}}}


@pytest.fixture(autouse=True)
def _as_usual() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_is_paused_inside_and_enabled_afterwards() -> None:
    with paused_collector():
        assert not gc.isenabled()
        with paused_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_one_that_is_disabled_stays_so() -> None:
    gc.disable()
    with paused_collector():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_it_works_again_after_a_program_that_is_wrong() -> None:
    with pytest.raises(instrc.CompileError):
        instrc.compile("Nothing(", vibes={})
    assert gc.isenabled()


def test_it_works_again_when_several_threads_have_ended() -> None:
    begin = Barrier(4)

    def rest() -> None:
        begin.wait()
        for _ in range(200):
            with paused_collector():
                pass

    threads = [Thread(target=rest) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()


def printed(script: str) -> list[str]:
    """Return the words that a process of its own prints: here, threads that other tests have left make and free objects too."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


LEFT_BEHIND = """
import gc, instrc

def left(steps):
    gc.collect()
    text = "const a0 = Draft;\\n" + "".join(f"const a{i} = Draft(a{i - 1});\\n" for i in range(1, steps))
    instrc.compile(text, vibes={"draft": {"type": "object"}})
    return gc.collect()

gc.disable()
left(2)  # what is kept on purpose is kept then
print(left(2), left(100))
"""


def test_what_programs_are_made_of_is_freed_without_it() -> None:
    few, many = printed(LEFT_BEHIND)
    assert few == many


def test_a_parsed_text_is_freed_without_it_as_well() -> None:
    text = "".join(f"const a{number} = Draft(prompt);\n" for number in range(1000))
    gc.collect()
    gc.disable()
    for _ in range(3):  # what is kept on purpose is kept then
        parse(Source("a.aug", text), Report())
    before = sys.getallocatedblocks()
    parse(Source("a.aug", text), Report())
    assert sys.getallocatedblocks() - before < 500


class _Circle(list["_Circle"]):
    """An object that only the collector can free, and that can be asked whether it is there."""


def test_what_counts_as_old_is_freed_in_the_end() -> None:
    made: list[weakref.ref[_Circle]] = []
    for _ in range(20):
        with paused_collector():
            circle = _Circle()
            circle.extend(_Circle([circle]) for _ in range(60_000))
            made.append(weakref.ref(circle))
            del circle
            lasting = [[each] for each in range(60_000)]
        del lasting
    assert sum(each() is not None for each in made) < 12


def test_what_lasts_counts_as_old_at_once() -> None:
    with paused_collector():
        lasting = [[each] for each in range(100_000)]
        assert len(gc.get_objects(generation=0)) >= len(lasting)
    assert len(gc.get_objects(generation=0)) < len(lasting)


SET_ASIDE = """
import gc
from instrc.text.collector import paused_collector

gc.freeze()
print(gc.get_freeze_count())
with paused_collector():
    lasting = [[each] for each in range(100_000)]
print(gc.get_freeze_count())
"""


def test_what_an_application_has_set_aside_stays_there() -> None:
    before, after = printed(SET_ASIDE)
    assert int(before) > 0
    assert before == after
