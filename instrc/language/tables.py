"""The tables of `grammar/aug.lark`, generated once by lark and loaded by every run.

Importing lark and building the tables takes longer than compiling a small program, so they are stored next to the grammar
as plain JSON, together with the grammar text that they were built from.  They are part of the package like the code: nothing
is written while the compiler runs, nothing is unpickled, and tables of another text, or damaged ones, are rebuilt.

`python -m instrc.language.tables` writes them after a change to the grammar; a test compares them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import orjson
from msgspec import Struct

from instrc.text import files

if TYPE_CHECKING:
    from typing import TypedDict

    class StoredTables(TypedDict):
        """The tables as stored in a file."""

        grammar: str
        """Text of the grammar that the tables belong to."""
        skipped: list[str]
        tokens: list[list[str]]
        rules: list[list[str | int]]
        """Rules: name, the symbol it reduces to, and the number of its symbols."""
        states: list[dict[str, int]]


GRAMMAR = "aug.lark"
TABLES = "aug.tables.json"

END = "END"
"""Token after the last one."""
START = "start"
"""Rule of a whole file."""
CONTEXTUAL = frozenset({"ELSE", "IN", "IS", "OR", "AND", "NOT", "UNTIL", "MAX", "KEEP", "FIRST"})
"""Keywords that are names wherever the keyword does not fit."""
_BRACE = r"(?:\s|//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*+\{"
FOLLOWED = {"RACE": _BRACE, "FROM": _BRACE, "LANGUAGE": r"\s+-?[0-9]"}
"""Further contextual keywords, with the pattern that must follow; they are names everywhere else."""

OPENING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSING = {closing: opening for opening, closing in OPENING.items()}


class Rule(Struct, frozen=True):
    """A grammar rule: the name of the alternative or rule, the symbol it reduces to, and its length."""

    name: str
    origin: str
    length: int


class Tables(Struct, frozen=True):
    """An LALR(1) automaton and the patterns of its tokens."""

    lexer: re.Pattern[str]
    """Matches at every offset: skips white space, then takes one token as the group of its name.

    `END` is the end of the text, `STRAY` a character that begins no token.
    Keywords are matched as `NAME`, and signs as `SIGN`: `fixed` has their texts.
    """
    fixed: dict[str, str]
    """Keywords and signs of the language, with their kinds."""
    rules: list[Rule]
    states: list[dict[str, int]]
    """Action by symbol: go to a state (0 and up) or reduce by rule `~n` (below 0); state 0 is the first."""

    def token(self, text: str, position: int, stop: int = sys.maxsize) -> tuple[str, int, int]:
        """Return the kind, start and end of the next token of a text that ends at `stop`."""
        found = self.lexer.match(text, position, stop)
        kind: str = found.lastgroup  # type: ignore[union-attr,assignment]  # it matches everywhere, always by a group
        start, end = found.span(kind)  # type: ignore[union-attr]  # as above
        kind = self.fixed.get(text[start:end], kind)
        return kind if is_followed(kind, text, end) else "NAME", start, end

    def tokens(self, text: str, position: int = 0) -> Iterator[tuple[str, int, int]]:
        """Yield the tokens from an offset on, including comments, before `END`, in the form returned by `token`."""
        while (token := self.token(text, position))[0] != END:
            yield token
            position = token[2]

    def accept(self, states: list[int], *kinds: str) -> bool:
        """Return whether tokens of these kinds are acceptable next on a stack of states, which stays unchanged."""
        table = self.states
        height = len(states)  # of the stack; states pushed since are in `above`
        above: list[int] = []
        for kind in kinds:
            while True:
                state = above[-1] if above else states[height - 1]
                action = table[state].get(kind)
                if action is None:
                    return kind == END and state == table[0][START]
                if action >= 0:
                    above.append(action)
                    break
                rule = self.rules[~action]
                height -= max(0, rule.length - len(above))
                del above[max(0, len(above) - rule.length) :]
                above.append(table[above[-1] if above else states[height - 1]][rule.origin])
        return True


@cache
def tables() -> Tables:
    """Return the tables of the grammar."""
    grammar = files.read("grammar", GRAMMAR)
    return _prepared(_stored_tables(grammar) or build_tables(grammar))


def build_tables(grammar: str) -> StoredTables:
    """Build tables from a grammar with lark, as plain JSON that depends only on the grammar's text."""
    from lark import Lark  # slow to import, and rarely needed
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    parser = Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False)
    Untyped: TypeAlias = dict[str, Any]  # lark's own output, in an undocumented format
    data, memo = cast("tuple[Untyped, dict[int, Untyped]]", parser.memo_serialize([TerminalDef, LarkRule]))
    table = data["parser"]["parser"]
    symbols = table["tokens"]
    rules = [entry for entry in memo.values() if entry["__type__"] == "Rule"]
    rules.sort(key=lambda rule: (rule["origin"]["name"], rule["order"]))
    rule_numbers = {number: rules.index(entry) for number, entry in memo.items() if entry["__type__"] == "Rule"}
    (start,) = table["start_states"].values()
    # lark numbers states by the order of its sets; number them by the way they are reached instead
    order = [start]
    numbers = {start: 0}
    states: list[dict[str, int]] = []
    for state in order:
        row: dict[str, int] = {}
        for symbol, (reduces, argument) in sorted(
            (symbols[key].removeprefix("$"), action) for key, action in table["states"][state].items()
        ):
            if reduces:
                row[symbol] = ~rule_numbers[argument["@"]]
            else:
                if argument not in numbers:
                    numbers[argument] = len(order)
                    order.append(argument)
                row[symbol] = numbers[argument]
        states.append(row)
    ignored = set(data["parser"]["lexer_conf"]["ignore"])
    terminals = sorted(  # signs first, as no other token begins with one; then as lark's own lexer tries them
        parser.terminals,
        key=lambda term: (
            term.pattern.max_width > 1,
            -term.priority,
            -term.pattern.max_width,
            -len(term.pattern.value),
            term.name,
        ),
    )
    return {
        "grammar": grammar,
        "skipped": [term.pattern.to_regexp() for term in terminals if term.name in ignored - {"COMMENT"}],
        "tokens": [[term.name, term.pattern.to_regexp()] for term in terminals if term.name not in ignored - {"COMMENT"}],
        "rules": [[rule["alias"] or rule["origin"]["name"], rule["origin"]["name"], len(rule["expansion"])] for rule in rules],
        "states": states,
    }


