"""Do the words of a schema help a small model, and considerations before its answer? `.ci/models experiment` calls this.

`python tests/benchmarks/words_and_order.py FOLDER [ITEMS [ARM…]]` asks the model of `models.py` for the mood of tweets (400) that
people have rated: the data of VADER, from its source distribution in a package registry. Said before it was run: words help;
considerations before the answer do not help more than the same ones after it, which cannot change it.

`python tests/benchmarks/words_and_order.py FOLDER judge [ITEMS]` is `instrc eval` on so many tweets (60): by a judge that is
calibrated with what people say of as many answers, half of which are right; and of a change that does nothing, another seed.

`python tests/benchmarks/words_and_order.py FOLDER copied` is how many texts of answers are only what the schema says of them.
"""

from __future__ import annotations

import asyncio
import html
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from itertools import cycle
from pathlib import Path
from typing import Any

from applications import run_in_app
from models import server

import instrc
from instrc.testing.evaluation.statistics import compare, holm, rate  # what is measured
from instrc.text.jsonvalue import as_object

DATA = "vaderSentiment==3.3.2"
CLEAR = 1.5
"""How far from 0 the mean rating of a tweet lies, from -4 to 4, so that its label is beyond doubt."""
SETTINGS = {"temperature": 0, "seed": 7, "max_tokens": 150, "attempts": 2}
MOOD = 'mood: { enum: ["positive", "negative"], description: "How the writer feels." }'
WHY = '_considerations: { type: "string", maxLength: 80, description: "What speaks for one or the other." }'
ARMS: dict[str, tuple[str, str, str]] = {
    "without words": (MOOD, '"mood"', "none"),
    "task": (MOOD, '"mood"', "task"),
    "keys": (MOOD, '"mood"', "keys"),
    "with words": (MOOD, '"mood"', "all"),
    "considerations after": (f"{MOOD}, {WHY}", '"mood", "_considerations"', "all"),
    "considerations before": (f"{WHY}, {MOOD}", '"_considerations", "mood"', "all"),
}
COMPARED = [
    ("without words", "with words"),
    ("with words", "keys"),
    ("task", "keys"),
    ("with words", "considerations before"),
    ("considerations after", "considerations before"),
]


def labelled(folder: Path, count: int) -> list[tuple[str, str]]:
    """Return tweets and their moods, as many of each, drawn by a seed."""
    if not (files := list(folder.glob("vaderSentiment-*.tar.gz"))):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "vaderSentiment"]
        subprocess.run([*command, "--dest", str(folder), DATA], check=True)
        files = list(folder.glob("vaderSentiment-*.tar.gz"))
    with tarfile.open(files[0]) as outer:
        [inner] = [name for name in outer.getnames() if name.endswith("hutto_ICWSM_2014.tar.gz")]
        packed = outer.extractfile(inner)
        assert packed is not None
        with tarfile.open(fileobj=io.BytesIO(packed.read())) as data:
            text = data.extractfile("hutto_ICWSM_2014/tweets_GroundTruth.txt")
            assert text is not None
            rows = [line.split("\t") for line in text.read().decode(errors="replace").splitlines()]
    drawn = random.Random(7)  # noqa: S311  -- a drawing that everybody can repeat
    found: list[tuple[str, str]] = []
    for mood, sign in (("positive", 1), ("negative", -1)):
        clear = [(tweet, mood) for _, rating, tweet in rows if float(rating) * sign > CLEAR]
        found += drawn.sample(clear, count // 2)
    drawn.shuffle(found)
    return found


def program(arm: str) -> str:
    """Return the instruction of an arm."""
    properties, required, _ = ARMS[arm]
    head = 'title: "Mood", description: "Say what mood the tweet is in.", type: "object"'
    return f"@{{ {head}, properties: {{ {properties} }}, required: [{required}] }}"


async def score(arm: str, tweet: str, mood: str) -> float:
    """Return 1 if the model finds the mood, else 0; an answer that is not accepted is a failure."""
    settings = {**SETTINGS, "words": ARMS[arm][2]}
    run = await instrc.App(model="llamacpp:smollm2", settings=settings, requests=1).run(program(arm), tweet)
    return float(run.status == "done" and as_object(run.value).get("mood") == mood)


async def asked(arms: list[str], tweet: str, mood: str) -> list[float]:
    """Ask all arms about a tweet at the same time."""
    return await asyncio.gather(*(score(arm, html.unescape(tweet), mood) for arm in arms))


def main(folder: Path, count: int, arms: list[str]) -> None:
    """Ask about each tweet; print the shares and the comparisons."""
    scores: dict[str, list[float]] = {arm: [] for arm in arms}
    with server(folder, len(arms)) as os.environ["LLAMACPP_BASE_URL"]:
        for tweet, mood in labelled(folder, count):
            one = asyncio.run(asked(arms, tweet, mood))
            for arm, right in zip(arms, one, strict=True):
                scores[arm].append(right)
            print(*one, file=sys.stderr, flush=True)
    print("| arm | right | share | 95 % |\n|---|---|---|---|")
    for arm, found in scores.items():
        share = rate(found)
        interval = f"{share.interval.low:.2f}–{share.interval.high:.2f}"
        print(f"| {arm} | {sum(found):.0f} of {len(found)} | {share.value:.2f} | {interval} |")
    pairs = {
        f"{after}, not {before}": compare(scores[before], scores[after])
        for before, after in COMPARED
        if {before, after} <= scores.keys()
    }
    told = holm({name: each.p for name, each in pairs.items()})
    print("\n| compared | better | worse | difference | 95 % | p, Holm |\n|---|---|---|---|---|---|")
    for name, each in pairs.items():
        interval = f"{each.interval.low:+.2f} to {each.interval.high:+.2f}"
        print(f"| {name} | {each.better} | {each.worse} | {each.difference:+.2f} | {interval} | {told[name]:.3f} |")


JUDGE = {
    "title": "Judge",
    "description": "Say whether the answer names the mood of the tweet.",
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 60, "description": "What mood the tweet is in."},
        "pass": {"type": "boolean", "description": "Whether the answer says the same."},
    },
    "required": ["reason", "pass"],
}


