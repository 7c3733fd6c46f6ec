"""What a command line did, and the texts that tests of commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

TEXT = '{ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }\n'


class Run(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str

    def problem_names(self) -> list[str]:
        """Return the names of the problems, as `--format json` tells them."""
        return [problem["name"] for problem in json.loads(self.err)]


Instrc = Callable[..., Run]
