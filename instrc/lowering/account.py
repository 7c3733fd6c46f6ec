"""What the losses of a lowering are told of: most callers send the payload and never ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from instrc.jsonvalue import Json
from instrc.lowering import ledger
from instrc.lowering.as_written import losses_as_written
from instrc.lowering.built import Built
from instrc.lowering.losses import Loss


class Account(NamedTuple):
    """All that was noted of what a payload does not say."""

    own: str
    """The name of the tool."""
    sent: str
    """The name that it is sent under."""
    written: Json
    """The schema in the words of 2020-12."""
    flat: Json
    built: Built
    unread: tuple[Loss, ...]
    """What was read in another way than it is written."""
    of_examples: tuple[Loss, ...]
    documents: Mapping[str, Json] | None

    def losses(self) -> tuple[Loss, ...]:
        """Tell the losses."""
        built = self.built
        of_keywords = (*built.losses, *ledger.losses(self.flat, built.log))
        told = (*self.unread, *of_keywords, *self.of_examples, *built.given_up)
        named = Loss.of_name(self.own, self.sent)
        return (*named, *losses_as_written(told, self.flat, self.written, self.documents))
