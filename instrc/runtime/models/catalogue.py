"""Models by the words that name them: `sample`, `scripted:FILE`, `openai:gpt-5`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from instrc import problems
from instrc.jsontext import loads
from instrc.problems.problem import CompileError
from instrc.problems.suggest import nearest
from instrc.regular import read_whole
from instrc.runtime.models.model import Model

ADAPTERS: dict[str, str] = {
    "openai": "instrc.runtime.models.openai:OpenAI",
    "openai-output": "instrc.runtime.models.openai:OpenAIOutput",
    "vllm": "instrc.runtime.models.openai:VLLM",
    "anthropic": "instrc.runtime.models.anthropic:Anthropic",
    "anthropic-strict": "instrc.runtime.models.anthropic:AnthropicStrict",
    "gemini": "instrc.runtime.models.gemini:Gemini",
    "mistral": "instrc.runtime.models.mistral:Mistral",
    "ollama": "instrc.runtime.models.ollama:Ollama",
    "gigachat": "instrc.runtime.models.gigachat:GigaChat",
}
"""The class of each provider's adapter, `module:class`; it is given the name of a model, which may be empty."""


def model_of(words: str, folder: Path) -> Model:
    """Return the model that is named; files are looked up from a folder."""
    kind, _, rest = words.partition(":")
    if kind == "sample" and not rest:
        from instrc.runtime.models.sampling import Sample  # each adapter is loaded only where it is used

        return Sample()
    if kind == "scripted" and rest:
        return _scripted(words, folder / rest)
    if kind in ADAPTERS:
        module, _, name = ADAPTERS[kind].partition(":")
        adapter: Callable[[str], Model] = getattr(import_module(module), name)
        return adapter(rest)
    known = ", ".join(["`sample`", "`scripted:FILE`", *(f"`{name}:MODEL`" for name in ADAPTERS)])
    near = tuple(f"{name}:{rest}" if rest else name for name in nearest(kind, ("sample", "scripted", *ADAPTERS)))
    raise CompileError([problems.runs.UnusableSetting(what="model", word=words, reason=f"models are {known}", nearest=near)])


def _scripted(words: str, file: Path) -> Model:
    from instrc.runtime.models.scripted import Scripted

    try:
        answers = loads(read_whole(str(file)))
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise CompileError([problems.runs.UnusableSetting(what="model", word=words, reason=reason)]) from None
    except ValueError as error:
        raise CompileError(
            [problems.runs.UnusableSetting(what="model", word=words, reason=f"this is not JSON: {error}")]
        ) from None
    if not isinstance(answers, list | dict):
        reason = "the file holds a list of answers, or an object of answers by step"
        raise CompileError([problems.runs.UnusableSetting(what="model", word=words, reason=reason)])
    return Scripted(answers)
