"""A bar for each peer, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def picture(bars: Sequence[tuple[str, float]]) -> str:
    """CPU microseconds a request by peer, the cheapest first."""
    bars = sorted(bars, key=lambda bar: bar[1])
    most = max(value for _, value in bars)
    rows = [
        f'<text x="120" y="{54 + 30 * row}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="130" y="{40 + 30 * row}" width="{440 * value / most:.1f}" height="20" rx="3"'
        f' fill="{"#c2410c" if name == "ours" else "#94a3b8"}"/>'
        f'<text x="{136 + 440 * value / most:.1f}" y="{54 + 30 * row}">{value:.0f}</text>'
        for row, (name, value) in enumerate(bars)
    ]
    title = (
        '<text x="12" y="22" font-weight="bold">CPU µs a request: read a session, answer its 10 lines</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{60 + 30 * len(bars)}"'
        f' font-family="system-ui, sans-serif" font-size="13" fill="#334155">{title}{"".join(rows)}</svg>\n'
    )
