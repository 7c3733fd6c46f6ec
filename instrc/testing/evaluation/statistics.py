"""Statistics of evaluations: rates with intervals, paired differences with a test, and the power of a number of cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan, sqrt
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from instrc.problems.errors import SettingsError
from instrc.problems.settings import MissingExtra

try:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import stats
except ModuleNotFoundError:  # takes half a second, so this module is imported only to compute something
    raise SettingsError([MissingExtra(feature="`instrc eval`", extra="eval", package="scipy")]) from None


Numbers: TypeAlias = NDArray[np.float64]


Counts: TypeAlias = NDArray[np.int64]


LEVEL: Final = 0.05
"""Significance level of a test; intervals cover the rest."""


POWER: Final = 0.8
"""Statistical power for which a detectable difference is computed."""


_CONTINUITY: Final = 0.25
"""Continuity correction, in cases: without it some intervals of a paired difference cover less than 94 %."""


_SHUFFLES: Final = 9999


_SEED: Final = 7
"""Random seed, so that equal scores always give the same `p`."""


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


class Rate(Struct, frozen=True):
    """The mean of scores from 0 to 1, a pass rate if each is 0 or 1."""

    value: float
    interval: Interval
    cases: int


class PairedDifference(Struct, frozen=True):
    """Two versions on the same cases; "better" refers to the second one."""

    cases: int
    before: float
    after: float
    interval: Interval
    """Confidence interval of the difference from `before` to `after`."""
    p: float
    """Probability of a difference at least this large if both versions are equally good."""
    better: int
    worse: int
    test: Literal["mcnemar", "sign-flip"]

    @property
    def difference(self) -> float:
        """The difference in score in favour of the second version."""
        return self.after - self.before

    @property
    def disagreement(self) -> float:
        """The share of cases that differ between the versions."""
        return (self.better + self.worse) / self.cases if self.cases else 0.0


class Agreement(Struct, frozen=True):
    """The agreement of a judge with people."""

    kappa: float
    """Cohen's kappa: 1 for perfect agreement, 0 for chance; not a number if all labels are equal, as by chance."""
    interval: Interval
    agreed: int
    labels: int


Verdict: TypeAlias = Literal["worse", "no worse", "undecided"]


def rate(scores: Sequence[float], weights: Sequence[float] | None = None, *, level: float = LEVEL) -> Rate:
    """Return the mean score of cases, from 0 to 1, with its interval.

    The interval is Wilson's for passes and failures, and Student's with two further cases for other scores.  Weights count as
    fewer cases (Kish's effective size).  Without cases it is from 0 to 1.
    """
    if not scores:
        return Rate(nan, Interval(0.0, 1.0), 0)
    values, item = np.asarray(scores, float), _weights(scores, weights)
    mean, size = _mean(values, item), _size(item)
    if _are_binary(scores):
        z2 = _normal_quantile(level) ** 2
        middle, half = (mean + z2 / (2 * size)) / (1 + z2 / size), sqrt(z2 * mean * (1 - mean) / size + (z2 / (2 * size)) ** 2)
        ends = Interval(middle - half / (1 + z2 / size), middle + half / (1 + z2 / size))
    else:
        ends = _student(values, item, level)
    return Rate(mean, Interval(max(min(ends.low, mean), 0.0), min(max(ends.high, mean), 1.0)), len(scores))


