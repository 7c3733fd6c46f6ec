"""Problems as an editor shows them, and their fixes as it offers them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.problems.problem import Fix, Problem, shorten_values
from instrc.source import Source, Span
from instrc.visible import visible

_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_UNUSED = frozenset({"unused-binding", "unread-pipe"})


def diagnostics(problems: Iterable[Problem], document: TextDocument, session: EditorSession) -> list[types.Diagnostic]:
    """Return the problems that lie in a document; those in others are told at its beginning."""
    return [_diagnostic(problem, document, session) for problem in problems]


def _diagnostic(problem: Problem, document: TextDocument, session: EditorSession) -> types.Diagnostic:
    at = problem.at
    here = at is not None and at.source.name == document.path
    place = document.lines.range(at) if at is not None and here else types.Range(types.Position(0, 0), types.Position(0, 1))
    message = visible(str(problem)) if here or at is None else f"{visible(at.source.name)}: {visible(str(problem))}"
    hint = f"\n{visible(shorten_values(problem.hint))}" if problem.hint else ""
    related = [_related(label.span, label.text, session) for label in problem.labels if _is_file(label.span.source)]
    if at is not None and not here and _is_file(at.source):
        related.append(_related(at, str(problem), session))
    return types.Diagnostic(
        range=place,
        message=message + hint,
        severity=_SEVERITY[problem.severity],
        code=problem.name,
        source="instrc",
        tags=[types.DiagnosticTag.Unnecessary] if problem.name in _UNUSED else None,
        related_information=related or None,
    )


def _related(span: Span, words: str, session: EditorSession) -> types.DiagnosticRelatedInformation:
    location = types.Location(session.uri(span.source.name), session.lines(span.source).range(span))
    return types.DiagnosticRelatedInformation(location, visible(shorten_values(words)))


def actions(
    problems: Sequence[Problem], document: TextDocument, wanted: types.Range, given: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    """Return the fixes of the problems that touch a range, and one for all that are safe."""
    found = []
    start, end = document.lines.offset(wanted.start), document.lines.offset(wanted.end)
    for problem in problems:
        at = problem.at
        if at is None or at.source.text != document.source.text or at.start > end or at.end < start:
            continue
        own = [each for each in given if each.code == problem.name and each.range == document.lines.range(at)]
        for number, fix in enumerate(problem.fixes):
            found.append(
                types.CodeAction(
                    title=fix.title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=own or None,
                    is_preferred=fix.safe and not number,
                    edit=_edit([fix], document),
                )
            )
    return found


def fix_all(problems: Sequence[Problem], document: TextDocument) -> list[types.CodeAction]:
    """Return the action that applies all safe fixes of a document, if there are any."""
    safe: list[Fix] = []
    taken: set[int] = set()
    for problem in problems:
        fix = next((fix for fix in problem.fixes if fix.safe), None)
        if fix is None or any(edit.span.source.text != document.source.text or edit.span.start in taken for edit in fix.edits):
            continue
        safe.append(fix)
        taken |= {edit.span.start for edit in fix.edits}
    if not safe:
        return []
    kind = types.CodeActionKind.SourceFixAll
    return [types.CodeAction(title="Apply all safe fixes of instrc", kind=kind, edit=_edit(safe, document))]


def _edit(fixes: Sequence[Fix], document: TextDocument) -> types.WorkspaceEdit:
    edits = [types.TextEdit(document.lines.range(edit.span), edit.text) for fix in fixes for edit in fix.edits]
    return types.WorkspaceEdit(changes={document.uri: edits})


def _is_file(source: Source) -> bool:
    return not source.name.startswith("<")
