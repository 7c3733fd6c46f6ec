"""Sentences that models read, in each language; a project may replace any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Final

from instrc.text.files import read_toml

_NOTES: Final[Mapping[str, str]] = {
    "minimum": "At least {value}.",
    "maximum": "At most {value}.",
    "exclusiveMinimum": "Greater than {value}.",
    "exclusiveMaximum": "Less than {value}.",
    "multipleOf": "A multiple of {value}.",
    "minLength": "At least {value} characters.",
    "maxLength": "At most {value} characters.",
    "pattern": "Matches the regular expression {value}.",
    "format": "Format: {value}.",
    "minItems": "At least {value} items.",
    "maxItems": "At most {value} items.",
    "uniqueItems": "No two items are equal.",
    "minProperties": "At least {value} entries.",
    "maxProperties": "At most {value} entries.",
    "contains": "Some items match {value}.",
    "minContains": "At least {value} of the items do.",
    "maxContains": "At most {value} of the items do.",
    "not": "Must not match {value}.",
    "if": "Depends on whether it matches {value}.",
    "then": "If it does, it matches {value}.",
    "else": "If it does not, it matches {value}.",
    "dependentRequired": "Keys that ask for others: {value}.",
    "dependentSchemas": "Keys that ask for more: {value}.",
    "patternProperties": "Values by the pattern of their keys: {value}.",
    "propertyNames": "Keys match {value}.",
    "additionalProperties": "Other keys hold {value}.",
    "no additionalProperties": "No other keys.",
    "unevaluatedProperties": "Other keys hold {value}.",
    "no unevaluatedProperties": "No other keys.",
    "unevaluatedItems": "Other items match {value}.",
    "no unevaluatedItems": "No further items.",
    "items": "Further items match {value}.",
    "no items": "No further items.",
    "const": "Always {value}.",
    "enum": "One of {value}.",
    "default": "Default: {value}.",
    "examples": "Examples: {value}.",
    "contentEncoding": "Encoded as {value}.",
    "contentMediaType": "Content type: {value}.",
    "contentSchema": "The decoded content matches {value}.",
    "allOf": "Also matches all of {value}.",
    "anyOf": "Matches one of {value}.",
    "oneOf": "Matches exactly one of {value}.",
}
_PLACEHOLDER = r"\{\w+\}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """The sentences that a model reads next to data and schemas; `{…}` in a sentence is a placeholder."""

    hint: str = "Use {paths}."
    """Sentence in a step's description that lists what the step reads."""
    may_be_null: str = "may be null"
    """Note in a hint on a value that may be missing."""
    labelled: str = "as {labels}"
    """Suffix in a hint for a value that is passed to the step under another name."""
    left_null: str = "Leave it null: it is given later by somebody else."
    """Description of a property that the model must leave out."""
    taken: str = "The output of another task, or a part of it."
    """Description, in a plan's schema, of a reference that may replace an argument value."""
    taken_for_each: str = "A list in the output of another task: this task is copied for every element."
    known: str = "What is known so far, as data:"
    previous: str = "Your answer of the round before:"
    rejected: str = "Your last answer, which was not accepted:"
    wrong: str = "What is wrong with it:"
    not_accepted: str = "Your last answer was not accepted:"
    fault: str = "* at {place}: {reason}"
    write: str = "Write {what}, as JSON that satisfies the schema."
    write_again: str = "Write {what} again, as JSON that satisfies the schema."
    write_round: str = "Write the next round of {what}, as JSON that satisfies the schema."
    answer: str = "the answer"
    """`{what}` in a program with one step."""
    join: str = " and "
    """Conjunction before the last of several steps."""
    shape: str = "The JSON has these keys, in this order:"
    """Heading of the textual schema, for models that do not see the schema itself."""
    alternative: str = "(alternative {number})"
    """Heading before the keys of each object that is allowed at a place."""
    as_above: str = "as above"
    """Replaces the description of a key that was already described in the previous alternative."""
    examples: str = "Examples:"
    """Heading in a step's description before the examples that `instrc tune` chose."""
    optional: str = "may be left out"
    other_keys: str = "any other key"
    defined: str = "{name} is"
    one_of: str = "one of {values}"
    list_of: str = "list of {items}"
    always: str = "always {value}"
    either: str = " or "
    anything: str = "anything"
    nothing: str = "nothing"
    any_json: str = "Any JSON value, written as JSON text."
    """Description of any JSON value, where a provider has no keyword for it; the following fields likewise."""
    matching_value: str = "Any JSON value that matches {schema}."
    matching_text: str = "JSON text that matches {schema}."
    json_texts: str = "One of: {kinds}; what is not a string is written as JSON text."
    if_chosen: str = "If the choice is {label}."
    chosen: str = "Which of the other properties is given."
    the_value: str = "The value."
    null_word: str = 'null leaves it out, "{word}" sets it to null.'
    more_keys: str = "Further properties, each a key with its value."
    key_list: str = "An object, written as a list of its keys and values."
    always_empty: str = "Always empty."
    plan_tools: str = "The tool of this task. The arguments that each takes:"
    """Description of the tool name in a plan whose arguments are names and texts."""
    plan_argument: str = "The name of the argument."
    plan_is: str = (
        "`value`: the text is the value. `from`: the value is the output of another task. "
        "`each`: a copy of this task is made for every element of that output."
    )
    plan_text: str = (
        "A value that is a text as it is, any other as JSON. After `from` and `each` the id of the other task, "
        "with a path into its output behind a dot: `t1` or `t1.items.0.name`."
    )
    arguments: str = "Arguments: {taken}."
    no_arguments: str = "none"
    any_arguments: str = "any"
    cut: str = "the answer was cut off at a limit of length: be shorter"
    looped: str = "the answer repeated itself until it was cut off: write each thing once"
    empty: str = "nothing was filled in: answer by the tool"
    twice: str = "the tool was called more than once: call it once"
    faults: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Messages about invalid values, by JSON Schema keyword (`false`: forbidden value); English by default.

    `{value}` is the value, `{wanted}` the keyword's value, `{names}` the missing or extra keys.
    Messages about invalid plans are keyed by their English sentence, whose `{…}` they repeat.
    """

    notes: Mapping[str, str] = field(default_factory=lambda: _NOTES, hash=False)
    """Text for each JSON Schema keyword that a provider lacks; `no KEYWORD` for the value `false`."""

    def changed(self, said: Mapping[str, str]) -> Sentences:
        """Return the table with other sentences in place of some."""
        texts: dict[str, str] = dict(said)
        return replace(self, **texts) if said else self  # type: ignore[arg-type]  # `faults` and `notes` are not names of sentences

    def fault_of(self, name: str, sentence: str) -> str | None:
        """Return why a sentence cannot replace another one, or `None` if it can."""
        return replacement_fault(getattr(self, name), sentence)


def replacement_fault(original: str, sentence: str) -> str | None:
    """Return why a sentence cannot replace an original one, or `None` if it has the same placeholders."""
    needs = set(re.findall(_PLACEHOLDER, original))
    has = set(re.findall(_PLACEHOLDER, sentence))
    if missing := sorted(needs - has):
        return f"it does not say `{missing[0]}`, for which something is put in its place"
    return f"nothing is put in the place of `{min(has - needs)}`" if has - needs else None


def filled(sentence: str, **values: str) -> str:
    """Return a sentence with its placeholders filled; braces in the values are not placeholders."""
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), sentence)


def translated(message: str, faults: Mapping[str, str]) -> str:
    """Return a message in the language of its sentence's translation, or unchanged. A hint follows `; `."""
    head, mark, hint = message.rpartition("; ")
    if mark and (said := _matched(hint, faults)) is not None:
        return f"{translated(head, faults)}; {said}"
    return _matched(message, faults) or message