def compare(
    before: Sequence[float], after: Sequence[float], weights: Sequence[float] | None = None, *, level: float = LEVEL
) -> PairedDifference:
    """Compare two versions on the same cases, with scores in the same order; raise `ValueError` if their numbers differ.

        compare([0, 0, 1, 1], [1, 1, 1, 0]).difference  # 0.25

    Passes and failures: Tango's score interval with a correction of a quarter of a case, and McNemar's test by its mid-p value.
    For other scores, and weighted cases: Student's interval of the differences with two further cases, and a randomization
    test of the signs.
    """
    if len(before) != len(after):
        raise ValueError(f"there are {len(before)} scores before and {len(after)} after")
    if not before:
        return PairedDifference(0, nan, nan, Interval(-1.0, 1.0), 1.0, 0, 0, "mcnemar")
    item = _weights(before, weights)
    old, new = np.asarray(before, float), np.asarray(after, float)
    gaps = new - old
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    binary = _are_binary(before) and _are_binary(after) and float(np.ptp(item)) == 0
    if binary:
        ends, p = _tango(better, worse, len(before), level), mid_p(better, worse)
    else:
        ends, p = _student(gaps, item, level), _sign_flip(gaps * item)
    ends = Interval(max(ends.low, -1.0), min(ends.high, 1.0))
    return PairedDifference(
        len(before),
        _mean(old, item),
        _mean(new, item),
        ends,
        p,
        better,
        worse,
        "mcnemar" if binary else "sign-flip",
    )


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Return the `p` of several comparisons by name, adjusted so that a false alarm in any of them stays as rare (Holm)."""
    result: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(p, key=lambda each: p[each])):
        largest = max(largest, min(p[name] * (len(p) - place), 1.0))
        result[name] = largest
    return {name: result[name] for name in p}


def visible(cases: int, disagreement: float, *, level: float = LEVEL, power: float = POWER) -> float | None:
    """Return the smallest difference in pass rates that a number of cases can show, or `None`.

    `disagreement` is the share of cases in which the versions differ, which limits the difference.  `power` is the probability of
    showing it, by `mid_p` at this `level`.  For 100 cases of which 20 % differ: 0.13.
    """
    sizes, chances = _sizes(cases, disagreement)
    last = _last_rejected(sizes, level)

    def found(difference: float) -> float:
        share = (1 + difference / disagreement) / 2
        tails = stats.binom.cdf(last, sizes, share) + stats.binom.sf(sizes - last - 1, sizes, share)
        return float(chances @ tails)

    if disagreement <= 0 or found(disagreement) < power:
        return None
    low, high = 0.0, disagreement
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return high


def verdict(compared: PairedDifference, drop: float) -> Verdict:
    """Return whether the second version is worse by more than a `drop`, or certainly not, by its whole interval."""
    if compared.interval.high < -drop:
        return "worse"
    return "no worse" if compared.interval.low > -drop else "undecided"


def false_alarms(cases: int, disagreement: float, drop: float, *, level: float = LEVEL) -> float:
    """Return the probability of the verdict `worse` for versions that pass equally often.

    `disagreement` is the share of cases in which they differ.
    """
    z = _normal_quantile(level)
    result = 0.0
    for size, chance in zip(*_sizes(cases, disagreement), strict=True):
        low, high = -1, int(size) // 2  # bisects for the largest number of better cases that raises an alarm
        while low < high:
            middle = (low + high + 1) // 2
            alarm = 2 * middle - size < -drop * cases and _outside(middle, int(size) - middle, cases, -drop, z)
            low, high = (middle, high) if alarm else (low, middle - 1)
        result += float(chance) * float(stats.binom.cdf(low, size, 0.5))
    return result


def agreement(judged: Sequence[bool], labelled: Sequence[bool], *, level: float = LEVEL) -> Agreement:
    """Return the agreement of a judge with labels by people, in the same order, as Cohen's kappa.

    The interval is that of Fleiss, Cohen and Everitt for a table with one further case in each cell: otherwise it would cover
    far too little if nearly all agree.
    """
    pairs = list(zip(judged, labelled, strict=True))
    table = [sum(pair == cell for pair in pairs) for cell in ((True, True), (True, False), (False, True), (False, False))]
    kappa = nan if len(pairs) in {table[0], table[3]} else _kappa(table)[0]
    middle, error = _kappa([count + 1 for count in table])
    half = _normal_quantile(level) * error
    ends = middle - half, middle + half
    if not isnan(kappa):
        ends = min(ends[0], kappa), max(ends[1], kappa)
    return Agreement(kappa, Interval(max(ends[0], -1.0), min(ends[1], 1.0)), table[0] + table[3], len(pairs))


def mid_p(better: int, worse: int) -> float:
    """Return the mid-p value of McNemar's test: of the cases that differ, half are expected to be better."""
    return float(_mid_p(min(better, worse), better + worse))


def _mid_p(fewer: object, all_: object) -> Numbers:
    both: Numbers = 2 * stats.binom.cdf(fewer, all_, 0.5) - stats.binom.pmf(fewer, all_, 0.5)
    return np.minimum(both, np.ones_like(both))


def _last_rejected(sizes: Counts, level: float) -> Counts:
    """Return the largest count of the rarer side that the test rejects, for each number of differing cases; -1 for none."""
    last: Counts = np.maximum(stats.binom.ppf(level / 2, sizes, 0.5).astype(int) + 1, 0)
    for _ in range(4):  # the quantile is near: a step or two down
        last = np.where((last >= 0) & ((2 * last > sizes) | (_mid_p(last, sizes) > level)), last - 1, last)
    return last


def _sizes(cases: int, disagreement: float) -> tuple[Counts, Numbers]:
    """Return possible numbers of differing cases with their probabilities, without negligible ones."""
    sizes = np.arange(cases + 1)
    chances: Numbers = stats.binom.pmf(sizes, cases, disagreement)
    return sizes[chances > 1e-12], chances[chances > 1e-12]


