"""Where an expression stands while a program is bound."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from instrc.ir.graph import NO_TIMING, Timing
from instrc.jsonvalue import Json
from instrc.passes.bind.holding import Brackets
from instrc.passes.bind.scopes import Scope
from instrc.passes.bind.values import BoundValue, BraceNames


class EvaluationContext(msgspec.Struct, frozen=True, gc=False):
    """Where an expression stands."""

    scope: Scope
    """The names that can be seen."""
    region: int = 0
    """The body, or the program, among whose steps a call is."""
    piped: BoundValue | None = None
    """What is piped into the stage around it."""
    own: bool = False
    """It is the stage's own call: the piped value is its first argument."""
    keys: BraceNames | None = None
    brackets: Brackets | None = None
    """The innermost brackets around it that place steps."""
    direct: bool = False
    """It is itself what such brackets are given: a local name here stands for its expression."""
    annotations: tuple[Json, ...] = ()
    """What was written behind it with `@`, innermost first."""
    timing: Timing = NO_TIMING
    """The deadline and the delay that were written there."""
    braces: int = 0
    """The braces around it, by a number that braces of equal expressions share; keys in different braces are different steps."""
    key: str | None = None
    """The key that braces give to it."""
    filling: bool = False
    """It is what a mixin is put around: the key is that of a call here, or of the mixin with an object, but not of the object."""
    placing: bool = False
    """An object here stands in an artefact: its constants become properties."""
    exported: bool = False
    """It is itself what is exported."""
    by_hand: bool = False
    """Inside `Process`: nothing is inserted."""

    def inside(self) -> EvaluationContext:
        """Return the place of an argument: nothing that belongs to the call itself goes down to it."""
        own = self.own or self.direct or self.filling or self.placing or self.exported or self.annotations
        if not own and self.key is None and self.timing is NO_TIMING:
            return self
        return EvaluationContext(
            self.scope, self.region, self.piped, keys=self.keys, brackets=self.brackets, braces=self.braces, by_hand=self.by_hand
        )

    def given_to(self, brackets: Brackets) -> EvaluationContext:
        """Return the place of what placing brackets are given."""
        return replace(self, brackets=brackets, direct=True, annotations=(), exported=False)

    def alone(self, brackets: Brackets | None, home: Scope) -> EvaluationContext:
        """Return the place of a local's own expression, as if it stood where the name does; keys of braces are no names in it."""
        if not self.own and self.scope is home and self.keys is home.keys and self.brackets is brackets:
            return self  # as it is in most bodies
        return replace(self, own=False, keys=home.keys, brackets=brackets, scope=home)

    def at_home(self, home: Scope) -> EvaluationContext:
        """Return the place of a local's own expression where the name is read in a block further in: it is evaluated at home."""
        return EvaluationContext(home, home.region, home.piped, keys=home.keys)

    def find(self, name: str) -> BoundValue | None:
        """Return what braces around this place gave a name to."""
        return self.keys.find(name) if self.keys else None
