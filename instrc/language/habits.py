"""Well-formed mistakes: words and signs of other languages that the grammar accepts as names and data.

This module also lists these words, and common misspellings of keywords.

Statements need no `;` between them, so `return Draft(prompt)` is two statements, and `people[0]` too.
Statements on one line without a `;` reveal such slips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from instrc import problems
from instrc.language import surface
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.flow import FORMS
from instrc.text.durations import from_words, is_duration
from instrc.text.jsontext import loads
from instrc.text.limits import STRING_PREFIX
from instrc.text.source import Source, Span

GUESSED_LINES: Final = 20
"""Maximum lines examined to identify the format of a file that is not a program."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOREIGN = _words(
    """
    and as assert async await break call case catch class continue def del delete elif elseif elsif enum except
    execute export extends finally fn for foreach from func function global goto if import include insert interface
    invoke lambda match namespace new nonlocal not or package pause pipeline private process protected public raise
    require return run select self sleep static struct switch then this throw type unless update use using val var
    wait where while with workflow yield
    """
)
"""Words that begin a statement in other languages."""
FOREIGN_BESIDE = frozenset({"if", "for", "foreach", "while", "switch", "catch", "unless"})
"""Foreign words that look like a call: `if (x)`."""
FOREIGN_WITH_BRACKETS = frozenset({"catch", "for", "foreach", "function", "if", "switch", "while"})
HANDLING = frozenset({"catch", "except", "finally", "rescue"})
"""Words after the body of a `try` in other languages."""
NEGATED = {
    "when": "put the other case after `else`, or write `PATH is false` or `PATH @ { not: { … } }`",
    "repeat": "write `until PATH is false`, or `until PATH @ { not: { … } }`",
}
"""What to write in place of `not`, by the block whose condition contains it."""
_DEFINING = ("const", "let", "tool", "input")
_OTHERS = {"constant": "const", "inputs": "input", "tools": "tool", "foreach": "each"}
_INPUTS = frozenset({"param", "params", "parameter", "arg", "argument", "inputs", "variable"})
"""Words for a program's inputs in other systems."""
_DURATION = r"\s*(?:\(\s*[\"']?|(?=\d))([^)\"'{]{0,40})"
"""A possible duration after a word: `("PT5M")`, `5m`."""
_SHORTEST = 4
"""Minimum letters of a keyword for which a name with one wrong letter counts as a misspelling."""


def is_foreign(word: str) -> bool:
    """Return whether a word begins a statement in other languages; those of SQL are often upper case."""
    return word in FOREIGN or (word.isupper() and word.lower() in FOREIGN)


def misspelt_definition(word: str) -> str | None:
    """Return the keyword before `NAME = …` that a misspelt word may be."""
    return _near(word, _DEFINING)


def _near(word: str, keywords: tuple[str, ...]) -> str | None:
    from instrc.problems.suggest import is_a_slip_of, twin, typed_on_latin  # asked about few programs

    if word in keywords:
        return None
    for read in (word, twin(word) or "", typed_on_latin(word) or ""):
        lower = read.casefold()
        if lower in keywords and word != lower:
            return lower
        if _OTHERS.get(lower) in keywords:
            return _OTHERS[lower]
    slips = [each for each in keywords if len(each) >= _SHORTEST and is_a_slip_of(word.casefold(), each)]
    return slips[0] if slips else None


def misspelt_input(word: str) -> str | None:
    """Return `input` if a word before a lone name may be a misspelling of it."""
    return "input" if word.casefold() in _INPUTS or _near(word, ("input",)) else None


def misspelt_block(word: str) -> str | None:
    """Return the keyword before the head or braces of a block that a misspelt word may be."""
    return _near(word, tuple(FORMS))


def duration_behind(word: Span) -> str:
    """Return the duration after a word, in brackets or as a number, in ISO 8601, or the empty string."""
    found = re.match(_DURATION, word.source.text[word.end : word.end + 60])
    written = found[1].strip() if found else ""
    return written if is_duration(written) else from_words(written) or ""


