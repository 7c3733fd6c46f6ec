"""Find what compiles, but was hardly meant.

Lines indented like stages, empty braces, labels that differ by one letter, a goal that is a name, a `Fail` that gives no reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from instrc.durations import is_duration
from instrc.ir.graph import TIMING
from instrc.ir.surface import Annotated, Anonymous, Binding, Body, Call, Input, Literal, Name, Object, Pipe, Program, Uri
from instrc.limits.programs import COMPARED_LABELS, COMPARED_NAME
from instrc.lint.nodes import program_nodes
from instrc.problems.problem import Problem
from instrc.problems.suggest import is_a_slip_of
from instrc.source import Span

_DEEPER = re.compile(r"^([ \t]*)[^\s/](?>.*\S)(?<![;{(,|:=\[])\s*\n(?=\1[ \t]+[^\W\d])", re.MULTILINE)
"""A line that may be followed by a deeper one that begins with a name; each line is looked at once, from its beginning."""
_EMPTY = (re.compile(r"\{\s*\}"), re.compile(r"@\s*(?:\"\"|'')"))  # apart, as what begins with one letter is found fast
_LABEL = re.compile(r"[(,{]\s*+([^\W\d]\w{4,}+)\s*+:")
_FAIL = r"\bFail\b\s*(?:\(\s*\)|[^\s(]|$)"
"""A `Fail` without anything in its brackets."""
_TIMED = re.compile(r"(?:[(,]|(?<!@)(?<!@ )\{)\s*(?:within|delay)\s*:\s*[\"']P")
"""A time that may be an argument: annotations that begin with it are left out."""
_PEOPLE = ("_User", "_Human")
_SHORTEST = 5
"""The least number of letters of a label that may be misspelt: `from` and `form` are both words."""
_KEYED = frozenset({"Process", "LLM_Context", "Server_Context", "User_Context", "StartProcess", "LaunchProcess"})
"""Names whose braces hold keys of steps."""


def slips(program: Program) -> Iterator[Problem]:
    """Yield what is probably a slip in a program that compiles; the text says first whether there is any."""
    text = program.source.text
    deeper, empty = _DEEPER.search(text), any(each.search(text) for each in _EMPTY)
    similar = ":" in text and _may_be_similar(set(_LABEL.findall(text)))
    named, bare = _goals_like_names(program), "Fail" in text and re.search(_FAIL, text)
    timed = ("within" in text or "delay" in text) and _TIMED.search(text)
    yield from named
    if not (deeper or empty or similar or bare or timed):
        return
    written = list(program_nodes(program.statements))
    if deeper:
        yield from _indented(program, written)
    if empty:
        yield from _empty(written)
    if similar:
        yield from _similar_labels(written)
    if bare:
        yield from _bare_fails(written)
    if timed:
        yield from _timed_people(written)


def _goals_like_names(program: Program) -> list[Problem]:
    """Return a problem for each goal that is, letter by letter, the name of a value: its quotes were hardly meant."""
    goals = []
    known = {"prompt"}
    for statement in program.statements:
        if isinstance(statement, Input | Binding):
            known.add(statement.name.text)
        value = statement.value if isinstance(statement, Binding | Anonymous) else None
        if isinstance(value, Pipe) and isinstance(first := value.stages[0], Literal) and isinstance(first.value, str):
            goals.append((first.value, first.span))
    if not any(text in known for text, _ in goals):
        return []
    from instrc.problems.habits import QuotedName  # only where there is one

    return [QuotedName(at=at, word=text) for text, at in goals if text in known]


def _bare_fails(written: list[object]) -> Iterator[Problem]:
    """Yield each `Fail` that is given nothing, neither a reason nor a value; of an argument it is told that it is no value."""
    from instrc.problems.habits import BareFail  # only where there is one

    piped = {id(_plain(stage)) for node in written if isinstance(node, Pipe) for stage in node.stages[1:]}
    calls = [node for node in written if isinstance(node, Call)]
    elsewhere = piped | {id(part) for call in calls for part in (call.callee, *(_plain(each.value) for each in call.arguments))}
    for node in written:
        match node:
            case Call(callee=Name(text="Fail"), arguments=()) | Name(text="Fail") if id(node) not in elsewhere:
                yield BareFail(at=node.span)
            case _:
                pass


def _timed_people(written: list[object]) -> Iterator[Problem]:
    """Yield each time that a step of a person is given as an argument, named like the words of a deadline."""
    from instrc.problems.habits import DeadlineAsArgument  # only where there is one

    for node in written:
        if not isinstance(node, Call) or not node.callee.text.endswith(_PEOPLE):
            continue
        for label, at, value in _labelled(node):
            if label in TIMING and isinstance(value, Literal) and isinstance(value.value, str) and is_duration(value.value):
                yield DeadlineAsArgument(at=at, word=label, written=value.value)


def _plain(value: object) -> object:
    while isinstance(value, Annotated):
        value = value.value
    return value


def _indented(program: Program, written: list[object]) -> Iterator[Problem]:
    from instrc.problems.habits import IndentedStatement  # only where there is one

    bodies = [(*node.statements, node.value) for node in written if isinstance(node, Body)]
    for statements in (program.statements, *bodies):
        for before, after in pairwise(statements):
            value = after.value if isinstance(after, Anonymous) else after
            if isinstance(before, Binding | Anonymous) and _could_be_stage(value) and _is_deeper(before.span, value.span):
                yield IndentedStatement(at=value.stages[0].span if isinstance(value, Pipe) else value.span)


def _could_be_stage(value: object) -> bool:
    """Tell whether an expression is an instruction that is given no value of its own."""
    if isinstance(value, Pipe):
        return _could_be_stage(value.stages[0])
    if isinstance(value, Annotated):
        return _could_be_stage(value.value)
    if isinstance(value, Call):
        return all(argument.label is None and isinstance(argument.value, Name | Object) for argument in value.arguments) and (
            not value.arguments or value.callee.text.endswith("_Mixin")
        )
    return isinstance(value, Name | Uri)


def _is_deeper(before: Span, after: Span) -> bool:
    """Tell whether a statement begins a line that is indented more than the line of the statement before, which has no `;`."""
    text = before.source.text
    first, second = _margin(text, before.start), _margin(text, after.start)
    if first is None or second is None or not (len(second) > len(first) and second.startswith(first)):
        return False
    between = text[before.end : after.start]
    return ";" not in between and not text[before.start : before.end].endswith(";")


def _margin(text: str, start: int) -> str | None:
    """Return the white space before what begins a line; `None` for what does not."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return None if line.strip() else line


