"""What workers and clients of all versions agree about: the names on the server."""

from __future__ import annotations

WORKFLOW = "instrc-run"
"""The one type of workflow, which interprets every plan."""
QUEUE = "instrc"
"""The task queue, unless another is said."""
ANSWER = "answer"
"""An update with a validator, and a signal where updates are not served."""
REPORT = "report"
"""A query: how the run stands."""
ACTIVITIES = {"model": "instrc-model", "activity": "instrc-activity", "fire": "instrc-fire"}
"""The activities of Temporal, by the kind of effect."""
PLAN_ATTRIBUTE, STATUS_ATTRIBUTE = "InstrcPlan", "InstrcStatus"
NO_QUESTION, REJECTED = "no-such-question", "rejected-answer"
"""The types of the errors of an update."""
