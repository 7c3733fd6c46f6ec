"""Cases next to a program: single answers, and whole runs with scripted answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Final, NoReturn

from msgspec import Struct

from instrc.compiler.ir import Artefact
from instrc.engines.launch import given_inputs
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Problem, did_you_mean
from instrc.problems.suggest import nearest
from instrc.runtime.interpreter.documents import Command, Result, bare_name
from instrc.runtime.interpreter.versions import apply, begin, issue
from instrc.runtime.plan import plan_of
from instrc.schema.strip import split
from instrc.schema.validation import validate
from instrc.text.durations import seconds
from instrc.text.jsontext import dumps, loads, repeated_keys
from instrc.text.jsonvalue import Json, as_texts, equal, without_type

TESTED_COMMANDS: Final = 10_000
"""Maximum commands of one case."""
ENDING = ".cases.md"
RECORDED = ".eval.cases.md"
"""Extension of files with cases recorded by an evaluation."""
ENDINGS: Final = (ENDING, RECORDED)
GIVEN = frozenset({"answer", "answers", "input"})
EXPECTED = ("output", "thoughts", "metrics", "problems", "value", "error")
_WORDS = (*sorted(GIVEN), *EXPECTED)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_MARKS = re.compile(r"^ {0,3}(```+|~~~+)(.*)$", re.MULTILINE)
_TYPE = re.compile(r"[ \t]*((?i:json)[ \t]+)?([\w{}]+)(.*)")
"""What follows the marks that open a block."""
_NO_HEADING = "before the first case"
"""Title used for content before the first heading."""


class Block(Struct, frozen=True):
    """A fenced block: its type, the rest of that line, its text and place."""

    word: str
    rest: tuple[str, ...]
    text: str
    start: int
    end: int


class Case(Struct, frozen=True):
    """A case of a file."""

    title: str
    line: int
    blocks: tuple[Block, ...]
    mistake: str | None = None
    """Why the case cannot run, if its blocks alone show that."""

    def block(self, word: str) -> Block | None:
        """Return the block of a type."""
        return next((block for block in self.blocks if block.word == word), None)

    @property
    def export(self) -> str | None:
        """The export to test."""
        words = (word for block in self.blocks for word in block.rest)
        return next((word.removeprefix("export=") for word in words if word.startswith("export=")), None)


def read_cases(text: str) -> list[Case]:
    """Return the cases of a file, in order; blocks before the first heading form a case that cannot run."""
    heads = list(_HEADING.finditer(text))
    cases = []
    before = _blocks(text, _fences(text, 0, heads[0].start() if heads else len(text)))
    if (stray := next((block for _, block in before if block.word in _WORDS), None)) is not None:
        reason = "this block belongs to no case: write a heading `## …` before it"
        cases.append(Case(_NO_HEADING, _line(text, stray.start) - 1, (), reason))
    line, counted = 1, 0
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        line, counted = line + text.count("\n", counted, head.start()), head.start()
        fences = list(_fences(text, head.end(), following.start() if following else len(text)))
        typed = list(_blocks(text, fences))
        blocks = tuple(block for _, block in typed if block.word in _WORDS)
        unknown = [each for each in typed if each[1].word not in _WORDS and (each[0] or _is_meant(each[1]))]
        opened = next((mark for mark, last in fences if last is None), None)
        mistake = _mistake(blocks, unknown)
        if mistake is None and opened is not None:
            mistake = f"the block of line {_line(text, opened.start())} is not closed: write ```` {opened[1]} ```` after it"
        cases.append(Case(head[1].strip(), line, blocks, mistake))
    return cases


def _fences(text: str, start: int, end: int) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Yield the marks that open a block, each with those that close it, or `None`; no place is read twice."""
    marks = list(_MARKS.finditer(text, start, end))
    closing: dict[str, re.Match[str]] = {}
    ends: list[re.Match[str] | None] = []
    for mark in reversed(marks):
        ends.append(closing.get(mark[1]))
        if not mark[2].strip():
            closing[mark[1]] = mark
    for mark, last in zip(marks, reversed(ends), strict=True):
        if mark.start() >= start:
            yield mark, last
            start = end if last is None else last.end()


