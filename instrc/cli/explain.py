"""`instrc explain`: the page of a problem."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.show import WRONG_USE
from instrc.cli.terminal import write, write_error


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The name of a problem, such as `unknown-name`.")] = None,
) -> None:
    """Explain a problem: its meaning, an example and a solution. Without a name, list all problems."""
    from instrc.problems import catalogue  # reads every module of problems

    classes = catalogue.classes()
    if name is None:
        width = max(map(len, classes))
        for known, problem in classes.items():
            write(f"{known:{width}}  {catalogue.page(problem).partition(chr(10))[0]}\n")
        return
    asked = name.strip().strip("[]")  # copied from a message, brackets and all
    if asked in classes:
        write(f"# {asked}\n\n{catalogue.page(classes[asked]).rstrip()}\n")
        return
    from instrc.problems.suggest import nearest

    close = nearest(asked, tuple(classes))
    hint = f"Did you mean {' or '.join(f'`{each}`' for each in close)}?" if close else "`instrc explain` lists all problems."
    write_error(f"instrc explain: there is no problem named `{asked[:100]}`. {hint}\n")
    raise typer.Exit(WRONG_USE)
