"""How far long work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def progress_of(what: str, *, shown: bool) -> Iterator[Callable[[float], None]]:
    """A bar on standard error where somebody sees it; it is told the share that is done, from 0 to 1."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task(what, total=1.0)

        def tell(share: float) -> None:
            bar.update(task, completed=share)

        yield tell
