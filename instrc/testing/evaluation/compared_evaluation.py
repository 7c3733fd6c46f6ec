"""The results of `evaluate`, with the comparison if another version was given; importing it brings no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instrc.testing.evaluation.results import EvaluationResult

if TYPE_CHECKING:
    from instrc.testing.evaluation.comparison import VersionComparison
else:
    VersionComparison = Any  # its module imports the statistics


class ComparedEvaluation(EvaluationResult, frozen=True, kw_only=True):
    """The results of `evaluate`: those of the program and, with `against`, the comparison with the other version."""

    comparison: VersionComparison | None = None

    def __str__(self) -> str:
        """Return the rates on one line, and the result of the comparison."""
        if self.comparison is None:
            return repr(self)
        from instrc.testing.evaluation.comparison import conclusion  # imports the statistics

        return " ".join([repr(self), *conclusion(self.comparison)])

    def _repr_html_(self) -> str:
        """Return the tables of the evaluation and of the comparison, for a notebook."""
        rates = super()._repr_html_()
        return rates if self.comparison is None else f"{rates}{self.comparison._repr_html_()}"
