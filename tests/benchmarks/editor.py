"""Measure an editor's session: what the server works for each request after one typed letter.

    python tests/benchmarks/editor.py [LINES] [RUNS]

A real client starts `instrc lsp`, opens a program of LINES lines (default 2,000) in three shapes, types, and asks.
What is typed is a description behind a call, which leaves the text right, or a letter behind a name, which breaks it.
The figure is the processor time of the server from the edit to the answer, the edit included, in milliseconds:
the least of RUNS (default 7).  "all that is wrong" is the whole check after typing pauses, all names looked up.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound

sys.path.insert(0, str(Path(__file__).parent.parent / "lsp"))
from editors import Editor, editor  # the client of the tests

Request = Callable[[Editor], Awaitable[object]]
NAME = "a.aug"
PAUSE = 0.5
"""Seconds after which the server has begun the check that follows an edit."""
VIBES = {
    "draft": {"type": "object", "description": "Write it.", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "identify": {"type": "object", "properties": {"organizer": {"type": "string"}}},
    "send_Activity": {"type": "object", "properties": {"sent": {"type": "boolean"}}},
}


def row(lines: int) -> str:
    """Return a program of short steps, each of which reads the one before."""
    return "".join(f"const s{number} = Draft({f's{number - 1}' if number else 'prompt'});\n" for number in range(lines))


def written(lines: int) -> str:
    """Return a program as people write them: comments, objects over several lines, members, blocks, references."""
    part = """\
// {0}: who takes part 😀
const people{0} = Identify(prompt);
const mail{0} = Draft({{
  to: people{0}.organizer,
  text: "Dear all",
}});
when people{0}.organizer is "Ada" {{
  Send_Activity(mail{0})
}} else {{
  Send_Activity(aug:draft, mail{0})
}}
"""
    return "".join(part.format(number) for number in range(lines // 11))


def process(lines: int) -> str:
    """Return one process of such parts, each of which goes on with what the block before it gives."""
    part = """\
