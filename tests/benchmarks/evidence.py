"""Which requests do small models answer rightly? `.ci/models peers`, `forms`, `tune` and `page` call this.

`python tests/benchmarks/evidence.py FOLDER peers [ITEMS] [TASK…]` asks the model in a folder about the tasks of
`tasks.py`, each case in each arm: by a program, by a request written by hand, with the schema in the prompt, and in the JSON mode
of instructor.
`forms` asks in other forms of our own; `tune` searches for the best form of each task and tests it on 100 other cases.
Figures are added to `evidence.json`, and what it has already is not asked again; `page` writes `evidence.md` from it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
from models import server
from openai import AsyncOpenAI
from tasks import TASKS, TUNED, Case, Task

import instrc
from instrc.compiler.tuned import PromptForm  # what is measured
from instrc.testing.evaluation.dataset import DataSet, EvalCase  # cases without a file
from instrc.testing.evaluation.runner import Budget, EvalOptions
from instrc.testing.evaluation.statistics import compare, holm, rate  # those of `eval`
from instrc.testing.evaluation.tune import Subject, described, tuned

HERE = Path(__file__).parent
ITEMS = 20
"""Cases of a task."""
CASES = 450
"""Cases of a task that is tuned, if it has so many: 50 are for the search, and the others are held back."""
SEARCH = 400
"""Requests of a search."""
SETTINGS: dict[str, Any] = {"temperature": 0, "seed": 7, "max_tokens": 120, "attempts": 1}
FORMS = {"words = all": {"words": "all"}, "words = task": {"words": "task"}, "words = none": {"words": "none"}}
THOUGHTS = "with thoughts before"
OURS = "instrc"
PEERS = {
    OURS: "a program of one step with its default settings",
    "by hand": "the task as the system message, the input as it is, the schema as `response_format`",
    "schema in prompt": "the same, with the schema as JSON below the task",
    "JSON mode": "the first request of instructor 1.17 in its JSON mode: `json_object`, its text and the schema in the prompt; "
    "instructor itself asks again, which is not measured here",
}
Answer = tuple[float, bool, int, int]
"""The share of its values that are right, and whether it satisfies the schema; tokens read and written."""
Ask = Callable[[str, Task, Case], Awaitable[Answer]]


def program(task: Task, form: str = OURS) -> str:
    """Return a task as a program of one step."""
    keys = task.schema["properties"].items()
    said = {key: {**part, "x-wordings": [*task.keys[key]]} if key in task.keys else part for key, part in keys}
    schema = {**task.schema, "properties": said}
    if form == THOUGHTS:
        thought = {"type": "string", "maxLength": 80, "description": "What speaks for one or the other answer."}
        schema = {**schema, "properties": {"_considerations": thought, **schema["properties"]}}
        schema["required"] = [*schema["properties"]]
    return f"@{json.dumps({**schema, 'x-wordings': [*task.wordings]}, ensure_ascii=False)}"


def score(value: Any, expected: Any) -> float:
    """Return the share of the expected values that are there; case and blanks around texts count for nothing."""
    known = dict(values_of(value))
    right = [known.get(place) == part for place, part in values_of(expected)]
    return float(sum(right) / len(right))


def values_of(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values inside a value, by place."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from values_of(part, f"{place}/{key}")
    else:
        yield place, value.strip().lower() if isinstance(value, str) else value


async def ours(arm: str, task: Task, case: Case) -> Answer:
    """Ask by a program."""
    seen: list[Any] = []
    settings = {**SETTINGS, **FORMS.get(arm, {})}
    app = instrc.App(model="llamacpp:model", settings=settings, requests=1, watch=seen.append)
    run = await app.run(program(task, arm), case[0])
    usage: dict[str, int] = next((event["usage"] for event in seen if event["event"] == "answered"), {})
    accepted = run.status == "done"
    return score(run.value, case[1]) if accepted else 0.0, accepted, usage.get("input_tokens", 0), usage.get("output_tokens", 0)


async def peer(arm: str, task: Task, case: Case) -> Answer:
    """Ask as others do, by the library of OpenAI."""
    said, shown = task.schema["description"], task.schema
    form: Any = {"type": "json_schema", "json_schema": {"name": task.name, "schema": shown, "strict": True}}
    if arm == "schema in prompt":
        said += f"\n\nAnswer with JSON that satisfies this schema:\n{json.dumps(shown, ensure_ascii=False)}"
    if arm == "JSON mode":
        form = {"type": "json_object"}
        said += "\n\n" + textwrap.dedent(
            f"""
            As a genius expert, your task is to understand the content and provide
            the parsed objects in json that match the following json_schema:\n

            {json.dumps(shown, indent=2, ensure_ascii=False)}

            Make sure to return an instance of the JSON, not the schema itself
            """
        )
    async with AsyncOpenAI(base_url=os.environ["LLAMACPP_BASE_URL"], api_key="-", timeout=600) as client:
        reply = await client.chat.completions.create(
            model="model",
            messages=[{"role": "system", "content": said}, {"role": "user", "content": case[0]}],
            response_format=form,
            temperature=0,
            seed=7,
            max_tokens=SETTINGS["max_tokens"],
        )
    value, valid = None, False
    with suppress(ValueError):
        value = json.loads(reply.choices[0].message.content or "")
        valid = jsonschema.Draft202012Validator(shown).is_valid(value)
    assert reply.usage is not None
    return score(value, case[1]) if valid else 0.0, valid, reply.usage.prompt_tokens, reply.usage.completion_tokens


def figures(model: str = "") -> dict[str, Any]:
    """Return the figures that there are, by model, then arms, tuning and so on."""
    file = HERE / "evidence.json"
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if model:
        known.setdefault(model, {"answers": {}, "tune": {}})
    return known


def keep(model: str, kind: str, task: str, entries: dict[str, Any]) -> None:
    """Add figures of a task."""
    known = figures(model)
    known[model][kind].setdefault(task, {}).update(entries)
    lines = [
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(
            f"    {json.dumps(part)}: {{\n"
            + ",\n".join(f"      {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in tasks.items())
            + "\n    }"
            for part, tasks in parts.items()
        )
        + "\n  }"
        for name, parts in sorted(known.items())
    ]
    (HERE / "evidence.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def ask(folder: Path, model: str, arms: dict[str, Ask], count: int, tasks: list[Task]) -> None:
    """Ask about each case in each arm, all arms of a case at the same time, and keep the answers of each task."""

    async def all_of(case: Case, task: Task, missing: list[str]) -> list[Answer]:
        return await asyncio.gather(*(arms[arm](arm, task, case) for arm in missing))

    with server(folder, len(arms)) as os.environ["LLAMACPP_BASE_URL"]:
        for task in tasks:
            known = {arm: figures(model)[model]["answers"].get(task.name, {}).get(arm, packed([])) for arm in arms}
            cases = task.cases(count, folder) if any(len(each["right"]) < count for each in known.values()) else []
            for place, case in enumerate(cases):
                missing = [arm for arm, each in known.items() if len(each["right"]) == place]
                for arm, answer in zip(missing, asyncio.run(all_of(case, task, missing)), strict=True):
                    known[arm] = {name: known[arm][name] + part for name, part in packed([answer]).items()}
            keep(model, "answers", task.name, known)
            print(task.name, {arm: sum(each["right"]) for arm, each in known.items()}, file=sys.stderr, flush=True)


def packed(answers: list[Answer]) -> dict[str, Any]:
    """Return answers as a line of JSON keeps them."""
    valid = "".join(str(int(answer[1])) for answer in answers)
    return {
        "right": [round(each[0], 3) for each in answers],
        "valid": valid,
        "read": sum(each[2] for each in answers),
        "written": sum(each[3] for each in answers),
    }


def tune(folder: Path, model: str, requests: int, tasks: list[Task]) -> None:
    """Search for the best form of each task, and keep what the cases show that were held back."""
    work = folder / "evidence"
    work.mkdir(exist_ok=True)
    tasks = sorted(tasks, key=lambda task: len(str(task.schema)))  # short ones first: a lane that is ended has most tasks
    with server(folder, 4) as os.environ["LLAMACPP_BASE_URL"]:
        for task in tasks:
            if task.name in figures(model)[model]["tune"]:
                continue
            file = work / f"{task.name}.aug"
            file.write_text(program(task), encoding="utf-8")
            cases = [
                EvalCase(id=str(place), input=text, expected=expected, expects=True)
                for place, (text, expected) in enumerate(task.cases(CASES, folder))
            ]
            options = EvalOptions(
                "llamacpp:model", settings=SETTINGS, budget=Budget(requests), folder=work / "runs", concurrency=4
            )
            subject = Subject(str(file), DataSet(cases=tuple(cases)), options, words="keys")
            found = asyncio.run(tuned(subject, PromptForm(), lambda line: print(" ", line, file=sys.stderr, flush=True)))
            paired = None if found.comparison is None else found.comparison.overall.paired
            keep(
                model,
                "tune",
                task.name,
                {
                    "cases": len(cases),
                    "found": described(found.best),
                    "written": found.better,
                    "requests": sum(len(each.results) for each in subject.results.values()) + 2 * (paired.cases if paired else 0),
                    "stopped": found.stopped,
                    "warnings": found.warnings,
                    "held": None if paired is None else [paired.cases, paired.before, paired.after, *paired.interval, paired.p],
                },
            )


def page() -> str:
    """Return the page of evidence."""
    return "\n".join([*HEAD, *(line for model, parts in figures().items() for line in section(model, parts)), ""])


HEAD = [
    "# Evidence: which requests small models answer rightly",
    "",
    "`.ci/models page` writes this page from `evidence.json`; `peers`, `forms` and `tune` add to it",
    "(`MODEL=qwen2.5` asks the second model).",
    "",
    "Tasks and cases (`tasks.py`) are made by rule with a fixed seed, sentences in twenty languages, and rated tweets.",
    "The score of an answer is the share of its values that are right, case and outer blanks aside; 0 if it breaks the schema.",
    "Temperature 0, one request for each case, 120 tokens at most. Differences are paired, case by case:",
    "intervals of 95 %, and p adjusted by Holm's rule over the comparisons of a table.",
    "A difference in one task of 20 cases is shown only if it is about 40 points.",
    "Two small models on one server that enforces the schema say nothing of larger models.",
    "",
    "The arms:",
    "",
    *(f"* {arm}: {what}" for arm, what in PEERS.items()),
    "* words = …: our message with [other words](../../examples/guides/prompts.md#what-a-message-says-of-the-schema) than `keys`",
    f"* {THOUGHTS}: a text `_considerations` of 80 characters in front, as `Introspect_Mixin` adds one",
]


def section(model: str, parts: dict[str, Any]) -> Iterator[str]:
    """Yield the tables of a model."""
    answers = parts["answers"]
    arms = [arm for arm in [*PEERS, *FORMS, THOUGHTS] if any(arm in known for known in answers.values())]
    yield from ["", f"## {model}", "", f"| task (cases) | {' | '.join(arms)} |", "|---" * (len(arms) + 1) + "|"]
    for task, known in answers.items():
        shares = (f"{rate(known[arm]['right']).value:.2f}" if arm in known else "–" for arm in arms)
        yield f"| {task} ({len(known[OURS]['right'])}) | {' | '.join(shares)} |"
    yield from ["", "All tasks together, and beside our own request on the same cases:", ""]
    yield "| arm | cases | score | satisfies the schema | tokens read | written | difference to ours | p, Holm |"
    yield "|---" * 8 + "|"
    pairs = {arm: compare(scores(answers, arm, OURS), scores(answers, OURS, arm)) for arm in arms if arm != OURS}
    adjusted = holm({arm: pair.p for arm, pair in pairs.items()})
    for arm in arms:
        known = [answers[task][arm] for task in answers if arm in answers[task]]
        right, count = rate(scores(answers, arm, arm)), sum(len(each["right"]) for each in known)
        cells = [str(count), f"{right.value:.2f} ({right.interval.low:.2f}–{right.interval.high:.2f})"]
        cells.append(f"{sum(each['valid'].count('1') for each in known) / count:.2f}")
        cells += [f"{mean_of(answers, arm, name):.0f}" for name in ("read", "written")]
        cells += ["", ""] if arm == OURS else [shown(pairs[arm]), f"{adjusted[arm]:.2g}"]
        yield f"| {arm} | {' | '.join(cells)} |"
    yield from ["", *lost(answers, [arm for arm in arms if arm in PEERS and arm != OURS])]
    if parts["tune"]:
        yield from tuning(parts["tune"], parts.get("tune first", {}))


def scores(answers: dict[str, Any], beside: str, arm: str) -> list[float]:
    """Return the scores of an arm over all cases that another arm has, too."""
    both = [known for known in answers.values() if beside in known and arm in known]
    return [score for known in both for score, _ in zip(known[arm]["right"], known[beside]["right"], strict=False)]


def shown(pair: Any, places: int = 2) -> str:
    """Return a difference with its interval."""
    return "{:+.{}f} ({:+.{}f} to {:+.{}f})".format(
        *(part for end in (pair.difference, *pair.interval) for part in (end, places))
    )


def mean_of(answers: dict[str, Any], arm: str, name: str) -> float:
    """Return the tokens a request of an arm reads, or its answer has, over the tasks that it was asked."""
    known = [each[arm] for each in answers.values() if arm in each]
    return float(sum(each[name] for each in known) / sum(len(each["right"]) for each in known))


def lost(answers: dict[str, Any], arms: list[str]) -> Iterator[str]:
    """Yield where others are ahead of us."""
    pairs = {
        (task, arm): compare(scores({task: known}, arm, OURS), scores({task: known}, OURS, arm))
        for task, known in answers.items()
        for arm in arms
        if arm in known
    }
    ahead = sorted((pair for pair in pairs if pairs[pair].difference > 0), key=lambda pair: -pairs[pair].difference)
    adjusted = holm({f"{task} {arm}": pair.p for (task, arm), pair in pairs.items()})
    means = {arm: mean_of(answers, arm, "read") for arm in [OURS, *arms]}
    fewer = [arm for arm in arms if means[arm] < means[OURS]]
    yield from ["Where we lose:" if ahead or fewer else "We lose nowhere.", ""]
    yield from (f"* tokens: {arm} reads {means[arm]:.0f} a request, and ours {means[OURS]:.0f}." for arm in fewer)
    for title, by_chance in {"ahead, as these cases show": False, "ahead, which may be chance": True}.items():
        named = [pair for pair in ahead if (adjusted[" ".join(pair)] > 0.05) == by_chance]
        if named:
            yield f"* {title}: {'; '.join(f'{task}, {arm}, {shown(pairs[task, arm])}' for task, arm in named)}."


def tuning(tasks: dict[str, Any], earlier: dict[str, Any]) -> Iterator[str]:
    """Yield what `instrc tune` has found."""
    yield from [
        "",
        "What `instrc tune` finds (50 cases to search, at most 400 others held back; wordings by the author of the tasks).",
        'Examples are part of the text of a task: where both examples and a wording won, both are "another text".',
        "A search takes 400 requests at most; two interrupted ones of the smaller model took more: each part had 400 then.",
        "",
    ]
    yield "| task | cases | requests, test included | found | held cases | before | after | difference | p | written |"
    yield "|---" * 10 + "|"
    yield from (f"| {' | '.join(row(task, each))} |" for task, each in tasks.items())
    missing = ", ".join(task.name for task in TUNED if task.name not in tasks)
    yield from ["", f"Not searched yet: {missing}." if missing else "All tasks were searched."]
    gains = [each["held"][2] - each["held"][1] if each["written"] else 0.0 for each in tasks.values()]
    mean = shown(compare([0.0] * len(gains), gains), 3)
    yield from ["", f"Mean gain over {len(gains)} tasks, those left as they are counted as 0: {mean}.", ""]
    yield from (f"* {task}: {warning}" for task, each in tasks.items() for warning in each["warnings"])
    if earlier:
        yield from [
            "",
            "These were first searched on 152 cases, to save time; that the second search counts was decided before it:",
            "",
        ]
        for task, each in earlier.items():
            _, _, _, found, _, before, after, difference, p, _ = row(task, each)
            yield f"* {task}: {found}{f', {before} → {after}, {difference}, p = {p}' if each['held'] else ''}"


def row(task: str, each: dict[str, Any]) -> list[str]:
    """Return the cells of a search."""
    asked = f"{each['requests']}{' (ended early)' if each['stopped'] else ''}"
    tested = ["–"] * 5
    if each["held"]:
        held, before, after, low, high, p = each["held"]
        tested = [str(held), f"{before:.2f}", f"{after:.2f}", f"{after - before:+.2f} ({low:+.2f} to {high:+.2f})", f"{p:.2g}"]
    return [task, str(each["cases"]), asked, each["found"], *tested, "yes" if each["written"] else "no"]


def main(folder: Path, kind: str, words: list[str]) -> None:
    """Carry out a command."""
    count = next((int(word) for word in words if word.isdigit()), None)
    tasks = [task for task in TASKS if task.name in words] or (TUNED if kind == "tune" else TASKS[:8])
    model = "Qwen2.5-Coder-0.5B-Instruct" if "qwen" in folder.name else "SmolLM2-135M-Instruct"
    if kind == "peers":
        ask(folder, model, {arm: ours if arm == OURS else peer for arm in PEERS}, count or ITEMS, tasks)
    elif kind == "forms":
        ask(folder, model, dict.fromkeys([*FORMS, THOUGHTS], ours), count or ITEMS, tasks)
    elif kind == "tune":
        tune(folder, model, count or SEARCH, tasks)
    (HERE / "evidence.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
