"""Pictures: nothing lies on anything else, every step is there, and no word of a program breaks out of its place."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from drawn_processes import blocks, hostile, straight
from every_case import every_case
from objects import an_object

import instrc
from instrc import CompileError
from instrc.process.charts import mermaid, text_picture
from instrc.process.layout import (  # places in a picture, before they are numbers in a text
    Area,
    PlacedBox,
    PlacedNode,
    layout,
)
from instrc.process.picture import Box, Picture, folded, folded_pictures, picture_of
from instrc.process.picture_page import html
from instrc.process.process import Process
from instrc.process.svg import svg
from instrc.text.visible import columns

SIZES = [1, 20, 200, 2000]


def picture(document: Any) -> Picture:
    return picture_of(Process.from_json(document), "it")


def placed(boxes: tuple[Any, ...]) -> list[PlacedBox | PlacedNode]:
    found: list[PlacedBox | PlacedNode] = []
    for box in boxes:
        found.append(box)
        if isinstance(box, PlacedBox):
            found += placed(box.inside)
    return found


DOCUMENTS = [*(straight(size) for size in SIZES), blocks()]


@every_case("document", DOCUMENTS, ids=[*map(str, SIZES), "blocks"])
def test_texts_never_lie_on_each_other(document: Any) -> None:
    texts: list[tuple[float, float, float, float]] = []
    for element in ET.fromstring(svg(picture(document))).iter("{http://www.w3.org/2000/svg}text"):  # noqa: S314  -- our own
        shown = "".join(element.itertext()) if element.find("{*}title") is None else (element[0].tail or "")
        size = 9 if element.get("class") == "title" else 7.25
        x, y = float(element.get("x", 0)), float(element.get("y", 0))
        texts.append((y - 11, y + 2, x, x + columns(shown) * size))
    texts.sort()
    for index, (_, bottom, left, right) in enumerate(texts):
        for top, _, other_left, other_right in texts[index + 1 : index + 40]:
            if top >= bottom:
                break
            assert right <= other_left or other_right <= left


@pytest.mark.long
@every_case("document", DOCUMENTS, ids=[*map(str, SIZES), "blocks"])
def test_every_step_is_in_every_format(document: Any) -> None:
    drawn = picture(document)
    labels = {node.label for node in drawn.nodes()}
    assert len(labels) >= 1
    for text in (html([drawn]), mermaid(drawn), text_picture(drawn)):
        assert all(label in text for label in labels)


@every_case("document", DOCUMENTS, ids=[*map(str, SIZES), "blocks"])
def test_items_stand_below_each_other_in_their_frame_and_no_line_crosses_a_frame(document: Any) -> None:
    drawn = layout(picture(document))

    def walk(items: Any, outer: Area) -> None:
        bottom = outer.y
        for item in items:
            area = item.area
            assert outer.x <= area.x
            assert area.x + area.width <= outer.x + outer.width
            assert bottom <= area.y
            bottom = area.y + area.height
            if isinstance(item, PlacedBox):
                walk(item.inside, area)
        assert bottom <= outer.y + outer.height

    walk(drawn.boxes, Area(0, 0, drawn.width, drawn.height))
    edges = sorted(edge for item in placed(drawn.boxes) for edge in (item.area.y, item.area.y + item.area.height))
    assert len(drawn.arrows) >= len(drawn.boxes) - 1
    for _, begin, end in drawn.arrows:
        assert not [edge for edge in edges if begin < edge < end]


def test_the_entry_is_marked_and_blocks_say_what_they_do() -> None:
    said = svg(picture(blocks()))
    assert said.count("· entry<") == 1
    for words in ("each person in identify › attendees", "repeat until act › answer", "when confirm › decision is"):
        assert words in said
    assert "within PT30S" in said


def test_words_of_a_program_stay_in_their_places() -> None:
    drawn = picture(hostile())
    page = html([drawn])
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    ET.fromstring(svg(drawn))  # noqa: S314  -- our own
    assert any(fact.get("key", "").startswith("</script>") for fact in _data(page)["facts"])
    assert "\x00" not in page
    assert not re.search(r"[\ud800-\udfff]", page)
    assert "\x00" not in mermaid(drawn)


def test_a_page_has_the_text_of_steps_that_exports_share_once() -> None:
    page = html([picture(blocks()) for _ in range(10)])
    data = _data(page)
    once, shown = data["facts"], data["of"]
    assert len({json.dumps(fact) for fact in once}) == len(once) == len(shown) / 10
    items = re.findall(r'<g class="(?:step|choose)[^"]*" id="e0-([^"]+)"', page)
    assert len(items) == len(once)
    for item in items:
        assert {shown[f"e{index}-{item}"] for index in range(10)} == {shown[f"e0-{item}"]}


def test_a_page_has_each_value_of_its_schemas_once_and_whole() -> None:
    large = {"minimum": 12345678901234567890, "maximum": 2.0, "$defs": {"2": {}, "1": {"enum": [None, True]}}}
    document = straight(3)
    first = next(iter(document["properties"].values()))["properties"]
    key = next(iter(first))
    first[key] = {**large, **first[key]}
    data = _data(html([picture(document)]))
    assert len({json.dumps(value) for value in data["schemas"]}) == len(data["schemas"])
    [number] = [fact["schema"] for fact in data["facts"] if fact.get("key") == key]
    assert _value(data["schemas"], number) == json.dumps(first[key], ensure_ascii=False)


def test_a_page_of_2000_steps_is_of_a_size_to_be_sent() -> None:
    """Each step has 1,000 letters of schema of its own here, which is in three views of its chunk."""
    document = straight(2000)
    for chunk_ in document["properties"].values():
        for key, step_ in chunk_["properties"].items():
            step_["description"] = key * (1000 // len(key))
    assert len(html([picture(document)]).encode()) < 7_500_000


def _data(page: str) -> Any:
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    return json.loads(data[1])


def _value(table: Any, number: int) -> str:
    """Return a value of the table of a page as JSON text in one line."""
    value = table[number]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    kind, *inside = value
    texts = [_value(table, part) for part in inside]
    if kind == "[":
        return f"[{', '.join(texts)}]"
    return f"{{{', '.join(map(': '.join, zip(texts[::2], texts[1::2], strict=True)))}}}" if kind == "{" else str(kind)


def test_a_page_asks_for_nothing_from_anywhere() -> None:
    page = html([picture(blocks())])
    assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?(?:https?:)?//""", page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page