def without_handlers(found: list[Problem], told: list[Problem]) -> list[Problem]:
    """Return problems without the `except` and `finally` of a reported `try:`, whose hint shows the braces of both."""
    if not any(isinstance(problem, problems.blocks.IncompleteBlock) and problem.word == "try" for problem in told):
        return found
    return [
        problem
        for problem in found
        if not (isinstance(problem, problems.statements.ForeignStatement) and problem.word in HANDLING)
    ]


def unbracketed_reason(at: Span) -> Problem:
    """Return the problem of a `Fail` reason without brackets."""
    return problems.punctuation.UnexpectedText(at=at, what=f"`{at.text[:40]}`", expected='brackets: `Fail(message: "…")`')


_PROSE = 4
"""Number of consecutive names from which a text is no longer a program."""
_Joined: TypeAlias = surface.Pipe | surface.Annotated
"""Expressions that begin with another expression."""
_OF_BLOCKS = frozenset({"until", "max", "keep", "times"})
"""Words from the end of a block; one after a leading name is a mistake in a program, not prose."""
_SENTENCE = 2
"""Number of bare names after a leading one that make a sentence: `Write a letter`."""


def prose(source: Source, row: Sequence[surface.Statement], at: int) -> Problem | None:
    """Return the problem of a line of names without separators, or `None`."""
    alone = True
    for count, (one, other) in enumerate(pairwise(row[at : at + _PROSE + 1]), 1):
        name = first_part(one)
        if not isinstance(name, surface.Name) or not share_line(source, one, other):
            return None
        behind = first_part(other)
        if count == 1 and isinstance(behind, surface.Name) and behind.text in _OF_BLOCKS:  # `Draft until done`
            return None
        alone = alone and isinstance(one, surface.Anonymous) and one.value is name and not is_foreign(name.text)
        sentence = count >= _SENTENCE and alone and isinstance(behind, surface.Name) and behind.text[:1].islower()
        if count >= _PROSE or sentence:
            return problems.habits.NotAProgram(at=row[at].span, kind="plain text")
    return None


def share_line(source: Source, one: surface.Statement, other: surface.Statement) -> bool:
    """Return whether two statements share a line with only spaces between them."""
    end = one.span.end
    return source.text[end : end + 1] != ";" and not source.text[end : other.span.start].strip(" \t")


def first_of(statement: surface.Statement | None) -> surface.Expression | None:
    """Return the first token of a statement's value, if it has one."""
    return None if statement is None else first_part(statement)


def first_part(statement: surface.Statement) -> surface.Expression | None:
    """Return the first part of a statement's value."""
    return ends(statement.value)[0] if isinstance(statement, surface.Valued) else None


def ends(value: surface.Expression) -> tuple[surface.Expression, surface.Expression]:
    """Return the first and the last token of an expression."""
    if not isinstance(value, _Joined):
        return value, value
    first: surface.Expression = value
    last: surface.Expression = value
    while isinstance(first, _Joined):
        first = first.stages[0] if isinstance(first, surface.Pipe) else first.value
    while isinstance(last, surface.Pipe):
        last = last.stages[-1]
    return first, last


_JSON = r"\s*\{\s*\"[^\"\n]*\"\s*:\s*(?:[\"\[{\d-]|(?:true|false|null)\b|\Z)"
_WORDS_OF_BLOCKS = r"(?:try|else|finally|loop|begin|do|default)"
_OTHER_FILES = (
    (r"\s*---[ \t]*(\r?\n|\Z)", "YAML"),
    (rf"\s*(?!aug:|{_WORDS_OF_BLOCKS}:)[\w-]+:[ \t]*([a-z0-9-][^({{|\r\n]*)?(\r?\n|\Z)", "YAML"),
    (rf"\s*(?!aug:|{_WORDS_OF_BLOCKS}:)[\w-]+:[ \t]+[^=({{|;\r\n]*[^=({{|;,\r\n]\r?\n(?:[ \t]+- |[\w-]+:[ \t])", "YAML"),
    (r"\s*\[[\w.-]+\][ \t]*\r?\n\s*[\w-]+[ \t]*=", "TOML"),
    (_JSON, "JSON"),
    (r"\s*<(?i:!doctype|html|\?xml|svg)", "HTML or XML"),
    (r"\s*#!", "a script"),
    (r"\s*(?:[$%>] +)?(?:instrc|pip|python3?|npm|npx|uv|cat|curl|sudo|cd|echo) +[\w./~-]", "a command for a terminal"),
    (r"\s*\w+(?:,? \w+){4,}[.!?,]", "plain text"),
    (r"\s*\w+[!,.]?(?: \w+){2,}:[ \t]*(\r?\n|\Z)", "plain text"),
)
_MARK = r"[ \t]*(>>>|>|\$|[-*•‣▪◦]|\d+[.:)]|\d+(?=[ \t]+(?:\w|\"|')))[ \t]+\S"
_COMMENT = r"\s*(//|/\*|\Z)"
_ODD_VERSION = r"\s*((?!language[ \t]+-?\d)(?i:language)[ \t]*:?[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[vV]?\d[\w.]*))"
"""A language version that is not a whole number, or is preceded by another word or sign."""


