"""Options shared by several commands, and the end of a command."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn, TypeAlias, get_type_hints

import typer
from msgspec import Struct, structs

from instrc.cli.output import Format, deliver_text, report_written, show, verdict
from instrc.problems.errors import InstrcError, codes_of
from instrc.problems.report import Report
from instrc.text.durations import is_duration, seconds
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json
from instrc.vibes.find_files import STDIN

if TYPE_CHECKING:
    from instrc.engines.launch import RehearseMode
    from instrc.vibes.project import Project

NAMED_INPUT: Final = re.compile(r"(\w+)=(.*)", re.DOTALL)
"""A named input of a program."""


def _named_inputs(values: list[str] | None) -> list[str] | None:
    """Refuse several values of which one has no name."""
    count = len(values or ())
    if count > 1 and not all(map(NAMED_INPUT.fullmatch, values or ())):
        times = "twice" if count == 2 else f"{count} times"
        raise typer.BadParameter(f"--input is given {times}, and several are given by name: NAME=VALUE")
    return values


Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="INPUT",
        callback=_named_inputs,
        help="The prompt, an object of inputs, or NAME=VALUE; @FILE or - to read it.",
    ),
]
ProblemFormat: TypeAlias = Annotated[Format, typer.Option("--format", help="The format of problems.")]
ProblemsOption: TypeAlias = Annotated[Format, typer.Option("--problems", help="The format of problems.")]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
Sketch: TypeAlias = Annotated[bool, typer.Option("--sketch", help="Treat unknown instructions as objects with any properties.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Events: TypeAlias = Annotated[bool, typer.Option("--json", help="Print every event as one JSON line.")]
ProgramFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe (.vibe.json), or - for a program.")
]
OutputFile: TypeAlias = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")]
ResultOption: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result to a file instead.")
]
Store: TypeAlias = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="The folder of the runs; .instrc by default.")
]
Budget: TypeAlias = Annotated[
    str | None, typer.Option("--budget", metavar="MONEY", help="Maximum cost of models: '2 USD' for the run, '5 USD/day'.")
]
Cache: TypeAlias = Annotated[
    str | None,
    typer.Option("--cache", metavar="FILE", help="The file of cached model answers, which are not paid for again."),
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="The model that fills in the chunks: PROVIDER:NAME (such as openai:gpt-5), scripted:FILE, or sample.",
    ),
]
Export: TypeAlias = Annotated[str | None, typer.Option("--export", metavar="NAME", help="Which of several programs in the file.")]
Requests: TypeAlias = Annotated[
    int | None, typer.Option("--requests", min=0, metavar="N", help="Maximum number of requests to models.")
]
Tokens: TypeAlias = Annotated[int | None, typer.Option("--tokens", min=0, metavar="N", help="Maximum number of model tokens.")]
Program: TypeAlias = Annotated[str | None, typer.Option("--program", metavar="NAME", help="Only runs of this program.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON Lines.")]
Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Request settings of models: temperature=0, max_tokens=500, timeout=60s."),
]
Metadata: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="NAME=VALUE", help="Metadata to find runs by, such as customer=4711. Repeatable."),
]
EngineName: TypeAlias = Annotated[
    str | None,
    typer.Option("--engine", metavar="NAME", help="The engine of the run: durable (the default if installed), memory, temporal."),
]
RunId: TypeAlias = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run; `instrc runs` lists them.")]


class FolderGroup(Struct, frozen=True):
    """Options that add folders of vibes to those of the project."""

    root: Annotated[
        list[str] | None,
        typer.Option("--root", metavar="DIR", help="A folder of vibes, before those of the project. Repeatable."),
    ] = None
    shared: Annotated[
        list[str] | None,
        typer.Option(
            "--shared", metavar="DIR", help="A shared folder of vibes, searched after those of the project. Repeatable."
        ),
    ] = None

    @property
    def project(self) -> Project:
        """The project with these folders."""
        from instrc.vibes.project import Project  # many commands read no vibes

        return Project(tuple(self.root or ()), tuple(self.shared or ()), getattr(self, "locked", False))


class LockedFolderGroup(FolderGroup, frozen=True):
    """Options that add folders of vibes, or lock the vibes."""

    locked: Annotated[bool, typer.Option("--locked", help="Use only the vibes in aug.lock; see `instrc lock`.")] = False


class StoreGroup(Struct, frozen=True):
    """Options of a command about stored runs."""

    store: Store = None
    shape: ProblemFormat = Format.TEXT

    @property
    def place(self) -> str:
        """Where runs are stored: the place given, or else that of the project's settings."""
        from instrc.engines.stores import USUAL_FOLDER
        from instrc.vibes.settings import read_settings

        return os.fspath(self.store or read_settings(Path()).run.get("store", USUAL_FOLDER))


