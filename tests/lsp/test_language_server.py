"""The language server, asked by a real client over pipes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from editors import Editor, Scenario, Watch
from lsprotocol import types

Talk = Callable[[Scenario], None]
PROGRAM = """\
// 😀 who takes part
const people = Identify(prompt);
const письмо = Draft(people.organizer);
tool invite = Send_Activity(письмо);
"""


def at(text: str, word: str, *, inside: int = 1, which: int = 1) -> types.Position:
    """Return a place in the n-th occurrence of a word, in UTF-16 units."""
    offset = -1
    for _ in range(which):
        offset = text.index(word, offset + 1)
    offset += inside
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return types.Position(line, len(before.encode("utf-16-le")) // 2)


def test_problems_while_typing(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        assert await editor.open("a.aug", PROGRAM) == []
        # UTF-16: the emoji counts two
        place = types.Range(types.Position(0, 3), types.Position(0, 5))
        assert await editor.change("a.aug", (place, "x")) == []
        (problem,) = await editor.change("a.aug", (None, '"😀" | Drafft\n'))
        assert (problem.code, problem.source) == ("unknown-name", "instrc")
        assert (problem.range.start.character, problem.range.end.character) == (7, 13)
        (problem,) = await editor.change("a.aug", (None, "Draft(\n"))
        assert problem.code == "missing-closing-bracket"
        assert await editor.change("a.aug", (None, "Draft(prompt)\n")) == []

    talk(scenario)


def test_a_vibe_counts_as_it_stands_in_the_editor(talk: Talk, folder: Path) -> None:
    vibe = (folder / "schemas" / "draft.vibe.json").read_text()

    async def scenario(editor: Editor) -> None:
        text = "const d = Draft(prompt);\nSend_Activity(d.tone)\n"
        (problem,) = await editor.open("a.aug", text)
        assert problem.code == "unknown-member"
        assert await editor.open("schemas/draft.vibe.json", vibe) == []
        await editor.diagnostics("a.aug")
        assert await editor.change("schemas/draft.vibe.json", (None, vibe.replace('"text"', '"tone"'))) == []
        assert await editor.diagnostics("a.aug") == []
        (problem,) = await editor.change("schemas/draft.vibe.json", (None, '{ "type": "objekt" }'))
        assert problem.code == "invalid-schema"

    talk(scenario)


def test_a_vibe_that_is_closed_without_saving_counts_as_it_is_in_its_file(talk: Talk, folder: Path) -> None:
    vibe = (folder / "schemas" / "draft.vibe.json").read_text()

    async def scenario(editor: Editor) -> None:
        (problem,) = await editor.open("a.aug", "const d = Draft(prompt);\nSend_Activity(d.tone)\n")
        assert problem.code == "unknown-member"
        await editor.open("schemas/draft.vibe.json", vibe.replace('"text"', '"tone"'))
        assert await editor.diagnostics("a.aug") == []
        editor.close("schemas/draft.vibe.json")
        (problem,) = await editor.diagnostics("a.aug")
        assert problem.code == "unknown-member"

    talk(scenario)


def test_a_program_counts_as_it_stands_in_the_editor_where_another_calls_it(talk: Talk, folder: Path) -> None:
    short = "input tone;\nDraft({ prompt, tone })\n"
    (folder / "schemas" / "cut-short.aug").write_text(short)

    async def scenario(editor: Editor) -> None:
        assert await editor.open("a.aug", "const people = Identify(prompt);\nCutShort(people, tone: people.organizer)\n") == []
        assert await editor.open("schemas/cut-short.aug", short) == []
        assert await editor.diagnostics("a.aug") == []
        assert await editor.change("schemas/cut-short.aug", (None, short.replace("tone", "voice"))) == []
        assert [each.code for each in await editor.diagnostics("a.aug")] == ["unknown-argument"]
        editor.close("schemas/cut-short.aug")
        assert await editor.diagnostics("a.aug") == []

    talk(scenario)


def test_a_problem_leads_to_the_other_places_that_it_is_about(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        def others(problem: types.Diagnostic) -> list[tuple[str, int, int, str]]:
            return [
                (
                    each.location.uri.rpartition("/")[2],
                    each.location.range.start.line,
                    each.location.range.start.character,
                    each.message,
                )
                for each in problem.related_information or ()
            ]

        (problem,) = await editor.open("a.aug", "const Draft = Identify(prompt);\nSend_Activity | Draft(prompt)\n")
        assert (problem.code, problem.range.start.line) == ("not-callable", 1)
        assert others(problem) == [("a.aug", 0, 6, "defined here")]
        assert await editor.open("b.aug", "Note(prompt)\n") == []
        (problem,) = await editor.open("schemas/draft.vibe.json", '{ "type": "string"')
        assert (problem.range.start.character, problem.related_information) == (17, None)
        (problem,) = await editor.diagnostics("b.aug")
        assert others(problem) == [("draft.vibe.json", 0, 17, "this is not a vibe: a ',' or '}' is expected")]

    talk(scenario)


def test_fixes_are_offered_and_layout_is_made(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        text = "Drafft | Identify(prompt ,, people)\n"
        problems = await editor.open("a.aug", text)
        context = types.CodeActionContext(problems)
        whole = types.Range(types.Position(0, 0), types.Position(1, 0))
        found = await editor.text_document_code_action_async(types.CodeActionParams(editor.document("a.aug"), whole, context))
        titles = [each.title for each in found or []]
        assert "remove `,`" in titles
        mended = next(
            each.diagnostics for each in found or [] if isinstance(each, types.CodeAction) and each.title == "remove `,`"
        )
        assert [(each.code, each.range.start.character) for each in mended or []] == [("extra-comma", 26)]
        assert "Apply all safe fixes of instrc" in titles
        edits = await editor.text_document_formatting_async(
            types.DocumentFormattingParams(editor.document("a.aug"), types.FormattingOptions(tab_size=2, insert_spaces=True))
        )
        assert not edits  # a text with a mistake stays as it is
        await editor.change("a.aug", (None, "Draft|Identify( prompt )"))
        (edit,) = await editor.text_document_formatting_async(
            types.DocumentFormattingParams(editor.document("a.aug"), types.FormattingOptions(tab_size=2, insert_spaces=True))
        )
        assert edit.new_text == "Draft | Identify(prompt);\n"

    talk(scenario)


def test_names_lead_to_what_they_stand_for(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", PROGRAM)
        document = editor.document("a.aug")

        async def target(word: str, which: int = 1) -> tuple[str, int]:
            where = types.DefinitionParams(document, at(PROGRAM, word, which=which))
            found = await editor.text_document_definition_async(where)
            assert isinstance(found, types.Location)
            return found.uri.rpartition("/")[2], found.range.start.line

        assert await target("people", which=2) == ("a.aug", 1)
        assert await target("Draft") == ("draft.vibe.json", 0)
        assert await target("organizer") == ("identify.vibe.json", 3)
        places = await editor.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(include_declaration=True), document, at(PROGRAM, "письмо", which=2))
        )
        assert [place.range.start.line for place in places or []] == [2, 3]
        renamed = await editor.text_document_rename_async(types.RenameParams(document, at(PROGRAM, "people"), "everyone"))
        assert renamed is not None
        edits = (renamed.changes or {})[editor.uri("a.aug")]
        assert sorted((edit.range.start.line, edit.new_text) for edit in edits) == [(1, "everyone"), (2, "everyone")]
        assert await editor.text_document_rename_async(types.RenameParams(document, at(PROGRAM, "people"), "invite")) is None
        for name, placeholder in (("people", "people"), ("Draft", None)):  # an instruction has its name from its file
            prepared = await editor.text_document_prepare_rename_async(types.PrepareRenameParams(document, at(PROGRAM, name)))
            assert getattr(prepared, "placeholder", None) == placeholder
        hover = await editor.text_document_hover_async(types.HoverParams(document, at(PROGRAM, "Send_Activity")))
        assert hover is not None
        assert "carried out by the server" in str(hover.contents)
        assert '"sent"' in str(hover.contents)
        symbols = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert [symbol.name for symbol in symbols or []] == ["people", "письмо", "invite"]

    talk(scenario)


def path_of(uri: str) -> Path:
    return Path(url2pathname(urlparse(uri).path))


def test_an_instruction_is_found_in_all_files_and_keeps_its_name(talk: Talk, folder: Path) -> None:
    programs = {
        "a.aug": PROGRAM,
        "b.aug": "// Draft stays in comments\nDraft(prompt) | aug:draft | { x: draft(prompt), Draft: 'Draft' }\n",
        "c.aug": "const Draft = Identify(prompt);\nSend_Activity(Draft)\n",
    }
    for name, text in programs.items():
        (folder / name).write_text(text)

    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", PROGRAM)
        document, where = editor.document("a.aug"), at(PROGRAM, "Draft")
        found = await editor.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(include_declaration=True), document, where)
        )
        assert sorted(path_of(place.uri).name for place in found or []) == [
            "a.aug",
            "b.aug",
            "b.aug",
            "b.aug",
            "draft.vibe.json",
            "note@2.vibe.json",
        ]
        assert await editor.text_document_rename_async(types.RenameParams(document, where, "ComposeMail")) is None

    talk(scenario)


TYPED: list[tuple[str, set[str]]] = [
    ("const people = Identify(prompt);\nDraft(people.", {"organizer", "attendees"}),
    ("Identify(prompt).", {"organizer", "attendees"}),
    ("Draft({ ", {"text"}),
    ("", {"Draft", "Send_Activity", "prompt", "when", "each"}),
    ("const people = Identify(prompt);\nDraft(", {"people", "prompt", "text"}),
    ("aug:ma", {"aug:mail/note"}),
    ("const p = Identify(prompt);\neach who in p.attendees { Draft(", {"who", "p"}),
]


def test_what_can_be_typed(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        for number, (before, wanted) in enumerate(TYPED):
            await editor.open(f"{number}.aug", before)
            end = types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
            where = types.CompletionParams(editor.document(f"{number}.aug"), end)
            items = await editor.text_document_completion_async(where)
            assert isinstance(items, list), before
            assert wanted <= {item.label for item in items}, before

    talk(scenario)


def test_a_statement_is_offered_with_its_blanks_to_fill(talk: Talk) -> None:
    """This client can fill blanks; `test_cursor_places.py` has one that cannot."""

    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", "")
        where = types.CompletionParams(editor.document("a.aug"), types.Position(0, 0))
        items = await editor.text_document_completion_async(where)
        assert isinstance(items, list)
        (each,) = (item for item in items if item.label == "each")
        assert each.insert_text == "each ${1:name} in ${2:path} {\n  $0\n}"
        assert each.insert_text_format == types.InsertTextFormat.Snippet

    talk(scenario)


def test_an_instruction_is_described_as_its_project_has_it(talk: Talk, folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name / "schemas").mkdir(parents=True)
        (folder / name / "pyproject.toml").write_text("")
        (folder / name / "schemas" / "draft.vibe.json").write_text(f'{{"description": "Of {name}.", "type": "object"}}')

    async def scenario(editor: Editor) -> None:
        for name in ("one/a.aug", "two/a.aug"):
            await editor.open(name, "")
        where = types.CompletionParams(editor.document("two/a.aug"), types.Position(0, 0))
        items = await editor.text_document_completion_async(where)
        assert isinstance(items, list)
        (draft,) = (item for item in items if item.label == "Draft")
        assert "Of two." in str((await editor.completion_item_resolve_async(draft)).documentation)

    talk(scenario)


def test_colours(talk: Talk) -> None:
    text = PROGRAM + "Note(prompt) | aug:mail/note;\nDraft({\n  text: 'a',\n})\n"

    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", text)
        document = editor.document("a.aug")
        tokens = await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
        assert tokens is not None
        assert len(tokens.data) % 5 == 0
        assert list(tokens.data[:5]) == [0, 0, 20, 10, 0]  # a comment of 19 letters, of which one takes two units

    talk(scenario)


def test_an_edit_of_three_hundred_lines_is_answered_at_once(talk: Talk) -> None:
    """A slip shows, and goes, within a tenth of a second.

    What others on a busy machine take from the server, or from this test, is no part of it.
    """
    text = "".join(f"const s{number} = Draft({f's{number - 1}' if number else 'prompt'});\n" for number in range(300))

    async def scenario(editor: Editor) -> None:
        assert await editor.open("a.aug", text) == []
        shown, gone = [], []
        for _ in range(5):
            watch = Watch(editor)
            line = types.Range(types.Position(150, 0), types.Position(150, 5))
            assert await editor.change("a.aug", (line, "const x("))
            shown.append(watch.seconds())
            watch = Watch(editor)
            line = types.Range(types.Position(150, 0), types.Position(150, 8))
            assert await editor.change("a.aug", (line, "const")) == []
            gone.append(watch.seconds())
        assert max(min(shown), min(gone)) < 0.1, (shown, gone)

    talk(scenario)


def test_a_question_right_behind_an_edit_is_about_the_text_after_it(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", PROGRAM)
        for name in ("first", "second", "third"):
            editor.edit("a.aug", (None, f"const {name} = Draft(prompt);\n"))
            symbols = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(editor.document("a.aug")))
            assert [each.name for each in symbols or ()] == [name]

    talk(scenario)


def test_a_byte_order_mark_is_no_mistake_and_has_its_place(talk: Talk) -> None:
    async def scenario(editor: Editor) -> None:
        assert await editor.open("a.aug", "\ufeffconst a = Draft(prompt);\n") == []
        (found,) = await editor.change("a.aug", (None, "\ufeffDrafft(prompt);\n"))
        assert (found.code, found.range.start.character) == ("unknown-name", 1)

    talk(scenario)


def test_lines_of_an_edit_end_where_the_protocol_says(talk: Talk) -> None:
    """Only CR and LF end a line, and a position behind the end of a line is the end of it."""

    async def scenario(editor: Editor) -> None:
        for number, sign in enumerate(("\u2028", "\x0c", "\x85", "\r")):
            file, line = f"{number}.aug", 2 if sign == "\r" else 1
            await editor.open(file, f"// a{sign}b\nconst a = Draft(prompt);\n")
            behind = types.Position(line, 1000)
            name = types.Range(types.Position(line, 6), types.Position(line, 7))
            editor.edit(file, (name, "b"), (types.Range(behind, behind), "x"))
            symbols = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(editor.document(file)))
            assert [(each.name, each.selection_range.start.line) for each in symbols or ()] == [("b", line)], repr(sign)

    talk(scenario)


def test_problems_elsewhere_stay_and_move_while_a_statement_is_typed(talk: Talk) -> None:
    text = "const a = Drafft(prompt);\nconst b = Draft(a);\nDraft(b) | Notee;\n"

    async def scenario(editor: Editor) -> None:
        assert [each.code for each in await editor.open("a.aug", text)] == ["unknown-name", "unknown-name"]
        place = types.Range(types.Position(1, 0), types.Position(1, 0))
        found = await editor.change("a.aug", (place, "\nconst c = Draft(;\n"))
        lines = sorted((each.range.start.line, each.code) for each in found)
        assert lines[0] == (0, "unknown-name")
        assert lines[-1] == (4, "unknown-name")
        assert any(2 <= line <= 3 and code != "unknown-name" for line, code in lines)
        whole = types.Range(types.Position(0, 0), types.Position(9, 0))
        context = types.CodeActionContext(found)
        asked = types.CodeActionParams(editor.document("a.aug"), whole, context)
        assert await editor.text_document_code_action_async(asked)  # it waits for the check

    talk(scenario)


def test_a_document_has_the_name_that_the_editor_gave_it(talk: Talk) -> None:
    """One that was never saved has no file, and editors differ in which signs of a URI they escape."""

    async def scenario(editor: Editor) -> None:
        await editor.open("a.aug", PROGRAM)
        for uri in ("untitled:Untitled-1", editor.uri("new program.aug").replace("%20", " ")):
            item = types.TextDocumentItem(uri, "aug", 1, "const a = Draft(prompt);\nconst a = Identify(prompt);\nDrft(a);\n")
            editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
            while uri not in editor.published:
                editor.arrived.clear()
                await editor.arrived.wait()
            twice, unknown = editor.published[uri]
            assert [twice.code, unknown.code] == ["repeated-name", "unknown-name"]
            assert [each.location.uri for each in twice.related_information or ()] == [uri]
            document = types.TextDocumentIdentifier(uri)
            found = await editor.text_document_definition_async(types.DefinitionParams(document, types.Position(2, 5)))
            assert isinstance(found, types.Location)
            assert found.uri == uri
            context = types.CodeActionContext([unknown])
            offered = await editor.text_document_code_action_async(types.CodeActionParams(document, unknown.range, context))
            edits = [each.edit.changes for each in offered or () if isinstance(each, types.CodeAction) and each.edit]
            assert [list(each or {}) for each in edits] == [[uri], [uri]]

    talk(scenario)
