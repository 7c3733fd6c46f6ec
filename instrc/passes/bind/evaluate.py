"""What expressions come to: every call becomes a step, every name what it stands for.

The methods are tasks for `instrc.passes.trampoline.run`, because programs nest as deep as they like.
A task that has met a mistake reports it and comes to `None`; whoever needs the value then stays silent.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from instrc import problems
from instrc.ir.graph import NO_TIMING, Instruction, Path, Reached
from instrc.ir.surface import (
    Access,
    Annotated,
    Argument,
    Array,
    Call,
    Do,
    Each,
    Expression,
    Inline,
    Literal,
    Name,
    Object,
    Pipe,
    Repeat,
    Try,
    Uri,
    When,
)
from instrc.jsonvalue import AnyJson as Json
from instrc.passes.bind import access as paths_of_values
from instrc.passes.bind import blocks, braces, calls, mixing, processes, programs
from instrc.passes.bind.durations import is_duration
from instrc.passes.bind.identity import Identities
from instrc.passes.bind.names import Called, InputName, Program, Special
from instrc.passes.bind.scopes import Definition, Ends, Scope, goal, is_value
from instrc.passes.bind.steps import Steps
from instrc.passes.bind.tools import RUN_PLAN
from instrc.passes.bind.values import Data, EvaluationContext, Inner, Result, Value, paths
from instrc.passes.instructions import InstructionTable
from instrc.passes.trampoline import Task
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Span

MOST_VALUES = 500_000
"""How many values the objects and calls of one export are given at most."""


class Evaluator:
    """One export of a program on its way from expressions to steps."""

    def __init__(
        self,
        instructions: InstructionTable,
        report: Report,
        identities: Identities,
        expected: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        self.ends = Ends()
        self.instructions = instructions
        self.report = report
        self.steps = Steps(identities, expected)
        self.accesses: list[Reached] = []
        """The members that paths name."""
        self.carried: set[tuple[int, str]] = set()
        """Local names whose expressions have been evaluated."""
        self.scopes = 0
        """How many bodies of blocks have been read."""
        self._known: dict[Hashable, Value | None] = {}
        """Values of locals; with what is piped to where it stands if they depend on that."""
        self._values = 0
        """How many values were put into objects and calls."""
        self._open: dict[tuple[int, str], Definition] = {}
        """Locals whose expressions are being read, outermost first."""
        self._piped: Value | None = None
        """What is piped to where the innermost of them stands."""
        self._depends = False
        """Its value depends on that."""

    def value(self, expression: Expression, context: EvaluationContext) -> Task[Value | None]:
        """Come to the value of any expression."""
        match expression:
            case Name():
                return (yield self.name(expression, context))
            case Call(callee, arguments, span):
                return (yield self.call(callee, arguments, span, context))
            case Uri():
                return (yield self.call(expression, (), expression.span, context))
            case Inline(schema, span):
                title = schema.get("title")
                instruction = Instruction(title if isinstance(title, str) and title.strip() else "inline", None, schema)
                return (yield calls.call(self, instruction, (), span, context))
            case Annotated():
                return (yield self.annotated(expression, context))
            case Pipe():
                return (yield self.pipe(expression, context))
            case Object():
                return (yield braces.members(self, expression, context))
            case Literal(value, span):
                return self._data(value, span, context)
            case Array(_, span):
                return self._data(self.data(expression), span, context)
            case Access():
                return (yield paths_of_values.access(self, expression, context))
            case When() | Each() | Repeat() | Try() | Do():
                return (yield blocks.block(self, expression, context))

    def annotated(self, written: Annotated, context: EvaluationContext) -> Task[Value | None]:
        """Come to the value of an expression with an `@`: deadline and delay are for the engine, the rest is for the schema."""
        annotation = written.annotation
        added: dict[str, Json] = {"description": annotation} if isinstance(annotation, str) else dict(annotation)
        within, delay = (added.pop(word, None) for word in ("within", "delay"))
        timing = context.timing
        for word, value in (("within", within), ("delay", delay)):
            if value is not None:
                if not isinstance(value, str) or not is_duration(value):
                    self.report.add(problems.flow.BadDuration(at=written.annotation_span, word=word))
                    return None
                timing = timing._replace(**{word: getattr(timing, word) or value})
        more = (added, *context.annotations) if added or annotation == {} else context.annotations
        return (yield self.value(written.value, replace(context, annotations=more, timing=timing)))

    def name(self, name: Name, context: EvaluationContext) -> Task[Value | None]:
        """Come to the value of a bare name."""
        found = self.given(name, context)
        if found is not None:
            self._refuse_annotations(name.span, context)
            return found
        meaning = context.names.program.meaning(name, context.names)
        match meaning:
            case None:
                return None
            case InputName(text):
                self._refuse_annotations(name.span, context)
                return Result(Path(text))
            case Definition() if not self.ends.is_alias(meaning):
                return (yield self.local(name, meaning, context))
            case _:
                return (yield self.call(name, (), name.span, context))

    def given(self, name: Name, context: EvaluationContext) -> Value | None:
        """Return what braces or blocks around a place named: as a key, or, where nothing else is called so, as a slot."""
        found = context.find(name.text)
        if found is None:
            found = context.names.value(name.text)
        if found is None and context.keys is not None:
            part = context.keys.part(name.text)
            if part is not None and not context.names.program.knows(name.text, context.names):
                return part
        return found

    def local(self, name: Name, found: Definition, context: EvaluationContext) -> Task[Value | None]:
        """Come to what a local name stands for; in brackets that place steps, what a call there needs stays outside."""
        home = found.scope
        if home.outer is None:
            home.program.read.add(name.text)
        self.carried.add(found.key)
        if found.key in self._open:
            self._circle(name, found)
            return None
        added = context.annotations or context.timing != NO_TIMING
        plain = not (added or context.key or context.placing or (context.direct and context.frame))
        outside = plain and home.region != context.region  # a name is evaluated where it is defined
        inside = context.at_home(home) if outside else context.alone(context.frame if context.direct else None, home)
        if plain and found.key in self._known:
            value = self._known[found.key]
        elif plain and (found.key, inside.piped) in self._known:
            value = self._known[found.key, inside.piped]
            self.reads_pipe(inside)
        else:
            outer = self._piped, self._depends
            self._piped, self._depends = inside.piped, False
            self._open[found.key] = found
            value = yield self.value(found.binding.value, inside)
            del self._open[found.key]
            depends = self._depends
            self._piped, self._depends = outer
            if plain:
                self._known[(found.key, inside.piped) if depends else found.key] = value
            if depends:
                self.reads_pipe(inside)
        if value is not None and context.frame is not None and not context.direct:
            context.frame.barriers.update(path.origin for path in paths(value) if isinstance(path.origin, int))
        return value

    def reads_pipe(self, context: EvaluationContext) -> None:
        """Note that what is read at a place depends on what is piped there, or that nothing is."""
        if context.piped is self._piped:
            self._depends = True

    def spend(self, values: int, at: Span) -> bool:
        """Count values that an object or a call is given; a few lines can ask for any number of them, so there is a limit."""
        before, self._values = self._values, self._values + values
        if before <= MOST_VALUES < self._values:
            self.report.add(problems.size.TooLarge(at=at, what="the program", limit=MOST_VALUES, unit="values given to calls"))
        return self._values <= MOST_VALUES

    def _circle(self, name: Name, found: Definition) -> None:
        """Report a local name that needs itself, each circle once."""
        opened = list(self._open)
        cycle = opened[opened.index(found.key) :]
        words = tuple(self._open[key].binding.name.text for key in cycle)
        known = [set(problem.words) for problem in self.report.problems if isinstance(problem, problems.names.RecursiveBinding)]
        if set(words) not in known:
            places = tuple(self._open[key].binding.name.span for key in cycle)
            self.report.add(problems.names.RecursiveBinding(at=name.span, words=words, places=places))

    def call(
        self, callee: Name | Uri, arguments: tuple[Argument, ...], span: Span, context: EvaluationContext
    ) -> Task[Value | None]:
        """Come to the value of a call of whatever a name or a reference stands for."""
        called = context.names.program.vibe(callee) if isinstance(callee, Uri) else self.callee(callee, context)
        match called:
            case None:
                yield self.mistakes_in(arguments, context)
                return None
            case Program():
                return (yield programs.call(self, called, arguments, span, context))
            case Special("Fail"):
                return (yield calls.fail(self, arguments, span, context))
            case Special("RunPlan_Activity"):
                return (yield calls.call(self, RUN_PLAN, arguments, span, context))
            case Special("Plan" | "OneOf"):
                self.report.add(problems.plan_steps.MisplacedPlan(at=span, word=called.name))
                return None
            case Special("LaunchProcess"):
                return (yield processes.launch(self, arguments, span, context))
            case Special():
                return (yield processes.process(self, called, arguments, span, context))
            case Instruction(name="StartProcess"):
                return (yield processes.start(self, called, arguments, span, context))
            case Instruction(kind="mixin"):
                return (yield mixing.mix(self, called, arguments, span, context))
            case _:
                return (yield calls.call(self, called, arguments, span, context))

    def mistakes_in(self, arguments: tuple[Argument, ...], context: EvaluationContext) -> Task[None]:
        """Read the arguments of a call that is a mistake itself, for the mistakes in them."""
        inside = context.inside()
        for argument in arguments:
            if isinstance(argument.value, Object):
                for field in argument.value.fields:
                    yield self.value(field.value or Name(field.key, field.key_span), inside)
            else:
                yield self.value(argument.value, inside)

    def callee(self, name: Name, context: EvaluationContext) -> Called | None:
        """Return what a name before brackets calls; a name that stands for a value calls nothing."""
        if context.find(name.text) is not None or context.names.value(name.text) is not None:
            self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=()))
            return None
        meaning = context.names.program.meaning(name, context.names)
        if isinstance(meaning, Definition):
            found = self.alias(name, context.names) if self.ends.is_alias(meaning) else None
            if found is None and not self.ends.is_alias(meaning):
                places = (meaning.binding.name.span,)
                self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=places))
            return found
        if isinstance(meaning, InputName):
            self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=()))
            return None
        return meaning

    def alias(self, expression: Expression, scope: Scope) -> Called | None:
        """Return what an expression names, if it does nothing but name something to call, through any number of locals."""
        end, home = self.ends.end(expression, scope)
        if isinstance(end, Name) and not is_value(end.text, home):
            meaning = home.program.meaning(end, home)
            return meaning if isinstance(meaning, Instruction | Special | Program) else None
        return home.program.vibe(end) if isinstance(end, Uri) else None

    def pipe(self, pipe: Pipe, context: EvaluationContext) -> Task[Value | None]:
        """Come to the value of the last stage; each stage is given the value of the one before."""
        stages = pipe.stages
        if goal(stages[0], context.names) is not None:
            stages = stages[1:]
        within = replace(context.inside(), own=context.own)
        last = replace(context, direct=False)
        value: Value | None = None
        complete = True
        for i, stage in enumerate(stages):
            here = last if i == len(stages) - 1 else within
            if (i > 0 or context.own) and not self._is_stage(stage, context):
                complete = False
                continue
            if i > 0:
                here = replace(here, piped=value or Inner(), own=True)
            value = yield self.value(stage, here)
            if isinstance(value, Data):
                self.report.add(problems.misplaced.MisplacedData(at=stage.span))
                value = None
            complete = complete and value is not None
        return value if complete else None

    def _is_stage(self, stage: Expression, context: EvaluationContext) -> bool:
        """Tell whether an expression can take what is piped into it; a name of a value cannot."""
        while isinstance(stage, Annotated):
            stage = stage.value
        if isinstance(stage, Literal | Array):
            self.report.add(problems.misplaced.MisplacedData(at=stage.span))
            return False
        if isinstance(stage, Access) and isinstance(stage.base, Name):
            self.report.add(problems.calls.NotCallable(at=stage.span, word=stage.span.text, places=()))
            return False
        if isinstance(stage, Name):
            found = context.names.find(stage.text)
            if (
                context.find(stage.text) is not None
                or context.names.value(stage.text) is not None
                or context.names.is_input(stage.text)
            ):
                self.report.add(problems.calls.NotCallable(at=stage.span, word=stage.text, places=()))
                return False
            if found is not None and not self.ends.is_alias(found):
                found.scope.program.read.add(stage.text)
                places = (found.binding.name.span,)
                self.report.add(problems.calls.NotCallable(at=stage.span, word=stage.text, places=places))
                return False
        return True

    def scope(self, context: EvaluationContext, *names: Hashable) -> int:
        """Return the number of braces at a place: of those under a name, or of those of an expression."""
        return self.steps.identities.of("scope", context.scope, context.key, *names)

    def is_reference(self, expression: Expression, context: EvaluationContext) -> bool:
        """Tell whether an expression in braces is the bare name of a value that exists already."""
        if isinstance(expression, Access):
            return True
        if not isinstance(expression, Name):
            return False
        if self.given(expression, context) is not None or context.names.is_input(expression.text):
            return True
        found = context.names.find(expression.text)
        return found is not None and not self.ends.is_alias(found)

    def data(self, expression: Expression) -> Json:
        """Return the JSON of a literal, an array or an object of literals; anything else in it is reported."""
        top: list[Json] = [None]
        waiting: list[tuple[Expression, Json, str | int]] = [(expression, top, 0)]
        while waiting:
            node, holder, context = waiting.pop()
            match node:
                case Literal(value):
                    holder[context] = value
                case Array(items):
                    holder[context] = [None] * len(items)
                    waiting.extend((item, holder[context], index) for index, item in enumerate(items))
                case Object(fields):
                    holder[context] = dict.fromkeys(field.key for field in fields)
                    members = ((field.value or Name(field.key, field.key_span), field.key) for field in fields)
                    waiting.extend((member, holder[context], key) for member, key in members)
                case _:
                    self.report.add(problems.misplaced.NotData(at=node.span))
        return top[0]

    def _data(self, value: Json, span: Span, context: EvaluationContext) -> Data:
        self._refuse_annotations(span, context)
        return Data(value)

    def _refuse_annotations(self, span: Span, context: EvaluationContext) -> None:
        if context.annotations or context.timing != NO_TIMING:
            self.report.add(problems.misplaced.MisplacedAnnotation(at=span))

    def flat(self, instruction: Instruction, span: Span) -> Json:
        """Return the flat schema of an instruction; `None`, once its problems are reported, if it has none."""
        try:
            return self.instructions.schema(instruction)
        except CompileError as error:
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else replace(problem, at=span))
            return None
