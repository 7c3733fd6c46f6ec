"""Hosts that implement OpenAI's Chat Completions: data for one adapter."""

from __future__ import annotations

from typing import Final, NamedTuple

from instrc.runtime.models.adapters import HostHabits, OpenAI
from instrc.runtime.models.forms import Form, forms_by


class ModelHost(NamedTuple):
    """The differences between a host and OpenAI."""

    url: str
    """Base URL; `""` if each customer has another one."""
    key: str
    forms: tuple[Form, ...]
    """Request forms that it supports."""
    source: str
    date: str
    habits: HostHabits = HostHabits()


_ALL: Final[tuple[Form, ...]] = ("forced", "choice", "output", "words")
HOSTS: Final = {
    "azure": ModelHost(
        "",  # https://RESOURCE.openai.azure.com/openai/v1/, where MODEL is the name of a deployment
        "AZURE_OPENAI_API_KEY",
        _ALL,
        "learn.microsoft.com/azure/foundry/openai, API version lifecycle: the v1 API",
        "2026-11-28",
    ),
    "deepseek": ModelHost(
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        ("forced", "choice", "words"),  # supports only `json_object` as response_format
        "api-docs.deepseek.com: json_mode, thinking_mode (on unless disabled), Oh My Pi (no tool_choice while thinking)",
        "2026-11-29",
        HostHabits(no_thoughts={"thinking": {"type": "disabled"}}),
    ),
    "qwen": ModelHost(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        _ALL,
        "alibabacloud.com/help/model-studio; docs.instructorphp.com, Qwen: json_schema is of Qwen3.8-Max and some of 3.7",
        "2026-11-28",
        # Context cache: a mark costs 125 % once, then 10 %; without one hits are not guaranteed.
        HostHabits(marked=("qwen",), no_thoughts={"enable_thinking": False}),
    ),
    "glm": ModelHost(
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        ("choice", "words"),  # supports `auto` as tool_choice and `json_object` as response_format
        "docs.z.ai, chat completion and thinking mode; java.agentscope.io, compatibility notes of GLM",
        "2026-11-28",
        HostHabits(no_thoughts={"thinking": {"type": "disabled"}}),  # rejected by 5.3, which always thinks
    ),
    "xai": ModelHost("https://api.x.ai/v1", "XAI_API_KEY", _ALL, "docs.x.ai, structured outputs: tools are strict", "2026-11-29"),
    "groq": ModelHost(
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        _ALL,
        "console.groq.com/docs, tool use, structured outputs (strict on some models); 400 answers in BerriAI/litellm#21242",
        "2026-11-29",
    ),
    "openrouter": ModelHost(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        _ALL,
        "openrouter.ai/docs: tool calling, structured outputs, prompt caching, ChatFunctionTool of the SDKs",
        "2026-11-29",
        HostHabits(marked=("anthropic/", "google/gemini"), marked_tools=("anthropic/",)),
    ),
}
"""Hosts by the prefix before the colon: `deepseek:MODEL`. `DEEPSEEK_BASE_URL` sets another address, and likewise for others."""
_TARGETS: Final = forms_by("openai", "openai-output")


def __getattr__(name: str) -> type[OpenAI]:
    """Return the adapter of a host."""
    if name not in HOSTS:
        raise AttributeError(name)
    host = HOSTS[name]
    differs = {
        "__doc__": f"`{name}:MODEL`; another address is named by `{name.upper()}_BASE_URL`.",
        "kind": name,
        "key": host.key,
        "url": f"{name.upper()}_BASE_URL",
        "usual_url": host.url,
        "names": OpenAI.names if name == "azure" else {**OpenAI.names, "max_tokens": "max_tokens"},
        "forms": {form: _TARGETS[form] for form in host.forms},
        "without_tools": None,
        "habits": host.habits,
    }
    return type(name, (OpenAI,), differs)
