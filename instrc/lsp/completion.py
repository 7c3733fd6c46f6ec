"""Completion: names, members of a path, slots of an instruction, `aug:` references and words that fit at the cursor."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Final

from lsprotocol import types
from msgspec import Struct, field

from instrc.compiler.bind.scopes import RESERVED
from instrc.language.tables import CLOSING, CONTEXTUAL, END, OPENING, Tables, tables
from instrc.language.view import STATEMENT
from instrc.lsp.hints import about
from instrc.lsp.knowledge import Knowledge, declared_inputs, down, members
from instrc.lsp.session import EditorSession, TextDocument
from instrc.problems.blocks import FORMS
from instrc.schema.vocabulary import JSON_SCHEMA
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, mapping, optional_text
from instrc.text.limits import ROUNDS
from instrc.text.names import pascal

COMPLETION_DISTANCE: Final = 5_000
"""Maximum characters before a place that are examined."""
_URI = re.compile(r"aug:[^\s()\[\]{},;|@\"']*\Z")
_VALUE = re.compile(r"(?<![\w.])([^\W\d]\w*+)((?:\s*+\.\s*+[$\w]++)*)\s++is\s+(\"?)[^\"\n{]*\Z")
_PATH = re.compile(r"(?<![\w.])([^\W\d]\w*+)((?:\s*+\.\s*+[$\w]++)*)\s*+\.\s*+[$\w]*+\Z")
_ANNOTATION = re.compile(r"@\s*\{(?:[^{}]*,)?\s*\w*\Z")
"""The braces of an annotation, where a keyword can begin."""
_ANNOTATING = ("within", "delay", *sorted(word for word in JSON_SCHEMA if word.isalpha()))
_CALL_PATH = re.compile(r"\)\s*+((?:\.\s*+[$\w]++\s*+)*)\.\s*+[$\w]*+\Z")


def completion(document: TextDocument, offset: int, session: EditorSession, *, snippets: bool) -> list[types.CompletionItem]:
    """Return the completions at an offset."""
    knowledge = session.knowledge(document)
    if knowledge is None:
        return []
    before = document.source.text[max(0, offset - COMPLETION_DISTANCE) : offset]
    if found := _URI.search(before):
        return _references(document, offset, found.group(), knowledge)
    if document.is_vibe:
        return []
    if found := _VALUE.search(before):
        schema = _path_schema(document, offset, found, knowledge)
        if found.group(3) or _values(schema):
            return _value_items(_values(schema), quoted=bool(found.group(3)))
    if is_silent(document.source.text[:offset]):
        return []
    before = _SILENT.sub(lambda found: " " * len(found.group()), document.source.text[:offset])[-COMPLETION_DISTANCE:]
    if path := _PATH.search(before):
        return _members(_path_schema(document, offset, path, knowledge))
    if path := _CALL_PATH.search(before):
        return _members(_call_schema(document, offset - len(path.group()) + 1, path.group(1), knowledge))
    if _ANNOTATION.search(before):
        return [types.CompletionItem(label=word, kind=types.CompletionItemKind.Property) for word in _ANNOTATING]
    fits = expected(document, offset)
    if (called := name_of_open_call(before)) in {"Plan", "OneOf"}:
        return [item for item in _names(document, offset, knowledge, fits) if _is_choice(item, called)]
    slots = _slots(before, knowledge) if fits.values else []
    return [*slots, *_names(document, offset, knowledge, fits), *_words(fits, snippets=snippets)]


def _references(document: TextDocument, offset: int, typed: str, knowledge: Knowledge) -> list[types.CompletionItem]:
    place = types.Range(document.lines.position(offset - len(typed)), document.lines.position(offset))
    return [
        types.CompletionItem(label=uri, kind=types.CompletionItemKind.Reference, text_edit=types.TextEdit(place, uri))
        for uri in dict.fromkeys([*knowledge.registry.uris(), *knowledge.registry.program_uris()])
        if uri.startswith(typed)
    ]


_WORD = re.compile(r"[$\w]+")


def _path_schema(document: TextDocument, offset: int, path: re.Match[str], knowledge: Knowledge) -> Json:
    """Return the schema of the value before the last point."""
    way = _WORD.findall(path.group(2))
    text = document.source.text
    read = [document]
    if text[offset - 1 : offset] in {".", " "}:  # unfinished text can hide the enclosing block
        typed = f"{text[:offset]}x{text[offset:]}"
        read.insert(0, TextDocument(document.path, typed, document.encoding))
    for each in read:
        definition = each.index.scope(offset).get(path.group(1))
        if definition is not None:
            return knowledge.along(definition, way, each.index)
    return {}


def _values(schema: Json) -> list[Json]:
    """Return the values that a schema lists."""
    listed = mapping(schema).get("enum")
    return listed if isinstance(listed, list) else [True, False] if _kind(schema) == "boolean" else []


def _kind(schema: Json) -> str:
    kind = mapping(schema).get("type")
    return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "")


def _value_items(values: list[Json], *, quoted: bool) -> list[types.CompletionItem]:
    return [
        types.CompletionItem(
            label=each if quoted and isinstance(each, str) else dumps(each), kind=types.CompletionItemKind.EnumMember
        )
        for each in values
        if isinstance(each, str) or not (quoted or isinstance(each, list | dict))
    ]


def _members(schema: Json) -> list[types.CompletionItem]:
    return [
        types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.Field,
            detail=_kind(part),
            documentation=optional_text(mapping(part).get("description")),
        )
        for name, part in members(schema).items()
    ]


def _call_schema(document: TextDocument, end: int, way: str, knowledge: Knowledge) -> Json:
    call = next((call for call in document.index.calls if call.span.end == end), None)
    if call is not None:
        return down(knowledge.value(call, document.index), _WORD.findall(way))
    called = name_of_open_call(document.source.text[: end - 1])  # the program has an error here, and the text suffices
    known = knowledge.find(called) if called else None
    return down(knowledge.schema(known), _WORD.findall(way)) if known else {}


def _slots(before: str, knowledge: Knowledge) -> list[types.CompletionItem]:
    """Return the properties of the instruction, or the inputs of the program, in whose braces or brackets a text ends."""
    name = name_of_open_call(before)
    if name is None:
        return []
    if known := knowledge.find(name):
        items = _members(knowledge.schema(known))
    else:
        program = knowledge.program(name)
        inputs = () if program is None else declared_inputs(program)
        items = [types.CompletionItem(label=each, kind=types.CompletionItemKind.Field) for each in inputs]
    for item in items:
        item.insert_text = f"{item.label}: "
        item.sort_text = f"0{item.label}"
    return items


_FOLLOWING = {
    **dict.fromkeys(("CONST", "TOOL", "INPUT", "WHEN", "EACH", "UNTIL", "OR", "IN"), "NAME"),
    "MAX": "NUMBER",
    "KEEP": "NUMBER",
    "IS": "STRING",
}
"""Token after a word that is not a key: `const` may be one, as in `{ const: Draft }`."""


class Expected(Struct, frozen=True):
    """What is allowed at a place."""

    instructions: bool
    """Whether an expression, such as a call, can begin here."""
    values: bool
    """Whether the name of a value is allowed here."""
    _automaton: Tables | None = None
    _states: list[int] = field(default_factory=list)
    _behind_expression: bool = False
    """Whether an expression precedes the place on the same line."""

    def word(self, word: str) -> bool:
        """Return whether a keyword is allowed here, with what has to follow it."""
        kind = word.upper()
        if self._automaton is None:
            return self.values
        if self._behind_expression and kind not in CONTEXTUAL:
            return False  # it would start a new statement without a `;`
        return self._automaton.accept(self._states, kind, _FOLLOWING.get(kind, "LBRACE"))


def _names(document: TextDocument, offset: int, knowledge: Knowledge, fits: Expected) -> Iterable[types.CompletionItem]:
    seen: set[str] = set()
    if not fits.values:
        return
    for definition in (each for names in document.index.scope(offset).maps for each in names.values()):
        typed = definition.kind != "round" and definition.span.start <= offset <= definition.span.end
        if definition.name not in seen and not typed:
            seen.add(definition.name)
            yield types.CompletionItem(
                label=definition.name,
                kind=types.CompletionItemKind.Variable,
                detail=definition.kind,
                sort_text=f"1{definition.name}",
            )
    if not fits.instructions:
        return
    for name in knowledge.registry.names():
        spelled = _program_name(name)
        if spelled not in seen:
            seen.add(spelled)
            yield types.CompletionItem(
                label=spelled, kind=types.CompletionItemKind.Function, sort_text=f"2{spelled}", data=document.uri
            )
    own = Path(document.path).stem
    for spelled in map(_program_name, knowledge.registry.program_names()):
        if spelled not in seen and spelled != _program_name(own):
            seen.add(spelled)
            yield types.CompletionItem(label=spelled, kind=types.CompletionItemKind.Module, sort_text=f"2{spelled}")
    for name in sorted(RESERVED):
        if name not in seen:
            yield types.CompletionItem(label=name, kind=types.CompletionItemKind.Keyword, sort_text=f"3{name}")


def _is_choice(item: types.CompletionItem, called: str) -> bool:
    """Return whether a name fits in `Plan(…)`, which takes activities and programs, or in `OneOf(…)`, which takes a value."""
    if called == "OneOf":
        return item.kind == types.CompletionItemKind.Variable
    activity = item.kind == types.CompletionItemKind.Function and item.label.endswith("_Activity")
    return activity or item.kind == types.CompletionItemKind.Module


def _program_name(name: str) -> str:
    """Return a vibe's name as programs write it: `FindSlot` for `find-slot`."""
    bare, mark, suffix = name.rpartition("_")
    if mark and suffix in {"Activity", "User", "Human", "Mixin"}:
        return f"{pascal(bare)}_{suffix}"
    return pascal(name)