def test_blocks_that_nest_too_deep_are_told() -> None:
    inner: Any = {"type": "object", "properties": {"llmContext1": {"type": "object", "properties": {"a": {}}}}}
    for _ in range(400):
        inner = {"type": "object", "properties": {"doContext1": {**inner, "do": {"value": "a"}}}}
    with pytest.raises(CompileError) as caught:
        picture(inner)
    assert [problem.name for problem in caught.value.problems] == ["too-large"]


def test_paper_is_white_in_a_dark_window_too() -> None:
    """Rules for paper count as much as those for dark windows, and stand behind them."""
    sheet = svg(picture(blocks()))
    dark = re.search(r"prefers-color-scheme: dark\) \{ (\.instrc:not\(\[[^]]*\]\))", sheet)
    paper = re.search(r"@media print \{ (\.instrc:not\(\[[^]]*\]\))", sheet)
    assert dark is not None
    assert paper is not None
    assert dark.start() < sheet.index('.instrc[data-theme="dark"]') < paper.start()


def test_the_style_of_a_page_has_no_placeholder_left() -> None:
    assert not re.search(r"\b(DARK|LIGHT)\b", svg(picture(blocks())))


def test_the_heading_of_a_page_with_many_exports_is_short() -> None:
    one = picture(straight(2))
    name = one.title or one.name
    assert f"<h1>{name}, {name}, {name}</h1>" in html([one] * 3)
    assert f"<h1>{name}, {name}, {name} and 47 more</h1>" in html([one] * 50)


def test_a_condition_stands_as_the_language_writes_it() -> None:
    members = 'properties: { ok: { type: "boolean" }, mood: { type: "string" } }, required: ["ok", "mood"]'
    when = 'when a.ok { a | @{ title: "Yes" } } else when a.ok is false or a.mood is "well" { a | @{ title: "No" } }'
    program = f'const a = @{{ title: "Draft", {members} }}; {when}'
    [process] = instrc.compile(program, emit="process")
    titles = [branch for branch, _steps in _branches(picture(process).boxes)]
    assert titles == ["when Draft › ok", 'else when Draft › ok is false or Draft › mood is "well"']


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("a.score >= 8", "when Draft › score >= 8"),
        ("a.score < 2.5", "when Draft › score < 2.5"),
        ("a.mood is not null", "when Draft › mood is not null"),
        ('a.mood is not "ill"', 'when Draft › mood is not "ill"'),
        ('a.mood @ { type: "string", pattern: "^w" }', 'when Draft › mood @ { type: "string", pattern: "^w" }'),
    ],
)
def test_a_comparison_stands_as_the_language_writes_it(condition: str, shown: str) -> None:
    members = 'properties: { score: { type: "number" }, mood: { type: ["string", "null"] } }, required: ["score", "mood"]'
    program = f'const a = @{{ title: "Draft", {members} }}; when {condition} {{ a | @{{ title: "Yes" }} }}'
    [process] = instrc.compile(program, emit="process")
    assert [branch for branch, _steps in _branches(picture(process).boxes)][:1] == [shown]


