"""The sentences that models read: one table for each language; a project may replace any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final

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
    """The sentences that a model reads beside data and schemas; `{…}` in a sentence is a placeholder."""

    hint: str = "Use {paths}."
    """In the description of a step: what it reads."""
    may_be_null: str = "may be null"
    """In a hint, of a value that may be missing."""
    labelled: str = "as {labels}"
    """In a hint, behind a value that the step is given under another name."""
    left_null: str = "Leave it null: it is given later by somebody else."
    """In the description of what the model does not give."""
    taken: str = "The output of another task, or a part of it."
    """In the schema of a plan: what an argument of a task may be instead of a value."""
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
    """`{what}` where a program has one step."""
    join: str = " and "
    """Before the last of several steps."""
    shape: str = "The JSON has these keys, in this order:"
    """Before the schema in words, where the model does not see the schema itself; then what these words are."""
    alternative: str = "(alternative {number})"
    """Before the keys of each object that may stand in a place."""
    as_above: str = "as above"
    """Of a key that means the same in the alternative before."""
    examples: str = "Examples:"
    """In the description of a step, where `instrc tune` has chosen some."""
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
    """From here on in descriptions, where a provider has no keyword for what a schema says."""
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
    """Of a plan whose arguments are names and texts."""
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
    turn: str = "Say something to the person, or use a tool and see what it gives."
    """In a conversation."""
    say: str = "Your words to the person; null if a tool is used without words."
    use: str = "The tool to use, or null."
    unfit: str = "the model gave no answer that fits, at `{place}`: {reason}"
    many_tools: str = "the model has used {number} tools, which is the most in one turn: say something to go on"
    cut: str = "the answer was cut off at a limit of length: be shorter"
    looped: str = "the answer repeated itself until it was cut off: write each thing once"
    empty: str = "nothing was filled in: answer by the tool"
    twice: str = "the tool was called more than once: call it once"
    faults: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What is wrong with a value, by keyword of JSON Schema (`false` for what may not be there); else it is said in English.

    `{value}` is the value, `{wanted}` what the keyword says, `{names}` the keys that are missing or too many.
    What is wrong with a plan stands under its English sentence, whose `{…}` it repeats.
    """

    notes: Mapping[str, str] = field(default_factory=lambda: _NOTES, hash=False)
    """What a keyword of JSON Schema asks for, where a provider has no such keyword; `no KEYWORD` where its value is `false`."""

    def changed(self, said: Mapping[str, str]) -> Sentences:
        """Return the table with other sentences in place of some."""
        texts: dict[str, str] = dict(said)
        return replace(self, **texts) if said else self  # type: ignore[arg-type]  # `faults` and `notes` are no names of sentences

    def fault_of(self, name: str, sentence: str) -> str | None:
        """Return why a sentence cannot be put in the place of another one, or `None` if it can."""
        needs = set(re.findall(_PLACEHOLDER, getattr(self, name)))
        has = set(re.findall(_PLACEHOLDER, sentence))
        if missing := sorted(needs - has):
            return f"it does not say `{missing[0]}`, for which something is put in its place"
        return f"nothing is put in the place of `{min(has - needs)}`" if has - needs else None


def filled(sentence: str, **values: str) -> str:
    """Return a sentence with its placeholders filled; braces in the values are not placeholders."""
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), sentence)


def translated(message: str, faults: Mapping[str, str]) -> str:
    """Return a message in the language of its English sentence's translation, or unchanged. A hint follows `; `."""
    head, mark, hint = message.rpartition("; ")
    if mark and (said := _matched(hint, faults)) is not None:
        return f"{translated(head, faults)}; {said}"
    return _matched(message, faults) or message


