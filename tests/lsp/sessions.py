"""Sessions of chance: edits and questions to a real server, each answer held to what the same text gives in a fresh session.

    python tests/lsp/sessions.py [SECONDS] [SEED]

Texts are correct, mutated or no programs at all; positions lie inside surrogate pairs and out of the text; questions are
asked in any order, several at once, some taken back, with edits between them.  Nothing may be raised, and no answer may be
that of another text.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from editors import Editor, editor
from lsprotocol import converters, types

from instrc import Report
from instrc.language.formatter import format_source
from instrc.lsp import completion, hints, navigation  # questions to a session without a client
from instrc.lsp.hints import hover, signature  # questions to a session without a client
from instrc.lsp.session import EditorSession, diagnostics  # a session without a client

VIBES = {
    "draft": {"type": "object", "description": "Write it.", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "identify": {"type": "object", "properties": {"organizer": {"type": "string"}}},
    "send_Activity": {"type": "object", "properties": {"sent": {"type": "boolean"}}},
}
PIECES = (
    "const people = Identify(prompt);\n",
    "tool письмо = Draft({ to: people.organizer, text: '😀é' });\r\n",
    "// 😀\n",
    "/* a\n b */",
    'when people.organizer is "Ada" { Send_Activity(письмо) } else { Draft(prompt) }\n',
    "each p in people.all { Draft(p) }\n",
    "repeat { const a = Draft(prompt); a } until a.text max 3;\n",
    *("x", "(", ")", "{", "}", ";", "|", "@", "'", '"', ".", "#", " ", "```", "aug:draft", "aug:", "Draftt(prompt)"),
    *("\r", "\n", "\t", "\u2028", "\x0c", "\x85", "\x00", "\ufeff", "😀", "\ud83d", "e\u0301"),
)
ENTIRE = ("", "".join(PIECES[:2]), "".join(PIECES[:8]), "x;\n" * 300, "f(" * 200)
NAMES = ("a.aug", "b.aug", "schemas/draft.vibe.json", "new vibe.aug")
CANCELLED = -32800
TO_JSON = converters.get_converter()


def typed(text: str, change: tuple[types.Range | None, str]) -> str:
    """Return a text after a change, as the protocol counts: UTF-16, lines that end in CR, LF or both."""
    place, new = change
    if place is None:
        return new
    start, end = (_offset(text, each) for each in (place.start, place.end))
    return text[:start] + new + text[max(start, end) :]


def _offset(text: str, position: types.Position) -> int:
    rest, offset = position.line, 0
    while rest:
        ends = [(at, len(sign)) for sign in ("\r\n", "\n", "\r") if (at := text.find(sign, offset)) >= 0]
        if not ends:
            return len(text)
        at, length = min(ends, key=lambda each: (each[0], -each[1]))
        offset, rest = at + length, rest - 1
    units = 0
    while offset < len(text) and text[offset] not in "\r\n" and units < position.character:
        units += 2 if ord(text[offset]) > 0xFFFF else 1
        offset += 1
    return offset


def plain(answer: Any) -> Any:
    """Return an answer as JSON."""
    return json.loads(json.dumps(TO_JSON.unstructure(answer)))


class Player:
    """One editor that types and asks by chance."""

    def __init__(self, client: Editor, folder: Path, seed: int) -> None:
        self.client = client
        self.folder = folder
        self.chance = random.Random(seed)  # noqa: S311  -- nothing secret
        self.texts: dict[str, str] = {}
        self.asked: list[tuple[str, Any, str, dict[str, str], int, asyncio.Future[Any]]] = []
        self.found: list[str] = []
        self.count: Counter[str] = Counter()
        self.number = 0

    def place(self) -> types.Position:
        return types.Position(self.chance.choice((0, 0, 1, 2, 3, 9, 5000)), self.chance.choice((0, *range(40), 2**31 - 1)))

    def range(self) -> types.Range:
        return types.Range(self.place(), self.place())

    def edit(self) -> None:
        name = self.chance.choice(NAMES)
        if name not in self.texts:
            whole = self.chance.choice(ENTIRE) if name.endswith(".aug") else json.dumps(VIBES["draft"])
            self.texts[name] = whole
            item = types.TextDocumentItem(self.client.uri(name), "aug", self.client.version, whole)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            return
        if self.chance.random() < 0.03:
            del self.texts[name]
            self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.client.document(name)))
            return
        changes = [self.change(name) for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
        for change in changes:
            self.texts[name] = typed(self.texts[name], change)
        self.client.edit(name, *changes)
        self.count["edits"] += 1

    def change(self, name: str) -> tuple[types.Range | None, str]:
        if self.chance.random() < 0.05 or len(self.texts[name]) > 4000:
            return None, self.chance.choice(ENTIRE) if name.endswith(".aug") else json.dumps(VIBES["draft"])
        start = self.place()
        end = self.chance.choice((start, start, self.place()))
        return types.Range(start, end), self.chance.choice(("", *PIECES))

    def ask(self) -> None:
        name = self.chance.choice([*self.texts, NAMES[0]])
        text, place = self.client.document(name), self.place()
        questions: dict[str, Any] = {
            "hover": types.HoverParams(text, place),
            "definition": types.DefinitionParams(text, place),
            "completion": types.CompletionParams(text, place),
            "signatureHelp": types.SignatureHelpParams(text, place),
            "documentHighlight": types.DocumentHighlightParams(text, place),
            "references": types.ReferenceParams(types.ReferenceContext(include_declaration=True), text, place),
            "prepareRename": types.PrepareRenameParams(text, place),
            "rename": types.RenameParams(text_document=text, position=place, new_name=self.chance.choice(("neu", "Draft", ""))),
            "documentSymbol": types.DocumentSymbolParams(text),
            "semanticTokens/full": types.SemanticTokensParams(text),
            "formatting": types.DocumentFormattingParams(text, types.FormattingOptions(2, insert_spaces=True)),
            "codeAction": types.CodeActionParams(text, self.range(), types.CodeActionContext([])),
        }
        verb = self.chance.choice(list(questions))
        self.number += 1
        future = self.client.protocol.send_request_async(f"textDocument/{verb}", questions[verb], f"q{self.number}")
        self.asked.append((verb, questions[verb], name, dict(self.texts), self.number, future))
        self.count["questions"] += 1
        if self.chance.random() < 0.1:
            number = self.chance.randint(max(1, self.number - 3), self.number + 1)
            self.client.protocol.notify("$/cancelRequest", types.CancelParams(f"q{number}"))
            self.count["taken back"] += 1

    async def judge(self) -> None:
        """Hold all answers to those of a fresh session."""
        asked, self.asked = self.asked, []
        for verb, question, name, texts, number, future in asked:
            try:
                answer = await asyncio.wait_for(future, 60)
            except Exception as error:  # noqa: BLE001  -- whatever it is, it counts
                if getattr(error, "code", None) != CANCELLED and not isinstance(error, asyncio.CancelledError):
                    self.found.append(f"q{number} {verb} {name}: {type(error).__name__} {error}: {texts.get(name)!r}")
                continue
            expected = self.expected(verb, question, name, texts)
            if expected is not None and plain(answer) != plain(expected[0]):
                self.found.append(f"q{number} {verb} {name}: {answer!s:.300} and not {expected[0]!s:.300}: {texts[name]!r:.600}")
            self.count["answers compared"] += expected is not None

    def expected(self, verb: str, question: Any, name: str, texts: dict[str, str]) -> tuple[Any] | None:
        if name not in texts or not name.endswith(".aug"):
            return None
        session = self.fresh(texts)
        document = session.documents[str(self.path(name))]
        offset = document.lines.offset(question.position) if hasattr(question, "position") else 0
        match verb:
            case "hover":
                return (hover(document, offset, session),)
            case "definition":
                return (navigation.definition(document, offset, session),)
            case "documentHighlight":
                return (navigation.highlights(document, offset),)
            case "completion":
                return (completion.completion(document, offset, session, snippets=True),)
            case "signatureHelp":
                return (signature(document, offset, session),)
            case "references":
                known = navigation.instruction_at(document, offset, session)
                if known is not None:
                    return (navigation.places_in_project(known, document, session, declaration=True),)
                return (navigation.references(document, offset, declaration=True),)
            case "semanticTokens/full":
                return (types.SemanticTokens(hints.semantic_tokens(document)),)
            case "documentSymbol":
                return (navigation.symbols(document),)
            case "formatting":
                text = format_source(document.source, Report())
                if text is None or text == document.source.text:
                    return (None if text is None else [],)
                end = document.lines.position(len(document.source.text))
                return ([types.TextEdit(types.Range(types.Position(0, 0), end), text)],)
        return None

    def path(self, name: str) -> Path:
        return self.folder / name

    def fresh(self, texts: dict[str, str]) -> EditorSession:
        session = EditorSession()
        for name, text in texts.items():
            session.put(str(self.path(name)), text)
        return session

    async def settle(self) -> None:
        """Wait for all checks; what is shown then must be what a check of these texts says."""
        await asyncio.sleep(0.6)
        for name in self.texts:
            for _ in range(2):  # a code action is answered when the check is done
                await self.client.text_document_code_action_async(
                    types.CodeActionParams(self.client.document(name), self.range(), types.CodeActionContext([]))
                )
        await asyncio.sleep(0.2)
        session = self.fresh(self.texts)
        for name, text in self.texts.items():
            if not text.isprintable() and any(0xD800 <= ord(letter) < 0xE000 for letter in text):
                continue  # a file cannot hold it; its slips are shown and no more
            document = session.documents[str(self.path(name))]
            expected = {(each.code, str(each.range)) for each in diagnostics(session.check(document), document, session)}
            shown = {(each.code, str(each.range)) for each in self.client.published.get(self.client.uri(name), [])}
            if expected - shown or (shown != expected and not document.slips):  # while one is typed, others known before stay
                self.found.append(
                    f"stale problems of {name}: shown {shown - expected}, expected {expected - shown} {self.texts!r}"
                )
        self.count["problems compared"] += len(self.texts)


async def play(folder: Path, seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """Return what was done, and what was wrong."""
    async with editor(folder) as client:
        player = Player(client, folder, seed)
        end = monotonic() + seconds
        rounds = 0
        while monotonic() < end and len(player.found) < 5:
            rounds += 1
            for _ in range(player.chance.randint(1, 6)):
                (player.edit if player.chance.random() < 0.5 else player.ask)()
            if player.chance.random() < 0.7:
                await player.judge()
            if rounds % 12 == 0:
                await player.judge()
                await player.settle()
        await player.judge()
        await player.settle()
        return player.count, player.found + [each for each in client.logged if "internal error" in each]


def project(folder: Path) -> None:
    """Write a project with a few vibes."""
    (folder / "pyproject.toml").write_text("")
    (folder / "schemas").mkdir()
    for name, schema in VIBES.items():
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))


if __name__ == "__main__":
    words = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        project(Path(place))
        done, wrong = asyncio.run(play(Path(place), float(words[0]) if words else 60, int(words[1]) if len(words) > 1 else 1))
    sys.stdout.write("\n".join([str(dict(done)), *(wrong or ["nothing was wrong"])]) + "\n")
    sys.exit(bool(wrong))
