"""What a call is given, sorted into arguments and slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Never, TypeVar

import msgspec

from instrc import problems
from instrc.ir.fusion import Argument, Slot
from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.steps import slot_reads
from instrc.passes.bind.values import BoundValue, Data, Inner, Members, StepResult
from instrc.source import Span

_NONE: Mapping[Any, Never] = MappingProxyType({})  # of no table in particular
K = TypeVar("K")
V = TypeVar("V")


def _with(table: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """Return a table with an entry more: the same one, unless it is the empty one of all calls."""
    if not isinstance(table, dict):
        return {key: value}
    table[key] = value
    return table


def _behind(items: Sequence[V], item: V) -> Sequence[V]:
    """Return a list with an item more: the same one, unless there was none."""
    if not isinstance(items, list):
        return [item]
    items.append(item)
    return items


class CallInputs(msgspec.Struct, gc=False):
    """What a call is given, sorted; a list or a table that most calls do without is made when something goes into it."""

    arguments: list[Argument] = msgspec.field(default_factory=list)
    slots: Sequence[Slot] = ()
    labels: Mapping[str, Span] = _NONE
    has_value: bool = False
    """Something is read, so the pipe or `prompt` is not."""
    needs: tuple[Path, ...] = ()
    """What has to be there first although nobody is shown it."""
    chosen: tuple[Path, ...] = ()
    """Lists of which something is chosen."""
    named: Mapping[str, tuple[Path | Constant, Span]] = _NONE
    """The arguments that have a name, and where they are written; members of objects that are read are among them."""
    constants: Mapping[int, str] = _NONE
    """The inputs that constants among the arguments stand for, by place: a program that is called with a literal reads it."""
    complete: bool = True
    """Whether all that it is given can be given."""
    literal: bool = False
    """A constant is among the arguments."""
    unchecked: Sequence[tuple[str, Path | Constant]] = ()
    """Names of arguments that have not been looked at for one that is given twice, and what is given under them."""

    def add(self, label: str | None, value: BoundValue) -> bool:
        """Take a value as an argument, and tell whether it can be one; an object stands for its members under their names."""
        match value:
            case StepResult():
                self._take(label, value.path)
                self.has_value = True
            case Inner():
                self.has_value = True
            case Members(members):
                added = [self.add(key if label is None else f"{label}.{key}", member) for key, member in members]
                return all(added)
            case Data(constant, name):
                if name:
                    self.constants = _with(self.constants, len(self.arguments), label or name)
                    self.has_value = True
                self.add_constant(label, constant)
            case _:
                return False
        return True

    def add_constant(self, label: str | None, value: Json) -> None:
        """Take a constant as an argument."""
        self._take(label, Constant(value))
        self.literal = True

    def _take(self, label: str | None, value: Path | Constant) -> None:
        self.arguments.append(Argument(label, value))
        if label is not None:
            self.unchecked = _behind(self.unchecked, (label, value))

    def add_slot(self, slot: Slot) -> None:
        """Take something that is composed."""
        self.slots = _behind(self.slots, slot)

    def reads(self) -> list[Path]:
        """Return all that is read, fused calls included."""
        if len(self.arguments) == 1 and not self.chosen and not self.slots:  # as most calls
            value = self.arguments[0].value
            return [value] if type(value) is Path else []
        direct = [argument.value for argument in self.arguments if isinstance(argument.value, Path)]
        if not self.chosen and not self.slots:
            return list(dict.fromkeys(direct))
        return list(dict.fromkeys((*direct, *self.chosen, *slot_reads(tuple(self.slots)))))


def take_label(ev: Evaluation, given: CallInputs, label: str, span: Span) -> bool:
    """Note the name of an argument, and tell whether it may be one; a name given twice, or `const`, is reported."""
    if label == "const":
        ev.report.add(problems.names.ReservedName(at=span, word=label))
        return False
    if label in given.labels:
        ev.report.add(problems.names.RepeatedName(at=span, word=label, first=given.labels[label]))
        return False
    given.labels = _with(given.labels, label, span)
    return True


def check_names(ev: Evaluation, given: CallInputs, span: Span) -> None:
    """Report an argument at a place that gives a name to another value than one before: only one could be passed on."""
    new, given.unchecked = given.unchecked, ()
    for label, value in new:
        if label not in given.named:
            given.named = _with(given.named, label, (value, span))
        known, first = given.named[label]
        if known != value:
            ev.report.add(problems.names.RepeatedName(at=span, word=label, first=first, argument=True))
            given.complete = False
            return
