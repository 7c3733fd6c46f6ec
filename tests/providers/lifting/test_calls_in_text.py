"""Calls that open models write as text are found where a server hands them through, and nowhere else."""

from __future__ import annotations

from time import process_time
from typing import Any

from every_case import every_case

from instrc import encode, lift, lower, lower_all, targets
from instrc.text.jsontext import dumps

WEATHER: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"enum": ["C", "F"]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TIME: Any = {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}
WRITING = ["jsonschema", "mistral", "smolagents", "ollama", "vllm"]
ONE = '{"name": "weather", "arguments": {"city": "Oslo", "days": 2}}'
OTHER = '{"name": "time", "arguments": {"zone": "CET"}}'
TAGS = f"<tool_call>{ONE}</tool_call><tool_call>{OTHER}</tool_call>"
BOTH = [{"city": "Oslo", "days": 2}, {"zone": "CET"}]

TEXTS: dict[str, str] = {
    "hermes": f"<tool_call>\n{ONE}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>",
    "hermes with text around": f"I will look.\n<tool_call>{ONE}</tool_call> and <tool_call>{OTHER}</tool_call>\nDone.",
    "hermes without an end": f"<tool_call>\n{ONE}\n</tool_call>\n<tool_call>\n{OTHER}",
    "hermes behind thoughts": f"<think>\nShall I write <tool_call>?\n</think>\n\n{TAGS}",
    "hermes behind thoughts of a template": f"So: two calls.\n</think>\n\n{TAGS}",
    "a list in one pair of tags": f"<tool_call>[{ONE}, {OTHER}]</tool_call>",
    "granite": f"<|tool_call|>[{ONE}, {OTHER}]",
    "arguments as a text": (
        '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\", \\"days\\": 2}"}</tool_call>'
        f"<tool_call>{OTHER}</tool_call>"
    ),
    "qwen coder": (
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n"
        "</tool_call>\n<tool_call>\n<function=time>\n<parameter=zone>\nCET\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
    "glm": (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key>\n"
        "<arg_value>2</arg_value>\n</tool_call>\n<tool_call>time\n<arg_key>zone</arg_key>\n<arg_value>CET</arg_value>"
        "\n</tool_call>"
    ),
    "minimax": (
        '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n<parameter name="days">2'
        '</parameter>\n</invoke>\n<invoke name="time">\n<parameter name="zone">CET</parameter>\n</invoke>\n</minimax:tool_call>'
    ),
    "llama functions": '<function=weather>{"city": "Oslo", "days": 2}</function><function=time>{"zone": "CET"}</function>',
    "llama python tag": (
        '<|python_tag|>{"name": "weather", "parameters": {"city": "Oslo", "days": 2}}; '
        '{"name": "time", "parameters": {"zone": "CET"}}'
    ),
    "llama bare": (
        '{"name": "weather", "parameters": {"city": "Oslo", "days": 2}}\n{"name": "time", "parameters": {"zone": "CET"}}'
    ),
    "llama in python": '[weather(city="Oslo", days=2), time(zone="CET")]',
    "mistral list": f"[TOOL_CALLS] [{ONE}, {OTHER}]",
    "mistral names": '[TOOL_CALLS]weather[ARGS]{"city": "Oslo", "days": 2}[TOOL_CALLS]time[ARGS]{"zone": "CET"}',
    "mistral names in a row": '[TOOL_CALLS]weather{"city": "Oslo", "days": 2}time{"zone": "CET"}',
    "deepseek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"
        '{"city": "Oslo", "days": 2}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>time<｜tool▁sep｜>{"zone": "CET"}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
        '{"city": "Oslo", "days": 2}<|tool_call_end|><|tool_call_begin|>functions.time:1'
        '<|tool_call_argument_begin|>{"zone": "CET"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "gpt-oss": (
        '<|channel|>analysis<|message|>First {"city": "Rome"}.<|end|><|start|>assistant'
        "<|channel|>commentary to=functions.weather "
        '<|constrain|>json<|message|>{"city": "Oslo", "days": 2}<|call|><|start|>assistant to=functions.time'
        "<|channel|>commentary json"
        '<|message|>{"zone": "CET"}<|call|>'
    ),
    "gpt-oss without a beginning": (
        ' to=functions.weather<|channel|>commentary json<|message|>{"city": "Oslo", "days": 2}<|call|>'
        '<|start|>assistant<|channel|>analysis to=functions.time <|constrain|>json<|message|>{"zone": "CET"}'
    ),
    "command": (
        "<|START_THINKING|>Two calls.<|END_THINKING|><|START_ACTION|>["
        '{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Oslo", "days": 2}}, '
        '{"tool_call_id": "1", "tool_name": "time", "parameters": {"zone": "CET"}}]<|END_ACTION|>'
    ),
    "deepseek elements": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Oslo'
        "</｜DSML｜parameter>\n"
        '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="time">\n'
        '<｜DSML｜parameter name="zone" string="true">CET</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
    ),
    "step": (
        '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="weather">'
        '<steptml:parameter name="city">'
        'Oslo</steptml:parameter><steptml:parameter name="days">2</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="time"><steptml:parameter name="zone">CET'
        "</steptml:parameter>"
        "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>"
    ),
    "gemma": (
        '<|tool_call>call:weather{city:<|"|>Oslo<|"|>,days:2}<tool_call|><|tool_call>call:time{zone:<|"|>CET<|"|>}<tool_call|>'
    ),
    "function gemma": (
        "<start_function_call>call:weather{city:<escape>Oslo<escape>,days:2}<end_function_call>"
        "<start_function_call>call:time{zone:<escape>CET<escape>}<end_function_call>"
    ),
    "gemma in a fence": '```tool_code\nprint(default_api.weather(city="Oslo", days=2))\nprint(default_api.time(zone="CET"))\n```',
    "olmo": '<function_calls>\nweather(city="Oslo", days=2)\ntime(zone="CET")\n</function_calls>',
    "lfm": '<|tool_call_start|>[weather(city="Oslo", days=2), time(zone="CET")]<|tool_call_end|>Checking.',
    "actions as objects": (
        '```json\n{"action": "weather", "action_input": {"city": "Oslo", "days": 2}}\n```\n'
        '```json\n{"action": "time", "action_input": {"zone": "CET"}}\n```'
    ),
    "one a line": 'weather(city="Oslo", days=2)\ntime(zone="CET")',
    "fences": f"First this:\n```json\n{ONE}\n```\nthen that:\n```tool_call\n{OTHER}\n```\n",
    "objects in the text": f"Action:\n{ONE}\nAction:\n{OTHER}<end_code>",
}


