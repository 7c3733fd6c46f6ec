"""What is known of one export while its expressions are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TypeAlias

import msgspec

from instrc import problems
from instrc.ir.fusion import Instruction
from instrc.ir.graph import NO_TIMING, Reached, TypedArgument
from instrc.ir.surface import Expression, Name
from instrc.jsonvalue import Json
from instrc.limits.programs import GIVEN_VALUES
from instrc.passes.bind.block_places import NOTHING_FORESEEN, Foreseen
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.identity import Identities
from instrc.passes.bind.open_rounds import OpenRounds
from instrc.passes.bind.scopes import Ends, LocalName, Scope
from instrc.passes.bind.signature import Signature, signature
from instrc.passes.bind.steps import Steps
from instrc.passes.bind.values import BoundValue, paths_read
from instrc.passes.instructions import InstructionTable
from instrc.passes.trampoline import Finished, Task, Work
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Span

Evaluate: TypeAlias = "Callable[[Evaluation, Expression, EvaluationContext], Work[BoundValue | None]]"
"""Returns the value of any expression."""


class Evaluation:
    """The steps of one export so far, the values of its local names, and what is wrong with it.

    What evaluates one kind of expression is given this and asks it for the values of the expressions inside.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        instructions: InstructionTable,
        report: Report,
        identities: Identities,
        foreseen: Foreseen = NOTHING_FORESEEN,
    ) -> None:
        self._evaluate = evaluate
        self.ends: Ends = Ends()
        self.instructions = instructions
        self.report = report
        self.steps: Steps = Steps(identities, foreseen)
        self.rounds: OpenRounds = OpenRounds(self.steps)
        self.accesses: list[Reached] = []
        """The members that paths name."""
        self.labels: dict[tuple[int, str], Span] = {}
        """Where the arguments of steps of the server are named."""
        self.passed: list[TypedArgument] = []
        """What inputs of called programs and tools of plans are given."""
        self.carried: set[tuple[int, str]] = set()
        """Local names whose expressions have been evaluated."""
        self.read: set[str] = set()
        """Local names and inputs of the program itself that have been looked up."""
        self._scopes = 0
        """How many bodies of blocks and programs have been read."""
        self._known: dict[Hashable, BoundValue | None] = {}
        """Values of locals; with what is piped to where it stands if they depend on that."""
        self._piping: set[tuple[int, str]] = set()
        """Locals whose values depend on what is piped to where they stand."""
        self._signatures: dict[tuple[str, int], Signature] = {}
        """Those of instructions without annotations behind them."""
        self._values = 0
        """How many values were put into objects and calls."""
        self._open: dict[tuple[int, str], LocalName] = {}
        """Locals whose expressions are being read, outermost first."""
        self._piped: BoundValue | None = None
        """What is piped to where the innermost of them stands."""
        self._depends = False
        """Its value depends on that."""

    def value(self, expression: Expression, context: EvaluationContext) -> Work[BoundValue | None]:
        """Evaluate any expression."""
        return self._evaluate(self, expression, context)

    def next_scope(self) -> int:
        """Return the number of a new scope."""
        self._scopes += 1
        return self._scopes

    def note_read(self, name: str, scope: Scope) -> None:
        """Note that a name was looked up, if it is one of the program that is compiled, not of one that it calls."""
        if not scope.program.calls:
            self.read.add(name)

    def local(self, name: Name, found: LocalName, context: EvaluationContext) -> Work[BoundValue | None]:
        """Evaluate what a local name stands for; in brackets that place steps, what a call there needs stays outside."""
        home = found.scope
        key = found.key
        if home.outer is None:
            self.note_read(name.text, home)
        self.carried.add(key)
        if key in self._open:
            self._circle(name, found)
            return Finished(None)
        added = context.annotations or context.timing != NO_TIMING
        plain = not (added or context.key or context.placing or (context.direct and context.brackets))
        if not self.steps.regions.around(home.region, context.region):
            return self._elsewhere(found, context, plain=plain)
        if plain and key in self._known:
            return Finished(self._kept_out(self._known[key], context))
        return self._afresh(found, key, context, plain=plain)

    def _kept_out(self, value: BoundValue | None, context: EvaluationContext) -> BoundValue | None:
        if value is not None and context.brackets is not None and not context.direct:
            context.brackets.keep_out(paths_read(value))
        return value

    def _afresh(
        self, found: LocalName, key: tuple[int, str], context: EvaluationContext, *, plain: bool
    ) -> Task[BoundValue | None]:
        """Evaluate a local name, known by its key, of which no value is known that holds wherever it stands."""
        home = found.scope
        outside = plain and home.region != context.region  # a name is evaluated where it is defined
        inside = context.at_home(home) if outside else context.alone(context.brackets if context.direct else None, home)
        if plain and key in self._piping and (key, inside.piped) in self._known:
            self.reads_pipe(inside)
            return self._kept_out(self._known[key, inside.piped], context)
        outer = self._piped, self._depends
        self._piped, self._depends = inside.piped, False
        self._open[key] = found
        value = yield self.value(found.binding.value, inside)
        del self._open[key]
        depends = self._depends
        self._piped, self._depends = outer
        if plain:
            self._known[(key, inside.piped) if depends else key] = value
        if depends:
            self._piping.add(key)
            self.reads_pipe(inside)
        return value if context.brackets is None else self._kept_out(value, context)

    def _elsewhere(self, found: LocalName, context: EvaluationContext, *, plain: bool) -> Task[BoundValue | None]:
        """Evaluate a local name in a block that belongs further out than the name does, as if its expression stood there."""
        at = (found.key, "in", context.region)
        if plain and at in self._known:
            return self._known[at]
        inside = msgspec.structs.replace(context, own=False, scope=found.scope, piped=found.scope.piped, keys=found.scope.keys)
        self._open[found.key] = found
        value = yield self.value(found.binding.value, inside)
        del self._open[found.key]
        if plain:
            self._known[at] = value
        return value

    def reads_pipe(self, context: EvaluationContext) -> None:
        """Note that what is read at a place depends on what is piped there, or that nothing is."""
        if context.piped is self._piped:
            self._depends = True

    def spend(self, values: int, at: Span) -> bool:
        """Count values that an object or a call is given; a few lines can ask for any number of them, so there is a limit."""
        self._values += values
        if self._values <= GIVEN_VALUES:
            return True
        if self._values - values <= GIVEN_VALUES:
            self.report.add(problems.size.TooLarge(at=at, what="the program", limit=GIVEN_VALUES, unit="values given to calls"))
        return False

    def _circle(self, name: Name, found: LocalName) -> None:
        """Report a local name that needs itself, each circle once."""
        opened = list(self._open)
        cycle = opened[opened.index(found.key) :]
        words = tuple(self._open[key].binding.name.text for key in cycle)
        known = [
            set(problem.words) for problem in self.report.problems if isinstance(problem, problems.bindings.RecursiveBinding)
        ]
        if set(words) not in known:
            places = tuple(self._open[key].binding.name.span for key in cycle)
            self.report.add(problems.bindings.RecursiveBinding(at=name.span, words=words, places=places))

    def braces(self, context: EvaluationContext, *names: Hashable) -> int:
        """Return the number of braces at a place: of those under a name, or of those of an expression."""
        return self.steps.identities.of("scope", context.braces, context.key, *names)

    def signature(self, instruction: Instruction, span: Span, annotations: tuple[Json, ...]) -> Signature | None:
        """Return what a call makes; `None`, once the problems of its schema are reported, if it has none."""
        if instruction.uri is None or annotations:
            schema = self.flat(instruction, span)
            return None if schema is None else signature(instruction, schema, annotations)
        key = instruction.uri, instruction.home
        known = self._signatures.get(key)
        if known is None and (schema := self.flat(instruction, span)) is not None:
            known = self._signatures[key] = signature(instruction, schema, ())
        return known

    def flat(self, instruction: Instruction, span: Span) -> Json:
        """Return the flat schema of an instruction; `None`, once its problems are reported, if it has none."""
        try:
            return self.instructions.schema(instruction, span)
        except CompileError as error:
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else replace(problem, at=span))
            return None