def _blocks(text: str, fences: Iterable[tuple[re.Match[str], re.Match[str] | None]]) -> Iterator[tuple[bool, Block]]:
    """Yield the blocks that have a type and an end, each with whether `json` precedes the type."""
    for mark, last in fences:
        if last is not None and (kind := _TYPE.match(mark[2])):
            inside = mark.end() + 1, last.start()
            yield bool(kind[1]), Block(kind[2], tuple(kind[3].split()), text[slice(*inside)], *inside)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _is_meant(block: Block) -> bool:
    """Return whether a block is meant as one of ours: `problem`, `Output`, `jsonc output`."""
    is_like_a_word = block.word.lower().removesuffix("s") in {word.removesuffix("s") for word in _WORDS}
    return is_like_a_word or ("json" in block.word.lower() and not set(block.rest).isdisjoint(_WORDS))


def _mistake(blocks: tuple[Block, ...], unknown: list[tuple[bool, Block]]) -> str | None:
    """Return the fault of a case's blocks: one without a meaning, or one that another makes ineffective."""
    if unknown:
        is_json, word = unknown[0][0], unknown[0][1].word
        hint = did_you_mean(nearest(word, _WORDS)) or f"there are {', '.join(f'`{word}`' for word in _WORDS)}"
        return f"a block `{'json ' if is_json else ''}{word}` has no meaning: {hint}"
    words = [block.word for block in blocks]
    for word in sorted(GIVEN):
        if words.count(word) > 1:
            return f"it has two blocks `json {word}`: make two cases of it"
    if "answer" in words and "answers" in words:
        return "it has both `json answer` and `json answers`: make two cases of it"
    if "answer" in words and "input" in words:
        return "`json input` is for a whole run, with `json answers`: remove it"
    return None


class Difference(Struct, frozen=True):
    """An expected block and the actual one."""

    block: Block
    expected: str
    """Content of the block, in the form of `actual`."""
    actual: str


class BadCaseError(ValueError):
    """A case cannot be run; the message is the reason."""


def judge(case: Case, artefacts: Sequence[Artefact]) -> list[Difference]:
    """Run a case and return the differences from the expected blocks; raise `BadCaseError` if impossible."""
    if case.mistake is not None:
        _refuse(case.mistake)
    result = [artefact for artefact in artefacts if case.export in (None, artefact.name)]
    if not result:
        hint = did_you_mean(nearest(case.export or "", (artefact.name for artefact in artefacts)))
        _refuse(f"there is no export `{case.export}`{f': {hint}' if hint else ''}")
    expected = [block for block in case.blocks if block.word in EXPECTED]
    if not expected:
        _refuse("it expects nothing: write a block such as `json output`, and let `--update` fill it in")
    answer, answers = case.block("answer"), case.block("answers")
    if answer is not None:
        actual = _outcome_of_answer(answer, result[0])
    elif answers is not None:
        actual = _run(_json(answers), case.block("input"), result[0])
    else:
        _refuse("it gives nothing: write a block `json answer` or `json answers`")
    wrong = as_texts(actual.get("problems") or [])
    if wrong and case.block("problems") is None:
        _refuse(
            f"the answer is wrong: {wrong[0]}; if that is right, write a block `json problems`, and let `--update` fill it in"
        )
    failure = actual.get("error")
    if isinstance(failure, dict) and case.block("error") is None:
        why = f"{failure['message']} ({failure['kind']})"
        _refuse(f"the run failed: {why}; if that is right, write a block `json error`, and let `--update` fill it in")
    return list(_differences(expected, actual))


def _refuse(reason: str) -> NoReturn:
    raise BadCaseError(reason)