_BETWEEN = ("else", "until", "max", "first", "keep", "is", "or", "in")
"""Keywords inside blocks."""


def _words(fits: Expected, *, snippets: bool) -> list[types.CompletionItem]:
    kind = types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText
    return [
        types.CompletionItem(
            label=word,
            kind=types.CompletionItemKind.Keyword,
            insert_text=text if snippets else word,
            insert_text_format=kind,
            sort_text=f"4{word}",
        )
        for word, text in {**_STATEMENTS, **{word: word for word in _BETWEEN}}.items()
        if fits.word(word)
    ]


def _snippet(form: str) -> str:
    """Return how a block is written as an editor inserts it: with a place to fill in for each name and each body."""
    parts = re.split(r"(\{ … \}|\b[A-Z]+\b)", form)
    last = len(parts) - 1 - parts[::-1].index("{ … }")
    numbers = count(1)
    for at in range(1, len(parts), 2):
        number = 0 if at == last else next(numbers)
        parts[at] = f"{{\n  ${number}\n}}" if parts[at] == "{ … }" else f"${{{number}:{parts[at].lower()}}}"
    ends = f" max ${{{next(numbers)}:{ROUNDS}}}" if form == FORMS["repeat"] else ""
    return "".join(parts) + ends


_STATEMENTS = {
    "const": "const ${1:name} = $0",
    "tool": "tool ${1:name} = $0",
    "input": "input ${1:name}",
    **{word: _snippet(form) for word, form in FORMS.items()},
}


