"""What `instrc diff` has found, as people read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, as_array, as_object, as_text, as_texts

_LONG = re.compile(r'"(?:[^"\\]|\\.){61,}"')
"""Strings of JSON that are shortened where people read them."""
_SHOWN = 40
_WHOLE = 600
"""Characters of a long string, and of an example, that are shown."""

_WRITERS = {
    "yes": "safe: all that was accepted still is",
    "no": "breaks: this was accepted and is refused now:",
    "unnamed": "breaks only if properties are written that the old schema does not name:",
    "unknown": "unknown: it could not be decided whether all that was accepted still is",
}
_READERS = {
    "yes": "safe: nothing comes that could not come before",
    "no": "breaks: this comes now and could not come before:",
    "unnamed": "breaks only if properties are read that the new schema does not name:",
    "unknown": "unknown: it could not be decided whether anything new can come",
}


def differences_text(documents: list[Json], old: str, new: str) -> str:
    """Return the differences, export by export."""
    kinds = {"call": "a direct call", "process": "a process", "tool": "a tool", "schema": "a schema"}
    lines = [f"{old} → {new}"]
    for document in map(as_object, documents):
        if len(documents) > 1:
            lines.append(f"{document['name']}:")
        if "export" in document:
            lines.append(
                f"  the export was {document['export']}" + (f" (from `{document['from']}`)" if "from" in document else "")
            )
            continue
        if "kind" in document:
            kind = as_object(document["kind"])
            lines.append(f"  it was {kinds[as_text(kind['old'])]} and is {kinds[as_text(kind['new'])]}; its result:")
        if "vibes" in document:
            rows = [as_object(each) for each in as_array(document["vibes"])]
            lines += [f"  {each['reference']}  {each['what']}{_detail(each)}" for each in rows] or ["  nothing has changed"]
            continue
        for change in map(as_object, as_array(document["changes"])):
            lines.append(f"  {change['pointer'] or '/'}  {change['what']}{_detail(change)}")
        if not document["changes"]:
            lines.append("  nothing has changed")
        told = (
            ("who writes by the old schema", _WRITERS, "old_instances_accepted", "refused"),
            ("who reads by the old schema", _READERS, "new_instances_expected", "surprising"),
        )
        for who, words, key, shown in told["kind" in document :]:  # nobody writes what is of another kind as before
            instance = f" {_brief(document[shown])}" if shown in document else ""
            verdict = "unnamed" if document.get(f"only_unnamed_{shown}") else as_text(document[key])
            lines.append(f"  {who}: {words[verdict]}{instance}")
        if "process" in document:
            lines += _cut_lines(as_object(document["process"]))
    return "\n".join(lines) + "\n"


def _detail(change: JsonObject) -> str:
    return f" ({change['detail']})" if change["detail"] else ""


def _brief(instance: Json) -> str:
    """Return an example as it is shown to people: long texts, and long examples, are shortened."""

    def shortened(text: re.Match[str]) -> str:
        return f'{text[0][:_SHOWN]}…" ({len(text[0]) - 2:,} characters)'

    whole = _LONG.sub(shortened, dumps(instance, indent=False))
    return whole if len(whole) <= _WHOLE else f"{whole[:_WHOLE]}… ({len(whole):,} characters)"


_CLAIMS = {
    "old_starts_accepted": (
        "who starts the process",
        {"yes": "safe: what started it still does", "no": "breaks", "unknown": "unknown"},
    ),
    "old_services_suffice": (
        "who serves the process",
        {"yes": "safe: no activity and no person gets or gives anything else", "no": "breaks", "unknown": "unknown"},
    ),
}


def _cut_lines(cut: JsonObject) -> Iterator[str]:
    yield "  steps, contexts and blocks:"
    for change in map(as_object, as_array(cut["changes"])):
        yield f"    {change['at']}  {change['what']}{_detail(change)}"
    if not cut["changes"]:
        yield "    nothing has changed"
    for key, words in (("needed", "needed anew"), ("spared", "no longer needed")):
        if cut[key]:
            yield f"    {words}: {', '.join(as_texts(cut[key]))}"
    for key, (who, verdicts) in _CLAIMS.items():
        claim = as_object(cut[key])
        why = f": {claim['why']}" if "why" in claim else ""
        yield f"  {who}: {verdicts[as_text(claim['verdict'])]}{why}"
