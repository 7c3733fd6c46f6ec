"""Statistics of evaluations agree with slow, independent ones, and their errors are as rare as they say, by simulation."""

import itertools
import math
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from instrc.testing.evaluation.statistics import (  # each is compared with its definition
    PairedDifference,
    agreement,
    compare,
    false_alarms,
    holm,
    mid_p,
    rate,
    verdict,
    visible,
)

Z = NormalDist().inv_cdf(0.975)


@cache
def compared(better: int, worse: int, cases: int) -> PairedDifference:
    """Return the comparison of versions that differ in some cases."""
    rest = [1] * (cases - better - worse)
    return compare([0] * better + [1] * worse + rest, [1] * better + [0] * worse + rest)


# The same by definition, slowly.


@every_case(("passed", "cases"), [(28, 60), (46, 60), (10, 10), (0, 7), (1, 2), (299, 300)])
def test_wilson_is_where_the_normal_test_of_a_rate_just_rejects(passed: int, cases: int) -> None:
    found = rate([1] * passed + [0] * (cases - passed))
    share = passed / cases
    assert found.value == share
    for end in found.interval:
        assert (share - end) ** 2 == pytest.approx(Z**2 * end * (1 - end) / cases, abs=1e-9)
    assert found.interval.low <= share <= found.interval.high


def test_known_figures() -> None:
    assert [round(end, 2) for end in rate([1] * 28 + [0] * 32).interval] == [0.35, 0.59]
    assert [round(end, 2) for end in rate([1] * 46 + [0] * 14).interval] == [0.65, 0.86]
    assert [round(end, 2) for end in rate([1] * 10).interval] == [0.72, 1.0]


@given(st.integers(0, 12), st.integers(0, 12))
def test_mid_p_is_counted_from_all_outcomes(better: int, worse: int) -> None:
    size = better + worse
    chance = [math.comb(size, count) / 2**size for count in range(size + 1)]
    least = min(better, worse)
    exact = 2 * sum(chance[:least]) + chance[least] if size else 1.0
    assert mid_p(better, worse) == pytest.approx(min(exact, 1.0))
    assert mid_p(better, worse) == mid_p(worse, better)


@every_case(
    ("better", "worse", "cases"), [(0, 0, 30), (3, 0, 30), (5, 2, 30), (26, 8, 60), (1, 19, 100), (40, 40, 300), (9, 1, 10)]
)
def test_tango_is_where_the_likeliest_rates_just_do_not_fit(better: int, worse: int, cases: int) -> None:
    def misfit(difference: float) -> float:
        """Return by how much the score exceeds the quantile, with the nuisance rate found by search."""
        low = max(0.0, -difference)
        high = (1 - difference) / 2

        def unlikely(rate_of_worse: float) -> float:
            cells = (rate_of_worse + difference, rate_of_worse, 1 - 2 * rate_of_worse - difference)
            counts = (better, worse, cases - better - worse)
            return -sum(count * math.log(max(cell, 1e-300)) for count, cell in zip(counts, cells, strict=True) if count)

        best = optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
        error = math.sqrt(max(cases * (2 * best + difference - difference**2), 0))
        return abs(better - worse - cases * difference) - 0.25 - Z * error

    found = compared(better, worse, cases)
    assert found.interval.low <= found.difference <= found.interval.high
    for end, outward in zip(found.interval, (-1, 1), strict=True):
        if abs(end) < 1:
            assert misfit(end - outward * 2e-4) < 0 < misfit(end + outward * 2e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_holm_is_the_closed_test_of_bonferroni(values: list[float]) -> None:
    names = [f"check {place}" for place in range(len(values))]
    found = holm(dict(zip(names, values, strict=True)))
    groups = [group for size in range(1, len(values) + 1) for group in itertools.combinations(range(len(values)), size)]
    for place, name in enumerate(names):
        worst = max(len(group) * min(values[each] for each in group) for group in groups if place in group)
        assert found[name] == pytest.approx(min(worst, 1.0))
    assert list(found) == names


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.booleans())
def test_the_test_of_scores_counts_all_signs(thirds: list[int], weighted: bool) -> None:  # noqa: FBT001
    before = [0.5] * len(thirds)
    after = [0.5 + each / 6 for each in thirds]
    weights = [1 + place % 3 for place in range(len(thirds))] if weighted else [1] * len(thirds)
    moved = [weight * each for weight, each in zip(weights, thirds, strict=True)]
    sums = [abs(sum(map(math.prod, zip(signs, moved, strict=True)))) for signs in itertools.product((1, -1), repeat=len(moved))]
    exact = sum(each >= abs(sum(moved)) for each in sums) / len(sums)
    assert compare(before, after, weights if weighted else None).p == pytest.approx(exact)


@every_case("cases", [13, 14, 300, 2000])
def test_the_test_of_many_scores_is_near_the_normal_one(cases: int) -> None:
    gaps = np.random.default_rng(cases).normal(0.3 / math.sqrt(cases), 0.2, cases)
    normal = 2 * NormalDist().cdf(-abs(gaps.sum()) / math.sqrt(gaps @ gaps))
    assert compare([0.5] * cases, (0.5 + gaps).tolist()).p == pytest.approx(normal, abs=0.02)


