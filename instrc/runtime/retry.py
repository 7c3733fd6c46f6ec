"""Continue a failed run, or fork one with its recorded results: pure functions of its journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NoReturn, NotRequired, TypeAlias, TypedDict, cast

from msgspec import Struct, field

from instrc import problems
from instrc.problems.errors import AccessError, AnswerError, ConflictError, InputError
from instrc.problems.problem import Problem
from instrc.runtime.activities import complaints
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import (
    COUNTED,
    Author,
    Command,
    Failed,
    FireCommand,
    PinnedPlan,
    Result,
    SpendingLimits,
    State,
    Stopped,
    bare_instruction,
    bare_name,
    is_numbered,
)
from instrc.runtime.interpreter.versions import program_of
from instrc.runtime.journal import Again, CommandResult, Journal, JournalEntry, begun, replay
from instrc.text.jsontext import digest_of, dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.names import file_name
from instrc.text.source import Source


def steps_of(command: Command) -> list[str]:
    """Return the keys of the steps that a command completes."""
    if command["kind"] == "timer":
        return []
    return list(command["steps"]) if command["kind"] in {"model", "user"} else [command["step"]]  # type: ignore[typeddict-item]  # as its kind says


class RetryOptions(Struct, frozen=True):
    """The options of continuing a run that has failed or is held."""

    step: str | None = None
    """First step to repeat; `None` for what failed."""
    new_key: bool = False
    """Whether restarted commands get new keys, so that a service that deduplicates by key runs them again."""
    requests: int | None = None
    tokens: int | None = None
    budget: tuple[str, ...] = ()
    """Cost limits from now on, such as `5 USD`; already recorded by the restart of the run."""
    model: str | None = None
    """Model for every chunk from now on; `None` keeps the previous one."""

    @property
    def limits(self) -> SpendingLimits:
        """The new limits."""
        given = {name: getattr(self, name) for name in COUNTED}
        return cast("SpendingLimits", {name: limit for name, limit in given.items() if limit is not None})


def retry_of(run: str, journal: Journal, options: RetryOptions, *, ended: bool = False, idle: float = 0.0) -> Again:
    """Return the retry to record so that a run continues; raise `ConflictError` if that would change nothing.

    `ended` means that an engine has ended it although its journal has no end, because it was cancelled.
    `idle` is the number of seconds since it failed.
    """
    versions.advance(journal.plan, journal.state)  # it may end or reach a limit only now
    outcome = journal.state["outcome"]
    if ended and outcome is None:
        refuse_cancelled(run)
    if outcome is None:
        return _released(run, journal, options)
    if outcome["status"] == "done":
        _refuse(run, "it is done", "begin another run with what is recorded: `instrc fork`")
    played = _replayed(journal)
    fatal = _fatal(journal)
    if options.step is None and not fatal and not _reached(run, journal, options, outcome):
        if outcome["status"] == "stopped":
            reason = f"`{outcome['step']}` was refused"
        else:
            reason = f"`{outcome['error']['step']}` fails again with what is recorded"
        _refuse(run, reason, f"begin before that: `--from STEP`; or give a result: `instrc fork {run} --set STEP=JSON`")
    drop, fresh = list(fatal), list(fatal if options.new_key else ())
    if options.step is not None:
        names = played.named(options.step)
        names = [name for name in names if any(name == command for command, _ in journal.results)]
        if not names:
            _refuse_step(run, played, options.step)
        without = _replayed(journal, [*names, *fatal])
        if without.last is not None:
            _refuse(run, f"it ends again before `{options.step}`", "begin with an earlier step")
        issued = {name: each for name, each in played.commands.items() if each["kind"] != "fire"}
        others = sorted(name for name, each in issued.items() if without.commands.get(name) != each)
        drop = [command for command, _ in without.lost]
        fresh = [command for command, result in without.lost if options.new_key or "ok" in result]
        return {**_again(journal, options, list(dict.fromkeys([*drop, *others])), fresh, idle), "anew": others}
    return _again(journal, options, drop, fresh, idle)


def _released(run: str, journal: Journal, options: RetryOptions) -> Again:
    """Return the entry that lets a held run continue."""
    held = sorted(journal.held)
    stalled = versions.stalled(journal.plan, journal.state)
    if not held and stalled is None:
        _refuse(run, "it has not failed, and nothing holds it", f"`instrc show {run}` shows its state")
    if options.step is not None:
        advice = f"begin another run: `instrc fork {run} --at STEP`"
        _refuse(run, "it continues with the step that holds it, so `--from` has no effect", advice)
    if stalled is not None and (options.limits or not held):
        _require_higher(run, journal, options, stalled[1])
    return _again(journal, options, held, held if options.new_key else [])


def _refuse(run: str, reason: str, advice: str) -> NoReturn:
    raise ConflictError([problems.runs.NothingToRetry(run=run, reason=reason, advice=advice)])


def _require_higher(run: str, journal: Journal, options: RetryOptions, reason: str) -> None:
    """Raise for limits that have already been reached."""
    raised, first = journal.state.get("limits", {}), journal.plan["options"]
    for name in COUNTED:
        used, limit = journal.state["spent"][name], options.limits.get(name, raised.get(name, first.get(name)))
        if limit is not None and used >= limit:
            _refuse(run, reason, f"raise it: `--{name} {used + max(used // 2, 1)}`")


def _again(journal: Journal, options: RetryOptions, drop: list[str], fresh: list[str], idle: float = 0.0) -> Again:
    """Return a retry with the new settings for the run."""
    again: Again = {"drop": drop, "after": journal.retries}
    if fresh:
        again["fresh"] = fresh
    if options.limits:
        again["limits"] = options.limits
    if options.model is not None:
        again["model"] = options.model
    return {**again, "shift": idle} if idle else again


class _Replay(Struct):
    """Replays a run without some of its results."""

    plan: PinnedPlan
    state: State
    commands: dict[str, Command] = field(default_factory=dict)
    kept: list[CommandResult] = field(default_factory=list)
    lost: list[CommandResult] = field(default_factory=list)
    """Results that were dropped, and results of commands that do not exist without them."""
    last: str | None = None
    """Command whose result ended the run; `None` if a later command ended it."""

    def named(self, step: str) -> list[str]:
        """Return the commands of a step in all elements and rounds: by id, key, bare name, or chunk."""
        known = [command for command in self.commands.values() if command["kind"] != "timer"]
        bare, only = None if is_numbered(step) else bare_instruction(step), self.plan["options"].get("step")
        ways = (
            lambda command: command["id"] == step,
            lambda command: step in steps_of(command),
            lambda command: bare in [bare_instruction(key) for key in steps_of(command)],
            lambda _command: only is not None and bare == bare_instruction(only),  # the only step of a tool has no key
            lambda command: _unit_id(command["id"]).rpartition(".")[2] == step,
        )
        return next((result for way in ways if (result := [command["id"] for command in known if way(command)])), [])


def _replayed(journal: Journal, without: Iterable[str] = ()) -> _Replay:
    """Replay a run without some results; others count if their requests are unchanged, such as answers to what was shown."""
    plan, left_out = journal.plan, set(without)
    before = _replayed(journal).commands if left_out else {}
    built = _Replay(plan, begun(plan, journal.inputs, holds=journal.holds))
    for command, result in journal.results:
        built.commands |= {item["id"]: item for item in versions.issue(plan, built.state)}
        known = command in built.state["open"] or not command
        known = known and (not before or before.get(command) == built.commands.get(command))
        if command in left_out or not known or built.state["outcome"] is not None:
            built.lost.append((command, result))
            continue
        replay(plan, built.state, (command, result))
        built.kept.append((command, result))
        if built.state["outcome"] is not None:
            built.last = command
    built.commands |= {item["id"]: item for item in versions.issue(plan, built.state)}
    return built


def _unit_id(command: str) -> str:
    """Return the id of a command without the numbers of attempt and round."""
    return re.sub(r"(@\d+)?(#\d+)?$", "", command)


def _fatal(journal: Journal) -> list[str]:
    """Return the commands whose results failed a run, and those that would do so next, such as other elements of a list."""
    result: list[str] = []
    while more := _ending(_replayed(journal, result)):
        result += more
    return result


def _ending(played: _Replay) -> list[str]:
    """Return the commands whose results must be dropped for a failed run to continue; those of one chunk together."""
    outcome = played.state["outcome"]
    if outcome is None or outcome["status"] != "failed" or played.last is None or played.last not in played.commands:
        return []
    command, error = played.commands[played.last], outcome["error"]
    [result] = [result for name, result in played.kept if name == played.last][-1:]
    if "error" not in result and command["kind"] != "timer" and error["kind"] not in {"invalid", "plan"}:
        return []
    if command["kind"] != "model":
        return [played.last]
    same = re.sub(r"#\d+$", "", played.last)
    return [name for name, _ in played.kept if name == same or name.startswith(f"{same}#")]


def _reached(run: str, journal: Journal, options: RetryOptions, outcome: Failed | Stopped) -> bool:
    """Return whether a run failed at one of its limits that is now raised."""
    if outcome["status"] == "stopped" or outcome["error"]["kind"] != "limit" or outcome["error"]["code"] not in COUNTED:
        return False
    _require_higher(run, journal, options, outcome["error"]["message"])
    return True


def _refuse_step(run: str, played: _Replay, step: str) -> NoReturn:
    only = played.plan["options"].get("step")
    known = [key for command in played.commands.values() for key in steps_of(command)] if only is None else [only]
    raise InputError([problems.runs.NoSuchStep(run=run, step=step, known=tuple(dict.fromkeys(known)))])


def refuse_cancelled(run: str) -> NoReturn:
    """Raise `ConflictError` for continuing a cancelled run."""
    _refuse(run, "it was cancelled", "begin another run with what is recorded: `instrc fork`")


class ForkOrigin(TypedDict):
    """The origin of a forked run."""

    run: str
    at: str | None
    left: NotRequired[dict[str, str]]
    """Steps whose results another version of the program did not accept, with the reasons."""
    edits: NotRequired[dict[str, str]]
    """Steps with replaced results, with the SHA-256 digest of each replacement."""
    by: NotRequired[Author]
    """Author of the replacements."""


ProgramVersion: TypeAlias = str | Source | JsonObject
"""A path, a source, or a compiled document."""


class ForkOptions(Struct, frozen=True):
    """The options of a fork."""

    step: str | None = None
    """First step to repeat, or several separated by commas; `None` for what the run has not done."""
    edits: Mapping[str, Json] = field(default_factory=dict)
    """Results by step that replace the recorded ones."""
    run: str | None = None
    """Id of the new run."""
    program: ProgramVersion | None = None
    """Another version of the program."""
    model: str | None = None
    """Model for every chunk; `None` keeps the previous one."""
    by: Author | None = None
    """Author of the `edits`, recorded with them."""
    protects: Callable[[Mapping[str, object]], bool] = field(default=lambda _: False)
    """Returns whether `edits` may not replace the result of a command, as people have answered it."""
    excludes: Callable[[Command, Result], bool] = field(default=lambda _command, _result: False)
    """Returns whether who forks may not reuse the recorded result of a command, as it is their own approval."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Request settings that override those of the old run."""


