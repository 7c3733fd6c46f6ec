"""What tables of the settings hold: variables of the environment in their texts, and the keys that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from instrc.runtime.secrets import secret

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class UnusableTableError(ValueError):
    """What is wrong with a table, in words; `served` says whose it is."""


def with_variables(value: object) -> object:
    """Put the variables of the environment into all texts of a table."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found[1]), value)
    if isinstance(value, Mapping):
        return {key: with_variables(item) for key, item in value.items()}
    return [with_variables(item) for item in value] if isinstance(value, list) else value


def checked(table: Mapping[str, object], kinds: Mapping[str, type | tuple[type, ...]]) -> None:
    """Refuse keys that nobody reads and values of another kind with an `UnusableTableError`; `kinds` are the classes by key."""
    for key, value in table.items():
        if key not in kinds:
            refuse_table(
                f"`{key}` means nothing here; known are {', '.join(f'`{known}`' for known in [*kinds, 'retry', 'input'])}"
            )
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            refuse_table(f"`{key}` cannot be {type(value).__name__}")


def _variable(name: str) -> str:
    value = secret(name)
    if value is None:
        refuse_table(f"the environment variable `{name}` is not set")
    return value


def refuse_table(reason: str) -> NoReturn:
    """Say what is wrong with a table."""
    raise UnusableTableError(reason)