def judge(folder: Path, count: int) -> None:
    """Evaluate on tweets by a judge, and compare with a change that does nothing; print both reports."""
    cases = [{"input": html.unescape(tweet), "expected": {"mood": mood}} for tweet, mood in labelled(folder, count * 2)]
    asked, judged = cases[:count], cases[count:]
    labels = [
        {"input": {"input": case["input"], "answer": said}, "expected": {"pass": said == case["expected"]}}
        for case, said in zip(judged, cycle([{"mood": "positive"}, {"mood": "negative"}]), strict=False)
    ]
    with tempfile.TemporaryDirectory() as place:
        head = {"checks": {"right": {"check": "judge", "judge": "judge.vibe.json"}}}
        files: dict[str, list[Any]] = {
            "mood.eval.jsonl": [head, *asked],
            "judge.eval.jsonl": labels,
            "judge.vibe.json": [{"schema": JUDGE}],
        }
        for name, lines in files.items():
            (Path(place) / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        (Path(place) / "mood.aug").write_text(program("with words"), encoding="utf-8")
        (Path(place) / "plain.eval.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
        usual = ["--model", "llamacpp:smollm2", "--set", "max_tokens=150", "--set", "seed=7", "--quiet"]
        null = ["--set", "temperature=1", "--data", "plain.eval.jsonl", "--against-set", "seed=8"]
        with server(folder, 4) as os.environ["LLAMACPP_BASE_URL"]:
            for options in (["--set", "temperature=0"], null):
                subprocess.run([sys.executable, "-m", "instrc", "eval", "mood.aug", *usual, *options], cwd=place, check=False)


LETTERS = (
    "Ann asks when the fair is.",
    "Hello, I bought a kettle and it leaks. Can I send it back? Tom",
    "Dear team, thank you for the lovely evening! Maria",
    "When does the shop open on Sunday?",
    "My parcel has not arrived for three weeks, I am very angry.",
    "Could you send me the recipe of the apple cake?",
    "I would like to book a room for two nights in May.",
    "Please stop sending me mails.",
    "Is the museum free for children under six?",
    "I lost my bag on the train to Lyon yesterday evening.",
    "Can we move our meeting to Thursday at four?",
    "The soup was cold and the waiter was rude.",
    "Happy birthday, dear Paul!",
    "How much is a ticket for two adults?",
    "Your app crashes when I open the map.",
    "We are a band and would like to play at your wedding fair.",
)
TEXTS = {
    "asks": "What the writer wants, in one sentence.",
    "text": "The reply, ready to be sent.",
    "todo": "What is to be done, in order.",
    "who": "Who does it.",
}
LETTER = """@{ title: "Read", description: "Read the letter.", type: "object", properties: { asks: ASKS }, required: ["asks"] }
| @{ title: "Reply", description: "Answer the letter.", type: "object", properties: { text: TEXT }, required: ["text"] }
| @{ title: "Next", description: "Plan.", type: "object", properties: { todo: TODO, who: WHO }, required: ["todo", "who"] }"""


def copied(folder: Path) -> None:
    """Have each letter answered in one call with four texts; print how many texts are their own descriptions."""
    source = LETTER
    for name, said in TEXTS.items():
        source = source.replace(name.upper(), json.dumps({"type": "string", "maxLength": 200, "description": said}))
    found, cut = 0, 0
    with server(folder, 2) as os.environ["LLAMACPP_BASE_URL"]:
        for letter in LETTERS:
            settings = {**SETTINGS, "max_tokens": 400}
            run = run_in_app(source, letter, model="llamacpp:smollm2", settings=settings, requests=1)
            cut += run.status != "done"
            answer = json.dumps(run.record or {}, ensure_ascii=False)
            found += sum(said.rstrip(".") in answer for said in TEXTS.values()) if run.status == "done" else 0
    print(
        f"{found} of {(len(LETTERS) - cut) * len(TEXTS)} texts copy their description; {cut} of {len(LETTERS)} answers were cut"
    )


if __name__ == "__main__":
    if sys.argv[2:3] == ["copied"]:
        copied(Path(sys.argv[1]))
    elif sys.argv[2:3] == ["judge"]:
        judge(Path(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 60)
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 400, sys.argv[3:] or list(ARMS))
