"""HuggingGPT: `python agent.py "REQUEST"` plans, chooses models, runs them and answers; it starts the service that runs them.

The program is in `hugging-gpt.aug` and `schemas/run-model.aug`.
Here is what they cannot say: the registry, and where the service is.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import instrc
from instrc.runtime.served_activities import served

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from jarvis import Read, read  # noqa: E402  -- beside this file

PROGRAM = HERE / "hugging-gpt.aug"
LANGUAGE = frozenset({"conversational", "summarization", "translation", "text-generation", "text2text-generation"})
"""What a language model does itself."""
_LISTED = 10
_OFFERED = 5
_DESCRIBED = 100
"""Characters of the description of a model that are shown."""
_KINDS = ("text", "image", "audio", "video", "boxes")


class Registry:
    """The models by task, in the order of the file."""

    def __init__(self, file: Path = HERE / "models.jsonl", endpoint: str = "") -> None:
        self.endpoint = endpoint
        self.models: dict[str, list[dict[str, Any]]] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            model = json.loads(line)
            self.models.setdefault(model["task"], []).append(model)

    def listed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the first models for a task, as they are shown."""
        task = given["called"].removesuffix("_Activity")
        first = self.models.get(task, [])[:_LISTED]
        return {"task": task, "by": "language model" if task in LANGUAGE else "models", "models": [self.shown(m) for m in first]}

    def shown(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a chooser sees of a model."""
        return {
            "id": model["id"],
            "endpoint": f"{self.endpoint}/models/{model['id']}",
            "likes": model["likes"],
            "description": model["description"][:_DESCRIBED],
            "tags": model["tags"],
        }


def offered(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models that are there, five at most."""
    listed, answers = given["listed"], given["answers"]
    there = [model for model, answer in zip(listed["models"], answers, strict=True) if answer["loaded"]][:_OFFERED]
    message = f"no model for {listed['task']} answers"
    return {
        "count": len(there),
        "ids": [model["id"] for model in there],
        "models": there,
        "only": {"id": there[0]["id"], "reason": "It is the only one that answers."} if len(there) == 1 else None,
        "error": {"kind": "failed", "code": "no-model", "message": message},
    }


def record(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return one record: what was made, by whom, and why."""
    made, taken = given["made"], given["taken"]
    return {**{kind: made[kind] for kind in _KINDS if kind in made}, "model": taken["id"], "reason": taken["reason"]}


def in_order(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records in the order of their ids: `t2` stands before `t10`."""
    return sorted(records, key=lambda each: [(part.isdecimal(), part.zfill(40)) for part in re.split(r"(\d+)", each["id"])])


@lru_cache(maxsize=1)
def compiled(file: Path) -> Any:
    """Return the process of a program."""
    return instrc.compile(file, emit="process")[0]


def tools() -> dict[str, Any]:
    """Return what a plan may use, as `check_plan` takes it."""
    found: dict[str, Any] = next(
        step["plan"]["tools"]
        for part in compiled(PROGRAM)["$defs"].values()
        for step in part.get("properties", {}).values()
        if "plan" in step
    )
    return found


def activities(base: str, headers: Mapping[str, str] | None = None, seconds: float = 30.0) -> dict[str, Any]:
    """Return the activities: 24 types served by one process, four functions, and two requests that need no code."""
    once = {"retry": {"attempts": 1, "timeout": seconds}, "headers": dict(headers or {})}
    status = {"url": f"{base}/status/{{model}}", "method": "GET", "query": {}, **once}
    run = {"url": f"{base}/models/{{model}}", "body": {"task": "{task}", "inputs": "{inputs}"}, **once}
    registry = Registry(endpoint=base)
    return {
        **dict.fromkeys(tools(), compiled(HERE / "schemas" / "run-model.aug")),
        "ListModels_Activity": registry.listed,
        "AskStatus_Activity": served("AskStatus_Activity", status, HERE),
        "OfferModels_Activity": offered,
        "RunInference_Activity": served("RunInference_Activity", run, HERE),
        "WriteRecord_Activity": record,
        "SortRecords_Activity": in_order,
    }


class Planned:
    """A model that is handed its plan and is another one for all else."""

    def __init__(self, tasks: list[dict[str, Any]], model: Any) -> None:
        self.tasks = tasks
        self.model = model

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        """Give the plan where a plan is asked for."""
        step = next(iter(request.schema["properties"]))
        if step.endswith("plan_tasks"):
            return instrc.Reply({step: {"tasks": self.tasks}})
        reply: instrc.Reply = await self.model.answer(request)
        return reply


def played(request: str, model: Any, base: str, headers: Mapping[str, str] | None = None) -> Any:
    """Answer one request."""
    return instrc.run(PROGRAM, request, model=model, activities=activities(base, headers))


def read_plan(text: object) -> Read:
    """Read a plan in HuggingGPT's own form against our tools."""
    return read(text, tools())


@contextmanager
def service() -> Iterator[Any]:
    """Start the inference service on a free port of this machine."""
    from inference import Inference

    with tempfile.TemporaryDirectory(prefix="inference-") as folder, Inference(Path(folder)) as started:
        threading.Thread(target=started.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield started
        finally:
            started.shutdown()


def main() -> int:
    """Answer one request in a terminal."""
    parser = argparse.ArgumentParser(description="Plan, choose models, run them, answer.")
    parser.add_argument("request")
    parser.add_argument("--model", default="sample", help="words for a model, such as `openai:gpt-5`; `sample` needs no key")
    parser.add_argument("--plan", type=Path, help="a plan in HuggingGPT's own form, instead of the model's")
    parser.add_argument("--service", help="where inference is; without it the local service is started")
    parser.add_argument("--token", action="store_true", help="send HUGGINGFACE_TOKEN of the environment along")
    given = parser.parse_args()
    from instrc.runtime.models.catalogue import model_of

    model = model_of(given.model, HERE)
    if given.plan:
        found = read_plan(given.plan.read_text(encoding="utf-8"))
        for line in [*found.notes, *found.problems]:
            print(line, file=sys.stderr)
        if found.problems:
            return 1
        model = Planned(found.plan, model)
    headers = {"Authorization": "Bearer ${HUGGINGFACE_TOKEN}"} if given.token else None
    if given.service:
        run = played(given.request, model, given.service.rstrip("/"), headers)
    else:
        with service() as started:
            run = played(given.request, model, started.url, headers)
    print(json.dumps(run.value if run.status == "done" else run.outcome, ensure_ascii=False, indent=2))
    return 0 if run.status == "done" else 1


if __name__ == "__main__":
    sys.exit(main())