_WHY: Final = {"reason", "error"}
"""Placeholders that hold another sentence."""


def _matched(message: str, faults: Mapping[str, str]) -> str | None:
    for english, ours in faults.items():
        if " " in english:
            parts = re.split(r"\{(\w+)\}", english)  # text and names in turn
            pattern = "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
            if (match := re.fullmatch(pattern, message, re.DOTALL)) is not None:
                said = match.groupdict().items()
                return filled(ours, **{name: translated(item, faults) if name in _WHY else item for name, item in said})
    return None


EN: Final = Sentences()
NAMES: Final = tuple(each.name for each in fields(Sentences) if each.name not in {"faults", "notes"})
LANGUAGES: Final = ("en", "ru")
"""Languages that a project's `prompts` setting may name."""


@cache
def sentences_in(language: str) -> Sentences:
    """Return the sentences of a language: English is defined here, other languages in `LANGUAGE.toml`."""
    if language == "en":
        return EN
    from pathlib import Path  # English texts are in this file

    table: dict[str, Any] = read_toml((Path(__file__).parent / f"{language}.toml").read_text("utf-8"))  # Any: an internal type
    misfits, places = table.pop("misfits"), table.pop("of_misfits")
    of_places = {f"{at}{english}": f"{there}{ours}" for at, there in places.items() for english, ours in misfits.items()}
    return Sentences(**{**table, "faults": {**of_places, **table["faults"]}})