def _outcome_of_answer(block: Block, artefact: Artefact) -> dict[str, Json]:
    """Return the outcome of an answer."""
    tool, value = artefact.documents["tool"], _json(block)
    targets = [word for word in block.rest if "=" not in word]
    if len(targets) > 1:
        _refuse(f"the block `answer` names several targets, {', '.join(f'`{word}`' for word in targets)}: make a case of each")
    if targets:
        from instrc.providers.lifting.lift import lift
        from instrc.providers.lowering.lower import lower
        from instrc.providers.targets import dialect  # few cases test a provider
        from instrc.tools.tool import Tool

        try:
            lifted = lift(value, lower(Tool(artefact.name, tool), dialect(targets[0])).map)
        except InstrcError as error:
            _refuse(error.problems[0].with_hint)
        problems: list[Json] = [f"{item.instance or '/'} {item.message}" for item in lifted.invalid]
        if not lifted.calls:
            return {"problems": problems or [f"/ the answer is {lifted.status}"]}
        call = lifted.calls[0]
        return {"output": call.output, "thoughts": call.thoughts, "metrics": call.metrics, "problems": problems}
    problems = [f"{item.instance or '/'} {item.message}" for item in validate(value, tool)]
    parts = split(value, tool)
    return {"output": parts["output"], "thoughts": parts["thoughts"], "metrics": parts["metrics"], "problems": problems}


def _json(block: Block) -> Json:
    try:
        value = loads(block.text)
    except ValueError as error:
        _refuse(f"the block `{block.word}` is not JSON: {error}")
    twice = repeated_keys(block.text, value)
    if twice:
        _refuse(f"the block `{block.word}` has the key `{twice[0]}` twice in one object")
    return value


def _run(answers: Json, given: Block | None, artefact: Artefact) -> dict[str, Json]:
    """Return the outcome of a run whose questions are all answered by the case."""
    if not isinstance(answers, dict):
        _refuse("`answers` is an object: by chunk, step or activity")
    document, wrong = artefact.documents[artefact.kind], list[Problem]()
    declared = document.get("inputs", None if artefact.plan is None else artefact.plan.flat.graph.inputs)
    inputs = given_inputs(declared, None if given is None else _json(given), wrong)
    if wrong:
        _refuse(f"no run takes its `input`: {wrong[0].with_hint}")
    plan = plan_of(document, step=artefact.step)
    state = begin(plan, inputs)
    script = CaseScript(answers, artefact.step, unread=plan["kind"] == "call")
    waiting: list[tuple[float, int, Command]] = []
    now, numbers = 0.0, count()
    for _ in range(TESTED_COMMANDS):
        for command in issue(plan, state):  # timers run from now on, and end after all that is open
            due = now + seconds(command["after"]) if command["kind"] == "timer" else -1.0
            heappush(waiting, (due, next(numbers), command))
        if not waiting or state["outcome"] is not None:
            break
        due, _, command = heappop(waiting)
        now = max(now, due)
        if command["kind"] != "fire":
            apply(plan, state, command["id"], script.result(command))
    outcome = state["outcome"]
    if outcome is None:
        _refuse("the run does not end")
    ended = without_type(outcome)
    return {"value": ended.get("value"), "output": ended.get("output"), "error": ended.get("error"), "problems": []}


def _differences(expected: list[Block], actual: dict[str, Json]) -> Iterator[Difference]:
    for block in expected:
        came = actual.get(block.word)
        if block.word == "problems":
            text = "".join(f"{line}\n" for line in as_texts(came or []))
            if block.text.strip().splitlines() != text.strip().splitlines():
                yield Difference(block, block.text, text)
            continue
        if not block.text.strip():
            yield Difference(block, block.text, f"{dumps(came)}\n")
            continue
        wanted = _json(block)
        compared: Json = came
        if block.word == "error" and isinstance(wanted, dict) and isinstance(came, dict):
            compared = {key: came[key] for key in wanted if key in came}
        if not equal(wanted, compared):
            yield Difference(block, f"{dumps(wanted)}\n", f"{dumps(came)}\n")


