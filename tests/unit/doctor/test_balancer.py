"""haproxy.cfg is read as HAProxy reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.doctor import Balancer, Unreadable
from app.doctor.balancer import seconds

TEXT = """
global
    log stdout format raw local0  # a comment
defaults
    timeout server 10s
    timeout server 12s
.if defined(FAST)
    timeout check 500
.elif streq("${MODE-slow}",slow)
    timeout check 2s
.else
    timeout check 3s
.endif
backend web
.if !defined(TCP) && 1
    option httpchk
.endif
    default-server check fastinter 1s inter "${INTER-2s}" fall 3
    http-request set-header X "a # b"
    server one 127.0.0.1:1
listen statistics
    bind 127.0.0.1:2
"""


def read(**environment: str) -> Balancer:
    return Balancer.parse(TEXT, environment)


def test_only_backends_with_checks_are_told() -> None:
    assert [section.head for section in read().backends()] == ["backend web"]


def test_of_several_lines_the_last_one_counts() -> None:
    assert read().time_s("timeout server") == 12


@pytest.mark.parametrize(("environment", "expected"), [({"FAST": "1"}, 0.5), ({}, 2), ({"MODE": "other"}, 3)])
def test_conditions_are_decided(environment: dict[str, str], expected: float) -> None:
    assert read(**environment).time_s("timeout check") == expected


def test_a_negated_condition_is_decided_too() -> None:
    assert read().backends()[0].has("option httpchk")
    assert not read(TCP="1").backends()[0].has("option httpchk")


def test_options_of_servers_are_not_taken_for_one_another() -> None:
    (backend,) = read(INTER="5s").backends()
    assert (backend.option("inter"), backend.option("fastinter"), backend.option("rise")) == (
        "5s",
        "1s",
        None,
    )


def test_what_is_not_understood_is_told_and_not_guessed() -> None:
    with pytest.raises(Unreadable, match="weekday"):
        Balancer.parse(".if weekday(monday)\n.endif", {})
    with pytest.raises(Unreadable, match="no section"):
        Balancer.parse("root:x:0:0:root:/root:/bin/bash", {})
    with pytest.raises(Unreadable, match="soon"):
        seconds("soon")


def test_the_shops_own_file_can_be_read_with_any_of_its_variables() -> None:
    own = Path("haproxy.cfg")
    for environment in ({}, {"LB_TCP_CHECK": "1"}, {"LB_STICKY": "k"}, {"LB_REPLICAS": "app:8000"}):
        assert Balancer.read(own, environment).backends()