class Forked(Struct, frozen=True):
    """The launch of a forked run."""

    entries: list[JournalEntry]
    left: dict[str, str]
    """Steps of the old run whose results are not reused, with the reasons."""


_MOST_STEPS: Final = 100
"""Maximum steps at which a fork begins; each is looked up among all commands of the run."""


def fork_of(run: str, journal: Journal, options: ForkOptions, plan: PinnedPlan, inputs: JsonObject) -> Forked:
    """Return the fork of a run: the entries up to a step, as long as the fork's `plan` issues the same commands.

    A result is reused for a command with the same content, whatever the numbers of its steps.
    Raise `ConflictError` if an activity's or a person's result would be left out, as it would be repeated.
    """
    if options.run is not None and (wrong := [*wrong_id(options.run)]):
        raise InputError(wrong)
    played = _replayed(journal)
    at = _fatal(journal)
    steps = [] if options.step is None else options.step.split(",", _MOST_STEPS)
    if len(steps) > _MOST_STEPS:
        raise InputError([problems.serving.TooMuch(what="steps at which a fork begins", limit=_MOST_STEPS)])
    for step in steps:
        at += played.named(step.strip()) or _refuse_step(run, played, step.strip())
    edits = {_edited(run, played, step): (step, value) for step, value in options.edits.items()}
    answered = [step for name, (step, _) in edits.items() if options.protects(played.commands[name])]
    without = _replayed(journal, [*at, *edits])
    kept = [(played.commands[name], result) for name, result in without.kept if name]
    given = [_shown(command) for command, result in kept if options.excludes(command, result)]
    if answered or given:
        reason = f"`{answered[0]}` is the answer of a person, and `allow-fork-person-steps` is not set" if answered else ""
        reason = reason or f"`{given[0]}` is or may be their own approval; `x-not` excludes the starter: begin at it to ask again"
        who = "" if options.by is None else options.by["who"]
        raise AccessError([problems.serving.NotAllowed(who=who, action=f"begin this fork of `{run}`", reason=reason)])
    kept += [_edit(played.commands[name], *edit, journal, options.by) for name, edit in edits.items()]
    names = frozenset(
        name for each in (plan, journal.plan) for region in program_of(each).regions for name in (*region.keys, *region.contexts)
    )
    built = _reuse(plan, inputs, kept, names, holds=journal.holds)
    if (options.model is not None or options.settings) and not built.asked and not built.left:
        _refuse(run, "it has ended: another model or setting has no effect", f"repeat a step: `instrc fork {run} --at STEP`")
    left: dict[str, str] = {}
    for command in built.left:
        left.setdefault(_shown(command), built.reason(command))
    twice = tuple({_shown(command): None for command in built.left if command["kind"] in {"activity", "user"}})
    if twice:
        raise ConflictError([problems.runs.CannotFork(run=run, lost=twice, why=left[twice[0]])])
    limits = journal.state.get("limits")
    entries: list[JournalEntry] = [{"again": {"limits": limits}}] if limits else []
    entries += [{"results": [item]} for item in built.results]
    sent = {str(_plain(command, names)) for command in played.commands.values() if command["kind"] == "fire"}
    if fired := [command["id"] for command in built.fires if str(_plain(command, names)) in sent]:
        entries.append({"fired": fired})
    return Forked(entries, left)


