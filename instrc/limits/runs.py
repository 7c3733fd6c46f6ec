"""Limits of plans, runs, rehearsals and previews."""

from __future__ import annotations

from typing import Final

# plans

SUGGESTED_PROBLEMS: Final = 50
"""Problems for which the nearest names are looked up."""
REMEMBERED_FITS: Final = 50_000
"""Answers on which value fits which slot that are kept."""
PLAN_LEVELS: Final = 1900
"""Levels of a plan."""
RELATED_LEVELS: Final = 12
"""Levels of two schemas that are compared for a plan."""
RELATED_BRANCHES: Final = 64
"""Branches of one schema that are looked at; what has more is taken to fit."""

TESTED_COMMANDS: Final = 10_000
"""Commands of one case."""

# runs

TASK_COPIES: Final = 1000
"""Copies of one task of a plan."""
PLAN_PARTS: Final = 5_000_000
"""Values of one plan."""
COMPLAINTS: Final = 20
"""Complaints about one answer."""
REHEARSED_RUNS: Final = 400
"""Runs of one rehearsal."""
REHEARSED_COMMANDS: Final = 40_000
"""Commands of all its runs together."""
PREVIEWED_COMMANDS: Final = 4_000
"""Commands of a preview after which it looks no further for calls of the model, if none of them was a new one."""

# plans of others, rehearsals, engines, activities and models

SAMPLED_PLANS: Final = 1_000_000
"""Plans that are sampled at once."""
SAMPLED_TASKS: Final = 1000
"""Tasks of a sampled plan."""
ORDERED_ARGUMENTS: Final = 6
"""Arguments of which all orders are tried."""
SHOWN_REPAIR: Final = 80
"""Letters of a repaired place that a problem shows, before and after."""
SHOWN_VERDICT: Final = 300
"""Letters of what a judge of a value says."""
PLAN_KEY: Final = 32
"""Letters of the key of a step in a plan."""
PLAYED_COMMANDS: Final = 2_000
"""Commands of one rehearsed run; rounds may be as many as a program says."""
TRIED_VALUES: Final = 10
"""Values that are tried in one place of a rehearsal."""
TRIED_ORDERS: Final = 30
"""Pairs of places that are tried one after the other."""
FRUITLESS_CHANGES: Final = 2
"""Choices that are changed one after the other although nothing new came of the first."""
KEPT_PLANS: Final = 256
"""Plans of runs that a worker of Temporal keeps at hand."""
HISTORY_VALUE_BYTES: Final = 128 * 1024
"""Bytes of a value in a history; Temporal refuses payloads of 2 MB, and histories of 50 MB."""
COMMANDS_IN_FLIGHT: Final = 500
"""Temporal allows 2,000 activities of a run at the same time, and is slow long before."""
HISTORY_EVENTS: Final = 20_000
"""Events of a history, if the server does not say when it is long; its limit is 51,200."""
REPORT_TRIES: Final = 5
"""Questions to a worker that has only just taken a run over, and was too slow."""
HTTP_BYTES: Final = 10 * 1024 * 1024
"""Bytes of the answer of an HTTP service; more is an error with the code `too-large`."""
SHOWN_HTTP: Final = 300
"""Letters of an answer that an error of an HTTP service shows."""
KEPT_PROGRAMS: Final = 64
"""Programs that the interpreter keeps ready."""
ANTHROPIC_TOKENS: Final = 8192
"""Tokens of an answer; Anthropic wants a limit in every request."""
KEPT_LOWERINGS: Final = 256
"""Lowered schemas that an adapter keeps; a run asks for the same few again and again."""
SHOWN_TURNS: Final = 40
"""Turns of a conversation that a model is shown."""
TOOLS_OF_A_TURN: Final = 8
"""Tools that a model may use before it has to say something."""
ASKED_AGAIN: Final = 2
"""How often a model is asked again for a turn that cannot be used."""
TRACE_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of a trace that is read; of a longer one the first events are shown."""
SANDBOX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one message of a sandbox."""
WORKER_PAUSE: Final = 30.0
"""Seconds that a worker waits at most before it asks again for a server that is not there."""
