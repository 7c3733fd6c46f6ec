"""Scores as a table of text and as a picture (SVG)."""

from __future__ import annotations

from xml.sax.saxutils import escape

from instrc.plans.taskbench.score import METRICS, Score, Scores

_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#9498a0")
_BAR, _GAP, _TOP, _LEFT, _HEIGHT = 12, 24, 56, 48, 220


def table(scores: Scores) -> str:
    """Return a line a group, in per cent; the second number counts unreadable predictions as empty plans."""
    head = ["", "requests", "unreadable", *METRICS]
    lines = [head, *([name, str(score.requests), str(score.unreadable), *_cells(score)] for name, score in scores.rows())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rows = (
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )
    return "".join(f"{row.rstrip()}\n" for row in rows)


def svg(scores: Scores) -> str:
    """Return bars by group and metric."""
    rows = list(scores.rows())
    group = len(METRICS) * _BAR + _GAP
    width, base = _LEFT + len(rows) * group + _GAP, _TOP + _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(width, 420)} {base + 48}"',
        ' font-family="sans-serif" font-size="11">',
        "<title>Scores of plans</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, metric in enumerate(METRICS):
        x = _LEFT + number * 72
        parts.append(
            f'<rect x="{x}" y="16" width="10" height="10" fill="{_COLOURS[number]}"/><text x="{x + 14}" y="25">{metric}</text>'
        )
    for tick in range(0, 101, 25):
        y = base - _HEIGHT * tick / 100
        parts.append(f'<line x1="{_LEFT}" x2="{width}" y1="{y:g}" y2="{y:g}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{tick}</text>')
    for place, (name, score) in enumerate(rows):
        start = _LEFT + _GAP / 2 + place * group
        for number, (metric, value) in enumerate(score.values().items()):
            high = _HEIGHT * value
            box = f'x="{start + number * _BAR:g}" y="{base - high:.2f}" width="{_BAR - 2}" height="{high:.2f}"'
            title = f"<title>{escape(name)}: {metric} {100 * value:.2f}</title>"
            parts.append(f'<rect {box} fill="{_COLOURS[number]}">{title}</rect>')
        middle = start + len(METRICS) * _BAR / 2
        parts.append(f'<text x="{middle:g}" y="{base + 16}" text-anchor="middle">{escape(name)}</text>')
        parts.append(f'<text x="{middle:g}" y="{base + 30}" text-anchor="middle" fill="#888888">{score.requests}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _cells(score: Score) -> list[str]:
    said, all_of_them = score.values(), score.values(with_unreadable=True)
    return [
        f"{100 * said[metric]:.2f}" + (f" ({100 * all_of_them[metric]:.2f})" if score.unreadable else "") for metric in METRICS
    ]