class TextBefore:
    """The states of the automaton at a place, and the tokens before it.

    A statement that cannot be read is passed over: the next one begins after it, in the same body of a block.
    """

    def __init__(self, automaton: Tables, text: str, stop: int) -> None:
        """Read a text up to an offset."""
        self.automaton = automaton
        self.text = text
        self.states: list[int] = [0]
        self.kinds: list[str] = []
        """The tokens that have been read since the last mistake."""
        self.end: int = 0
        """Of the last token."""
        self.lost: list[str] | None = None
        """Inside of a statement that is passed over: the brackets that it has opened, outermost first."""
        self._depths: list[int] = [0]
        """The number of brackets that were open when each state was entered."""
        self._opened: list[tuple[str, int]] = []
        """The brackets that are open in what has been read, each with the number of states below it."""
        place = 0
        while True:
            kind, begin, place = automaton.token(text, place, stop)
            if kind == END:
                break
            if kind != "COMMENT":
                self._take(kind, begin, place)
                self.end = place

    def _take(self, kind: str, start: int, end: int) -> None:
        if self.lost is None:
            if self._shift(kind):
                return
            self.lost = self._back_to_body()
        if self._begins_anew(self.lost, kind, start):
            self._begin_anew()
            if self._shift(kind):
                return
            self.lost = self._back_to_body()
        if kind == "SEMICOLON" and self._may_end(self.lost, end):
            self._begin_anew()
        elif kind in OPENING:
            self.lost.append(kind)
        elif kind in CLOSING and CLOSING[kind] in self.lost:
            while self.lost.pop() != CLOSING[kind]:
                pass

    def _shift(self, kind: str) -> bool:
        """Read one token; return whether the grammar accepts it here."""
        accept = self.automaton.accept
        if not accept(self.states, kind):
            if (kind not in CONTEXTUAL and kind != "AUG_URI") or not accept(self.states, "NAME"):
                return False
            kind = "NAME"
        table = self.automaton.states
        while (action := table[self.states[-1]][kind]) < 0:
            rule = self.automaton.rules[~action]
            self._keep(len(self.states) - rule.length)
            self._enter(table[self.states[-1]][rule.origin])
        if kind in OPENING:
            self._opened.append((kind, len(self.states)))
        elif kind in CLOSING:
            del self._opened[-1]
        self._enter(action)
        self.kinds.append(kind)
        return True

    def _enter(self, state: int) -> None:
        self.states.append(state)
        self._depths.append(len(self._opened))

    def _keep(self, size: int) -> None:
        del self.states[size:]
        del self._depths[size:]

    def _back_to_body(self) -> list[str]:
        """Be before the statement that cannot be read, in its body; return the brackets that it has opened."""
        size = len(self.states)
        while self._is_closed(size) or not self.automaton.accept(self.states[:size], "CONST", "NAME", "EQUAL"):
            size -= 1
        self._keep(size)
        lost = [bracket for bracket, below in self._opened if below >= size]
        del self._opened[len(self._opened) - len(lost) :]
        return lost

    def _is_closed(self, size: int) -> bool:
        """Return whether a place is inside of brackets that have been closed since, as the body of a `try` before its `else`."""
        return self._depths[size - 1] != bisect_left(self._opened, size, key=itemgetter(1))

    def _begins_anew(self, lost: list[str], kind: str, start: int) -> bool:
        """Return whether a token ends the body, or begins a definition on a line of its own."""
        if self._opened and "LBRACE" in lost:
            return False
        defines = kind in STATEMENT and "\n" in self.text[self.end : start]
        return defines or (kind == "RBRACE" and bool(self._opened))

    def _may_end(self, lost: list[str], end: int) -> bool:
        """Return whether the `;` before a place ends the statement; those in braces may end statements inside of it."""
        if "LBRACE" not in lost:
            return True
        return not self._opened and not self.text[end : self.text.find("\n", end) + 1 or None].strip()

    def _begin_anew(self) -> None:
        """Continue after the statement, as if it had been a name."""
        self.lost = None
        self.kinds.clear()
        self._shift("NAME")
        self._shift("SEMICOLON")


