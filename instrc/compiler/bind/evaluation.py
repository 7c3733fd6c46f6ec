"""The state of one export while its expressions are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias, final

import msgspec
from msgspec import Struct, structs

from instrc import problems
from instrc.compiler.bind.identities import Identities
from instrc.compiler.bind.scopes import Ends, LocalName, Scope
from instrc.compiler.bind.steps import NOTHING_FORESEEN, EvaluationContext, Foreseen, Steps
from instrc.compiler.bind.values import BoundValue, StepResult, paths_read
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import NO_TIMING, Fusion, Instruction, InstructionKind, Path, Reached, Step, TypedArgument
from instrc.compiler.recursion import EVALUATED_LEVELS
from instrc.compiler.rounds import Bodies, Rounds
from instrc.language.surface import Annotated, Binding, Call, Expression, Name, Pipe
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.process.flow import READS_ONLY, Executor
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Source, Span

Evaluate: TypeAlias = "Callable[[Evaluation, Expression, EvaluationContext], BoundValue | None]"
"""Returns the value of any expression."""


@final
class Reading(msgspec.Struct, frozen=True, gc=False):
    """A local name whose expression is being evaluated."""

    key: tuple[int, str]
    """Number of its scope, and its source text."""
    context: EvaluationContext
    """Context in which it is read."""
    inside: EvaluationContext
    """Context of its expression."""
    plain: bool
    """Whether its value is the same wherever it is read."""
    outer: tuple[BoundValue | None, bool]
    """Previous record about the pipe."""


class _Name(msgspec.Struct, gc=False):
    """The state of evaluation of a local name."""

    binding: Binding
    open: bool = False
    """Whether it is being evaluated."""
    piping: bool = False
    """Whether its value depends on what is piped to its place."""
    known: bool = False
    """Whether it has a value that is valid at every place."""
    value: BoundValue | None = None
    """The value."""
    frame: int | None = None
    """Frame of its expression in the log of lines."""


class Signature(Struct, frozen=True):
    """The step of a call."""

    schema: Json
    """Flat schema without annotations."""
    properties: dict[str, None]
    """Property names in order, including those added by annotations."""
    kind: InstructionKind
    base_name: str
    executor: Executor
    output: bool
    """Whether it returns only its property `output`."""
    activity: str | None
    """Name by which the server is called."""


GIVEN_VALUES: Final = 500_000
"""Maximum values passed to the objects and calls of one export."""


class Evaluation:
    """The steps of one export so far, the values of its local names, and its problems.

    The evaluators of expressions receive this, and use it to evaluate inner expressions.
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
        self.frames: dict[int, tuple[int, ...]] = {}
        """The lines of each body, by its region, as frames of the log."""
        self.unread: set[int] = set()
        """The steps that lines give which nothing reads."""
        self.rounds: OpenRounds = OpenRounds(self.steps)
        self.accesses: list[Reached] = []
        """The members that paths name."""
        self.labels: dict[tuple[int, str], Span] = {}
        """Where the arguments of steps of the server are named."""
        self.passed: list[TypedArgument] = []
        """Values passed to inputs of called programs and tools of plans."""
        self.calls: dict[Source, Span] = {}
        """The call that each program was read for."""
        self.exported: dict[tuple[int, str], EvaluationContext] = {}
        """Local names of called programs that are exported, with the annotations and key of the call, by scope and text."""
        self.read: set[str] = set()
        """Local names and inputs of the program itself that have been looked up."""
        self._scopes = 0
        """How many bodies of blocks and programs have been read."""
        self._nested = 0
        """Expressions that are being evaluated, each for the one before."""
        self._names: dict[tuple[int, str], _Name] = {}
        """The local names that have been looked at, by the number of the scope of each."""
        self._known: dict[Hashable, BoundValue | None] = {}
        """Values of locals that depend on what is piped to where they stand, or on where that is."""
        self._values = 0
        """How many values were put into objects and calls."""
        self._open: list[_Name] = []
        """Locals whose expressions are being read, outermost first."""
        self._piped: BoundValue | None = None
        """Value piped into the innermost of them."""
        self._depends = False
        """Its value depends on that."""

    def value(self, expression: Expression, context: EvaluationContext) -> BoundValue | None:
        """Evaluate any expression; report one that is nested too deeply."""
        if self._nested == EVALUATED_LEVELS:
            unit = "expressions that need one another"
            self.report.add(problems.files.TooLarge(at=expression.span, what="the program", limit=EVALUATED_LEVELS, unit=unit))
            return None
        self._nested += 1
        value = self._evaluate(self, expression, context)
        self._nested -= 1
        return value

    def next_scope(self) -> int:
        """Return the number of a new scope."""
        self._scopes += 1
        return self._scopes

    def note_read(self, name: str, scope: Scope) -> None:
        """Record that a name was looked up, if it belongs to the compiled program rather than one that it calls."""
        if not scope.program.calls:
            self.read.add(name)

    def begin(self, name: Name, found: LocalName, context: EvaluationContext) -> Reading | BoundValue | None:
        """Start evaluating a local name, or return its value; in brackets that place steps, what a call needs stays outside."""
        home = found.scope
        if home.outer is None:
            self.note_read(name.text, home)
        key = home.number, name.text
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = _Name(found.binding)
        elif known.open:
            self._circle(name, known, home.program.survey.repeated)
            return None
        log = self.steps.log
        if known.frame is None:
            known.frame = log.new_name()
        else:
            log.read(known.frame)
        added = context.annotations or context.timing is not NO_TIMING
        plain = not (added or context.key or context.placing or (context.direct and context.brackets))
        export = self.exported.get(key)
        if export is not None:
            plain = plain or (context.annotations, context.timing, context.key) == (export.annotations, export.timing, export.key)
        outside = home.region != context.region
        if outside and not self.steps.regions.around(home.region, context.region):
            return self._elsewhere(known, found, context, plain=plain)
        if plain and known.known:
            return self._kept_out(known.value, context)
        alone = not outside or not plain  # else a name is evaluated where it is defined
        inside = context.alone(context.brackets if context.direct else None, home) if alone else context.at_home(home)
        if plain and export is not None:
            inside = export.alone(None, home)
        if plain and known.piping and (key, inside.piped) in self._known:
            self.reads_pipe(inside)
            return self._kept_out(self._known[key, inside.piped], context)
        reading = Reading(key, context, inside, plain, (self._piped, self._depends))
        self._piped, self._depends = inside.piped, False
        known.open = True
        log.open(known.frame)
        self._open.append(known)
        return reading

    def end(self, reading: Reading, value: BoundValue | None) -> BoundValue | None:
        """Record the value of the local name that was started last, and return it."""
        known = self._open.pop()
        known.open = False
        self.steps.log.close()
        depends = self._depends
        self._piped, self._depends = reading.outer
        if depends:
            known.piping = True
            if reading.plain:
                self._known[reading.key, reading.inside.piped] = value
            self.reads_pipe(reading.inside)
        elif reading.plain:
            known.known, known.value = True, value
        context = reading.context
        return value if context.brackets is None else self._kept_out(value, context)

    def _kept_out(self, value: BoundValue | None, context: EvaluationContext) -> BoundValue | None:
        if value is not None and context.brackets is not None and not context.direct:
            context.brackets.keep_out(paths_read(value))
        return value

    def _elsewhere(self, known: _Name, found: LocalName, context: EvaluationContext, *, plain: bool) -> BoundValue | None:
        """Evaluate a local name in a block that belongs further out than the name, as if its expression were written there."""
        at = (found.key, "in", context.region)
        if plain and at in self._known:
            return self._known[at]
        inside = msgspec.structs.replace(context, own=False, scope=found.scope, piped=found.scope.piped, keys=found.scope.keys)
        known.open = True
        self._open.append(known)
        value = self.value(found.binding.value, inside)
        self._open.pop().open = False
        if plain:
            self._known[at] = value
        return value

    def frame_of(self, scope: Scope, name: str) -> int | None:
        """Return the frame of a local name of a scope, if its evaluation has started."""
        known = self._names.get((scope.number, name))
        return None if known is None else known.frame

    def shared_names(self) -> Iterator[tuple[Binding, Binding]]:
        """Yield each definition of a model step that an earlier one already defines, with the earlier one."""
        first: dict[int, Binding] = {}
        for known in self._names.values():
            value, written = known.value, known.binding.value
            if (
                isinstance(value, StepResult)
                and isinstance(value.path.origin, int)
                and isinstance(written, Call | Pipe | Annotated)
            ):
                step = self.steps.table[value.path.origin]
                other = first.setdefault(step.number, known.binding)
                called = known.binding.span.source in self.calls
                if other is not known.binding and not value.path.tail and step.executor == "model" and not called:
                    yield known.binding, other

    def reads_pipe(self, context: EvaluationContext) -> None:
        """Record whether the value at a place depends on what is piped there."""
        if context.piped is self._piped:
            self._depends = True

    def spend(self, values: int, at: Span) -> bool:
        """Count values passed to objects and calls, with a limit, since a few lines can produce any number."""
        self._values += values
        if self._values <= GIVEN_VALUES:
            return True
        if self._values - values <= GIVEN_VALUES:
            self.report.add(problems.files.TooLarge(at=at, what="the program", limit=GIVEN_VALUES, unit="values given to calls"))
        return False

    def _circle(self, name: Name, known: _Name, repeated: AbstractSet[str]) -> None:
        """Report a local name that depends on itself, once per cycle, unless a double definition has been reported."""
        first = next(place for place, each in enumerate(self._open) if each is known)
        cycle = self._open[first:]
        words = tuple(each.binding.name.text for each in cycle)
        told = [set(problem.words) for problem in self.report.problems if isinstance(problem, problems.names.RecursiveBinding)]
        if set(words) not in told and repeated.isdisjoint(words):
            places = tuple(each.binding.name.span for each in cycle)
            self.report.add(problems.names.RecursiveBinding(at=name.span, words=words, places=places))

    def braces(self, context: EvaluationContext, *names: Hashable) -> int:
        """Return the number of braces at a place: of those under a name, or of those in an expression."""
        return self.steps.identities.of("scope", context.braces, context.key, *names)

    def signature(self, instruction: Instruction, span: Span, annotations: tuple[Json, ...]) -> Signature | None:
        """Return the signature of a call, or `None` after reporting the problems of its schema."""
        schema = self.flat(instruction, span)
        if schema is None:
            return None
        properties, kind = property_names(schema, annotations), instruction.kind
        executor: Executor = "model" if kind == "mixin" else kind
        output = "output" in properties and executor != "user"
        if output and len(properties) == 1:
            executor = "server"  # leaves the model nothing to fill in
        activity = instruction.name if executor == "server" or output else None
        return Signature(schema, properties, kind, instruction.base_name, executor, output, activity)

    def only_reads(self, step: Step) -> bool:
        """Return whether the instruction of a step is declared to have no side effects."""
        if not isinstance(step.content, Fusion):
            return False
        schema = self.flat(step.content.instruction, step.span)
        return isinstance(schema, dict) and schema.get(READS_ONLY) is True

    def flat(self, instruction: Instruction, span: Span) -> Json:
        """Return the flat schema of an instruction, or `None` after reporting its problems."""
        try:
            return self.instructions.schema(instruction, span)
        except InstrcError as error:
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else structs.replace(problem, at=span))
            return None


class OpenRounds:
    """The bodies encountered, with the scopes that define the names of their rounds."""

    def __init__(self, steps: Steps) -> None:
        self.lists: dict[int, Path] = {}
        """The list whose elements a body is carried out for."""
        self.bodies: dict[int, int] = {}
        """The body of the `repeat` whose rounds a body sees: itself, or the one before an `else`."""
        self.homes: dict[int, Scope] = {}
        """The names of each body of a `repeat`."""
        known = Bodies(lambda number: steps.table[number].content, self.lists.get, lambda body: (self.bodies[body], {}))
        self._rounds = Rounds(known)

    def home_of(self, path: Path) -> Scope | None:
        """Return the scope that defines the names of a round, if a path leads to one."""
        body = self._rounds.body_of(path) if self.homes else None
        return None if body is None else self.homes[body]


def property_names(schema: Json, annotations: tuple[Json, ...]) -> dict[str, None]:
    """Return the names of the top-level properties in order, including those added by annotations."""
    found: dict[str, None] = {}
    for part in (schema, *annotations) if annotations else (schema,):
        found.update(dict.fromkeys(mapping(mapping(part).get("properties"))))
    return found
