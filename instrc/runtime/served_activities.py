"""Activities without code: tables under `[tool.instrc.activities]`.

`url` configures an HTTP service, `mcp` a tool of an MCP server; `input` and `retry` apply to both.
A text in a table may contain `${NAME}`: an environment variable, whose value is treated as a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from msgspec.structs import fields

from instrc import problems
from instrc.problems.errors import SettingsError, unusable
from instrc.runtime.activities import Activity, Handler, Retry
from instrc.runtime.secrets import UnusableTableError, refuse_table, with_variables

_POLICY = tuple(each.name for each in fields(Retry) if each.name != "programming_errors")  # their code belongs to this package


def served(name: str, table: Mapping[str, object], folder: Path, unset: str | None = None) -> Activity:
    """Return the activity described by a settings table; files and commands are looked up from the folder.

    `unset` replaces unset environment variables, which are otherwise an error.
    """
    try:
        handler = _handler(name, table, folder, unset)
        schema = table.get("input", True)
        if not isinstance(schema, dict | bool):
            refuse_table("`input` is a JSON Schema")
        return Activity(name, handler, retry=_policy(table.get("retry", {})), input=schema)
    except UnusableTableError as error:
        raise unusable("activity", name, str(error)) from None
    except ImportError:
        feature = f"the activity `{name}`"
        extra, package = ("http", "httpx") if "url" in table else ("mcp", "mcp")
        raise SettingsError([problems.settings.MissingExtra(feature=feature, extra=extra, package=package)]) from None


_MAKERS = {"url": "instrc.runtime.http_activities:http_handler", "mcp": "instrc.runtime.mcp_activities:mcp_handler"}
"""Factory of the handler for a table with each key, as `module:function`; the library of each is an extra."""


def _handler(name: str, table: Mapping[str, object], folder: Path, unset: str | None) -> Handler:
    kinds = [kind for kind in _MAKERS if kind in table]
    if len(kinds) != 1:
        known = ", ".join(f"`{key}`" for key in table) or "nothing"
        refuse_table(f"its table has {known}; it needs one of `url` and `mcp`")
    module, _, maker = _MAKERS[kinds[0]].partition(":")
    make = getattr(import_module(module), maker)
    filled = {key: with_variables(value, unset) for key, value in table.items() if key not in {"retry", "input"}}
    result: Handler = make(name, filled, folder)
    return result


def _policy(table: object) -> Retry:
    if not isinstance(table, Mapping) or not set(table) <= set(_POLICY):
        refuse_table(f"`retry` is a table of {', '.join(f'`{name}`' for name in _POLICY)}")
    given = dict(table)
    codes = given.pop("codes", None)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value:  # noqa: PLR0124  -- NaN
            refuse_table(f"`retry.{name}` is a number that is not negative")
    if not isinstance(given.get("attempts", 1), int):
        refuse_table("`retry.attempts` is a whole number")
    if codes is not None and not (isinstance(codes, list) and all(isinstance(code, str) for code in codes)):
        refuse_table("`retry.codes` is a list of texts")
    return Retry(**given, codes=frozenset(codes) if codes is not None else None)