def other_file(source: Source) -> Problem | None:
    """Return the problem of a source that is not a program at all; called only for sources with a mistake."""
    if (version := re.match(_ODD_VERSION, source.text)) is not None:
        return problems.statements.MisplacedLanguage(at=source.span(*version.span(1)), first=True)
    kind = next((kind for pattern, kind in _OTHER_FILES if re.match(pattern, source.text)), None)
    return _line_marks(source) if kind is None else problems.habits.NotAProgram(at=source.whole(), kind=kind)


def _line_marks(source: Source) -> Problem | None:
    """Return the problem of lines that begin with list markers, prompts of a terminal, or line numbers."""
    found = []
    place = 0
    for line in source.text.splitlines(keepends=True)[:GUESSED_LINES]:
        if mark := re.match(_MARK, line):
            found.append(source.span(place + mark.start(1), place + mark.end(1)))
        elif not re.match(_COMMENT, line) and not (found and found[0].text in {">>>", "$", ">"}):
            return None
        place += len(line)
    if not found or (found[0].text.isdigit() and [each.text for each in found[:2]] != ["1", "2"]):
        return None
    return problems.text.LineMarks(at=found[0])


def is_json(source: Source) -> bool:
    """Return whether a source is JSON, which the grammar accepts as braces without a step."""
    if not source.text.lstrip().startswith("{") or not re.match(_JSON, source.text):
        return False
    try:
        loads(source.text)
    except ValueError:
        return False
    return True


def inside_fences(found: Sequence[Problem], source: Source) -> list[Problem]:
    """Return problems without those of the text around Markdown fences, which is removed with the fences."""
    fence = next((each for each in found if isinstance(each, problems.text.MarkdownFence) and each.at), None)
    if fence is None or fence.at is None:
        return list(found)
    start = source.text.find("\n", fence.at.end)
    end = source.text.find(f"\n{fence.at.text}", start)
    end = len(source.text) if end < 0 else end
    return [
        each
        for each in found
        if each is fence or each.at is None or each.at.source is not source or start <= each.at.start <= end
    ]


_COMPLETE = frozenset({surface.Call, *surface.BLOCKS})
"""Nodes that are complete when alone on their line, so that they show no mistake."""


def name_habits(program: surface.Program, report: Report) -> None:
    """Report the mistakes of a program that the grammar accepts, or only that its file is not a program."""
    source = program.source
    lines = {problem.at.line for problem in report.problems if problem.at and problem.at.source is source}
    found = [problem for problem in _find(program) if problem.at and problem.at.line not in lines]
    if report.failed:  # a repaired statement has no reliable ends
        by_ends = problems.habits.MissingSeparator, problems.blocks.StrayElse, problems.text.TextAlone
        found = [problem for problem in without_handlers(found, report.problems) if not isinstance(problem, by_ends)]
    if any(isinstance(problem, problems.text.MarkdownFence) for problem in report.problems):
        report.problems[:] = inside_fences(report.problems, source)
        found = inside_fences([*report.problems, *found], source)[len(report.problems) :]
    elif (lines or found or is_json(source)) and (other := other_file(source)):
        report.problems[:] = [problem for problem in report.problems if not problem.at or problem.at.source is not source]
        found = [other]
    for problem in found:
        report.add(problem)


