"""haproxy.cfg as HAProxy would read it with given variables: conditions decided, defaults filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_VARIABLE: Final = re.compile(r"\$\{(\w+)(?:-([^}]*))?\}")
_CONDITION: Final = re.compile(r"(!?)\s*(\w+)\(([^)]*)\)|(!?)\s*([01])\b")
_TIME: Final = re.compile(r"(\d+)(us|ms|s|m|h|d)?")
_UNITS_S: Final = {"us": 1e-6, "ms": 1e-3, None: 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SECTIONS: Final = frozenset(
    {"global", "defaults", "frontend", "backend", "listen", "resolvers", "http-errors", "userlist", "peers"}
)


class Unreadable(Exception):
    """The file uses what is not understood here; the line is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: its head, such as ``backend app_servers``, and its lines."""

    head: str
    lines: Sequence[str]

    def has(self, words: str) -> bool:
        """Whether a line begins with these words."""
        return any(line == words or line.startswith(f"{words} ") for line in self.lines)

    def directive(self, words: str) -> str | None:
        """What follows the line's first words; of several such lines the last one counts, as in HAProxy."""
        return _last(rf"{words}\s+(\S+)", self.lines)

    def all_of(self, words: str) -> Sequence[str]:
        """The same of every such line, such as several `http-request` rules."""
        return _found(rf"{words}\s+(\S+)", self.lines)

    def option(self, word: str) -> str | None:
        """What follows this word on the lines of servers."""
        return _last(rf"(?:default-)?server.*\s{word}\s+(\S+)", self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Balancer:
    """A configuration of HAProxy. Raises `Unreadable`."""

    sections: Sequence[Section]

    @classmethod
    def read(cls, file: Path, environment: Mapping[str, str]) -> Balancer:
        """The file with those variables; raises `OSError` too."""
        return cls.parse(file.read_text(encoding="utf-8"), environment)

    @classmethod
    def parse(cls, text: str, environment: Mapping[str, str]) -> Balancer:
        """The same of a text."""
        sections: list[tuple[str, list[str]]] = []
        for line in _decided(text, environment):
            if line.split()[0] in _SECTIONS:
                sections.append((line, []))
            elif sections:
                sections[-1][1].append(line)
        if not sections:
            raise Unreadable("no section of it begins with global, defaults, frontend, backend or listen")
        return cls(sections=[Section(head=head, lines=lines) for head, lines in sections])

    def backends(self) -> Sequence[Section]:
        """The sections that hold servers with checks."""
        return [
            section
            for section in self.sections
            if section.head.startswith(("backend", "listen")) and _checked(section)
        ]

    def time_s(self, words: str, *, backend: Section | None = None) -> float | None:
        """A time by the words before it, in that backend or the defaults; None where it is not given."""
        defaults = [section for section in self.sections if section.head.startswith("defaults")]
        for section in ([backend] if backend else []) + defaults:
            given = section.directive(words)
            if given is not None:
                return seconds(given)
        return None


def _found(pattern: str, lines: Sequence[str]) -> Sequence[str]:
    return [match[1] for match in (re.match(pattern, line) for line in lines) if match]


def _last(pattern: str, lines: Sequence[str]) -> str | None:
    return next(iter(reversed(_found(pattern, lines))), None)


def seconds(given: str) -> float:
    """A time as HAProxy writes it; a bare number is milliseconds."""
    found = _TIME.fullmatch(given)
    if found is None:
        raise Unreadable(f"{given!r} is not a time")
    return int(found[1]) * _UNITS_S[found[2]]


def _checked(section: Section) -> bool:
    return any(
        line.startswith(("server ", "server-template ", "default-server ")) and " check" in line
        for line in section.lines
    )


def _decided(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The lines that count, without comments, with their variables."""
    taken: list[bool] = []  # of each open .if: whether one of its branches was taken already
    shown: list[bool] = []  # and whether the current one is shown
    for raw in text.splitlines():
        line = _uncommented(raw).strip()
        word, _, condition = line.partition(" ")
        match word:
            case "":
                continue
            case ".if":
                taken.append(_holds(condition, environment))
                shown.append(taken[-1])
            case ".elif":
                shown[-1] = not taken[-1] and _holds(condition, environment)
                taken[-1] = taken[-1] or shown[-1]
            case ".else":
                shown[-1] = not taken[-1]
            case ".endif":
                taken.pop()
                shown.pop()
            case _ if word.startswith("."):
                continue
            case _ if all(shown):
                yield _filled(line, environment)


def _uncommented(line: str) -> str:
    quoted = False
    for at, char in enumerate(line):
        if char in "\"'":
            quoted = not quoted
        elif char == "#" and not quoted:
            return line[:at]
    return line


def _filled(line: str, environment: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: environment.get(found[1]) or found[2] or "", line).replace('"', "")


def _holds(condition: str, environment: Mapping[str, str]) -> bool:
    return any(
        all(_true(term, environment) for term in choice.split("&&")) for choice in condition.split("||")
    )


def _true(term: str, environment: Mapping[str, str]) -> bool:
    found = _CONDITION.fullmatch(term.strip())
    if found is None:
        raise Unreadable(f"the condition {term.strip()!r} is not understood")
    if found[5]:
        return (found[5] == "1") != bool(found[4])
    return _predicate(found[2], found[3], environment) != bool(found[1])


def _predicate(name: str, words: str, environment: Mapping[str, str]) -> bool:
    given = [_filled(word.strip(), environment) for word in words.split(",")]
    match name, given:
        case "defined", [variable]:
            return variable in environment
        case "streq", [one, other]:
            return one == other
        case "strneq", [one, other]:
            return one != other
        case (("feature" | "version_atleast" | "openssl_version_atleast"), [_]):
            return True
        case _:
            raise Unreadable(f"the condition {name}({words}) is not understood")