class EngineGroup(StoreGroup, frozen=True):
    """Options of a command about runs and their engine."""

    engine_name: EngineName = None


class RehearsalGroup(Struct, frozen=True):
    """Options that replace models and activities."""

    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Generate answers and results from their schemas; with --model, results only.")
    ] = False
    with_activities: Annotated[
        bool, typer.Option("--rehearse-with-activities", help="Generate only the answers of models, and call the activities.")
    ] = False

    @property
    def mode(self) -> RehearseMode:
        """The mode that these options select."""
        return "with-activities" if self.with_activities else self.rehearse


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are expanded, and which shows the problems of an error.

    A parameter of a `Struct` class is a group: its fields are options, which come last in the help.
    """
    own = signature(function, eval_str=True).parameters
    groups = {name: each.annotation for name, each in own.items() if hasattr(each.annotation, "__struct_fields__")}
    parameters = {name: each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in own.items() if name not in groups}
    for group in groups.values():
        hints = get_type_hints(group, include_extras=True)
        for field in structs.fields(group):
            option = Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            parameters[field.name] = option

    @wraps(function)
    def command(**given: object) -> None:
        shape = next((value for value in given.values() if isinstance(value, Format)), Format.TEXT)
        made = {name: group(**{field: given[field] for field in group.__struct_fields__}) for name, group in groups.items()}
        try:
            function(**{name: given[name] for name in own if name not in groups}, **made)
        except InstrcError as error:
            show(error.problems, shape)
            raise typer.Exit(codes_of(type(error)).exit) from None

    command.__dict__["__signature__"] = signature(function).replace(parameters=[*parameters.values()])
    return command


def refuse_use(message: str, option: str | None = None) -> NoReturn:
    """Refuse a command line with a usage error."""
    raise typer.BadParameter(message, param_hint=option)


def refuse_no_span(option: str, span: str | None, least: int = 1) -> None:
    """Refuse an option value that is not a duration of at least so many seconds."""
    if span is not None and not (is_duration(span) and seconds(span) >= least):
        bound = f" of {least} s or more" if least else ""
        refuse_use(f"`{span[:80]}` is not a span of time{bound}, as `PT5M`", option)


def settings_of(said: list[str] | None) -> dict[str, Json]:
    """Return settings written as `NAME=VALUE`, or as `extra.NAME=VALUE` for provider-specific parameters."""
    settings: dict[str, Json] = {}
    extra: dict[str, Json] = {}
    for name, text in pairs_of(said, "--set takes NAME=VALUE").items():
        try:
            value = loads(text)
        except ValueError:
            value = text
        (extra if name.startswith("extra.") else settings)[name.removeprefix("extra.")] = value
    whole = settings.get("extra")
    return {**settings, "extra": {**(whole if isinstance(whole, dict) else {}), **extra}} if extra else settings


def pairs_of(given: list[str] | None, wanted: str = "--metadata takes NAME=VALUE") -> dict[str, str]:
    """Return the values of an option by name; refuse a text that is not as `wanted`, a name and a value."""
    pairs = [(text, text.partition("=")) for text in given or ()]
    for text, (name, equals, _) in pairs:
        if not equals or not name.strip():
            refuse_use(f"{wanted}, not `{text[:80]}`")
    return {name.strip(): value for _, (name, _, value) in pairs}


def one_stdin(*paths: str) -> None:
    """Refuse a command line that would read standard input twice."""
    if paths.count(STDIN) > 1:
        refuse_use("the standard input (-) can be read once only")


@contextmanager
def reported(shape: Format, *, strict: bool = False, product: bool = False) -> Iterator[Report]:
    """Collect the problems of a command, show them at its end, and exit with their code."""
    report = Report()
    try:
        yield report
    except InstrcError as error:
        report.take(error)
    found = report.once()
    show(found, shape, product=product)
    raise typer.Exit(verdict(found, strict=strict))


def deliver(report: Report, text: str, output: Path | None, sources: Callable[[], Iterable[object]], shape: Format) -> None:
    """Print the output of a command, or write it to a file that is not a source, unless there are errors."""
    if text and not report.failed:
        unwritten = deliver_text(text, output, sources)
        report.problems += unwritten
        if output is not None and not unwritten:
            report_written([output], shape)
