"""Values of every kind that functions and commands are given: JSON, what looks like a schema, and what is not JSON at all."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from hypothesis import strategies as st

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 1e308, 5e-324])
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
_WORDS = """
    type properties items required enum const $ref $defs $id $schema $dynamicRef $anchor anyOf allOf oneOf not if then else
    pattern format minimum minLength multipleOf uniqueItems contains prefixItems propertyNames unevaluatedProperties default
    additionalProperties patternProperties dependentRequired dependentSchemas definitions nullable maximum description title
    name role arguments choices content message tool_calls candidates parts output delta error function input_schema parameters
    instrc codec schema tool tools keys as of target _meta inputSchema outputSchema input solution
    references activity when each prompt step task task_nodes task_links tool_nodes id nodes links resource
    status state plan process options outcome llmContext1 serverContext1 userContext1 maximum _iteration _continue
    openapi swagger paths get operationId requestBody components schemas in
"""
WORDS = st.sampled_from(sorted(set(_WORDS.split())))
_TEXTS = ["object", "array", "string", "integer", "null", "#", "#/$defs/a", "^(a+)+$", "(", "openai", "file:///etc/passwd", "a"]
LIKE_SCHEMAS = st.recursive(
    JSON | st.sampled_from(_TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)


class Odd:
    """An object that answers to any name."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Odd()


class Refusing:
    """An object that is not comparable, has no truth and no words."""

    __hash__ = None  # type: ignore[assignment]  -- on purpose

    def __eq__(self, other: object) -> bool:
        message = "not comparable"
        raise ArithmeticError(message)

    def __bool__(self) -> bool:
        message = "no truth"
        raise ArithmeticError(message)


class Wordless:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        message = "no words"
        raise ArithmeticError(message)


class Proxy:
    """An object that stands for another one, outside of the context in which there is one."""

    def __getattr__(self, name: str) -> object:
        message = "working outside of request context"
        raise RuntimeError(message)


class Unreadable(dict[str, object]):
    """An object of JSON that raises when it is read."""

    def items(self) -> NoReturn:
        message = "not now"
        raise ArithmeticError(message)


_ODD: list[object] = [
    object(),
    object,
    b"x",
    (1, 2),
    {1: 2},
    {1, 2},
    float("nan"),
    "\ud800",
    10**400,
    len,
    Path("x"),
    ...,
    Odd(),
    1j,
]
ODD = st.sampled_from(_ODD)
ANYTHING = LIKE_SCHEMAS | JSON | ODD