def _stored_tables(grammar: str) -> StoredTables | None:
    """Return the stored tables, if they are intact and belong to this grammar."""
    try:
        stored = orjson.loads(files.read("grammar", TABLES))
        fits = stored["grammar"] == grammar and all(stored[part] for part in ("skipped", "tokens", "rules", "states"))
    except (OSError, ValueError, TypeError, LookupError):
        return None
    return cast("StoredTables", stored) if fits else None


def _prepared(data: StoredTables) -> Tables:
    patterns = dict(data["tokens"])
    name = patterns["NAME"]
    written = {pattern.partition("(?=")[0].replace("\\", ""): kind for kind, pattern in patterns.items()}
    fixed = {text: kind for text, kind in written.items() if text.isalpha() or len(text) == 1}
    signs = "".join(re.escape(text) for text in fixed if not text.isalpha())
    chosen = {kind: pattern for kind, pattern in patterns.items() if kind not in fixed.values()}
    chosen["NAME"] = name[name.index("))") + 2 :]  # without looking ahead for words: `fixed` has them
    chosen = {"SIGN": f"[{signs}]", **chosen}
    groups = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in chosen.items())
    (space,) = data["skipped"]  # one character or more
    space = space.removesuffix("+")
    return Tables(
        lexer=re.compile(rf"{space}*(?:{groups}|(?P<END>\Z)|(?P<STRAY>(?s:.)))"),
        fixed=fixed,
        rules=[Rule(str(name), str(origin), int(length)) for name, origin, length in data["rules"]],
        states=data["states"],
    )


def is_followed(kind: str, text: str, end: int) -> bool:
    """Return whether a word that ends here is followed by what makes it a keyword; most keywords require nothing."""
    return kind not in FOLLOWED or re.compile(FOLLOWED[kind]).match(text, end) is not None


if __name__ == "__main__":
    made = build_tables(files.read("grammar", GRAMMAR))
    (files.folder("grammar") / TABLES).write_bytes(orjson.dumps(made, option=orjson.OPT_APPEND_NEWLINE))