_WHY: Final = {"reason", "error"}
"""Places of a sentence in which another one stands."""


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
    "{value} is valid under more than one of the given schemas": "{value}, подходит больше одного варианта",
    "{value} is less than or equal to the minimum of {wanted}": "{value}, а нужно больше {wanted}",
    "{value} is greater than or equal to the maximum of {wanted}": "{value}, а нужно меньше {wanted}",
    "{value} is not a multiple of {wanted}": "{value}, это не кратно {wanted}",
    "{value} should be non-empty": "{value}, а нужно непустое",
    "{value} is expected to be empty": "{value}, а нужно пустое",
    "{value} has non-unique elements": "{value}, есть одинаковые элементы",
    "{value} has more items than are described": "{value}, элементов больше, чем описано",
    "{value} does not have enough properties": "{value}, слишком мало ключей",
    "{value} has too many properties": "{value}, слишком много ключей",
    "{value} does not contain items matching the given schema": "{value}, ни один элемент не подходит под описание",
    "{value} should not be valid under {wanted}": "{value}, это запрещает {wanted}",
    "{value} is not allowed here": "{value}, здесь ничего не может быть",
    "Additional properties are not allowed ({names} was unexpected)": "лишний ключ {names}",
    "Additional properties are not allowed ({names} were unexpected)": "лишние ключи {names}",
    "Unevaluated properties are not allowed ({names} was unexpected)": "лишний ключ {names}",
    "Unevaluated properties are not allowed ({names} were unexpected)": "лишние ключи {names}",
}
"""Why a value does not fit; only where we say of what, since a check of somebody else may say the same of something else."""
_OF_MISFITS_RU: Final = {
    "the argument `{name}` of `{callee}` does not fit: ": "аргумент `{name}` у `{callee}`: ",
    "the arguments of `{callee}` do not fit: ": "аргументы `{callee}`: ",
    "`{step}` gave what does not fit, at `{place}`: ": "`{step}` даёт то, что не подходит, в `{place}`: ",
    "`{step}` is given what does not fit, at `{place}`: ": "`{step}` получает то, что не подходит, в `{place}`: ",
    "at `{place}`: ": "в `{place}`: ",
}
SENTENCES: Mapping[str, Sentences] = {
    "en": EN,
    "ru": Sentences(
        hint="Опирайся на {paths}.",
        may_be_null="может быть null",
        labelled="как {labels}",
        left_null="Оставь null: это позже заполнит кто-то другой.",
        taken="Результат другой задачи или его часть.",
        taken_for_each="Список из результата другой задачи: эта задача повторяется для каждого элемента.",
        known="Что уже известно, это данные:",
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
        examples="Примеры:",
        optional="ключа может не быть",
        other_keys="любой другой ключ",
        defined="{name}: это",
        one_of="одно из {values}",
        list_of="список: {items}",
        always="всегда {value}",
        either=" или ",
        anything="что угодно",
        nothing="ничего",
        any_json="Любое значение JSON, записанное текстом JSON.",
        matching_value="Любое значение JSON, которое подходит под {schema}.",
        matching_text="Текст JSON, который подходит под {schema}.",
        json_texts="Одно из: {kinds}; что не строка, то записывается текстом JSON.",
        if_chosen="Если выбрано {label}.",
        chosen="Какое из других свойств дано.",
        the_value="Значение.",
        null_word='null: ключа нет; "{word}": значение равно null.',
        more_keys="Другие свойства, каждое как ключ и значение.",
        key_list="Объект, записанный списком ключей и значений.",
        always_empty="Всегда пусто.",
        plan_tools="Инструмент этой задачи. Аргументы каждого:",
        plan_argument="Имя аргумента.",
        plan_is=(
            "`value`: текст и есть значение. `from`: значение берётся из результата другой задачи. "
            "`each`: эта задача повторяется для каждого элемента того результата."
        ),
        plan_text=(
            "Значение-текст как есть, любое другое как JSON. После `from` и `each`: id другой задачи, "
            "за точкой путь внутри её результата: `t1` или `t1.items.0.name`."
        ),
        arguments="Аргументы: {taken}.",
        no_arguments="нет",
        any_arguments="любые",
        turn="Скажи что-нибудь человеку или вызови инструмент и посмотри, что он даст.",
        say="Твои слова человеку; null, если инструмент вызван без слов.",
        use="Инструмент, который нужно вызвать, или null.",
        unfit="модель не дала подходящего ответа, в `{place}`: {reason}",
        many_tools="модель вызвала {number} инструментов, больше за один ход нельзя: скажи что-нибудь, чтобы продолжить",
        cut="ответ оборвался: он слишком длинный, пиши короче",
        looped="ответ повторял одно и то же, пока не оборвался: пиши всё один раз",
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
            "minContains": "подходящих элементов слишком мало, нужно не меньше {wanted}",
            "maxContains": "подходящих элементов слишком много, нужно не больше {wanted}",
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
            "`{reference}` gives something else": "`{reference}` даёт другое",
            "`{reference}` is not a list": "`{reference}`: это не список",
            "`{text}` is not written like `ID` or `ID.path`": "`{text}` нужно писать как `ID` или `ID.путь`",
            **{f"{of}{english}": f"{at}{ours}" for of, at in _OF_MISFITS_RU.items() for english, ours in _MISFITS_RU.items()},
            "the argument `{name}` of `{callee}` does not fit: {reason}": "аргумент `{name}` у `{callee}` не подходит: {reason}",
            "the arguments of `{callee}` do not fit: {reason}": "аргументы `{callee}` не подходят: {reason}",
            "a task needs a text as its `{name}`": "задаче нужен текст `{name}`",
            "`{id}` is not an id: it begins with a letter, up to 31 letters, digits and `_` follow": (
                "`{id}`: это не id, он начинается с буквы, за ней не больше 31 буквы, цифры или `_`"
            ),
            'an argument is an object with the texts "name", "is" and "text"': (
                'аргумент: это объект с текстами "name", "is" и "text"'
            ),
            '"is" is "value", "from" or "each"': '"is": это "value", "from" или "each"',
            "this plan is not JSON, or too large or too deep to be a plan": "этот план не JSON, слишком велик или слишком глубок",
            "at `{place}`: {reason}, and {number} more": "в `{place}`: {reason}, и ещё {number}",
            "at `{place}`: {reason}": "в `{place}`: {reason}",
            "{wanted} is required beside {name}": "рядом с {name} нужен {wanted}",
            "it waits for `{task}`, which failed": "она ждёт `{task}`, а та не удалась",
            "it waits for `{task}`, which was skipped": "она ждёт `{task}`, а та пропущена",
            "a task has a limit of {limit} copies, and there are {number}": "у задачи не больше {limit} копий, а здесь {number}",
            "`{reference}` is not a list, so there is nothing for each element of which `{name}` could be given": (
                "`{reference}`: это не список, поэтому нет элементов, которые можно дать как `{name}`"
            ),
            "`{step}` was refused": "`{step}`: отказано",
            "`{step}` was not done within {span}": "`{step}`: не сделано за {span}",
            "`{step}` took too long": "`{step}`: слишком долго",
            "the model took too long": "модель отвечает слишком долго",
            "the model took longer than {time} s": "модель не ответила за {time} с",
            "the answer was not accepted after {number} attempts": "ответ не принят после {number} попыток",
            "the run may spend {limit} requests on models, and has spent {used}": (
                "на модели можно {limit} запросов, а потрачено {used}"
            ),
            "the run may spend 1 request on models, and has spent {used}": "на модели можно 1 запрос, а потрачено {used}",
            "the run may spend 1 token on models, and has spent {used}": "на модели можно 1 токен, а потрачено {used}",
            "the run may spend {limit} tokens on models, and has spent {used}": (
                "на модели можно {limit} токенов, а потрачено {used}"
            ),
            "`{name}` has a limit of {limit} elements, and there are {number}": (
                "у `{name}` не больше {limit} элементов, а здесь {number}"
            ),
            "there is nothing to choose from: `{path}` is not a list of texts or numbers, or empty": (
                "не из чего выбирать: `{path}` пуст или это не список текстов или чисел"
            ),
            "`{step}` gave what is not JSON, {error}": "`{step}` даёт не JSON, {error}",
            "no activity is registered as `{name}`": "действия `{name}` нет",
            "no answer from {host} ({why})": "нет ответа от {host} ({why})",
            "the call needs `{path}`, which it is not given": "для вызова нужен `{path}`, а его нет",
            "did you mean {names}?": "может быть, {names}?",
            "the tools are {names}": "есть инструменты {names}",
            "leave it out": "убери его",
            "it has {names}": "есть {names}",
            "the arguments are not JSON: {error}": "аргументы не JSON: {error}",
            "the answer is not JSON: {error}": "ответ не JSON: {error}",
            "no tool is called {name}": "инструмента {name} нет",
            "it is not said which of the tools is called": "не сказано, какой инструмент вызван",
            "there is {names}": "есть {names}",
            "there are {names}": "есть {names}",
            "JSON has no number {number}": "в JSON нет числа {number}",
            "it holds half of a surrogate pair, which no JSON can hold": "внутри половина суррогатной пары, в JSON её не бывает",
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
        notes={
            "minimum": "Не меньше {value}.",
            "maximum": "Не больше {value}.",
            "exclusiveMinimum": "Больше {value}.",
            "exclusiveMaximum": "Меньше {value}.",
            "multipleOf": "Кратно {value}.",
            "minLength": "Знаков не меньше {value}.",
            "maxLength": "Знаков не больше {value}.",
            "pattern": "Подходит под регулярное выражение {value}.",
            "format": "Формат: {value}.",
            "minItems": "Элементов не меньше {value}.",
            "maxItems": "Элементов не больше {value}.",
            "uniqueItems": "Все элементы разные.",
            "minProperties": "Ключей не меньше {value}.",
            "maxProperties": "Ключей не больше {value}.",
            "contains": "Среди элементов есть такие, что подходят под {value}.",
            "minContains": "Таких элементов не меньше {value}.",
            "maxContains": "Таких элементов не больше {value}.",
            "not": "Не должно подходить под {value}.",
            "if": "Зависит от того, подходит ли под {value}.",
            "then": "Если да, то подходит под {value}.",
            "else": "Если нет, то подходит под {value}.",
            "dependentRequired": "Ключи, которые требуют других: {value}.",
            "dependentSchemas": "Ключи, от которых зависит остальное: {value}.",
            "patternProperties": "Значения по виду ключей: {value}.",
            "propertyNames": "Ключи подходят под {value}.",
            "additionalProperties": "В других ключах {value}.",
            "no additionalProperties": "Других ключей нет.",
            "unevaluatedProperties": "В других ключах {value}.",
            "no unevaluatedProperties": "Других ключей нет.",
            "unevaluatedItems": "Другие элементы подходят под {value}.",
            "no unevaluatedItems": "Других элементов нет.",
            "items": "Остальные элементы подходят под {value}.",
            "no items": "Других элементов нет.",
            "const": "Всегда {value}.",
            "enum": "Одно из {value}.",
            "default": "По умолчанию: {value}.",
            "examples": "Примеры: {value}.",
            "contentEncoding": "Кодировка: {value}.",
            "contentMediaType": "Тип содержимого: {value}.",
            "contentSchema": "Раскодированное содержимое подходит под {value}.",
            "allOf": "И ещё подходит под все {value}.",
            "anyOf": "Подходит под одно из {value}.",
            "oneOf": "Подходит ровно под одно из {value}.",
        },
    ),
}
"""By language, as `prompts` of a project names it."""
NAMES: Final = tuple(each.name for each in fields(Sentences) if each.name not in {"faults", "notes"})
