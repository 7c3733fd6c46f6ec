"""All that is said to a model in words of ours: one table of sentences a language, each of which a project may replace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What a model is told beside data and schemas; `{…}` in a sentence stands for what is put in its place."""

    hint: str = "Use {paths}."
    """In the description of a step: what it reads."""
    may_be_null: str = "may be null"
    """In a hint, of a value that may be missing."""
    left_null: str = "Leave it null: it is given later by somebody else."
    """In the description of what the model does not give."""
    taken: str = "The output of another task, or a part of it."
    """In the schema of a plan: what an argument of a task may be instead of a value."""
    taken_for_each: str = "A list in the output of another task: this task is copied for every element."
    known: str = "What is known so far:"
    previous: str = "Your answer of the round before:"
    rejected: str = "Your last answer, which was not accepted:"
    wrong: str = "What is wrong with it:"
    not_accepted: str = "Your last answer was not accepted:"
    fault: str = "* at {place}: {reason}"
    write: str = "Write {what}, as JSON that satisfies the schema."
    write_again: str = "Write {what} again, as JSON that satisfies the schema."
    write_round: str = "Write the next round of {what}, as JSON that satisfies the schema."
    answer: str = "the answer"
    """`{what}` where a program has one step."""
    join: str = " and "
    """Before the last of several steps."""
    shape: str = "The JSON has these keys, in this order:"
    """Before the schema in words, where the model does not see the schema itself; then what these words are."""
    alternative: str = "(alternative {number})"
    """Before the keys of each object that may stand in a place."""
    as_above: str = "as above"
    """Of a key that means the same in the alternative before."""
    optional: str = "may be left out"
    other_keys: str = "any other key"
    defined: str = "{name} is"
    one_of: str = "one of {values}"
    list_of: str = "list of {items}"
    always: str = "always {value}"
    either: str = " or "
    anything: str = "anything"
    nothing: str = "nothing"
    cut: str = "the answer was cut off at a limit of length: be shorter"
    empty: str = "nothing was filled in: answer by the tool"
    twice: str = "the tool was called more than once: call it once"
    faults: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with a value, by keyword of JSON Schema (`false` for what may not be there); else it is said in English.

    `{value}` is the value, `{wanted}` what the keyword says, `{names}` the keys that are missing or too many.
    What is wrong with a plan stands under its English sentence, whose `{…}` it repeats.
    """

    def changed(self, said: Mapping[str, str]) -> Sentences:
        """Return the table with other sentences in place of some."""
        texts: dict[str, str] = dict(said)
        return replace(self, **texts) if said else self  # type: ignore[arg-type]  # `faults` is no name of a sentence

    def fault_of(self, name: str, sentence: str) -> str | None:
        """Return why a sentence cannot be put in the place of another one; `None` if it can."""
        needs = set(re.findall(_PLACEHOLDER, getattr(self, name)))
        has = set(re.findall(_PLACEHOLDER, sentence))
        if missing := sorted(needs - has):
            return f"it does not say `{missing[0]}`, for which something is put in its place"
        return f"nothing is put in the place of `{min(has - needs)}`" if has - needs else None


def filled(sentence: str, **values: str) -> str:
    """Return a sentence with what is put in its places; braces in the values are no places."""
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), sentence)


def translated(message: str, faults: Mapping[str, str]) -> str:
    """Return what is wrong in the words that stand under its English sentence; as it is if none fits. A hint follows `; `."""
    head, mark, hint = message.rpartition("; ")
    if mark and (said := _matched(hint, faults)) is not None:
        return f"{translated(head, faults)}; {said}"
    return _matched(message, faults) or message


def _matched(message: str, faults: Mapping[str, str]) -> str | None:
    for english, ours in faults.items():
        if " " in english:
            parts = re.split(r"\{(\w+)\}", english)  # text and names in turn
            pattern = "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
            if (match := re.fullmatch(pattern, message, re.DOTALL)) is not None:
                return filled(ours, **match.groupdict())
    return None


_PLACEHOLDER = r"\{\w+\}"
EN: Final = Sentences()
_MISFITS_RU: Final = {
    "{value} is not of type {wanted}": "{value}, а нужен тип {wanted}",
    "{value} is not one of {wanted}": "{value}, а нужно одно из {wanted}",
    "{wanted} was expected": "нужно {wanted}",
    "{value} is too short": "{value}, это слишком коротко",
    "{value} is too long": "{value}, это слишком длинно",
    "{value} is less than the minimum of {wanted}": "{value}, а нужно не меньше {wanted}",
    "{value} is greater than the maximum of {wanted}": "{value}, а нужно не больше {wanted}",
    "{value} does not match {wanted}": "{value}, это не подходит под {wanted}",
    '{value} is not a "{wanted}"': '{value}, а нужен формат "{wanted}"',
    "{wanted} is a required property": "не хватает ключа {wanted}",
    "{value} is not valid under any of the given schemas": "{value}, не подходит ни один вариант",
}
"""Why an argument of a plan does not fit; only there, since a check of somebody else may say the same of something else."""
SENTENCES: Mapping[str, Sentences] = {
    "en": EN,
    "ru": Sentences(
        hint="Опирайся на {paths}.",
        may_be_null="может быть null",
        left_null="Оставь null: это позже заполнит кто-то другой.",
        taken="Результат другой задачи или его часть.",
        taken_for_each="Список из результата другой задачи: эта задача повторяется для каждого элемента.",
        known="Что уже известно:",
        previous="Твой ответ в прошлом круге:",
        rejected="Твой последний ответ, он не принят:",
        wrong="Что в нём не так:",
        not_accepted="Твой последний ответ не принят:",
        fault="* в {place}: {reason}",
        write="Напиши {what}: JSON по схеме.",
        write_again="Напиши {what} ещё раз: JSON по схеме.",
        write_round="Напиши следующий круг, {what}: JSON по схеме.",
        answer="ответ",
        join=" и ",
        shape="В этом JSON такие ключи, в таком порядке:",
        alternative="(вариант {number})",
        as_above="как выше",
        optional="ключа может не быть",
        other_keys="любой другой ключ",
        defined="{name}: это",
        one_of="одно из {values}",
        list_of="список: {items}",
        always="всегда {value}",
        either=" или ",
        anything="что угодно",
        nothing="ничего",
        cut="ответ оборвался: он слишком длинный, пиши короче",
        empty="ничего не заполнено: ответь вызовом инструмента",
        twice="инструмент вызван несколько раз: вызови его один раз",
        faults={
            "type": "{value}: нужен тип {wanted}",
            "enum": "{value}: нужно одно из {wanted}",
            "const": "нужно {wanted}",
            "format": "{value}: нужен формат {wanted}",
            "pattern": "{value}: не подходит под {wanted}",
            "minLength": "{value}: слишком коротко, наименьшая длина {wanted}",
            "maxLength": "{value}: слишком длинно, наибольшая длина {wanted}",
            "minimum": "{value}: слишком мало, нужно не меньше {wanted}",
            "maximum": "{value}: слишком много, нужно не больше {wanted}",
            "exclusiveMinimum": "{value}: слишком мало, нужно больше {wanted}",
            "exclusiveMaximum": "{value}: слишком много, нужно меньше {wanted}",
            "multipleOf": "{value}: не кратно {wanted}",
            "required": "не хватает ключей: {names}",
            "additionalProperties": "лишние ключи: {names}",
            "unevaluatedProperties": "лишние ключи: {names}",
            "minProperties": "слишком мало ключей, нужно не меньше {wanted}",
            "maxProperties": "слишком много ключей, нужно не больше {wanted}",
            "minItems": "слишком мало элементов, нужно не меньше {wanted}",
            "maxItems": "слишком много элементов, нужно не больше {wanted}",
            "uniqueItems": "есть одинаковые элементы",
            "contains": "ни один элемент не подходит под {wanted}",
            "items": "элементов больше, чем описано",
            "unevaluatedItems": "элементов больше, чем описано",
            "anyOf": "{value}: не подходит ни один вариант",
            "oneOf": "{value}: должен подходить ровно один вариант",
            "not": "{value}: так нельзя, это запрещает {wanted}",
            "false": "{value}: здесь ничего не может быть",
            "a plan is a list of tasks": "план: это список задач",
            'a task is an object with "tool", "id" and "arguments"': 'задача: это объект с "tool", "id" и "arguments"',
            "a task has no member `{name}`": "у задачи нет ключа `{name}`",
            "the arguments of a task are an object": "аргументы задачи: это объект",
            "`after` is a list of ids": "`after`: это список id",
            "the argument `{name}` is given twice": "аргумент `{name}` дан дважды",
            "another task also has the id `{id}`": "id `{id}` есть и у другой задачи",
            "there is no tool `{tool}`": "инструмента `{tool}` нет",
            "there is no task `{id}` in this plan": "задачи `{id}` в этом плане нет",
            "the task `{id}` waits for itself": "задача `{id}` ждёт саму себя",
            "tasks wait for each other: {ids}": "задачи ждут друг друга: {ids}",
            "`{callee}` needs the argument {names}": "`{callee}`: не хватает аргумента {names}",
            "`{callee}` needs the arguments {names}": "`{callee}`: не хватает аргументов {names}",
            "`{callee}` has no argument `{name}`": "у `{callee}` нет аргумента `{name}`",
            "the argument `{name}` of `{callee}` is set by the program and cannot be changed": (
                "аргумент `{name}` у `{callee}` задаёт программа, менять его нельзя"
            ),
            **{
                f"the argument `{{name}}` of `{{callee}}` does not fit: {english}": f"аргумент `{{name}}` у `{{callee}}`: {ours}"
                for english, ours in _MISFITS_RU.items()
            },
            "the argument `{name}` of `{callee}` does not fit: {reason}": "аргумент `{name}` у `{callee}` не подходит: {reason}",
            "the arguments of `{callee}` do not fit: {reason}": "аргументы `{callee}` не подходят: {reason}",
            "did you mean {names}?": "может быть, {names}?",
            "the tools are {names}": "есть инструменты {names}",
            "leave it out": "убери его",
            "the answer is not JSON, {error}": "ответ не JSON, {error}",
            "a key in double quotes is expected at character {number}": "на месте {number} нужен ключ в двойных кавычках",
            "a ':' is expected after a key at character {number}": "на месте {number}, после ключа, нужно двоеточие",
            "a ',' or a closing bracket is expected at character {number}": "на месте {number} нужна запятая или скобка",
            "a ',' or {closing} is expected at character {number}": "на месте {number} нужно ',' или {closing}",
            "text goes on after the value at character {number}": "на месте {number} текст идёт дальше, за концом значения",
            "a string is not closed or has a bad escape at character {number}": "на месте {number} не закрыта или неверна строка",
            "a value is expected at character {number}": "на месте {number} нужно значение",
            "the text ends before its value does at character {number}": "текст кончается раньше времени, на месте {number}",
            "nothing is said and no tool is used: do one of the two": (
                "ничего не сказано и ни один инструмент не вызван: сделай одно из двух"
            ),
        },
    ),
}
"""By language, as `prompts` of a project names it."""
NAMES: Final = tuple(each.name for each in fields(Sentences) if each.name != "faults")