def _edited(run: str, played: _Replay, step: str) -> str:
    """Return the only command whose result an edit replaces."""
    result = played.named(step) or _refuse_step(run, played, step)
    asked = sorted({_unit_id(item) for item in result})
    if len(asked) > 1:
        raise InputError([problems.runs.NoSuchStep(run=run, step=step, known=tuple(asked))])
    return result[0]


def _edit(command: Command, step: str, value: Json, journal: Journal, by: Author | None) -> tuple[Command, Result]:
    """Return a command with its result, in which one step has a new value; raise if the value does not fit."""
    recorded = next((result.get("ok") for name, result in reversed(journal.results) if name == command["id"]), None)
    keys = steps_of(command)
    key = next((item for item in keys if step == item or bare_name(step) == bare_name(item)), keys[0] if len(keys) == 1 else None)
    whole = command["kind"] == "activity" or not keys or key is None or (command["kind"] == "user" and len(keys) == 1)
    built: Json = value if whole else {**(recorded if isinstance(recorded, dict) else {}), str(key): value}
    wrong = complaints(built, command["schema"])  # type: ignore[typeddict-item]  # a timer has no steps
    if wrong and command["kind"] == "activity" and not (isinstance(built, dict) and "output" in built):
        within = complaints({"output": built}, command["schema"])  # as its handler returns it: the value, or an object with it
        wrong = within if not within or within[0]["pointer"] else wrong
    if wrong:
        raise AnswerError([problems.runs.RejectedAnswer(step=step, pointer=wrong[0]["pointer"], reason=wrong[0]["message"])])
    return command, {"ok": built} if by is None or command["kind"] != "user" else {"ok": built, "by": by}