@every_case("table", [(20, 2, 3, 15), (30, 1, 0, 4), (5, 5, 5, 15), (50, 0, 1, 40)])
def test_kappa_has_the_error_of_the_delta_method(table: tuple[int, int, int, int]) -> None:
    def kappa(cells: np.ndarray) -> float:
        share = cells / cells.sum()
        chance = (share[0] + share[1]) * (share[0] + share[2]) + (share[2] + share[3]) * (share[1] + share[3])
        return float((share[0] + share[3] - chance) / (1 - chance))

    pairs = [pair for pair, count in zip(itertools.product((True, False), repeat=2), table, strict=True) for _ in range(count)]
    found = agreement([judged for judged, _ in pairs], [labelled for _, labelled in pairs])
    assert found.kappa == pytest.approx(kappa(np.array(table, float)))
    more = np.array(table, float) + 1
    gradient = np.array([(kappa(more + step) - kappa(more - step)) / 2e-4 for step in np.eye(4) * 1e-4])
    share = more / more.sum()
    error = math.sqrt(more.sum() * (gradient @ (np.diag(share) - np.outer(share, share)) @ gradient))
    assert found.interval.low == pytest.approx(kappa(more) - Z * error, abs=1e-6)
    assert found.agreed == table[0] + table[3]


# What so many cases can show, and how often a gate is wrong.


@every_case(("cases", "disagreement"), [(50, 0.2), (100, 0.1), (300, 0.2), (400, 0.4)])
def test_a_visible_difference_is_found_in_four_of_five_attempts(cases: int, disagreement: float) -> None:
    smallest = visible(cases, disagreement)
    assert smallest is not None
    share = (1 + smallest / disagreement) / 2
    draws = np.random.default_rng(3).multinomial(
        cases, [disagreement * share, disagreement * (1 - share), 1 - disagreement], size=20_000
    )
    pairs, counts = np.unique(draws[:, :2], axis=0, return_counts=True)
    found = sum(count for (better, worse), count in zip(pairs.tolist(), counts, strict=True) if mid_p(better, worse) <= 0.05)
    assert found / 20_000 == pytest.approx(0.8, abs=0.012)


def test_few_cases_that_hardly_differ_show_nothing() -> None:
    assert visible(20, 0.1) is None
    assert visible(0, 0.5) is None
    assert visible(100, 0) is None


