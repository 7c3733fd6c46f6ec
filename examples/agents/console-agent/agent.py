"""The console agent: a person types, two services answer. `python agent.py` starts the services and needs no key.

The program is in `console-agent.aug`; here is what it cannot say: what a row prints, the settings, where the services stand.
Standard output is for the person; the log, with the prefix of the step, is for the developer.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import instrc
from instrc.runtime.served_activities import served

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "services"))
HELP = """Я отвечаю на вопросы по документам и пишу хайку.
Например: «Сколько дней отпуска?» или «Хайку про осень».
Выйти: /exit, справка: /help"""
_PLACE = re.compile(r"\{([^{}]*)\}")
_BRACKETS = re.compile(r"<[^<>]*>")
_LEVELS = {"debug": logging.DEBUG, "warning": logging.WARNING, "error": logging.ERROR, "critical": logging.CRITICAL}


@dataclass(frozen=True)
class Settings:
    """The eight settings of the document, and two that it leaves open. Names are read in either case."""

    exit_commands: tuple[str, ...]
    help_commands: tuple[str, ...]
    default_model: str
    default_embedding_model: str
    context_hist_limit: int
    param_question_maxlen: int
    param_theme_maxlen: int
    param_rag_top_k: int
    timeout: float = 30.0
    """Seconds for one request to a service."""
    retries: int = 0
    """How often a request to a service is made again."""
    services: tuple[str, ...] = ("rag_search", "generate_haiku")
    """The services that are there; a call of another one is one of an unknown tool."""

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read a file of settings."""
        given = {key.lower(): value for key, value in json.loads(path.read_text(encoding="utf-8")).items()}
        lists = {
            key: tuple(str(each).strip().lower() for each in value) for key, value in given.items() if isinstance(value, list)
        }
        return cls(**given | lists)