class _Reuse(Struct):
    """Recorded results reused by another plan."""

    results: list[CommandResult] = field(default_factory=list)
    fires: list[FireCommand] = field(default_factory=list)
    left: list[Command] = field(default_factory=list)
    """Commands whose results are not reused."""
    asked: list[Command] = field(default_factory=list)
    """Commands that it issues and that are not recorded."""
    steps: frozenset[str] = frozenset()
    """Bare names of its steps."""
    names: frozenset[str] = frozenset()
    """Keys and contexts of both plans, whose numbers may differ."""

    def reason(self, command: Command) -> str:
        """Return why the plan does not accept the result of a command."""
        bare = [bare_name(step) for step in steps_of(command)]
        same = [item for item in self.asked if item["kind"] == command["kind"] and [*map(bare_name, steps_of(item))] == bare]
        for item in same:
            before, now = _plain(command, self.names), _plain(item, self.names)
            if changed := [name for name, value in now.items() if value != before.get(name)]:
                return f"it has another `{changed[0]}`"
        if gone := [step for step in bare if step not in self.steps]:
            return f"the program has no step {_listed(gone)}"
        asked = [step for item in self.asked for step in steps_of(item) or [item["id"]]]
        if set(bare) & set(map(bare_name, asked)):
            return f"it is asked for in one answer with other steps: {_listed(asked)}"
        return f"{_listed(asked)} must be done first" if asked else "nothing asks for it"


