"""What a command line did, and the texts that tests of commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

TEXT = '{ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }\n'


class Run(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str


Instrc = Callable[..., Run]