class Console:
    """What one session prints, logs and checks; its history travels with the run, so that sessions never mix."""

    def __init__(self, settings: Settings, *, out: TextIO, log: logging.Logger, verbatim: bool = False) -> None:
        table = json.loads((HERE / "rows.json").read_text(encoding="utf-8"))
        self.settings = settings
        self.out = out
        self.log = log
        self.verbatim = verbatim
        self.rows = {f"{row['step']} {row['when']}": row for row in table["rows"]}
        self.prefixes = table["prefixes"]

    def tell(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Print and log one row; return the history after it."""
        row = self.rows[given["row"]]
        history = list(given.get("history") or [])
        if given["row"] == "1 message received":
            history.append({"role": "user", "content": given["text"]})
        said = row.get("verbatim") if self.verbatim and "verbatim" in row else row["stdout"]
        if said is not None:
            text = HELP if said == "<help message>" else self.filled(said, given)
            print(text, file=self.out, flush=True)
            if row["add_to_history"]:
                history.append({"role": "assistant", "content": text})
        if "<help message>" in (row["next"] or ""):
            print(HELP, file=self.out, flush=True)
        logged = row["log"] if isinstance(row["log"], list) else [row["log"]] if row["log"] is not None else []
        for line in logged:
            self.log.log(_LEVELS[row["level"]], "%s %s", self.prefixes[str(row["step"])], self.filled(line, given))
        return {"output": history}

    def filled(self, text: str, given: Mapping[str, Any]) -> str:
        """Put facts in the places of a row."""
        return _PLACE.sub(lambda found: str(self.fact(found[1], given)), text)

    def fact(self, place: str, given: Mapping[str, Any]) -> object:
        """Return what stands in one place."""
        choice, found, made = given.get("choice") or {}, given.get("found") or {}, given.get("made") or {}
        match place:
            case "error":
                return (given.get("error") or {}).get("message") or found.get("error") or made.get("error")
            case "name":
                return choice.get("tool") or (given.get("checked") or {}).get("tool")
            case "params":
                return json.dumps(choice.get("parameters", {}), ensure_ascii=False)
            case "question" | "theme":
                return given["checked"]["value"]
            case "answer":
                return found["answer"]
            case "top_k":
                return given["top_k"]
            case "haiku text, pipe separated":
                return " | ".join(made["haiku_text"].splitlines())
            case "total_words":
                return made["total_words"]
            case "syllables_per_line, '-' separated":
                return "-".join(map(str, made["syllables_per_line"]))
            case _ if place.startswith("chunk titles"):
                return ", ".join(found["chunk_title_list"])
            case _:
                return "\n".join(
                    f"\n{title}\n  {text}" for title, text in zip(found["chunk_title_list"], found["chunk_texts"], strict=True)
                )

    def recognize(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Tell a command, a blank line and a message apart. A command is the whole input."""
        text = str(given["text"]).strip()
        kinds = {"exit": self.settings.exit_commands, "help": self.settings.help_commands}
        kind = next((kind for kind, words in kinds.items() if text.lower() in words), "message" if text else "blank")
        return {"output": {"kind": kind, "text": text}}

    def recent(self, history: list[dict[str, str]]) -> dict[str, Any]:
        """Return the messages that the model is shown."""
        return {"output": history[-self.settings.context_hist_limit :]}

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the parameters of the chosen service."""
        tool, parameters = given["choice"]["tool"], given["choice"].get("parameters") or {}
        limits = {
            "rag_search": ("question", self.settings.param_question_maxlen, "config.param_question_maxlen"),
            "generate_haiku": ("theme", self.settings.param_theme_maxlen, "config.PARAM_THEME_MAXLEN"),
        }
        if tool not in limits or tool not in self.settings.services:
            return self.checked("4 unknown tool", None, None, tool)
        name, longest, setting = limits[tool]
        if parameters.get(name) is None:
            return self.checked(f"4 {tool}: {name} missing", None, None, tool)
        value = str(parameters[name]).strip()
        if not value:
            return self.checked(f"4 {tool}: {name} empty", None, None, tool)
        if len(value) > longest:
            return self.checked(f"4 {tool}: len({name}) > {setting}", None, None, tool)
        return self.checked(f"4 {tool}: valid", tool, value, tool)

    def checked(self, row: str, ready: str | None, value: str | None, tool: str) -> dict[str, Any]:
        """Return what a check has found."""
        return {"output": {"row": row, "ready": ready, "value": value, "top_k": self.settings.param_rag_top_k, "tool": tool}}


class Keywords:
    """A stand-in for a model that looks at words: enough to play without a key."""

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        """Fill in the two tools."""
        known = json.loads(request.message.split("-----")[1])
        history = next(iter(known.values()))["output"]
        text = next(message["content"] for message in reversed(history) if message["role"] == "user").lower()
        return instrc.Reply(
            {step: self.filled(schema["properties"], text) for step, schema in request.schema["properties"].items()}
        )

    def filled(self, properties: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Fill in one of the two."""
        haiku, documents = "хайку" in text, text.startswith("документы")
        question = text.endswith("?") or text.startswith(("как", "сколько", "где", "когда", "что", "можно"))
        if "relevant" in properties:
            return {"_why": "by its words", "relevant": haiku or documents or question or "помоги" in text}
        if haiku:
            _, about, theme = text.partition(" про")
            return {"tool": "generate_haiku", "parameters": {"theme": theme.strip()} if about else {}}
        if documents:
            _, colon, asked = text.partition(":")
            return {"tool": "rag_search", "parameters": {"question": asked.strip()} if colon else {}}
        return {"tool": "rag_search", "parameters": {"question": text}} if question else {"tool": "none", "parameters": {}}


def activities(console: Console, rag: str, haiku: str) -> dict[str, Any]:
    """Return the activities of a session: four of ours, and four requests to the services that need no code."""
    policy = {"attempts": console.settings.retries + 1, "timeout": console.settings.timeout}
    health = {"method": "GET", "query": {}, "retry": policy}
    service = partial(served, folder=HERE)
    return {
        "Tell_Activity": console.tell,
        "Recognize_Activity": console.recognize,
        "Recent_Activity": console.recent,
        "Check_Activity": console.check,
        "RagHealth_Activity": service("RagHealth_Activity", {"url": f"{rag}/health", **health}),
        "HaikuHealth_Activity": service("HaikuHealth_Activity", {"url": f"{haiku}/health", **health}),
        "RagSearch_Activity": service(
            "RagSearch_Activity",
            {"url": f"{rag}/search", "body": {"question": "{question}", "top_k": "{top_k}"}, "retry": policy},
        ),
        "GenerateHaiku_Activity": service(
            "GenerateHaiku_Activity", {"url": f"{haiku}/generate_haiku", "body": {"theme": "{theme}"}, "retry": policy}
        ),
    }


def session(console: Console, listen: Callable[[], str], model: Any, rag: str, haiku: str) -> int:
    """Play one session; return the exit code."""
    run = instrc.run(
        HERE / "console-agent.aug",
        "",
        model=model,
        activities=activities(console, rag, haiku),
    )
    while run.questions:
        run.answer(run.questions[0].id, {"text": listen()})
    return 0 if run.status == "done" else 1


@contextmanager
def services(*fail: str) -> Iterator[tuple[str, str]]:
    """Start both services on free ports of this machine, and let them fail if asked to."""
    import haiku
    import rag
    from serve import Service

    index = rag.Index()
    both = [Service("/search", lambda given: rag.answer(index, given)), Service("/generate_haiku", haiku.answer)]
    for each, mode in zip(both, fail, strict=False):
        each.fail = mode
    for each in both:
        threading.Thread(target=each.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield both[0].url, both[1].url
    finally:
        for each in both:
            each.shutdown()
            each.server_close()


def typed() -> str:
    """Return a line that a person types; the end of the input ends the session."""
    try:
        return input("> ")
    except EOFError:
        return "/exit"


def leave_when_interrupted(console: Console) -> None:
    """Let Ctrl-C end the session at once, as the command to leave does: nobody waits for the line that was begun."""

    def leave(_number: int, _frame: object) -> None:
        print(file=console.out)
        console.tell({"row": "1 exit command"})
        logging.shutdown()
        os._exit(130)

    signal.signal(signal.SIGINT, leave)


def logger(file: str | None, level: str) -> logging.Logger:
    """Return the log of the developer: a file, else standard error."""
    made = logging.getLogger(f"console-agent-{id(file)}")
    handler = logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    made.addHandler(handler)
    made.setLevel(level.upper())
    made.propagate = False
    return made


def main() -> int:
    """Play in a terminal."""
    parser = argparse.ArgumentParser(description="A console agent with two services.")
    parser.add_argument("--model", help="words for a model, such as `gigachat:GigaChat-2-Max`; without it words decide")
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    parser.add_argument("--log", help="a file for the developer's log")
    parser.add_argument("--level", default="error", choices=sorted(_LEVELS))
    parser.add_argument("--verbatim", action="store_true", help="print the counts of a haiku as the document does")
    parser.add_argument("--rag", help="where the search service is; both services are started if neither is named")
    parser.add_argument("--haiku", help="where the haiku service is")
    parser.add_argument("--fail", nargs=2, default=("none", "none"), metavar=("RAG", "HAIKU"), help="what fails, for rehearsals")
    given = parser.parse_args()
    console = Console(Settings.read(given.settings), out=sys.stdout, log=logger(given.log, given.level), verbatim=given.verbatim)
    leave_when_interrupted(console)
    model = given.model or Keywords()
    if given.rag and given.haiku:
        return session(console, typed, model, given.rag, given.haiku)
    with services(*given.fail) as (rag, haiku):
        return session(console, typed, model, given.rag or rag, given.haiku or haiku)


if __name__ == "__main__":
    sys.exit(main())
