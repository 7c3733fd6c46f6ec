"""`instrc compile`: the artefacts of programs and vibes, on the standard output or in a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from instrc.cli.compiling import compile_files
from instrc.cli.documents import Emit, kinds_to_strip
from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.show import Format
from instrc.workspace import OptionOverrides


class Naming(StrEnum):
    """How the keys of steps are formed."""

    STEP = "step"
    CAMEL = "camel"


class Recursion(StrEnum):
    """What becomes of a schema that holds itself, whatever is usual for the target."""

    KEEP = "keep"
    UNROLL = "unroll"
    REFUSE = "refuse"


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Programs (.aug), vibes (.vibe.json), or - for a program on the standard input."),
    ],
    emit: Annotated[
        Emit | None, typer.Option("--emit", help="The document to print; by default the one that suits the program.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.KIND.json files into a folder instead.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="NAME", help="Convert the tool for a provider; see `instrc targets`.")
    ] = None,
    way_back: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="With --target, write the reverse map for `instrc lift`.")
    ] = None,
    recursion: Annotated[
        Recursion | None, typer.Option("--recursion", help="With --target, what to do about recursive schemas.")
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10_000, metavar="N", help="Multiply every step for N items.")] = 1,
    naming: Annotated[Naming | None, typer.Option("--naming", help="How the keys of steps are formed.")] = None,
    no_hints: Annotated[bool, typer.Option("--no-hints", help="Do not say in descriptions what a step reads.")] = False,
    sketch: Annotated[bool, typer.Option("--sketch", help="Treat unknown instructions as objects with any properties.")] = False,
    strip: Annotated[
        list[str] | None, typer.Option("--strip", metavar="SET", help="Leave out `thoughts`, `metrics`, `engine` or `all`.")
    ] = None,
    locked: LockedOption = False,
    strict: Strict = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Compile programs into tools, processes and direct calls."""
    one_stdin(*files)
    _refuse_contradictions(emit, target, way_back, folder)
    _refuse_idle(files, {"--naming": naming, "--no-hints": no_hints, "--sketch": sketch})
    if recursion is not None and not target:
        message = "--recursion belongs to --target"
        raise typer.BadParameter(message)
    unwanted = None if strip is None else kinds_to_strip(strip)
    overrides = OptionOverrides(naming=None if naming is None else naming.value, hints=not no_hints, batch=batch, sketch=sketch)
    code = compile_files(
        files,
        overrides,
        emit=emit,
        folder=folder,
        target=target,
        way_back=way_back,
        recursion=recursion,
        unwanted=unwanted,
        locked=locked,
        strict=strict,
        root=root,
        shared=shared,
        shape=shape,
    )
    raise typer.Exit(code)


def _refuse_contradictions(emit: Emit | None, target: list[str] | None, way_back: Path | None, folder: Path | None) -> None:
    """Refuse what cannot be meant together."""
    if target and emit not in {None, Emit.TOOL, Emit.FLAT} and folder is None:
        wrong = f"--emit {emit} is not for models: with --target it is tool or flat"
    elif target and len(target) > 1 and folder is None:
        wrong = "several --target need a folder (-o)"
    elif way_back is not None and (not target or folder is not None):
        wrong = "--map belongs to --target on the standard output; a folder (-o) gets the map as a file"
    else:
        return
    raise typer.BadParameter(wrong)


def _refuse_idle(files: list[str], options: dict[str, object]) -> None:
    """Refuse options about the steps and names of programs where only vibes are compiled, which have neither."""
    if all(file.endswith(".json") for file in files):
        for name, value in options.items():
            if value:
                message = f"{name} is about programs: a vibe stays as it is"
                raise typer.BadParameter(message)
