"""What is hostile in names and values becomes no tag and no handler in pages and pictures."""

from __future__ import annotations

from html.parser import HTMLParser

import instrc
from instrc.compiler.emit.emit import located_process
from instrc.process.picture import Picture, picture_of
from instrc.process.picture_page import html
from instrc.process.svg import svg
from instrc.runtime.trace_page import keys_of, page_of
from instrc.runtime.traces import spans_of
from instrc.text.jsontext import dumps

HOSTILE = "</script></title><img src=x onerror=alert(1)>\"'`]]>--><svg onload=alert(2)><iframe>"


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, value in attrs if name.startswith("on") or (value or "").startswith("javascript:")]


def _drawn(words: str) -> Picture:
    step = {"type": "object", "title": words, "description": words, "properties": {words: {"type": "string", "title": words}}}
    program = f"{dumps(words)} | A | Confirm_User"
    [artefact] = instrc.artefacts(program, vibes={"A": step, "Confirm_User": step})
    process, places = located_process(artefact)
    return picture_of(process, words, places)


def _tags(page: str) -> tuple[dict[str, int], list[str]]:
    found = _Tags(page)
    return {tag: found.tags.count(tag) for tag in found.tags}, found.handlers


def test_a_page_of_a_graph_has_the_tags_of_a_harmless_one() -> None:
    hostile, harmless = html([_drawn(HOSTILE)]), html([_drawn("harmless")])
    assert _tags(hostile)[0].keys() == _tags(harmless)[0].keys()
    assert _tags(hostile)[1] == []


def test_a_picture_has_the_tags_of_a_harmless_one() -> None:
    hostile, harmless = svg(_drawn(HOSTILE)), svg(_drawn("harmless"))
    assert _tags(hostile)[0].keys() == _tags(harmless)[0].keys()
    assert _tags(hostile)[1] == []


def test_a_page_of_a_run_has_the_tags_of_a_harmless_one() -> None:
    def page(words: str) -> str:
        program = f'@{{ title: {dumps(words)}, type: "object", properties: {{ text: {{ type: "string" }} }} }}'
        run = instrc.run(program, words, model=instrc.Scripted([{"text": words}]))
        assert run.status == "done"
        spans = spans_of(run.trace)
        return page_of(words, run.status, spans, {key: words for span in spans for key in keys_of(span)})

    hostile, harmless = page(HOSTILE), page("harmless")
    assert "onerror" in hostile
    assert _tags(hostile)[0].keys() == _tags(harmless)[0].keys()
    assert _tags(hostile)[1] == []
