"""The model of each step, by the settings of a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from instrc.process.flow import Chunk
from instrc.process.process import Process
from instrc.runtime.interpreter.documents import bare_name
from instrc.text.jsonvalue import Json
from instrc.vibes.settings import Settings


def models_of(document: Json, settings: Settings, folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the model of each step of a document for which the project in a folder has set one; see `models_by_step`."""
    return models_by_step(document, _by_vibe(settings, folder), names)


def _by_vibe(settings: Settings, folder: Path) -> dict[str, str]:
    """Return the models that the project has set; a pattern with a folder, `judge/*`, is that of the vibes which are there."""
    found: dict[str, str] = {}
    for pattern, model in settings.models.items():
        place = pattern.removeprefix("aug:").strip("/")
        if "/" not in place:
            found[pattern] = model
            continue
        for root in settings.roots or (folder / "schemas",):
            for file in sorted(root.rglob("*.vibe.json")):
                name = file.relative_to(root).as_posix().removesuffix(".vibe.json").partition("@")[0]
                if fnmatchcase(name, place):
                    found.setdefault(name.rpartition("/")[2], model)
    return found


def models_by_step(document: Json, models: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the model of each step for which the project has set one; a pattern is compared with the name of the vibe.

    A tool is one call: the first of its steps with a model of its own decides for all; one without steps goes by its `names`.
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