def _outside(better: int, worse: int, cases: int, difference: float, z: float) -> bool:
    """Return whether a difference does not fit the counts: Tango's score exceeds `z`."""
    linear = (2 * cases - better + worse) * difference - better - worse
    root = sqrt(max(linear**2 + 8 * cases * worse * difference * (1 - difference), 0))
    rate_of_worse = (root - linear) / (4 * cases)  # the most probable one if this is the difference
    error = sqrt(max(cases * (2 * rate_of_worse + difference * (1 - difference)), 0))
    return abs(better - worse - cases * difference) - _CONTINUITY > z * error


def _tango(better: int, worse: int, cases: int, level: float) -> Interval:
    """Return the interval of paired differences that fit the counts."""
    z, middle = _normal_quantile(level), (better - worse) / cases
    ends = []
    for end in (-1.0, 1.0):
        inside, outside = middle, end
        for _ in range(50):
            tried = (inside + outside) / 2
            inside, outside = (inside, tried) if _outside(better, worse, cases, tried, z) else (tried, outside)
        ends.append(inside)
    return Interval(*ends)


def _student(values: Numbers, weights: Numbers, level: float) -> Interval:
    """Return the interval of a mean; two further cases, as far from it as the furthest, represent unseen ones.

    Otherwise, and with the bootstrap (BCa), few differing cases produce intervals that are far too short.
    """
    size, mean = _size(weights), _mean(values, weights)
    furthest = float(abs(values - mean).max()) or 1.0
    variance = (size * _mean((values - mean) ** 2, weights) + 2 * furthest**2) / (size + 2)
    half = float(stats.t.ppf(1 - level / 2, max(size - 1, 1))) * sqrt(variance / (size + 2))
    return Interval(mean - half, mean + half)


def _sign_flip(gaps: Numbers) -> float:
    """Return the probability that a sum with random signs is at least as far from 0."""
    moved = gaps[gaps != 0]
    if len(moved) < 2:
        return 1.0
    furthest = abs(moved.sum()) - 1e-12 * abs(moved).sum()  # equal sums may be rounded apart
    if 2 ** len(moved) <= _SHUFFLES:
        every = 2 * np.indices((2,) * len(moved)).reshape(len(moved), -1) - 1
        return float((abs(moved @ every) >= furthest).mean())
    if len(moved) > _SHUFFLES // 10:  # with so many signs the distribution is normal
        return float(2 * stats.norm.sf(furthest / sqrt(moved @ moved)))
    random, further, most = np.random.default_rng(_SEED), 0, max(1_000_000 // len(moved), 1)
    for begun in range(0, _SHUFFLES, most):
        octets = random.integers(0, 256, (min(most, _SHUFFLES - begun), (len(moved) + 7) // 8), np.uint8)
        turned = np.unpackbits(octets, axis=1, count=len(moved)) @ moved
        further += int((abs(moved.sum() - 2 * turned) >= furthest).sum())
    return (further + 1) / (_SHUFFLES + 1)


def _kappa(table: Sequence[int]) -> tuple[float, float]:
    """Return Cohen's kappa of a table of two by two, and its standard error (Fleiss, Cohen and Everitt, 1969)."""
    size = sum(table)
    yes, first, second, no = (count / size for count in table)
    judged, labelled = yes + first, yes + second
    chance = judged * labelled + (1 - judged) * (1 - labelled)
    kappa = (yes + no - chance) / (1 - chance)
    rest = 1 - kappa
    agreed = yes * (1 - (judged + labelled) * rest) ** 2 + no * (1 - (2 - judged - labelled) * rest) ** 2
    differed = rest**2 * (first * (labelled + 1 - judged) ** 2 + second * (judged + 1 - labelled) ** 2)
    variance = agreed + differed - (kappa - chance * rest) ** 2
    return kappa, sqrt(max(variance, 0) / size) / (1 - chance)


def _weights(scores: Sequence[float], weights: Sequence[float] | None) -> Numbers:
    if weights is None:
        return np.ones(len(scores))
    if len(weights) != len(scores) or not all(weight > 0 for weight in weights):
        raise ValueError("each score needs a weight above 0")
    return np.asarray(weights, float)


def _mean(values: Numbers, weights: Numbers) -> float:
    return float(weights @ values / weights.sum())


def _size(weights: Numbers) -> float:
    """Return the effective number of cases (Kish)."""
    return float(weights.sum() ** 2 / (weights @ weights))


def _are_binary(scores: Sequence[float]) -> bool:
    return all(score in {0, 1} for score in scores)


def _normal_quantile(level: float) -> float:
    return float(stats.norm.ppf(1 - level / 2))
