"""Begins runs of one program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from secrets import token_hex

from instrc import problems
from instrc.ir.process import Process
from instrc.ir.steps import Chunk
from instrc.jsonvalue import Json
from instrc.launching.handlers import unregistered
from instrc.launching.preparing import Prepared
from instrc.naming import file_name
from instrc.problems.problem import CompileError, Problem
from instrc.runtime.activities import Activities
from instrc.runtime.engine import Launch
from instrc.runtime.interpreter.names import bare_name
from instrc.runtime.plan import plan_digest, plan_of

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""It names files of the store, and a `/` in an id parts a child from its run."""


class Launcher:
    """Begins runs of one program: its plan is made once. `CompileError` if an activity is not registered."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        activities: Activities,
        requests: int | None = None,
        tokens: int | None = None,
        how: Mapping[str, Json] | None = None,
        rehearse: bool = False,
    ) -> None:
        settings = prepared.settings.run
        self.name: str = prepared.name
        self.inputs: dict[str, Json] | None = prepared.inputs
        self.how: dict[str, Json] = dict(how or {})
        self.plan = plan_of(
            prepared.document,
            activities=activities.names(),
            models=models_by_step(prepared.document, by_vibe(prepared), (prepared.name, prepared.step or "")),
            step=prepared.step,
            asks=settings.get("asks", 2),
            elements=settings.get("elements", 100),
            requests=requests if requests is not None else settings.get("requests"),
            tokens=tokens if tokens is not None else settings.get("tokens"),
            pauses=not rehearse,
        )
        wrong = [] if rehearse else list(unregistered(self.plan, activities))
        if wrong:
            raise CompileError(wrong)

    def launch(self, given: Json, run: str | None = None, entry: Json = None) -> Launch:
        """Return a run that is to begin; `CompileError` if its inputs do not fit.

        `entry` is the answer of its first chunk, where that is filled already.
        """
        wrong: list[Problem] = []
        if run is not None and not _ID.fullmatch(run):
            reason = "it has letters, digits, `.`, `_` and `-`, at most 100, and begins with a letter or digit"
            wrong.append(problems.runs.UnusableSetting(what="run id", word=run, reason=reason))
        elif run is not None and file_name(run) != run:
            reason = "no file can have this name on Windows"
            wrong.append(problems.runs.UnusableSetting(what="run id", word=run, reason=reason))
        inputs = given_inputs(self.inputs if entry is None else self.plan["process"].get("inputs"), given, wrong)
        if wrong:
            raise CompileError(wrong)
        plan = self.plan
        if entry is not None:
            plan = {**plan, "options": {**plan["options"], "entry": entry}}
            plan["digest"] = plan_digest(plan)
        return Launch(run or new_id(self.name), self.name, plan, inputs, self.how)


_ASSIGNED = r"(\w+)=\S*"
"""An input as other commands take it, `lang=de`: here it would be the whole prompt."""


def new_id(name: str) -> str:
    """Return an id for a run: short enough to be typed."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")[:40]
    return f"{word or 'run'}-{token_hex(3)}"


def given_inputs(declared: Json, given: Json, wrong: list[Problem]) -> dict[str, Json]:
    """Return the inputs by name: an object gives them so, anything else is `prompt`; one that is left out has its default.

    `declared` has their schemas by name; where it is no object nothing is known of them, and nothing is refused.
    """
    from instrc.runtime.validation import complaints  # few processes declare their inputs

    inputs: dict[str, Json] = dict(given) if isinstance(given, dict) else {} if given is None else {"prompt": given}
    if not isinstance(declared, dict):
        return inputs
    wrong += [
        problems.runs.InvalidInput(word=name, reason=f"is not declared; there are {names_as_text(declared)}")
        for name in inputs
        if name not in declared and name != "prompt"
    ]
    if isinstance(given, str) and (written := re.fullmatch(_ASSIGNED, given)) and written[1] in {"prompt", *declared}:
        wrong.append(problems.runs.InvalidInput(word=written[1], reason="is not given with `=`", beside_text=True))
        return inputs
    for name, schema in declared.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = schema["default"]
        if name not in inputs and name != "prompt":
            text = given is not None and not isinstance(given, dict)
            wrong.append(problems.runs.InvalidInput(word=name, reason="is missing", beside_text=text))
        elif name in inputs and (found := complaints(inputs[name], schema)):
            at = f" at `{found[0]['pointer']}`" if found[0]["pointer"] else ""
            wrong.append(problems.runs.InvalidInput(word=name, reason=f"does not fit{at}: {found[0]['message']}"))
    return inputs


def by_vibe(prepared: Prepared) -> dict[str, str]:
    """Return the models that the project has set; a pattern with a folder, `judge/*`, is that of the vibes which are there."""
    found: dict[str, str] = {}
    for pattern, model in prepared.settings.models.items():
        place = pattern.removeprefix("aug:").strip("/")
        if "/" not in place:
            found[pattern] = model
            continue
        for root in prepared.settings.roots or (prepared.folder / "schemas",):
            for file in sorted(root.rglob("*.vibe.json")):
                name = file.relative_to(root).as_posix().removesuffix(".vibe.json").partition("@")[0]
                if fnmatchcase(name, place):
                    found.setdefault(name.rpartition("/")[2], model)
    return found


def models_by_step(document: Json, models: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the model of each step for which the project has set one; a pattern is compared with the name of the vibe.

    A tool is one call: the first of its steps for which a model is set decides for all; one without steps goes by its `names`.
    """
    patterns = [(bare_name(pattern.rpartition("/")[2]), model) for pattern, model in models.items()]

    def chosen(word: str) -> str | None:
        return next((model for pattern, model in patterns if fnmatchcase(bare_name(word), pattern)), None)

    if not patterns:
        return {}
    if Process.describes(document):
        chunks = [each for each in Process.from_json(document).contexts() if isinstance(each, Chunk)]
        keys = [step.key for chunk in chunks if chunk.executor == "model" for step in chunk.steps]
        return {key: model for key in keys if (model := chosen(key)) is not None}
    properties = document.get("properties") if isinstance(document, dict) else None
    keys = list(properties) if isinstance(properties, dict) else []
    whole = next((model for word in (*names, *keys) if (model := chosen(word)) is not None), None)
    return {} if whole is None else dict.fromkeys(["", *keys], whole)


def names_as_text(names: Iterable[str]) -> str:
    """Return names as a problem shows them."""
    return ", ".join(f"`{name}`" for name in names) or "none"