_NAMED_ANEW = frozenset({"CONST", "LET", "TOOL", "INPUT", "EACH"})
"""Keywords after which a new name is defined."""
_READS = frozenset({"WHEN", "UNTIL", "OR", "IN"})
"""Keywords after which a value is read, by its name or a path."""
_ENDS = frozenset({"NAME", "AUG_URI", "NUMBER", "STRING", "METRIC", "RPAR", "RSQB", "RBRACE"})
"""Tokens with which an expression may end."""
_ANYTHING = Expected(instructions=True, values=True)
_NOTHING = Expected(instructions=False, values=False)


def expected(document: TextDocument, offset: int) -> Expected:
    """Return what is allowed at an offset, in place of the word that is being typed there."""
    automaton = tables()
    text = document.source.text
    while offset and (text[offset - 1].isalnum() or text[offset - 1] in "_$"):
        offset -= 1
    before = TextBefore(automaton, text, offset)
    if before.lost is not None:
        return _ANYTHING
    if _in_annotation(before.kinds):
        return _NOTHING
    last = before.kinds[-1] if before.kinds else ""
    behind = last in _ENDS and "\n" not in text[before.end : offset]
    named = automaton.accept(before.states, "NAME") and last not in _NAMED_ANEW and not behind
    return Expected(named and last not in _READS, named, automaton, before.states, behind)


def _in_annotation(kinds: list[str]) -> bool:
    """Return whether the last token is inside of the braces of an annotation, which hold JSON."""
    open_braces: list[bool] = []
    before = ""
    for kind in kinds:
        if kind in {"LBRACE", "LSQB", "LPAR"}:
            open_braces.append((before == "AT" and kind == "LBRACE") or (bool(open_braces) and open_braces[-1]))
        elif kind in {"RBRACE", "RSQB", "RPAR"} and open_braces:
            open_braces.pop()
        before = kind
    return bool(open_braces) and open_braces[-1]


_BRACKET = re.compile(r"[(){}\[\]]")
_CALLED = re.compile(r"((?<!\w)[^\W\d]\w*+|aug:[^\s()\[\]{},;|@\"']+)\s*\Z")
_SILENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|([\"'])(?:(?!\1)[^\\\n]|\\(?:.|\Z))*+(?:\1|\n|\Z)", re.DOTALL)
"""A comment or a string, possibly unterminated."""


def is_silent(before: str) -> bool:
    """Return whether a text ends in a comment or in a string."""
    last = next(iter(deque(_SILENT.finditer(before), maxlen=1)), None)
    if last is None or last.end() < len(before):
        return False
    found = last.group()
    return found.startswith("//") or not (len(found) > 1 and found.endswith(("*/", found[0], "\n")))


def name_of_open_call(before: str) -> str | None:
    """Return the name of the call in whose brackets, or in braces in them, a text ends; `None` anywhere else."""
    level, in_braces = 0, False
    for sign in reversed(list(_BRACKET.finditer(before))):
        if sign.group() in ")}]":
            level += 1
        elif level:
            level -= 1
        elif sign.group() == "{" and not in_braces:
            in_braces = True
        elif sign.group() == "(":
            found = _CALLED.search(before[: sign.start()])
            return found.group(1) if found else None
        else:
            return None
    return None


def resolve_item(item: types.CompletionItem, knowledge: Knowledge | None) -> types.CompletionItem:
    """Return an item with its documentation."""
    known = knowledge.find(item.label) if knowledge else None
    if known is not None and knowledge is not None:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, about(known, knowledge))
    return item
