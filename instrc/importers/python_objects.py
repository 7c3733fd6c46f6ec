"""Load what `module:Name` or `path/to/file.py:Name` means: only here is code of others run, because that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module, util
from pathlib import Path
from types import ModuleType

from instrc.problems.importing import MissingLibrary, UnloadableObject
from instrc.problems.problem import CompileError
from instrc.problems.settings import MissingExtra
from instrc.problems.suggest import nearest
from instrc.schema.notes import describe_value


def load(reference: str) -> tuple[object, bool]:
    """Return the object that a reference means, and whether it is a whole module; a `CompileError` says why there is none."""
    place, mark, name = reference.rpartition(":")
    if not mark or (len(place) == 1 and name[:1] in {"\\", "/"}):  # `C:\models.py`
        place, name = reference, ""
    with _quiet(), _path_to(place):
        module = _module(place, reference)
        value: object = module
        for word in name.split(".") if name else ():
            try:
                value = getattr(value, word)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  -- the code is not ours, nor is what it raises
                known = tuple(each for each in vars(value) if not each.startswith("_")) if hasattr(value, "__dict__") else ()
                reason = f"there is no `{word}` in it" if isinstance(error, AttributeError) else _words(error)
                raise CompileError([UnloadableObject(reference=reference, reason=reason, nearest=nearest(word, known))]) from None
    return value, not name


def _module(place: str, reference: str) -> ModuleType:
    try:
        if place.endswith(".py"):
            return _run_file(Path(place), reference)
        return import_module(place)
    except CompileError:
        raise
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing == place.partition(".")[0]:
            raise CompileError([UnloadableObject(reference=reference, reason="there is no such module")]) from None
        extra = MissingExtra(feature="`instrc import pydantic`", extra="import", package="pydantic")
        raise CompileError([extra if missing == "pydantic" else MissingLibrary(library=missing)]) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  -- the code is not ours, nor is what it raises
        reason = f"running it ends in {type(error).__name__}: {_words(error)}"
        raise CompileError([UnloadableObject(reference=reference, reason=reason)]) from None


def _words(error: BaseException) -> str:
    """Return what an error says, if it can be asked."""
    try:
        return describe_value(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  -- as above
        return "it does not say why"


def _run_file(path: Path, reference: str) -> ModuleType:
    if not os.path.isfile(path):  # noqa: PTH113  -- no error for a NUL
        raise CompileError([UnloadableObject(reference=reference, reason="there is no such file")])
    name = f"instrc_imported_{path.stem}"
    spec = util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[name] = module  # types look their neighbours up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _path_to(place: str) -> Iterator[None]:
    """Let a file find its neighbours, and a module that lies in the working folder be found."""
    before = list(sys.path)
    sys.path.insert(0, str(Path(place).resolve().parent if place.endswith(".py") else Path.cwd()))
    try:
        yield
    finally:
        sys.path[:] = before


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the code prints out of our own output."""
    with redirect_stdout(sys.stderr):
        yield