def _reuse(
    plan: PinnedPlan, inputs: JsonObject, recorded: Sequence[tuple[Command, Result]], names: frozenset[str], *, holds: bool
) -> _Reuse:
    """Run a plan with recorded results, as long as they match its requests, whatever the numbers in `names`."""
    steps = {bare_name(step.key) for region in program_of(plan).regions for unit in region.units for step in unit.steps}
    state, built = begun(plan, inputs, holds=holds), _Reuse(steps=frozenset(steps), names=names)
    waiting = [(str(_plain(item, names)), item, result) for item, result in recorded]
    open_: dict[str, dict[str, Command]] = {}
    while True:
        for command in versions.issue(plan, state):
            if command["kind"] == "fire":
                built.fires.append(command)
            else:
                open_.setdefault(str(_plain(command, names)), {})[command["id"]] = command
        index = next((index for index, (words, _, _) in enumerate(waiting) if open_.get(words)), None)
        if index is None:
            built.left = [command for _, command, _ in waiting if command["kind"] != "timer"]
            built.asked = [item for same in open_.values() for item in same.values() if item["kind"] != "timer"]
            return built
        words, command, result = waiting.pop(index)
        same = open_[words]
        taken = same.pop(command["id"] if command["id"] in same else next(iter(same)))
        renamed = _renamed(result, steps_of(command), steps_of(taken))
        built.results.append((taken["id"], renamed))
        gone = set(versions.apply(plan, state, taken["id"], renamed))
        for others in open_.values() if gone else ():
            for name in gone & others.keys():
                del others[name]


_NUMBERED: Final = re.compile(r"\b(step|[a-z]+Context)\d+(_\w+)?")
_STRINGS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"(:?)')
_KEPT: Final = frozenset({"activity", "called", "process", "input", "context", "previous", "rejected", "show"})
"""Members of commands whose texts are data, or names that the program does not number; names of steps are keys in them."""


def _plain(command: Command, names: frozenset[str]) -> dict[str, str]:
    """Return the members of a command as texts without the numbers of steps and contexts, which program changes shift."""

    def bare(found: re.Match[str]) -> str:
        return found[1] + (found[2] or "") if found[0] in names else found[0]

    def plain(name: str, value: object) -> str:
        text = dumps(cast("Json", value), indent=False)
        return _STRINGS.sub(lambda said: said[0] if name in _KEPT and not said[1] else _NUMBERED.sub(bare, said[0]), text)

    return {name: plain(name, value) for name, value in command.items() if name != "id" or command["kind"] == "timer"}


_ASKED: Final = 3
"""Maximum steps listed in a reason."""


def _listed(steps: Iterable[str]) -> str:
    return ", ".join(f"`{step}`" for step in [*steps][:_ASKED])


def _renamed(result: Result, before: list[str], after: list[str]) -> Result:
    """Return a result with the keys of its steps in another plan's numbering."""
    value = result.get("ok")
    if before == after or not isinstance(value, dict) or not set(before) & value.keys():
        return result
    names = dict(zip(before, after, strict=False))
    return {**result, "ok": {names.get(name, name): item for name, item in value.items()}}


def _shown(command: Command) -> str:
    return ", ".join(steps_of(command)) or command["id"]


_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Pattern of a run id: it names files of the store, and a `/` separates a child from its run."""


def wrong_id(run: str) -> Iterator[Problem]:
    """Yield the problems of a new run's id."""
    reason = None
    if not _ID.fullmatch(run):
        reason = "it has letters, digits, `.`, `_` and `-`, at most 100, and begins with a letter or digit"
    elif re.search(r"-\d{8}T\d{6}Z$", run):
        reason = "only the runs of schedules have one that ends with a time"
    elif file_name(run) != run:
        reason = "no file can have this name on Windows"
    if reason is not None:
        yield problems.runs.UnusableSetting(what="run id", word=run, reason=reason)


def origin_of(run: str, options: ForkOptions, made: Forked) -> ForkOrigin:
    """Return the origin stored with a fork."""
    edits = {step: digest_of(value) for step, value in options.edits.items()}
    more = {"left": made.left, "edits": edits, "by": options.by if edits else None}
    return cast("ForkOrigin", {"run": run, "at": options.step} | {name: value for name, value in more.items() if value})