def test_a_step_is_called_by_its_title_and_one_that_fails_says_so() -> None:
    drawn = picture(
        {
            "type": "object",
            "properties": {
                "llmContext1": an_object(step1_read={"title": "The letter", "type": "string"}, step2_sum={"type": "string"}),
                "serverContext1": an_object(step3_fail={"fail": True, "arguments": {"message": {"const": "no"}}}),
            },
            "required": ["llmContext1", "serverContext1"],
        }
    )
    assert [step.label for step in drawn.nodes()] == ["The letter", "sum", "✗ fail"]
    for text in (svg(drawn), mermaid(drawn), text_picture(drawn)):
        assert text.index("The letter") < text.index("✗ fail")
    assert '<g class="step server fail"' in svg(drawn)


def test_branches_are_told_to_those_who_do_not_see_them() -> None:
    """A screen reader meets a step inside the name of its branch, in the picture and in the list below it."""
    drawn = picture(blocks())
    groups = {step: branch for branch, inside in _branches(drawn.boxes) for step in inside}
    assert set(groups.values()) == {"try · within PT30S", "else"}
    tree = ET.fromstring(svg(drawn))  # noqa: S314  -- our own
    for step, branch in groups.items():
        told = [each for each in tree.iter() if each.get("aria-label") == branch and each.get("role") == "group"]
        assert any("".join(inner.itertext()).startswith(step) for each in told for inner in each.iter()), step
    items = re.findall(r"<ol>.*</ol>", html([drawn]), re.DOTALL)
    entries = ET.fromstring(items[0])  # noqa: S314
    for step, branch in groups.items():
        told = [each for each in entries.iter("li") if (each.text or "") == branch]
        assert any(link.text == step for each in told for link in each.iter("a")), step


def _branches(boxes: Any) -> Any:
    """Yield the title of each branch with the labels of the steps that are directly in it."""
    for box in boxes:
        for section in box.sections:
            chunks = [item for item in section.items if getattr(item, "lane", None) and hasattr(item, "sections")]
            if section.title:
                yield section.title, [step.label for each in chunks for step in each.sections[0].items]
            yield from _branches(item for item in section.items if hasattr(item, "sections") and item.lane is None)


def many(count: int) -> Any:
    """Return a process of a step, and a block of many blocks of three steps."""

    def body(number: int) -> Any:
        steps = {f"step{number}{letter}_do": {"type": "string", "references": ["item"]} for letter in "abc"}
        return an_object(llmContext9=an_object(**steps))

    inner = {
        f"eachContext{number}": {
            "type": "array",
            "items": body(number),
            "each": {"item": "item", "in": "step1_read", "value": f"step{number}a_do"},
        }
        for number in range(2, count + 2)
    }
    outer = {"type": "array", "items": an_object(**inner), "each": {"item": "part", "in": "step1_read", "value": "part"}}
    return an_object(llmContext1=an_object(step1_read={"type": "array", "items": {"type": "string"}}), eachContext1=outer)


def test_blocks_of_a_large_program_are_folded_and_have_their_own_pictures() -> None:
    whole = picture(many(70))
    small = folded(whole)
    assert [node.label for node in small.nodes()] == ["read"]
    assert text_picture(small).splitlines()[-1] == "▸ each part in read · 210 steps"
    pictures = list(folded_pictures(whole))
    blocks = [box.id for drawn in pictures for box in drawn.all() if isinstance(box, Box) and box.folded]
    assert [drawn.block for drawn in pictures] == ["", *blocks]
    assert len(blocks) == 71
    assert sum(1 for drawn in pictures for _ in drawn.nodes()) == 211
    page = html(pictures)
    assert (
        set(re.findall(r'href="#(it-\w+)"', page))
        == {f"it-{block}" for block in blocks}
        <= set(re.findall(r'id="(it-\w*)"', page))
    )
    assert list(folded_pictures(picture(straight(200)))) == [picture(straight(200))]
