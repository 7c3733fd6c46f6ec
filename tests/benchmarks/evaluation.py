"""How often the statistics of `instrc eval` are wrong: false alarms of the test, and what the intervals cover.

`python tests/benchmarks/evaluation.py [RUNS]` prints the table of `evaluation.md`; 20,000 simulations a design by default.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from instrc.testing.evaluation.statistics import PairedDifference, compare, rate  # what is measured


@cache
def compared(better: int, worse: int, cases: int) -> PairedDifference:
    """Return the comparison of versions that differ in some cases."""
    rest = [1] * (cases - better - worse)
    return compare([0] * better + [1] * worse + rest, [1] * better + [0] * worse + rest)


def main(runs: int) -> None:
    """Print a row for each design."""
    random = np.random.default_rng(40)
    print("| cases | differ in | false alarms | covered, no difference | half of it one way | nearly all one way |")
    print("|---|---|---|---|---|---|")
    for cases in (30, 100, 300):
        for differ in (0.05, 0.1, 0.2, 0.4, 0.6):
            covered = []
            alarms = 0.0
            for leaning in (0.0, 0.5, 0.9):
                shares = [differ * (1 + leaning) / 2, differ * (1 - leaning) / 2, 1 - differ]
                pairs, counts = np.unique(random.multinomial(cases, shares, runs)[:, :2], axis=0, return_counts=True)
                found = [compared(*pair, cases) for pair in pairs.tolist()]
                true = differ * leaning
                covered.append(counts @ [each.interval.low <= true + 1e-9 <= each.interval.high + 2e-9 for each in found] / runs)
                alarms = counts @ [each.p <= 0.05 for each in found] / runs if leaning == 0 else alarms
            print(f"| {cases} | {differ:.0%} | {alarms:.1%} | {' | '.join(f'{each:.1%}' for each in covered)} |")
    print("\n| pass rate | 30 cases | 100 | 300 |\n|---|---|---|---|")
    for share in (0.05, 0.1, 0.3, 0.5, 0.8, 0.95):
        row = []
        for cases in (30, 100, 300):
            counts = np.bincount(random.binomial(cases, share, runs), minlength=cases + 1)
            ends = [rate([1] * passed + [0] * (cases - passed)).interval for passed in range(cases + 1)]
            row.append(counts @ [low <= share <= high for low, high in ends] / runs)
        print(f"| {share:.0%} | {' | '.join(f'{each:.1%}' for each in row)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