def _empty(written: list[object]) -> Iterator[Problem]:
    from instrc.problems.habits import EmptyBraces  # only where there are some

    for node in written:
        match node:
            case Annotated(annotation={} | "" as annotation, annotation_span=at) if not annotation:
                yield EmptyBraces(at=at, annotating=True)
            case Pipe(stages):
                yield from (EmptyBraces(at=stage.span, in_pipe=True) for stage in stages if _is_empty(stage))
            case Call(callee=Name(text=callee) | Uri(text=callee), arguments=arguments) if callee not in _KEYED:
                for argument in arguments:
                    if argument.label is None and _is_empty(argument.value):
                        yield EmptyBraces(at=argument.value.span)
            case _:
                pass


def _is_empty(value: object) -> bool:
    return isinstance(value, Object) and not value.fields


def _may_be_similar(labels: set[str]) -> bool:
    """Tell whether two of many words may differ by one letter."""
    seen: set[str] = set()
    for label in labels:
        shorter = _shortened(label)
        if not seen.isdisjoint(shorter):
            return True
        seen |= shorter
    return False


def _shortened(label: str) -> set[str]:
    """Return a word and what it is without one of its letters: words that differ by one letter share one of these."""
    if len(label) > COMPARED_NAME:
        return {label}
    return {label, *(label[:at] + label[at + 1 :] for at in range(len(label)))}


def _similar_labels(written: list[object]) -> Iterator[Problem]:
    calls: defaultdict[str, list[dict[str, Span]]] = defaultdict(list)
    for node in written:
        if isinstance(node, Call) and node.callee.text not in _KEYED:
            calls[node.callee.text].append(_labels(node))
    for callee, uses in calls.items():
        yield from _similar_in(callee, uses)


def _similar_in(callee: str, uses: list[dict[str, Span]]) -> Iterator[Problem]:
    """Yield labels that are another one with a wrong letter, and never stand beside it; the rarer one is the slip."""
    from instrc.problems.habits import SimilarLabel  # only where there is one

    places: defaultdict[str, dict[int, Span]] = defaultdict(dict)
    for number, use in enumerate(uses):
        for label, at in use.items():
            places[label][number] = at
    first = {label: next(iter(found.values())) for label, found in places.items()}
    usual: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(places, key=lambda label: (-len(places[label]), first[label].start)):
        shortened = _shortened(label)
        near = dict.fromkeys(each for word in shortened for each in usual[word][:COMPARED_LABELS])
        found = [each for each in near if _is_slip(label, each) and places[each].keys().isdisjoint(places[label])]
        if found:
            other = min(found, key=lambda each: (-len(places[each]), first[each].start))
            yield SimilarLabel(at=first[label], label=label, callee=callee, other=other, there=first[other])
        for word in shortened:
            usual[word].append(label)


def _labels(call: Call) -> dict[str, Span]:
    """Return the labels of the values that a call is given, those in braces included."""
    return {label: at for label, at, _ in _labelled(call)}


def _labelled(call: Call) -> Iterator[tuple[str, Span, object]]:
    """Yield the labels of the values that a call is given, their places, and the values: those in braces last."""
    for argument in call.arguments:
        if argument.label and argument.label_span:
            yield argument.label, argument.label_span, argument.value
    for argument in call.arguments:
        if argument.label is None and isinstance(argument.value, Object):
            yield from ((each.key, each.key_span, each.value) for each in argument.value.fields)


def _is_slip(label: str, other: str) -> bool:
    """Tell whether a label is another one with one letter wrong; numbers and plurals are other names."""
    if min(len(label), len(other)) < _SHORTEST or not is_a_slip_of(label, other):
        return False
    numbers = re.sub(r"\d", "", label) == re.sub(r"\d", "", other)
    return not numbers and label.rstrip("s") != other.rstrip("s")
