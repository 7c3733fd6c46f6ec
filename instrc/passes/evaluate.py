"""What expressions come to: every call becomes a step, every name what it stands for.

The methods are tasks for `instrc.passes.trampoline.run`, because programs nest as deep as they like.
A task that has met a mistake reports it and comes to `None`; whoever needs the value then stays silent.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from instrc import problems
from instrc.ir.graph import Instruction, Path
from instrc.ir.surface import (
    Access,
    Annotated,
    Argument,
    Array,
    Binding,
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
from instrc.jsonvalue import Json
from instrc.passes import braces, calls, mixing, processes
from instrc.passes.library import Library
from instrc.passes.names import InputName, Names, Special
from instrc.passes.steps import Steps
from instrc.passes.trampoline import Task
from instrc.passes.values import Data, Inner, Place, Result, Value, paths
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Span

MOST_VALUES = 500_000
"""How many values the objects and calls of one export are given at most."""


class Evaluator:
    """One export of a program on its way from expressions to steps."""

    def __init__(self, names: Names, library: Library, report: Report) -> None:
        self.names = names
        self.library = library
        self.report = report
        self.steps = Steps()
        self._known: dict[str | tuple[str, Value | None], Value | None] = {}
        """Values of locals; under the name and what is piped to where it stands if they depend on that."""
        self._values = 0
        """How many values were put into objects and calls."""
        self._open: dict[str, None] = {}
        """Locals whose expressions are being read, outermost first."""
        self._piped: Value | None = None
        """What is piped to where the innermost of them stands."""
        self._depends = False
        """Its value depends on that."""

    def value(self, expression: Expression, place: Place) -> Task[Value | None]:
        """Come to the value of any expression."""
        match expression:
            case Name():
                return (yield self.name(expression, place))
            case Call(callee, arguments, span):
                return (yield self.call(callee, arguments, span, place))
            case Uri():
                return (yield self.call(expression, (), expression.span, place))
            case Inline(schema, span):
                title = schema.get("title")
                instruction = Instruction(title if isinstance(title, str) and title.strip() else "inline", None, schema)
                return (yield calls.call(self, instruction, (), span, place))
            case Annotated(inner, annotation, _, _):
                added = {"description": annotation} if isinstance(annotation, str) else annotation
                return (yield self.value(inner, replace(place, annotations=(added, *place.annotations))))
            case Pipe():
                return (yield self.pipe(expression, place))
            case Object():
                return (yield braces.members(self, expression, place))
            case Literal(value, span):
                return self._data(value, span, place)
            case Array(_, span):
                return self._data(self.data(expression), span, place)
            case Access() | When() | Each() | Repeat() | Try() | Do():
                self.report.add(problems.misplaced.MisplacedBlock(at=expression.span))
                return None

    def name(self, name: Name, place: Place) -> Task[Value | None]:
        """Come to the value of a bare name."""
        found = self.given(name, place)
        if found is not None:
            self._refuse_annotations(name.span, place)
            return found
        meaning = self.names.meaning(name)
        match meaning:
            case None:
                return None
            case InputName(text):
                self._refuse_annotations(name.span, place)
                return Result(Path(text))
            case Binding() if not self.names.is_alias(meaning):
                return (yield self.local(name, meaning, place))
            case _:
                return (yield self.call(name, (), name.span, place))

    def given(self, name: Name, place: Place) -> Value | None:
        """Return what braces around a place gave a name to: as a key, or, where nothing else is called so, as a slot."""
        found = place.find(name.text)
        if (
            found is None
            and place.keys is not None
            and place.keys.part(name.text) is not None
            and not self.names.knows(name.text)
        ):
            return place.keys.part(name.text)
        return found

    def local(self, name: Name, binding: Binding, place: Place) -> Task[Value | None]:
        """Come to what a local name stands for; in brackets that place steps, what a call there needs stays outside."""
        self.names.read.add(name.text)
        if name.text in self._open:
            self._circle(name)
            return None
        plain = not (place.annotations or place.key or place.placing or (place.direct and place.frame))
        if plain and name.text in self._known:
            value = self._known[name.text]
        elif plain and (name.text, place.piped) in self._known:
            value = self._known[name.text, place.piped]
            self.reads_pipe(place)
        else:
            outer = self._piped, self._depends
            self._piped, self._depends = place.piped, False
            self._open[name.text] = None
            value = yield self.value(binding.value, place.alone(place.frame if place.direct else None))
            del self._open[name.text]
            depends = self._depends
            self._piped, self._depends = outer
            if plain:
                self._known[(name.text, place.piped) if depends else name.text] = value
            if depends:
                self.reads_pipe(place)
        if value is not None and place.frame is not None and not place.direct:
            place.frame.barriers.update(path.origin for path in paths(value) if isinstance(path.origin, int))
        return value

    def reads_pipe(self, place: Place) -> None:
        """Note that what is read at a place depends on what is piped there, or that nothing is."""
        if place.piped is self._piped:
            self._depends = True

    def spend(self, values: int, at: Span) -> bool:
        """Count values that an object or a call is given; a few lines can ask for any number of them, so there is a limit."""
        before, self._values = self._values, self._values + values
        if before <= MOST_VALUES < self._values:
            self.report.add(problems.schemas.TooLarge(at=at, what="the program", limit=MOST_VALUES, unit="values given to calls"))
        return self._values <= MOST_VALUES

    def _circle(self, name: Name) -> None:
        """Report a local name that needs itself, each circle once."""
        opened = list(self._open)
        cycle = tuple(opened[opened.index(name.text) :])
        known = [set(problem.words) for problem in self.report.problems if isinstance(problem, problems.names.RecursiveBinding)]
        if set(cycle) not in known:
            places = tuple(self.names.locals[each].name.span for each in cycle)
            self.report.add(problems.names.RecursiveBinding(at=name.span, words=cycle, places=places))

    def call(self, callee: Name | Uri, arguments: tuple[Argument, ...], span: Span, place: Place) -> Task[Value | None]:
        """Come to the value of a call of whatever a name or a reference stands for."""
        called = self.names.vibe(callee) if isinstance(callee, Uri) else self.callee(callee, place)
        match called:
            case None:
                yield self.mistakes_in(arguments, place)
                return None
            case Special("LaunchProcess"):
                return (yield processes.launch(self, arguments, span, place))
            case Special():
                return (yield processes.process(self, called, arguments, span, place))
            case Instruction(name="StartProcess"):
                return (yield processes.start(self, called, arguments, span, place))
            case Instruction(kind="mixin"):
                return (yield mixing.mix(self, called, arguments, span, place))
            case _:
                return (yield calls.call(self, called, arguments, span, place))

    def mistakes_in(self, arguments: tuple[Argument, ...], place: Place) -> Task[None]:
        """Read the arguments of a call that is a mistake itself, for the mistakes in them."""
        inside = place.inside()
        for argument in arguments:
            if isinstance(argument.value, Object):
                for field in argument.value.fields:
                    yield self.value(field.value or Name(field.key, field.key_span), inside)
            else:
                yield self.value(argument.value, inside)

    def callee(self, name: Name, place: Place) -> Instruction | Special | None:
        """Return what a name before brackets calls; a name that stands for a value calls nothing."""
        if place.find(name.text) is not None:
            self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=()))
            return None
        meaning = self.names.meaning(name)
        if isinstance(meaning, Binding):
            found = self.names.alias(name) if self.names.is_alias(meaning) else None
            if found is None and not self.names.is_alias(meaning):
                self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=(meaning.name.span,)))
            return found
        if isinstance(meaning, InputName):
            self.report.add(problems.calls.NotCallable(at=name.span, word=name.text, places=()))
            return None
        return meaning

    def pipe(self, pipe: Pipe, place: Place) -> Task[Value | None]:
        """Come to the value of the last stage; each stage is given the value of the one before."""
        stages = pipe.stages
        if self.names.goal(stages[0]) is not None:
            stages = stages[1:]
        within = replace(place.inside(), own=place.own)
        last = replace(place, direct=False)
        value: Value | None = None
        complete = True
        for i, stage in enumerate(stages):
            here = last if i == len(stages) - 1 else within
            if (i > 0 or place.own) and not self._is_stage(stage, place):
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

    def _is_stage(self, stage: Expression, place: Place) -> bool:
        """Tell whether an expression can take what is piped into it; a name of a value cannot."""
        while isinstance(stage, Annotated):
            stage = stage.value
        if isinstance(stage, Literal | Array):
            self.report.add(problems.misplaced.MisplacedData(at=stage.span))
            return False
        if isinstance(stage, Name):
            binding = self.names.locals.get(stage.text)
            if place.find(stage.text) is not None or stage.text in self.names.inputs:
                self.report.add(problems.calls.NotCallable(at=stage.span, word=stage.text, places=()))
                return False
            if binding is not None and not self.names.is_alias(binding):
                self.names.read.add(stage.text)
                self.report.add(problems.calls.NotCallable(at=stage.span, word=stage.text, places=(binding.name.span,)))
                return False
        return True

    def scope(self, place: Place, *names: Hashable) -> int:
        """Return the number of braces at a place: of those under a name, or of those of an expression."""
        return self.steps.identities.of("scope", place.scope, place.key, *names)

    def is_reference(self, expression: Expression, place: Place) -> bool:
        """Tell whether an expression in braces is the bare name of a value that exists already."""
        if not isinstance(expression, Name):
            return False
        if self.given(expression, place) is not None or expression.text in self.names.inputs:
            return True
        binding = self.names.locals.get(expression.text)
        return binding is not None and not self.names.is_alias(binding)

    def data(self, expression: Expression) -> Json:
        """Return the JSON of a literal, an array or an object of literals; anything else in it is reported."""
        top: list[Json] = [None]
        waiting: list[tuple[Expression, Json, str | int]] = [(expression, top, 0)]
        while waiting:
            node, holder, place = waiting.pop()
            match node:
                case Literal(value):
                    holder[place] = value
                case Array(items):
                    holder[place] = [None] * len(items)
                    waiting.extend((item, holder[place], index) for index, item in enumerate(items))
                case Object(fields):
                    holder[place] = dict.fromkeys(field.key for field in fields)
                    members = ((field.value or Name(field.key, field.key_span), field.key) for field in fields)
                    waiting.extend((member, holder[place], key) for member, key in members)
                case _:
                    self.report.add(problems.misplaced.NotData(at=node.span))
        return top[0]

    def _data(self, value: Json, span: Span, place: Place) -> Data:
        self._refuse_annotations(span, place)
        return Data(value)

    def _refuse_annotations(self, span: Span, place: Place) -> None:
        if place.annotations:
            self.report.add(problems.misplaced.MisplacedAnnotation(at=span))

    def flat(self, instruction: Instruction, span: Span) -> Json:
        """Return the flat schema of an instruction; `None`, once its problems are reported, if it has none."""
        try:
            return self.library.schema(instruction)
        except CompileError as error:
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else replace(problem, at=span))
            return None