def _find(program: surface.Program) -> Iterator[Problem]:
    """Yield the mistakes of a program that the grammar accepts."""
    for row in surface.rows(program):
        yield from _row(program.source, row, top=row is program.statements)


def _row(source: Source, row: Sequence[surface.Statement], *, top: bool) -> Iterator[Problem]:
    """Yield the mistakes among consecutive statements; after one, the rest of its line is skipped."""
    skip = False
    joins = [False, *[share_line(source, one, other) for one, other in pairwise(row)], False]
    for at, statement in enumerate(row):
        joined = joins[at]
        if skip and joined:
            continue
        if not (joined or joins[at + 1]) and type(statement) is not surface.Input and type(statement.value) in _COMPLETE:
            skip = False
            continue  # like most: a call or a block on its own line, or before a `;`
        before = row[at - 1] if at else None
        following = row[at + 1] if at + 1 < len(row) else None
        problem = (
            _second_input(before if joined else None, statement)
            or (_repeated(statement, following) if joins[at + 1] else None)
            or (_race_without_braces(row[at : at + 3]) if joins[at + 1] else None)
            or _mistake(source, row, at, before if joined else None, following, top=top)
        )
        skip = problem is not None
        if problem is not None:
            yield problem


def _second_input(before: surface.Statement | None, statement: surface.Statement) -> Problem | None:
    """Return the problem of a name or schema after a declared input: `input a b`, `input a { type: "string" }`."""
    first = first_part(statement)
    if isinstance(before, surface.Input) and isinstance(first, surface.Object):
        expected = '`@` before it, as in `input name @ { type: "string" }`'
        return problems.punctuation.UnexpectedText(
            at=Span(first.span.source, first.span.start, first.span.start + 1), what="`{`", expected=expected
        )
    if not isinstance(before, surface.Input) or not isinstance(first, surface.Name):
        return None
    what, expected = f"`{first.text}`", f"the end of the statement: write `input {first.text}` for another input"
    return problems.punctuation.UnexpectedText(at=first.span, what=what, expected=expected)


def _repeated(statement: surface.Statement, following: surface.Statement | None) -> Problem | None:
    """Return the problem of a repeated word, number or string: `Draft Draft(prompt)`."""
    if following is None:
        return None
    source = statement.span.source
    again = first_part(following) if isinstance(following, surface.Anonymous) else following.name
    again = again.callee if isinstance(again, surface.Call) else again
    if not isinstance(again, surface.Name | surface.Literal):
        return None
    word, end = again.span.text, statement.span.end
    before = source.text[max(0, end - len(word) - 1) : end]
    twice = before.endswith(word) and (len(before) == len(word) or not (before[0].isalnum() or before[0] == "_"))
    return problems.statements.RepeatedWord(at=again.span, word=word) if word and twice else None


def _race_without_braces(row: Sequence[surface.Statement]) -> Problem | None:
    """Return the problem of `race Draft(a) or Write(a)`, which was parsed as statements: names, and calls between them."""
    word, *others = [first_part(each) for each in row]
    names = [each.text for each in (word, others[-1]) if isinstance(each, surface.Name)]
    at = row[1].span
    return (
        problems.blocks.IncompleteBlock(at=at, word="race", missing="braces around each branch")
        if names == ["race", "or"]
        else None
    )


