"""Which release a process runs: the version of the package, and a digest of the code beside it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

_CODE: Final = Path(__file__).parents[1]
_KINDS: Final = frozenset({".py", ".lua", ".html", ".css", ".toml", ".mo"})


@cache
def release() -> str:
    """Such as ``0.1.0+3f9c2a1b``: two processes with the same one run the same code."""
    digest = hashlib.sha256()
    for file in sorted(_CODE.rglob("*")):
        if file.suffix in _KINDS:
            digest.update(str(file.relative_to(_CODE)).encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{version('chopho')}+{digest.hexdigest()[:8]}"
