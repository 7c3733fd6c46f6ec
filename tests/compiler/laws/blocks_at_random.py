"""Programs with blocks, drawn at random over the vocabulary of `meaning`: every block, plans, choices, called programs, times."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bodies import Block, Body, Call, Expression, change_in, expressions_of, paths_of, walk
from evaluator import CONDITIONS, CONDITIONS_OF_ROUNDS
from hypothesis import strategies as st

CALLS = ("Ma", "Mb", "Mc", "Fetch_Activity", "Log_Activity", "Get_Activity", "FindUser", "Confirm_User")
PROGRAMS = ("Inner", "Outer")
"""Programs of `meaning` that are called, with `who` beside what they are given."""
MEMBERS = {
    "Ma": "a",
    "Mb": "b",
    "Mc": "c",
    "Ml": "names",
    "Fetch_Activity": "slots",
    "Log_Activity": "id",
    "FindUser": "output",
    "Confirm_User": "decision",
    "Act": "plan",
    "Choose": "id",
}
"""A member of what each call gives."""
TOOLS = ("Fetch_Activity", "Log_Activity", "Get_Activity", "List_Activity")
"""What plans may use, beside `Use_Activity`, which takes anything that the program gives."""
KINDS = ("when", "when else", "else when", "each", "count", "repeat", "repeat else", "over", "over until", "try", "do")
RACES = ("race", "each until")
"""Blocks that may end before all in them is done: what they give depends on what is done first."""
ENDS = (" until round is 2 max 4", " until round is 3 keep 1", " until round is 2 max 2 keep 2")
IN_VAIN = (" until round is 5 max 2 else ", " until round is 5 keep 1 else ", " until round is 2 else ")
TIMES = ('within: "PT5S"', 'delay: "PT1S"', 'delay: "PT1S", within: "P1D"')


@dataclass(frozen=True)
class Words:
    """What is drawn beside calls and blocks."""

    rounds: bool = False
    """What blocks give: `round`, `previous`, `rounds`, `error`."""
    plans: bool = False
    more: bool = False
    """Called programs, choices, times, `Fail`, conditions and lists of own names."""
    races: bool = False
    again: list[tuple[frozenset[str], Expression]] | None = None
    """All expressions with the names that they need, to be repeated."""


@st.composite
def bodies(
    draw: st.DrawFn,
    visible: tuple[str, ...] = (),
    depth: int = 2,
    at: str = "n",
    words: Words = Words(),
) -> Body:
    """Draw a body whose calls are given what is `visible` there."""
    statements: list[tuple[str, Expression]] = []
    for number in range(draw(st.integers(0, 3))):
        name = f"{at}{number}"
        value = draw(_expressions(visible, depth, name, words))
        statements.append((name, _of_its_own(value, name) if "rounds" in visible else value))
        member = MEMBERS.get(value.name) if isinstance(value, Call) else None
        visible = (*visible, name, *([f"{name}.{member}"] if member else []))
    value = draw(_expressions(visible, depth, f"{at}v", words))
    return Body(tuple(statements), value)


def whole(*, rounds: bool = True, races: bool = True) -> st.SearchStrategy[Body]:
    """Return programs of everything that the language has; without `rounds` a name may be inlined anywhere."""
    return bodies(words=Words(rounds, plans=True, more=True, races=races))


@st.composite
def planning(draw: st.DrawFn) -> Body:
    """Draw a program that makes a plan, carries it out and goes on, for each element of the request, in rounds, or once."""
    around = draw(st.sampled_from(("each x in {}", "repeat x in {}", "do")))
    visible = ("x",) if " x " in around else ()
    body = draw(bodies((*visible, "p", "p.plan", "r"), depth=1, words=Words(rounds=True, plans=True, more=True)))
    made = (("p", draw(_planners(visible))), ("r", Call("RunPlan_Activity", ("p.plan",))), *body.statements, ("v", body.value))
    return Body((), Block(around, (Body(made, Call("Mc", ("v", "r"))),)))


@st.composite
def repeating(draw: st.DrawFn, depth: int = 3) -> Body:
    """Draw a program in which few expressions are written again and again, in other blocks and under other names."""
    first, second = Call("Ma", ("prompt",)), Call("Mb", ("prompt",))
    block = Block("do", (Body((("s", first),), Call("Mb", ("s",))),))
    known = [first, second, block, Block("do", (Body((), block),)), Block("do", (Body((("t", second),), Call("Ma", ("t",))),))]
    inside = draw(bodies(depth=depth, words=Words(again=[(frozenset(("prompt",)), each) for each in known])))
    return Body((), Block("do", (inside,)))


@st.composite
def _expressions(draw: st.DrawFn, visible: tuple[str, ...], depth: int, at: str, words: Words) -> Expression:
    again = words.again
    fit = [each for needed, each in again or () if needed <= {*visible, "prompt"}]
    if fit and draw(st.booleans()):
        return _under_other_names(draw(st.sampled_from(fit)), at)
    made = draw(_new(visible, depth, at, words))
    if again is not None:
        again.append((_needed(made), made))
    if words.more and not isinstance(made, str) and not made.annotation and not draw(st.integers(0, 7)):
        made = replace(made, annotation=draw(st.sampled_from(TIMES)))
    return made


def _of_its_own(value: Expression, name: str) -> Expression:
    """Return what equals nothing further out: that would not be of the round, which would not hand it on."""
    if isinstance(value, str) or "description" in value.annotation:
        return value
    return replace(value, annotation=", ".join(filter(None, (value.annotation, f'description: "{name}"'))))


def _needed(expression: Expression) -> frozenset[str]:
    """Return the names that an expression reads from outside of it, as they are written."""
    found = paths_of(expression)
    if not isinstance(expression, Block):
        return frozenset(found)
    own = {name for body in expression.bodies for name, _ in body.statements}
    own.add(expression.opening.partition(" in ")[0].rpartition(" ")[2])
    found = found.union(*(_needed(value) for body in expression.bodies for value in expressions_of(body)))
    return frozenset(each for each in found if each.partition(".")[0] not in own)


def _under_other_names(expression: Expression, at: str) -> Expression:
    """Return an expression with other names for what is defined in it."""
    inside = expression.bodies if isinstance(expression, Block) else ()
    own = {name for body in inside for each in walk(body) for name, _ in each.statements}
    return change_in(expression, lambda name: f"{name}_{at}" if name in own else name, lambda statements, _: statements)


@st.composite
def _new(draw: st.DrawFn, visible: tuple[str, ...], depth: int, at: str, words: Words) -> Expression:
    few = words.again is not None
    planned = [each for each in visible if each.endswith(".plan")]
    if words.plans and (chosen := draw(st.sampled_from((None, None, "Act", *planned)))):
        return draw(_planners(visible)) if chosen == "Act" else Call("RunPlan_Activity", (chosen,))
    if depth == 0 or draw(st.integers(0, 1 if few else 2)):
        arguments = tuple(draw(st.lists(st.sampled_from((*visible, "prompt")), min_size=1, max_size=2 if few else 3)))
        return draw(_calls(visible, arguments, words))
    return draw(_blocks(visible, depth, at, words))


@st.composite
def _calls(draw: st.DrawFn, visible: tuple[str, ...], arguments: tuple[str, ...], words: Words) -> Call:
    if words.again is not None:
        return Call(draw(st.sampled_from(CALLS[:2])), arguments)
    if not words.more:
        return Call(draw(st.sampled_from(CALLS)), arguments)
    name = draw(st.sampled_from((*CALLS, "Ml", "Ml", "Choose", "Choose", *PROGRAMS)))
    if name in PROGRAMS:
        given = [each for each in arguments if each != "error"] or ["prompt"]  # which is another one in their own `try`
        return Call(name, (given[0], given[-1]), labelled="who: ")
    lists = [each for each in visible if each.endswith(".names")]
    if name != "Choose" or not lists:
        return Call("Ml" if name == "Choose" else name, arguments)
    return Call(name, arguments, among=draw(st.sampled_from(lists)))


@st.composite
def _blocks(draw: st.DrawFn, visible: tuple[str, ...], depth: int, at: str, words: Words) -> Block:
    few = words.again is not None
    kind = draw(st.sampled_from(("when", "when else", "do", "do") if few else (*KINDS, *(RACES if words.races else ()))))
    inside = (*visible, f"{at}e") if kind in {"each", "each until", "over", "over until"} else visible
    if words.rounds and kind in {"repeat", "repeat else", "over", "over until"}:
        inside = (*inside, "round", "previous", "rounds")

    def body(number: int, seen: tuple[str, ...]) -> Body:
        return draw(bodies(seen, depth - 1, f"{at}_{number}", words))

    made = [body(0, inside)]
    if kind in {"when else", "else when"}:
        made.append(body(1, visible))
    if kind == "else when" and draw(st.booleans()):  # with an `else`
        made.append(body(2, visible))
    if kind == "race":
        made += [body(number, visible) for number in range(1, draw(st.integers(2, 3)))]
    if kind == "try":
        made.append(body(1, (*visible, "error") if words.rounds else visible))
        if words.more and words.rounds and not draw(st.integers(0, 3)):
            made[1] = replace(made[1], value=Call("Fail", ("error",)))
    if kind == "repeat else":
        made.append(body(1, (*visible, "rounds") if words.rounds else visible))
    first: tuple[tuple[str, str], ...] = ()
    if words.more and "rounds" in inside and (own := [name for name, value in made[0].statements if isinstance(value, Call)]):
        first = draw(st.sampled_from(((), ((own[0], "prompt"),))))
    lists = ("prompt", *(each for each in visible if words.more and each.endswith(".names")))
    texts = ("prompt", *(each for each in visible if words.more and each.endswith((".a", ".id", ".names"))))
    match kind:
        case "when" | "when else" | "else when":
            over = draw(st.sampled_from((*texts, *(("round",) if "round" in visible and words.more else ()))))
            known = CONDITIONS_OF_ROUNDS if over == "round" else CONDITIONS
            fit = [test for test in known if over != "prompt" or not test.startswith(("is prompt", "is not prompt"))]
            test = draw(st.sampled_from(fit)) if words.more else 'is "a"'
            between = (' else when prompt is "other" ', " else ") if kind == "else when" else (" else ",)
            return Block(f"when {{}} {_braced(test)}", tuple(made), between=between, over=over)
        case "each":
            return Block(f"each {at}e in {{}}", tuple(made), over=draw(st.sampled_from(lists)))
        case "each until":
            return Block(f"each {at}e in {{}}", tuple(made), f' until {at}e is "y"', over=draw(st.sampled_from(lists)))
        case "race":
            return Block("race", tuple(made), between=(" or ",) * (len(made) - 1))
        case "count":
            return Block(f"each {at}c in 2", tuple(made))
        case "repeat":
            return Block("repeat", tuple(made), draw(st.sampled_from(ENDS)), first=first)
        case "repeat else":
            return Block("repeat", tuple(made), between=(draw(st.sampled_from(IN_VAIN)),), first=first)
        case "over":
            return Block(f"repeat {at}e in {{}}", tuple(made), over=draw(st.sampled_from(lists)), first=first)
        case "over until":
            ends = " until round is 2"
            return Block(f"repeat {at}e in {{}}", tuple(made), ends, over=draw(st.sampled_from(lists)), first=first)
        case _:
            return Block(kind, tuple(made))


def _braced(text: str) -> str:
    """Return a text of which nothing is filled in by `format`."""
    return text.replace("{", "{{").replace("}", "}}")


@st.composite
def _planners(draw: st.DrawFn, visible: tuple[str, ...]) -> Call:
    """Draw a call whose model plans with some tools; one of them may be given something by the program."""
    seen = st.sampled_from((*visible, "prompt"))
    tools = [Call(name, ()) for name in draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=3, unique=True))]
    if draw(st.booleans()):
        tools.append(Call("Use_Activity", (draw(seen),)))
    return Call("Act", tuple(draw(st.lists(seen, min_size=1, max_size=2))), tuple(tools))