def _mistake(
    source: Source,
    row: Sequence[surface.Statement],
    at: int,
    before: surface.Statement | None,
    following: surface.Statement | None,
    *,
    top: bool,
) -> Problem | None:
    """Return the mistake in a statement; `before` is what precedes it on its line without a `;`."""
    statement = row[at]
    if not isinstance(statement, surface.Valued):
        return None
    first, last = ends(statement.value)
    joined = following is not None and share_line(source, statement, following)
    match first:
        case surface.Name("within" | "deadline" | "timeout" | "delay" as text, span) if before is not None and isinstance(
            first_of(following), surface.Literal
        ):
            return problems.blocks.MisplacedDeadline(at=span, word=text, place="words")
        case surface.Name("else", span) if joined:
            return problems.blocks.StrayElse(at=span, block="" if before is None else _block_word(before))
        case surface.Name("Fail") if joined and isinstance(reason := first_of(following), surface.Literal):
            return unbracketed_reason(reason.span)
        case surface.Name(text, span) if (
            first is last and joined and before is None and (keyword := _keyword(source, row, at, text))
        ):
            return problems.statements.MisspeltKeyword(at=span, word=text, keyword=keyword)
        case surface.Name(text, span) if is_foreign(text) and (joined or before is not None):
            return problems.statements.ForeignStatement(at=span, word=text)
        case surface.Call(surface.Name(text, span)) if text in FOREIGN_BESIDE and joined:
            return problems.statements.ForeignStatement(at=span, word=text)
        case surface.Array() if before is not None and before.span.end == first.span.start:
            return problems.habits.IndexedValue(at=first.span)
        case surface.Array(items) if any(
            not isinstance(item, surface.Literal | surface.Array | surface.Object) for item in items
        ):
            return problems.habits.ListOfSteps(at=first.span)
        case surface.Literal(str() as text) if text.startswith("aug:"):
            return problems.habits.QuotedReference(at=first.span)
        case surface.Name() | surface.Call() | surface.Literal(str()) if (
            slip := _beside(source, statement, before, following, top=top)
        ) is not None:
            return slip
    if joined and (word := _word_at_end(last)):
        return word
    if isinstance(last, surface.Literal) and isinstance(last.value, str) and following is not None:
        beside = first_part(following)
        if isinstance(beside, surface.Name | surface.Block) and beside.span.start == statement.span.end:
            return problems.habits.NestedQuotes(at=Span(source, statement.span.end - 1, statement.span.end))
    if joined and before is None and (told := prose(source, row, at)) is not None:
        return told
    return _unseparated(before, statement)


def _block_word(statement: surface.Statement) -> str:
    """Return the keyword of the block at the end of a statement, or the empty string."""
    if not isinstance(statement, surface.Valued):
        return ""
    last = ends(statement.value)[1]
    return surface.word_of(last) if isinstance(last, surface.Block) else ""


def _keyword(source: Source, row: Sequence[surface.Statement], at: int, word: str) -> str | None:
    """Return the keyword that a lone name may be a misspelling of, by its successor on the line."""
    following = row[at + 1]
    behind = row[at + 2] if at + 2 < len(row) else None
    if isinstance(following, surface.Binding):
        named = source.text.startswith(following.name.text, following.span.start)  # no `const` and the like before the name
        return misspelt_definition(word) if named else None
    alone = behind is None or not share_line(source, following, behind)
    if isinstance(following, surface.Anonymous):
        value = following.value.value if isinstance(following.value, surface.Annotated) else following.value
        if isinstance(value, surface.Name) and alone:
            return misspelt_input(word)
        in_braces = isinstance(value, surface.Object) or (
            not alone and isinstance(behind, surface.Anonymous) and isinstance(behind.value, surface.Object)
        )
        return misspelt_block(word) if in_braces and isinstance(value, surface.Name | surface.Access | surface.Object) else None
    return None