// {0}: who takes part
const people{0} = Identify(sent{1});
const mail{0} = Draft({{
  to: people{0}.organizer,
  text: "Dear all",
}}) @ "Be brief.";
const sent{0} = when people{0}.organizer is "Ada" {{
  Send_Activity(mail{0})
}} else {{
  Send_Activity(aug:draft, mail{0})
}};
"""
    return "const sent0 = Identify(prompt);\n" + "".join(part.format(number, number - 1) for number in range(1, lines // 11))


def requests(name: types.Position, call: types.Position) -> dict[str, Request]:
    """Return what is asked at a name and at a call, by what it is called."""
    inside = types.Position(call.line, call.character + len("Draft("))
    options = types.FormattingOptions(2, insert_spaces=True)
    read_too = types.ReferenceContext(include_declaration=True)
    file = types.TextDocumentIdentifier
    asked: list[tuple[str, str, Callable[[file], object]]] = [
        ("hover", "hover", lambda text: types.HoverParams(text, call)),
        ("definition", "definition", lambda text: types.DefinitionParams(text, call)),
        ("completion", "completion", lambda text: types.CompletionParams(text, call)),
        ("signature", "signature_help", lambda text: types.SignatureHelpParams(text, inside)),
        ("highlights", "document_highlight", lambda text: types.DocumentHighlightParams(text, name)),
        ("references", "references", lambda text: types.ReferenceParams(read_too, text, name)),
        ("rename", "rename", lambda text: types.RenameParams(text, name, "renamed")),
        ("symbols", "document_symbol", types.DocumentSymbolParams),
        ("semantic tokens", "semantic_tokens_full", types.SemanticTokensParams),
        ("formatting", "formatting", lambda text: types.DocumentFormattingParams(text, options)),
    ]
    found: dict[str, Request] = {"the edit alone": nothing}
    for title, verb, params in asked:
        found[title] = lambda each, verb=verb, params=params: getattr(each, f"text_document_{verb}_async")(
            params(each.document(NAME))
        )
    return found | {"all that is wrong": checked}


async def nothing(client: Editor) -> None:
    """Wait until the server has read all that was said before."""
    with suppress(JsonRpcMethodNotFound):
        await client.workspace_symbol_async(types.WorkspaceSymbolParams(""))


async def checked(client: Editor) -> None:
    """Wait for the problems of the whole check."""
    await client.diagnostics(NAME)


def worked(client: Editor) -> float:
    """Return how long the server has had a processor so far, in milliseconds."""
    assert client._server is not None
    tasks = Path(f"/proc/{client._server.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


async def measured(folder: Path, text: str, runs: int) -> dict[str, tuple[float, float]]:
    """Return the milliseconds of each request, of a text that is right and of one that is broken."""
    lines = text.split("\n")
    line = next(number for number in range(len(lines) // 2, len(lines)) if "Draft(" in lines[number])
    end = lines[line].index(" =")  # of the name that is defined there
    last = next(number for number in range(line, len(lines)) if ";" in lines[number])
    name, call = types.Position(line, end), types.Position(line, lines[line].index("Draft(") + 1)
    behind = types.Position(last, lines[last].index(";"))
    found: dict[str, tuple[float, float]] = {}
    async with editor(folder) as client:
        await client.open(NAME, text)
        for title, ask in requests(name, call).items():
            right = await after_typing(client, behind, ' @ "Say why."', ask, runs)
            found[title] = right, await after_typing(client, name, "x", ask, runs)
        place = types.Position(last + 1, 0)
        for title, took in (await half_typed(client, lines[line][len("const ") : end], place, runs)).items():
            found[title] = took, took
    return found


async def after_typing(client: Editor, at: types.Position, typed: str, ask: Request, runs: int) -> float:
    """Return the least milliseconds from what is typed at a place to the answer; it is taken away again."""
    gone = types.Range(at, types.Position(at.line, at.character + len(typed)))
    times = []
    for _ in range(runs):
        before = await idle(client)
        client.edit(NAME, (types.Range(at, at), typed))
        await ask(client)
        times.append(worked(client) - before)
        client.edit(NAME, (gone, ""))
    return min(times)


async def half_typed(client: Editor, name: str, place: types.Position, runs: int) -> dict[str, float]:
    """Return the milliseconds of a completion behind the `.` that is typed in the head of a block, and inside its open braces."""
    found: dict[str, float] = {}
    for title, head in (
        ("completion behind `.`, head", f"when {name}"),
        ("completion behind `.`, body", f"when {name} {{ Draft({name}"),
    ):
        behind = types.Position(place.line, len(head))
        dot = types.Range(behind, types.Position(place.line, len(head) + 1))
        client.edit(NAME, (types.Range(place, place), f"{head}\n"))
        times = []
        for _ in range(runs):
            before = await idle(client)
            client.edit(NAME, (types.Range(behind, behind), "."))
            await client.text_document_completion_async(types.CompletionParams(client.document(NAME), dot.end))
            times.append(worked(client) - before)
            client.edit(NAME, (dot, ""))
        client.edit(NAME, (types.Range(place, types.Position(place.line + 1, 0)), ""))
        found[title] = min(times)
    return found


async def idle(client: Editor) -> float:
    """Wait until all checks are done; return how long the server has worked by then."""
    await asyncio.sleep(PAUSE)
    while (before := worked(client)) and not await asyncio.sleep(0.1) and worked(client) != before:
        pass
    return before


def main(lines: int, runs: int) -> None:
    """Print a table of the requests for all shapes."""
    shapes = {"short steps": row, "as written": written, "one process": process}
    tables = []
    for make in shapes.values():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "pyproject.toml").write_text("")
            (root / "schemas").mkdir()
            for name, schema in VIBES.items():
                (root / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
            tables.append(asyncio.run(measured(root, make(lines), runs)))
    print(f"{'milliseconds, right / broken':30}" + "".join(f"{name:>14}" for name in shapes))
    for name in tables[0]:
        print(f"{name:30}" + "".join(f"{table[name][0]:8.0f} /{table[name][1]:4.0f}" for table in tables))


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]] if len(sys.argv) == 3 else [int(sys.argv[1]) if len(sys.argv) > 1 else 2000, 7])
