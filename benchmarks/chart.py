"""A bar chart as SVG, written by hand: one group of bars a case, the shorter the faster."""

from __future__ import annotations

from html import escape
from typing import Protocol

from .data import CORPORA


class Figures(Protocol):
    """What is drawn of one case."""

    name: str
    best: dict[str, float]


PEERS = ("ionfast", "orjson", "msgspec", "ormsgpack", "marshal", "pickle", "cbor2", "amazon.ion C")
COLOURS = ("#d1495b", "#30638e", "#003d5b", "#00798c", "#8d96a3", "#b8b8b8", "#edae49", "#66a182")
OPERATIONS = ("loads binary lossless", "loads text lossless", "dumps binary", "dumps text")

BAR, GAP, LEFT, SCALE, WIDTH = 11, 26, 190, 130, 900


def _bars(result: Figures, top: int) -> tuple[list[str], int]:
    """The bars of one case; a bar of length SCALE is orjson's time."""
    unit = result.best.get("orjson", max(result.best.values()))
    parts = [
        f'<text x="{LEFT - 8}" y="{top + BAR}" text-anchor="end" font-weight="bold">'
        f"{escape(result.name.replace(' lossless', ''))}</text>"
    ]
    y = top
    for peer, colour in zip(PEERS, COLOURS, strict=True):
        if peer not in result.best:
            continue
        ratio = result.best[peer] / unit
        length = min(ratio * SCALE, WIDTH - LEFT - 190)
        more = " →" if length < ratio * SCALE else ""
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 1}" fill="{colour}"/>'
            f'<text x="{LEFT + length + 5:.1f}" y="{y + BAR - 2}">{escape(peer)} '
            f"{result.best[peer] * 1e6:.0f} µs ({ratio:.2f}){more}</text>"
        )
        y += BAR
    return parts, y + GAP


def render(title: str, results: list[Figures]) -> str:
    """The SVG of the corpora's cases; times are relative to orjson on the same document."""
    by_name = {result.name: result for result in results}
    parts, top = [], 44
    for operation in OPERATIONS:
        for corpus in CORPORA:
            result = by_name.get(f"{corpus} / {operation}")
            if result is not None:
                bars, top = _bars(result, top)
                parts += bars
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" '
        f'viewBox="0 0 {WIDTH} {top}" font-family="sans-serif" font-size="9.5">'
        f'<rect width="{WIDTH}" height="{top}" fill="white"/>'
        f'<text x="{LEFT}" y="22" font-size="13">{escape(title)}</text>'
    )
    return head + "\n" + "\n".join(parts) + "\n</svg>\n"