def _beside(
    source: Source,
    statement: surface.Binding | surface.Anonymous,
    before: surface.Statement | None,
    following: surface.Statement | None,
    *,
    top: bool,
) -> Problem | None:
    """Return the mistake of a string, of braces or of a block keyword, by its neighbours."""
    first, last = ends(statement.value)
    beside = first_of(following)
    joined = following is not None and share_line(source, statement, following)
    touching = beside is not None and beside.span.start == last.span.end
    touched = touching and isinstance(beside, surface.Literal) and isinstance(beside.value, str)
    match first:
        case surface.Name(text, span) if touched and last is first and len(text) <= STRING_PREFIX and beside is not None:
            return problems.text.PrefixedString(at=Span(span.source, span.start, beside.span.end), prefix=text)
        case surface.Name(text, span) if (
            last is first and joined and isinstance(beside, surface.Object) and _is_no_step(beside, text)
        ):
            if keyword := misspelt_block(text):
                return problems.statements.MisspeltKeyword(at=span, word=text, keyword=keyword)
            return problems.blocks.BracesAfterName(at=span, word=text)
        case surface.Call(surface.Name(text, span)) if (
            last is first and joined and isinstance(beside, surface.Object) and text.casefold() in problems.blocks.INSTEAD
        ):
            return problems.blocks.BracesAfterName(at=span, word=text, duration=duration_behind(span))
        case surface.Name("max" | "keep" | "limit" | "until" | "while" | "times" | "is" | "or" | "in" as text, span) if (
            before is not None
        ):
            return problems.blocks.StrayWord(at=span, word=text, block=_block_word(before))
        case surface.Call(surface.Name("while" as text, span)) if before is not None:
            return problems.blocks.StrayWord(at=span, word=text, block=_block_word(before))
        case surface.Literal("") if touched and last is first:
            return problems.text.TripledQuotes(at=first.span)
        case surface.Literal() if top and following is not None and not touching and isinstance(statement, surface.Anonymous):
            defines = not isinstance(following, surface.Anonymous)
            return problems.text.TextAlone(at=first.span, defines=defines) if first is statement.value else None
    return None


def _is_no_step(value: surface.Object, word: str) -> bool:
    """Return whether braces cannot be a statement, because they contain no step or follow a foreign keyword."""
    foreign = word.casefold() in problems.blocks.INSTEAD
    return foreign or all(field.value is None or isinstance(field.value, surface.Literal) for field in value.fields)


def _word_at_end(value: surface.Expression) -> Problem | None:
    """Return the problem of a foreign word before the rest of its line: `return`, or the `not` of `until not c.ok`."""
    match value:
        case surface.Name(text, span) if is_foreign(text):
            return problems.statements.ForeignStatement(at=span, word=text)
        case surface.Repeat(until=surface.Condition((*_, surface.Truth(surface.Name("not", span)))), otherwise=None):
            return problems.statements.UnknownOperator(at=span, text="not", advice=(NEGATED["repeat"],))
        case _:
            return None


def _unseparated(before: surface.Statement | None, statement: surface.Statement) -> Problem | None:
    """Return the problem of two adjacent values on one line, which are two statements."""
    if (
        isinstance(before, surface.Anonymous)
        and isinstance(statement, surface.Binding)
        and isinstance(before.value, surface.Name)
    ):
        return problems.habits.MissingSeparator(at=statement.name.span, before=before.value.span, defines=True)
    if not isinstance(before, surface.Valued) or not isinstance(statement, surface.Anonymous):
        return None
    first, _ = ends(statement.value)
    if isinstance(first, surface.Literal) and (bound := _bound_behind_or(ends(before.value)[1])) is not None:
        expected = f"`{bound.text} {first.span.text}` without `or`: a bound follows the condition"
        return problems.punctuation.UnexpectedText(at=bound.span, what=f"`or {bound.text}`", expected=expected)
    if not isinstance(first, surface.Name | surface.Access | surface.Uri | surface.Call | surface.Literal | surface.Object):
        return None
    if isinstance(before.value, surface.Name) and before.value.text == "language" and isinstance(first, surface.Literal):
        return problems.statements.MisplacedLanguage(at=Span(first.span.source, before.value.span.start, first.span.end))
    if (
        isinstance(first, surface.Literal)
        and first is statement.value
        and (_block_word(before) or not isinstance(first.value, str))
    ):
        return problems.punctuation.UnexpectedText(
            at=first.span, what=f"`{first.span.text[:40]}`", expected="the end of the statement"
        )
    last = ends(before.value)[1]
    after_when = isinstance(first, surface.Object) and isinstance(last, surface.When) and last.otherwise is None
    return problems.habits.MissingSeparator(at=first.span, before=last.span, after_when=after_when)


def _bound_behind_or(value: surface.Expression) -> surface.Name | None:
    """Return the `max` of `until a.ok or max 4`, which was parsed as another condition."""
    match value:
        case surface.Repeat(until=surface.Condition((*_, surface.Truth(surface.Name("max" | "keep") as bound)))):
            return bound
        case _:
            return None
