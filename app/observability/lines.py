"""One event, one line of JSON, whatever it contains."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

import orjson

Value: TypeAlias = "str | int | float | Mapping[str, Value] | None"

# Within JSON these could still move a cursor, reverse the reading direction or end a line for some reader.
_TREACHEROUS: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def line(fields: Mapping[str, Value]) -> bytes:
    """The fields as JSON and a newline; control and invisible characters are escaped."""
    try:
        encoded = orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
    except (
        TypeError
    ):  # half a surrogate pair, a number of more than 64 bits: rare, and no reason to lose a line
        return json.dumps(fields, default=repr).encode() + b"\n"
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return _TREACHEROUS.sub(_escaped, encoded.decode()).encode()


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if ord(found[0]) > 0x7F else "\\u007f"