class CaseScript:
    """Answers by name; a list is used in order, and its last item is repeated."""

    def __init__(self, answers: dict[str, Json], step: str | None, *, unread: bool = False) -> None:
        """Store the answers; `step` is the only step of a tool, whose chunk has no step keys.

        Results that are `unread` may be missing, unless an answer remains that no command has used.
        """
        self.step, self.unread = step, unread
        self.answers = {bare_name(name): value for name, value in answers.items() if value != []} | answers
        self.taken: dict[str, int] = {}

    def result(self, command: Command) -> Result:
        """Return the result of a command; raise `BadCaseError` if there is none."""
        if command["kind"] == "timer":
            return {"ok": None}
        found = self.find(command)
        if found is None:
            left = {bare_name(name) for name in self.answers} - {bare_name(name) for name in self.taken}
            if self.unread and command["kind"] == "activity" and not left:
                return {"ok": None}
            names, steps = self._names(command), _steps(command)
            alone = [step for step in steps if not self._given(step)] if len(steps) > 1 else []
            item = f", nor for its steps {', '.join(f'`{step}`' for step in alone)}" if alone else ""
            _refuse(f"there is no answer for {' or '.join(f'`{name}`' for name in names)}{item}")
        return found

    def find(self, command: Command) -> Result | None:
        """Return the result of a command other than a timer, or `None`."""
        for name in self._names(command):
            if self.answers.get(name, []) != []:
                value = self._next(name)
                if isinstance(value, dict) and value.keys() == {"fail"}:
                    said = value["fail"]
                    return {"error": said if isinstance(said, dict) else {"message": str(said)}}
                return {"ok": _whole_answer(value, name, command)}
        given = {step: self._given(step) for step in _steps(command)}
        return {"ok": {step: self._next(name) for step, name in given.items()}} if given and all(given.values()) else None

    def _names(self, command: Command) -> list[str]:
        """Return the names under which a command's answer may be given."""
        names = list(dict.fromkeys(_names(command)))
        if command["kind"] == "model" and not command["steps"] and self.step is not None:
            names += dict.fromkeys((self.step, bare_name(self.step)))
        return names

    def _given(self, step: str) -> str:
        """Return the name of a step's answer in the case, or the empty string."""
        return next((name for name in (step, bare_name(step)) if self.answers.get(name, []) != []), "")

    def _next(self, name: str) -> Json:
        """Return the answer of a name; for a list the next one, or the last."""
        value, at = self.answers[name], self.taken.get(name, 0)
        self.taken[name] = at + 1
        return value[min(at, len(value) - 1)] if isinstance(value, list) else value


def _steps(command: Command) -> list[str]:
    """Return the steps that are answered together in one chunk of a model or person."""
    return list(map(str, command["steps"])) if command["kind"] in {"model", "user"} else []


def _whole_answer(value: Json, name: str, command: Command) -> Json:
    """Return the answer of a model's chunk, given for its only step."""
    if command["kind"] != "model" or len(command["steps"]) != 1 or name in {command["id"], command["chunk"]}:
        return value
    step = command["steps"][0]
    properties = command["schema"].get("properties") if isinstance(command["schema"], dict) else None
    is_whole = isinstance(value, dict) and step in value
    return {step: value} if isinstance(properties, dict) and step in properties and not is_whole else value


def _names(command: Command) -> Iterator[str]:
    """Yield the names under which a command's answer may be given."""
    yield command["id"]
    match command:
        case {"kind": "activity" | "fire", "activity": str(activity), "step": str(step)}:
            yield from (activity, step, bare_name(step))
        case {"kind": "model" | "user", "chunk": str(chunk), "steps": list(steps)}:
            yield chunk
            if len(steps) == 1:
                yield from (str(steps[0]), bare_name(str(steps[0])))
        case _:
            pass
