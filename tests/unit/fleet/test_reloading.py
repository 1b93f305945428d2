"""What a new worker of HAProxy is told of the slots."""

from __future__ import annotations

from app.fleet.reloading import cautious

HEAD = "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight"


def slot(name: str, op: int, admin: int) -> str:
    return f"3 app_servers 1 {name} 127.0.0.1 {op} {admin} 1"


def test_whoever_is_down_waits_in_maintenance_and_nobody_else_does() -> None:
    state = [slot("app1", 2, 4), slot("app2", 0, 4), slot("app3", 0, 8), slot("app4", 0, 1)]
    assert cautious("\n".join([HEAD, *state]) + "\n").splitlines() == [
        *HEAD.splitlines(),
        slot("app1", 2, 4),
        slot("app2", 0, 5),
        slot("app3", 0, 8),
        slot("app4", 0, 1),
    ]


def test_a_state_of_another_kind_is_left_alone() -> None:
    assert cautious("2\n# something else\n1 2 3\n") == "2\n# something else\n1 2 3\n"
