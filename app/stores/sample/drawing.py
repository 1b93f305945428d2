"""Draws the sample's pictures: ``python -m app.stores.sample.drawing FOLDER``.

A picture is a ground, a silhouette of `shapes.toml` in the colours of `palettes.toml`, and a pattern on its
body; no script, no style, no reference to anything outside.
"""

from __future__ import annotations

import argparse
import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from app.stores.sample.goods import sample_recipes

_FOLDER: Final = Path(__file__).parent
_PATTERNS: Final[Mapping[str, tuple[int, str]]] = {
    "dots": (28, '<circle cx="7" cy="7" r="4"/><circle cx="21" cy="21" r="4"/>'),
    "stripes": (26, '<path d="M0 0H11V26H0Z"/>'),
    "checks": (36, '<path d="M0 0H18V18H0ZM18 18H36V36H18Z"/>'),
    "waves": (
        40,
        '<path d="M0 12Q10 0 20 12T40 12M0 32Q10 20 20 32T40 32" fill="none" stroke="{}" stroke-width="4"/>',
    ),
    "bean": (44, '<ellipse cx="12" cy="14" rx="7" ry="10"/><ellipse cx="34" cy="36" rx="7" ry="10"/>'),
}
_GROUNDS: Final = (
    '<circle cx="200" cy="196" r="158"/>',
    '<path d="M60 400V190A140 140 0 0 1 340 190V400Z"/>',
    '<path d="M0 290Q100 210 200 270T400 240V400H0Z"/>',
    '<path d="M0 0H400L0 400Z"/>',
    '<circle cx="310" cy="96" r="64"/><path d="M0 316H400V400H0Z"/>',
    '<path d="M40 40H360V360H40Z"/>',
)


class Palette:
    """The five colours of one picture, by name."""

    def __init__(self, name: str) -> None:
        ground, *colours = _load("palettes")[name]
        self.ground = ground
        self.named = dict(zip(("main", "dark", "light", "accent"), colours, strict=True))


def _load(name: str) -> Mapping[str, Sequence[str]]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def drawn(slug: str, recipe: str) -> str:
    """The picture of one product; `recipe` is its shape, palette and pattern."""
    shape, palette_name, pattern = recipe.split()
    palette = Palette(palette_name)
    strokes = "".join(_strokes(str(_load("shapes")[shape]), palette, patterned=pattern in _PATTERNS))
    place = hashlib.blake2b(slug.encode(), digest_size=2).digest()[0] % len(_GROUNDS)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">'
        f"{_pattern(pattern, palette)}"
        f'<path d="M0 0H400V400H0Z" fill="{palette.ground}"/>'
        f'<g fill="{palette.named["main"]}" opacity=".16">{_GROUNDS[place]}</g>'
        f'<ellipse cx="200" cy="340" rx="138" ry="11" fill="{palette.named["dark"]}" opacity=".18"/>'
        f'<g stroke-width="9" stroke-linecap="round" stroke-linejoin="round">{strokes}</g></svg>\n'
    )


def _pattern(name: str, palette: Palette) -> str:
    if name not in _PATTERNS:
        return ""
    size, marks = _PATTERNS[name]
    light = palette.named["light"]
    return (
        f'<defs><pattern id="p" width="{size}" height="{size}" patternUnits="userSpaceOnUse">'
        f'<g fill="{light}" opacity=".3">{marks.format(light)}</g></pattern></defs>'
    )


def _strokes(shape: str, palette: Palette, *, patterned: bool) -> Iterator[str]:
    for stroke in shape.strip().splitlines():
        brush, _, path = stroke.partition(" ")
        colour, _, way = brush.partition("-")
        if brush == "body":
            yield f'<path d="{path}" fill="{palette.named["main"]}"/>'
            if patterned:
                yield f'<path d="{path}" fill="url(#p)"/>'
        elif way == "disc":
            x, y, radius = path.split()
            yield f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{palette.named[colour]}"/>'
        elif way == "line":
            yield f'<path d="{path}" fill="none" stroke="{palette.named[colour]}"/>'
        else:
            yield f'<path d="{path}" fill="{palette.named[colour]}"/>'


def main() -> None:
    """Draw every picture of the sample into a folder."""
    options = argparse.ArgumentParser(description="Draws the sample's pictures.")
    options.add_argument("folder", type=Path)
    folder: Path = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for slug, recipe in sample_recipes().items():
        (folder / f"{slug}.svg").write_text(drawn(slug, recipe), encoding="utf-8")


if __name__ == "__main__":
    main()
