"""Where a command's words go, and what becomes of it when they cannot go there."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Final

READER_GONE: Final = 141
"""As shells say of a program that SIGPIPE ended: 128 and the signal's number."""

_STREAMS: Final = 3


def stand_in_for_closed_streams() -> None:
    """Give a process that was started without some of its streams ones that lead nowhere.

    The next file it opened would have taken the number of a missing one, and received its words.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) < _STREAMS:
        os.set_inheritable(opened, True)  # noqa: FBT003 -- its only argument
    os.close(opened)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", closefd=False))


def give_up_output() -> None:
    """What is still to be written goes nowhere, so that the interpreter does not try again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def tell(sentence: str) -> None:
    """One line on standard error, if anybody can read it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"chopho: {' '.join(sentence.split())}\n")
