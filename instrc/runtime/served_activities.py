"""Activities without code: tables under `[tool.instrc.activities]`.

`url` configures an HTTP service, `mcp` a tool of an MCP server; `input` and `retry` apply to both.
A text in a table may contain `${NAME}`: an environment variable, whose value is treated as a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import ValidationError, convert, structs

from instrc import problems
from instrc.problems.errors import SettingsError, unusable
from instrc.runtime.activities import Activity, Handler, ServedTable
from instrc.runtime.secrets import UnusableTableError, with_variables

SERVED_SECONDS: Final = 3600.0
"""Default timeout of an attempt: a service that never answers keeps no step open for ever."""
_TABLES = {"url": "instrc.runtime.http_activities:HttpTable", "mcp": "instrc.runtime.mcp_activities:McpTable"}
"""Class of a table with each key, as `module:class`; the library of each is an extra."""


def served(name: str, table: Mapping[str, object], folder: Path, unset: str | None = None) -> Activity:
    """Return the activity described by a settings table; files and commands are looked up from the folder.

    `unset` replaces unset environment variables, which are otherwise an error.
    """
    kinds = [kind for kind in _TABLES if kind in table]
    if len(kinds) != 1:
        known = ", ".join(f"`{key}`" for key in table) or "nothing"
        raise unusable("activity", name, f"its table has {known}; it needs one of `url` and `mcp`")
    try:
        place, _, class_name = _TABLES[kinds[0]].partition(":")
        module = import_module(place)
        table_class: type[ServedTable] = getattr(module, class_name)
        filled = {key: value if key in {"retry", "input"} else with_variables(value, unset) for key, value in table.items()}
        read = convert(filled, table_class)
        handler: Handler = module.handler_of(name, read, folder)
    except ValidationError as error:
        known = ", ".join(f"`{key}`" for key in table_class.__struct_fields__)
        raise unusable("activity", name, f"{str(error).replace('$.', '')}; its keys are {known}") from None
    except UnusableTableError as error:
        raise unusable("activity", name, str(error)) from None
    except ImportError:
        extra, package = ("http", "httpx") if "url" in table else ("mcp", "mcp")
        missing = problems.settings.MissingExtra(feature=f"the activity `{name}`", extra=extra, package=package)
        raise SettingsError([missing]) from None
    retry = read.retry if read.retry.timeout is not None else structs.replace(read.retry, timeout=SERVED_SECONDS)
    return Activity(name, handler, retry=retry, input=read.input, service=urlsplit(str(table[kinds[0]])).netloc)
