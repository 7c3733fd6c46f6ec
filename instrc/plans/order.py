"""The order that tasks have by what they read and wait for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from instrc.ir.tasks import PlanTask


def circles(tasks: Mapping[str, PlanTask]) -> Iterator[tuple[str, ...]]:
    """Yield groups of tasks that wait for each other, one circle of each, by the place of its first task."""
    needs = {id_: task.needs for id_, task in tasks.items()}
    if _have_an_order(needs):
        return
    order = {id_: number for number, id_ in enumerate(tasks)}
    found = [group for group in _components(needs) if len(group) > 1 or group[0] in needs[group[0]]]
    for group in sorted(found, key=lambda group: min(map(order.__getitem__, group))):
        yield _circle(min(group, key=order.__getitem__), frozenset(group), needs)


def _have_an_order(needs: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether all tasks can be carried out, those first that need nothing: most plans have no circle."""
    waited: dict[str, list[str]] = {}
    left: dict[str, int] = {}
    for id_, those in needs.items():
        known = [other for other in those if other in needs]
        left[id_] = len(known)
        for other in known:
            waited.setdefault(other, []).append(id_)
    ready = [id_ for id_, count in left.items() if not count]
    for id_ in ready:
        for other in waited.get(id_, ()):
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    return len(ready) == len(needs)


def _components(tasks: Mapping[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield the strongly connected components (Tarjan), with a stack of its own: a chain may be long."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    for root in tasks:
        if root in number:
            continue
        work: list[tuple[str, Iterator[str]]] = []
        entering: str | None = root
        while entering is not None or work:
            if entering is not None:
                number[entering] = lowest[entering] = len(number)
                open_.append(entering)
                is_open.add(entering)
                work.append((entering, iter(tasks[entering])))
            here, rest = work[-1]
            entering = None
            for other in rest:
                if other not in tasks:
                    continue
                if other not in number:
                    entering = other
                    break
                if other in is_open:
                    lowest[here] = min(lowest[here], number[other])
            if entering is not None:
                continue
            work.pop()
            if work:
                lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[here])
            if lowest[here] == number[here]:
                group = [open_.pop()]
                while group[-1] != here:
                    group.append(open_.pop())
                is_open.difference_update(group)
                yield group


def _circle(start: str, group: frozenset[str], needs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the shortest way from a task back to itself inside its group."""
    came_from: dict[str, str] = {}
    level = [start]
    while level:
        following: list[str] = []
        for here in level:
            for other in needs[here]:
                if other == start:
                    way = [here]
                    while way[-1] != start:
                        way.append(came_from[way[-1]])
                    return tuple(reversed(way))
                if other in group and other not in came_from:
                    came_from[other] = here
                    following.append(other)
        level = following
    raise AssertionError(start)  # a group holds a circle through each of its tasks