@every_case(("cases", "disagreement", "drop"), [(30, 0.4, 0.0), (100, 0.2, 0.02), (300, 0.1, 0.01)])
def test_false_alarms_of_a_gate_are_counted_from_all_outcomes(cases: int, disagreement: float, drop: float) -> None:
    exact = 0.0
    for size in range(cases + 1):
        chance = math.comb(cases, size) * disagreement**size * (1 - disagreement) ** (cases - size)
        if chance > 1e-6:
            alarms = [
                math.comb(size, better) / 2**size
                for better in range(size // 2 + 1)
                if verdict(compared(better, size - better, cases), drop) == "worse"
            ]
            exact += chance * sum(alarms)
    assert false_alarms(cases, disagreement, drop) == pytest.approx(exact, abs=1e-4)
    assert exact <= 0.0275


@every_case(
    ("better", "worse", "drop", "said"),
    [(0, 30, 0.02, "worse"), (5, 5, 0.02, "undecided"), (30, 2, 0.02, "no worse"), (0, 0, 0.1, "no worse"), (2, 12, 0, "worse")],
)
def test_a_gate_judges_by_the_whole_interval(better: int, worse: int, drop: float, said: str) -> None:
    assert verdict(compared(better, worse, 100), drop) == said


@every_case("value", [0.0, 0.5, 1.0])
def test_scores_that_are_all_the_same_have_an_interval(value: float) -> None:
    low, high = rate([value] * 40).interval
    assert 0 <= low <= value <= high <= 1
    assert high - low > 0.02
    low, high = compare([value] * 40, [value] * 40).interval
    assert low < 0 < high


def test_no_cases_show_nothing() -> None:
    assert rate([]).interval == (0.0, 1.0)
    assert compare([], []).p == 1
    assert compare([], []).interval == (-1.0, 1.0)


def test_weights_count_as_fewer_cases() -> None:
    equal, heavy = rate([1, 0] * 20), rate([1, 0] * 20, [10] * 2 + [1] * 38)
    assert equal == rate([1, 0] * 20, [3] * 40)
    assert heavy.interval.high - heavy.interval.low > equal.interval.high - equal.interval.low
    assert compare([1, 0] * 20, [0, 0] * 20, [2] * 40) == compare([1, 0] * 20, [0, 0] * 20)


@pytest.mark.parametrize("given_weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, math.nan]])
def test_weights_that_mean_nothing_are_refused(given_weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight above 0"):
        compare([1, 0], [1, 1], given_weights)


# By simulation: the same designs as on the page of benchmarks.

SIZES = (30, 100, 300)
DISAGREEMENTS = (0.05, 0.1, 0.2, 0.4, 0.6)
LEANINGS = (0.0, 0.5, 0.9)
"""How far the cases that differ are better rather than worse."""


def simulated(cases: int, disagreement: float, leaning: float, runs: int) -> tuple[float, float]:
    """Return how often the test finds a difference, and how often the interval has the true one in it."""
    shares = [disagreement * (1 + leaning) / 2, disagreement * (1 - leaning) / 2, 1 - disagreement]
    draws = np.random.default_rng([cases, int(disagreement * 100), int(leaning * 10)]).multinomial(cases, shares, size=runs)
    pairs, counts = np.unique(draws[:, :2], axis=0, return_counts=True)
    alarms = covered = 0
    for (better, worse), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        found = compared(better, worse, cases)
        alarms += count * (found.p <= 0.05)
        covered += count * (found.interval.low <= disagreement * leaning + 1e-12 <= found.interval.high + 2e-12)
    return alarms / runs, covered / runs


def require_rare_errors(cases: int, runs: int, slack: float) -> None:
    """Hold all designs of a number of cases to what the page promises."""
    for disagreement, leaning in itertools.product(DISAGREEMENTS, LEANINGS):
        alarms, covered = simulated(cases, disagreement, leaning, runs)
        assert covered >= 0.94 - slack, (disagreement, leaning, covered)
        if leaning == 0:
            assert alarms <= 0.055 + slack, (disagreement, alarms)
            assert cases < 300 or alarms >= 0.04 - slack, (disagreement, alarms)


@pytest.mark.long
@every_case("cases", SIZES)
def test_errors_are_as_rare_as_they_should_be(cases: int) -> None:
    require_rare_errors(cases, 1000, 0.02)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@every_case("cases", SIZES)
def test_errors_are_as_rare_as_they_should_be_in_20_000_simulations(cases: int) -> None:
    require_rare_errors(cases, 20_000, 0.0)


def scores_of(kind: str, cases: int, gain: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that are not only 0 and 1: the means of three runs, and shares that few or all cases move by."""
    if kind == "three runs":
        known = random.beta(0.8, 0.8, cases)
        moved = np.clip(known + gain * 2 * (random.random(cases) < 0.5), 0, 1)
        return random.binomial(3, known) / 3, random.binomial(3, moved) / 3
    if kind == "few move":
        up = random.random(cases) < 0.5 + gain * 5
        moves = np.where(random.random(cases) < 0.15, random.uniform(0.2, 0.5, cases) * np.where(up, 1, -1), 0)
        return np.full(cases, 0.5), 0.5 + moves
    return random.beta(4, 2, cases), np.clip(random.beta(4, 2, cases) + gain / 2, 0, 1)


def require_rare_errors_of_scores(kind: str, cases: int, runs: int, slack: float) -> None:
    """Hold the interval and the test of scores to the same promises."""
    random = np.random.default_rng([cases, len(kind)])
    for gain in (0.0, 0.05):
        before, after = scores_of(kind, 2_000_000, gain, random)
        true = float((after - before).mean()) if gain else 0.0
        found = [compare(*(each.tolist() for each in scores_of(kind, cases, gain, random))) for _ in range(runs)]
        covered = sum(each.interval.low <= true <= each.interval.high for each in found) / runs
        assert covered >= 0.94 - slack, (gain, covered)
        if gain == 0:
            assert sum(each.p <= 0.05 for each in found) / runs <= 0.055 + slack


@pytest.mark.long
@every_case("kind", ["three runs", "few move", "all move"])
def test_errors_are_rare_for_scores_too(kind: str) -> None:
    require_rare_errors_of_scores(kind, 30, 60, 0.08)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@every_case("cases", SIZES)
@every_case("kind", ["three runs", "few move", "all move"])
def test_errors_are_rare_for_scores_too_in_2_000_simulations(kind: str, cases: int) -> None:
    require_rare_errors_of_scores(kind, cases, 2000, 0.006)


def judged_and_labelled(kappa: float, share: float, cases: int, random: np.random.Generator) -> tuple[list[bool], list[bool]]:
    """Return answers of a judge and of people who both pass a share of the cases."""
    apart = (1 - kappa) * share * (1 - share)
    cells = random.choice(4, cases, p=[share - apart, apart, apart, 1 - share - apart])
    return (cells < 2).tolist(), (cells % 2 == 0).tolist()


@pytest.mark.slow
@every_case(("cases", "kappa", "share"), list(itertools.product((30, 100), (0.2, 0.5, 0.8, 0.9), (0.5, 0.8))))
def test_the_interval_of_kappa_covers(cases: int, kappa: float, share: float) -> None:
    random = np.random.default_rng([cases, int(kappa * 10), int(share * 10)])
    found = [agreement(*judged_and_labelled(kappa, share, cases, random)).interval for _ in range(5000)]
    assert sum(low <= kappa <= high for low, high in found) / len(found) >= 0.94
