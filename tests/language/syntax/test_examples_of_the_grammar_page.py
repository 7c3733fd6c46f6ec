from __future__ import annotations

import re

import pytest

from instrc import Report, Source
from instrc.language.parser import parse
from instrc.text import files  # JSON text in and out, as the package writes it

BLOCKS = re.findall(r"^```aug\n(.*?)^```$", files.read("grammar", "README.md"), re.DOTALL | re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("text", BLOCKS)
def test_every_example_of_the_language_page_is_well_written(text: str) -> None:
    report = Report()
    parse(Source("README.md", text), report)
    assert report.problems == []