def chat(text: str, **more: Any) -> Any:
    """Return a message as vLLM sends one that it found no calls in."""
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": []}, "finish_reason": "stop"} | more]}


@every_case("form", TEXTS)
@every_case("target", WRITING)
def test_calls_in_a_text_are_calls(target: str, form: str) -> None:
    tools = lower_all([("weather", WEATHER), ("time", TIME)], target)
    for answer in (TEXTS[form], chat(TEXTS[form]), {"message": {"role": "assistant", "content": TEXTS[form]}, "done": True}):
        lifted = lift(answer, tools.map)
        assert lifted.ok, lifted
        assert lifted.values == BOTH
        assert [call.name for call in lifted.calls] == ["weather", "time"]


@every_case(("more", "calls"), [(0, 1), (1, 0)])
def test_calls_without_marks_are_searched_for_in_a_text_of_up_to_100_000_letters(more: int, calls: int) -> None:
    text = f"{'x' * (99_999 - len(ONE) + more)}\n{ONE}"
    assert len(lift({"role": "assistant", "content": text}, lower(WEATHER, "vllm", "weather").map).calls) == calls


@every_case(
    "form",
    set(TEXTS) - {"hermes behind thoughts", "hermes behind thoughts of a template", "gpt-oss", "gpt-oss without a beginning"},
)
@every_case(
    "around",
    [
        "<think>Hm.</think>\n<think>Maybe\n{}\n? No.</think>\nI see.",
        "I see. [THINK]Or\n{}\n[/THINK]",
        "No. <think>\n{}",
        'It has 5" more. <think>Is it\n{}\nNo.</think>',
    ],
)
def test_a_call_in_a_later_thought_is_none(form: str, around: str) -> None:
    lifted = lift(chat(around.format(TEXTS[form])), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert lifted.status == "empty", lifted


@every_case("mention", ["`<think>`", '"<think>"', "'[THINK]'"])
@every_case("form", ["hermes with text around", "qwen coder", "actions as objects", "objects in the text"])
def test_a_mark_of_thoughts_in_quotation_marks_begins_none(mention: str, form: str) -> None:
    lifted = lift(chat(f"I use {mention} no more.\n{TEXTS[form]}"), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert lifted.values == [{"city": "Oslo", "days": 2}, {"zone": "CET"}]


@every_case("city", ["<think>", "<think>Oslo</think>", "[THINK]"])
def test_a_value_may_speak_of_the_marks_of_thoughts(city: str) -> None:
    tools = lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map
    for form in ("hermes with text around", "qwen coder", "actions as objects", "objects in the text", "deepseek"):
        lifted = lift(chat(f"I look.\n{TEXTS[form].replace('Oslo', city)}"), tools)
        assert lifted.values == [{"city": city, "days": 2}, {"zone": "CET"}], form
        lifted = lift(chat(f"I look. <think>Oslo?</think>\n{TEXTS[form].replace('Oslo', city)}"), tools)
        assert lifted.values == [{"city": city, "days": 2}, {"zone": "CET"}], form


@every_case(
    "text",
    [
        f'<tool_call>{ONE}</tool_call><tool_call>{{"name": "time", "arguments": {{"zone": oops}}}}</tool_call>',
        f'[TOOL_CALLS][{ONE}, {{"name": "time", "arguments": {{"zone": oops}}}}]',
        f'<|tool_call|>{ONE} {{"name": "time", "arguments": {{"zone": oops}}}}',
    ],
)
def test_a_damaged_call_beside_others_is_not_dropped(text: str) -> None:
    lifted = lift(chat(text), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert (lifted.status, lifted.calls[-1].violations[0].keyword) == ("invalid", "json")


def test_an_example_in_a_fence_with_other_keys_is_no_call() -> None:
    tool = lower({"type": "object", "properties": {"zone": {"type": "string"}}}, "ollama", "time")
    assert lift(chat('I cannot. An example:\n```json\n{"x": 1}\n```\nMore?'), tool).status == "empty"
    assert lift(chat('Here:\n```json\n{"zone": "CET"}\n```\nMore?'), tool).values == [{"zone": "CET"}]


def test_what_stands_around_the_calls_is_text() -> None:
    lifted = lift(chat(TEXTS["hermes with text around"]), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert lifted.text == "I will look.\n and \nDone."
    assert lift(chat(TEXTS["hermes behind thoughts"]), lower(WEATHER, "vllm", "weather").map).text is None


@every_case("target", sorted(set(targets()) - set(WRITING)))
def test_a_provider_that_takes_calls_out_itself_is_not_read_twice(target: str) -> None:
    tools = lower_all([("weather", WEATHER), ("time", TIME)], target)
    answer = chat(f"Such a call looks like this: <tool_call>{ONE}</tool_call>")
    assert lift(answer, tools.map).status == "empty"


def test_calls_of_the_envelope_leave_the_text_alone() -> None:
    record = lower(WEATHER, "vllm", "weather").map
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome", "days": 1}'}}
    answer = {"role": "assistant", "content": f"<tool_call>{ONE}</tool_call>", "tool_calls": [call]}
    assert lift(answer, record).values == [{"city": "Rome", "days": 1}]


@every_case(
    "text",
    [
        "Write <tool_call> to call a tool, and </tool_call> at the end.",
        'The shape is {"name": "other", "arguments": {}} for every tool.',
        "[see(here)]",
        "[weather]",
        "Use weather(city, days).",
        "```python\nprint({'name': 'weather'})\n```",
        '<function>x</function> {" {" [TOOL_CALLS] none',
        "<think>\nIs it",
        "<|channel|>analysis<|message|>Is it",
        "<|channel|>final<|message|>It rains.<|return|>",
        "weather(city=name)",
        'weather("Oslo", 2)',
        'weather(**{"city": "Oslo", "days": 2})',
        'other(city="Oslo", days=2)',
        'Action: other\nAction Input: {"city": "Oslo", "days": 2}',
        "Action: weather\nAction Input: Oslo, for two days",
        "<function_calls>weather(city=1e999)</function_calls>",
        ">>> weather(city)\n{'city': 'Oslo'}",
        '<tool_call>{"name": 5, "arguments": {"city": "Oslo", "days": 2}}</tool_call>',
        '<tool_call>{"arguments": {"city": "Oslo", "days": 2}}</tool_call>',
    ],
)
def test_what_only_resembles_a_call_is_none(text: str) -> None:
    lifted = lift(chat(text), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert not lifted.calls
    assert not lifted.ok


@every_case(
    "text",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Os',
        "<tool_call>\n<function=weather>\n<parameter=city>\nOs",
        '[TOOL_CALLS]weather[ARGS]{"city": "Os',
        "<think>\nLet me see, the city",
        f'<tool_call>{ONE}</tool_call><tool_call>{{"name": "time", "argu',
    ],
)
def test_a_text_that_was_cut_off_is_said_to_be(text: str) -> None:
    tools = lower_all([("weather", WEATHER), ("time", TIME)], "vllm")
    assert lift(chat(text), tools.map).status == "cut"
    assert lift(text, tools.map).status == "cut"


def test_a_bare_text_that_ends_inside_of_its_second_call_is_cut_off() -> None:
    lifted = lift(f'{ONE}\n{{"name": "ti', lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert (lifted.status, [call.name for call in lifted.calls]) == ("cut", ["weather"])


@every_case(
    ("text", "said"),
    [
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It rains.<|return|>", "It rains."),
        (
            "<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>",
            "I will look.",
        ),
        ("[THINK]Hm.[/THINK]It rains.", "It rains."),
        ("<seed:think>Hm.</seed:think>It rains.", "It rains."),
        ("<|START_THINKING|>Hm.<|END_THINKING|>It rains.", "It rains."),
        ("◁think▷Hm.◁/think▷It rains.", "It rains."),
    ],
)
def test_thoughts_are_no_part_of_the_text(text: str, said: str) -> None:
    lifted = lift(chat(text), lower(WEATHER, "vllm", "weather").map)
    assert lifted.text == said
    assert lifted.status == "empty"


@every_case(
    "hostile",
    [
        "<|channel|>" + "a" * 200_000,
        "a" * 100_000 + "<|channel|>" + " " * 200_000,
        "<|start|>assistant" * 20_000,
        "<|tool_call>call:a{" + "b" * 200_000,
        "<|tool_call>call:a{" + "b " * 100_000,
        "[TOOL_CALLS]" + "a{}" * 5_000,
        "<|python_tag|>" + '{"name": "a", "arguments": {}}' * 3_000,
        "<function_calls>" + "[" * 50_000 + "</function_calls>",
        "Action: weather\n" * 20_000 + "\n" * 100_000,
    ],
)
def test_marks_without_end_cost_no_more_than_their_length(hostile: str) -> None:
    began = process_time()
    lift(chat(hostile), lower(WEATHER, "vllm", "weather").map)
    assert process_time() - began < 5


def test_a_tool_that_nobody_offered_is_told() -> None:
    lifted = lift(chat('<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>'), lower(WEATHER, "ollama", "weather").map)
    assert lifted.status == "invalid"
    assert lifted.call.name == "delete_all"
    assert lifted.invalid[0].keyword == "name"


@every_case("target", WRITING)
def test_the_value_of_a_single_tool_may_stand_in_a_fence(target: str) -> None:
    record = lower(WEATHER, target, "weather").map
    value = {"city": "Осло", "days": 3}
    text = f"Here you are:\n\n```json\n{dumps(encode(value, record))}\n```\n\nAnything else?"
    for answer in (text, chat(text)):
        lifted = lift(answer, record)
        assert lifted.ok, lifted
        assert lifted.value == value
        assert lifted.text == "Here you are:\n\n\n\nAnything else?"


@every_case("target", [name for name, each in targets().items() if not each.tool])
def test_a_structured_output_may_stand_in_a_fence_among_words(target: str) -> None:
    record = lower(WEATHER, target, "weather").map
    value = {"city": "Oslo", "days": 3}
    for shape in ("Here you are:\n\n```json\n{}\n```\n\nAnything else?", "Here you are:\n{}\n\nAnything else?"):
        text = shape.replace("{}", dumps(encode(value, record), indent=False))
        for answer in (text, chat(text)):
            lifted = lift(answer, record)
            assert lifted.ok, lifted
            assert lifted.value == value
            assert (lifted.text or "").startswith("Here you are:")


def test_what_stands_in_a_fence_and_is_no_value_of_ours_is_no_answer() -> None:
    record = lower(WEATHER, "openai-output", "weather").map
    assert lift(chat('A request:\n```json\n{"model": "gpt-5"}\n```\n'), record).status == "empty"
    assert lift(chat("A request:\n```json\n[1]\n```\n"), record).status == "empty"
    assert lift(chat('It was:\n```json\n{"city": "Os', finish_reason="length"), record).status == "cut"


def test_what_a_model_quotes_where_its_provider_takes_out_the_calls_is_no_call() -> None:
    record = lower(WEATHER, "openai", "weather").map
    assert lift(chat('You could ask:\n```json\n{"city": "Oslo", "days": 3}\n```\n'), record).status == "empty"


def test_a_fence_need_not_be_closed() -> None:
    record = lower(WEATHER, "vllm", "weather").map
    assert lift(chat('So:\n```json\n{"city": "Oslo", "days": 1}'), record).value == {"city": "Oslo", "days": 1}
    assert lift(chat('So:\n```json\n{"city": "Os', finish_reason="length"), record).status == "cut"


def test_values_between_tags_are_texts_until_the_schema_says_otherwise() -> None:
    schema = {
        "type": "object",
        "properties": {"zip": {"type": "string"}, "n": {"type": "number"}, "deep": {"type": "object"}, "on": {"type": "boolean"}},
    }
    text = (
        "<tool_call><function=find><parameter=zip>\n01234\n</parameter><parameter=n>1.5</parameter>"
        '<parameter=deep>\n{"a": ["\\n"]}\n</parameter><parameter=on>True</parameter></function></tool_call>'
    )
    lifted = lift(text, lower(schema, "vllm", "find").map)
    assert lifted.ok
    assert lifted.value == {"zip": "01234", "n": 1.5, "deep": {"a": ["\n"]}, "on": True}


NOW: Any = {"type": "object", "properties": {}}
HERE = '{"city": "Oslo", "days": 2}'
SLIPS: dict[str, str] = {
    "single quotes between tags": "<tool_call>{'name': 'weather', 'arguments': {'city': 'Oslo', 'days': 2}}</tool_call>",
    "a comma too many between tags": f'<tool_call>{{"name": "weather", "arguments": {HERE},}}</tool_call>',
    "a bracket too many between tags": f'<tool_call>{{"name": "weather", "arguments": {HERE}}}}}</tool_call>',
    "single quotes in a fence": "```json\n{'name': 'weather', 'arguments': {'city': 'Oslo', 'days': 2}}\n```",
    "a list of calls": f'[{{"name": "weather", "arguments": {HERE}}}]',
    "a list below its name": f'{{"tool_calls": [{{"name": "weather", "arguments": {HERE}}}]}}',
    "a list of functions below its name": f'{{"tool_calls": [{{"function": {{"name": "weather", "arguments": {HERE}}}}}]}}',
    "the name as the key": f'{{"weather": {HERE}}}',
    "a tool with its input": f'{{"tool": "weather", "input": {HERE}}}',
    "a tool with its arguments": f'{{"tool_name": "weather", "tool_args": {HERE}}}',
    "a function by its name": f'{{"function": "weather", "arguments": {HERE}}}',
    "a dictionary for all arguments": f"weather({HERE})",
    "code between tags": '<tool_code>weather(city="Oslo", days=2)</tool_code>',
    "a list without its closing mark": '<|tool_call_start|>[weather(city="Oslo", days=2)]',
}


@every_case("said", SLIPS)
def test_a_call_with_a_slip_is_found_in_a_text(said: str) -> None:
    for text in (SLIPS[said], f"{SLIPS[said]}\n"):
        lifted = lift(chat(text), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
        assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "weather", BOTH[0]), lifted
        assert not (lifted.text or "").strip()


WITHOUT_ARGUMENTS = [
    *(
        '<invoke name="now"></invoke>',
        '<invoke name="now"/>',
        '<invoke name="now" />',
        "<function=now></function>",
        "<function=now>{}",
    ),
    *("<tool_call>now</tool_call>", "<tool_call>\nnow\n</tool_call>", "<tool_call>\n<function=now>\n</function>\n</tool_call>"),
    *(
        "<tool_call>\n<function=now>\n</tool_call>",
        '<tool_call>{"name": "now"}</tool_call>',
        "[TOOL_CALLS]now{}",
        "[TOOL_CALLS]now[ARGS]{}",
    ),
    *("<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|><|tool_call_end|>", "<|tool_call>call:now{}<tool_call|>"),
    *("<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>", "now()", "[now()]"),
]
CUT_OFF = [
    *(
        '<invoke name="now">',
        '<invoke name="weather">\n<param',
        '<invoke name="weather"><parameter name="city">Oslo</parameter><',
    ),
    *('<invoke name="weather"><parameter name="city">Os', "<function=now>", "<tool_call>now", "<tool_call>\n<function=now>\n"),
    *("[TOOL_CALLS]now[ARGS]", "[TOOL_CALLS]weather{", "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>"),
    *(
        "<|start|>assistant<|channel|>commentary to=functions.now<|message|>",
        "<|tool_call>call:now{",
        '<tool_call>{"name": "now"',
    ),
    *("<tool_call>{'name': 'weather', 'arguments': {'city': 'Os", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Os"),
]


@every_case("text", WITHOUT_ARGUMENTS)
def test_a_call_without_arguments_is_whole_if_it_ends(text: str) -> None:
    lifted = lift(chat(text), lower_all([("weather", WEATHER), ("now", NOW)], "vllm").map)
    assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "now", {})


@every_case("text", CUT_OFF)
def test_a_call_that_does_not_end_is_cut_off(text: str) -> None:
    lifted = lift(chat(text), lower_all([("weather", WEATHER), ("now", NOW)], "vllm").map)
    assert lifted.status == "cut", lifted
