"""What a state directory keeps, and for whom."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from socket import AF_UNIX, create_server, socket

import pytest

from app.fleet.book import Book
from app.fleet.errors import AlreadyRunning, FleetError, PortInUse, StateUnusable, SupervisorGone
from app.fleet.events import Event
from app.fleet.hotline import Hotline, ask
from app.fleet.identity import make_key_pair
from app.fleet.logs import bound, follow, last_lines, last_words
from app.fleet.orders import Reload, Request
from app.fleet.ports import choose, claim, is_free
from app.fleet.record import FleetRecord, ProcessRecord, is_replica
from app.fleet.state import StateDirectory, write_privately
from app.identity import Caller, Issuer, PublicKeys, SigningKey, Verifier
from tests.conftest import free_port


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    made = StateDirectory(tmp_path / "state")
    made.make()
    return made


def test_only_its_owner_may_look_into_a_state_directory(state: StateDirectory) -> None:
    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700


def test_secrets_are_made_once_and_differ_between_fleets(state: StateDirectory, tmp_path: Path) -> None:
    other = StateDirectory(tmp_path / "other")
    other.make()
    assert state.secrets() == state.secrets()
    assert state.secrets().session_key != other.secrets().session_key
    assert len(state.secrets().session_key) >= 32
    assert stat.S_IMODE((state.path / "secrets.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["{half", "[]", '{"session_key": "alone"}'])
def test_damaged_secrets_are_never_replaced(state: StateDirectory, text: str) -> None:
    """New ones would log everybody out and lock the database."""
    (state.path / "secrets.json").write_text(text)
    with pytest.raises(StateUnusable, match=r"secrets\.json cannot be read"):
        state.secrets()


def test_a_secret_that_an_older_fleet_did_not_have_is_added_and_the_others_stay(
    state: StateDirectory,
) -> None:
    (state.path / "secrets.json").write_text('{"session_key": "k", "database_password": "p"}')
    found = state.secrets()
    assert (found.session_key, found.database_password, len(found.faults_token) >= 16) == ("k", "p", True)
    assert len(found.webhook_secret) >= 32, "what the acquirer accepts"
    assert state.secrets() == found


def test_a_key_pair_is_made_once_and_the_private_half_is_for_its_owner_alone(state: StateDirectory) -> None:
    make_key_pair(state)
    first = state.identity_key.read_bytes()
    make_key_pair(state)
    assert state.identity_key.read_bytes() == first
    assert stat.S_IMODE(state.identity_key.stat().st_mode) == 0o600
    token = Issuer(SigningKey.read(state.identity_key)).issue(
        Caller(subject="shop", role="service"), audience="payments"
    )
    verifier = Verifier(PublicKeys.read(state.identity_public_key), audience="payments")
    assert verifier.verify(token) == Caller(subject="shop", role="service")


def test_a_damaged_key_is_named_and_never_replaced(state: StateDirectory) -> None:
    write_privately(state.identity_key, "half a key")
    with pytest.raises(StateUnusable, match=r"identity\.key must hold"):
        make_key_pair(state)
    assert state.identity_key.read_text() == "half a key"


def test_one_supervisor_holds_a_state_directory(state: StateDirectory) -> None:
    with state.held(), pytest.raises(AlreadyRunning, match="already runs"), state.held():
        pass
    with state.held():
        pass


def test_sockets_lie_in_the_directory_where_their_path_is_short_enough(state: StateDirectory) -> None:
    short = StateDirectory(Path("/srv/chopho"))
    assert short.socket("haproxy.sock") == Path("/srv/chopho/haproxy.sock")
    deep = StateDirectory(state.path / ("deep" * 30))
    socket = deep.socket("haproxy.sock")
    assert len(os.fsencode(socket)) < 90
    assert socket == deep.socket("haproxy.sock")
    other = StateDirectory(state.path / ("deeq" * 30))
    assert socket != other.socket("haproxy.sock")
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    for made in (deep, other):
        made.remove_socket("haproxy.sock")
    assert not socket.parent.exists()


def test_a_short_place_for_sockets_that_somebody_else_prepared_is_refused(
    state: StateDirectory, tmp_path: Path
) -> None:
    deep = StateDirectory(state.path / ("deep" * 30))
    place = deep.socket("haproxy.sock").parent
    place.rmdir()
    place.symlink_to(tmp_path)
    try:
        with pytest.raises(StateUnusable, match="belongs to somebody else"):
            deep.socket("haproxy.sock")
    finally:
        place.unlink()


def test_a_record_is_read_as_it_was_written(state: StateDirectory) -> None:
    assert FleetRecord.load(state.record) is None
    record = FleetRecord(phase="running", processes={"app2": ProcessRecord(pid=7, started=1.5, digest="d")})
    record.save(state.record)
    assert FleetRecord.load(state.record) == record
    assert stat.S_IMODE(state.record.stat().st_mode) == 0o600
    assert [file.name for file in state.path.iterdir()] == ["logs", "fleet.json"]


def test_replicas_are_told_from_servers_and_counted_in_order() -> None:
    processes = {name: ProcessRecord(pid=1, started=1) for name in ("redis", "app10", "app2", "apple", "app")}
    assert FleetRecord(processes=processes).replicas() == ["app2", "app10"]
    assert not is_replica("haproxy")


def test_a_port_that_is_taken_is_not_claimed() -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} is in use by .*pid {os.getpid()}"):
            claim(port)
        assert not is_free(port)
    assert is_free(port)


def test_ports_are_kept_and_otherwise_differ() -> None:
    kept = {"redis": free_port()}
    chosen = choose(["redis", "app1", "app2", "app3"], {**kept, "app9": 1})
    assert chosen["redis"] == kept["redis"]
    assert len(set(chosen.values())) == 4
    assert set(chosen) == {"redis", "app1", "app2", "app3"}


def test_the_last_words_are_the_last_line_with_any(tmp_path: Path) -> None:
    log = tmp_path / "app1.log"
    assert (last_words(log), last_lines(log, 3)) == ("it said nothing", [])
    log.write_text("first\nsecond\nthird\n\n")
    assert (last_words(log), last_lines(log, 2)) == ("third", ["second", "third"])


def test_a_log_that_grew_too_large_is_emptied_in_place_and_kept_once(tmp_path: Path) -> None:
    log, small = tmp_path / "app1.log", tmp_path / "redis.log"
    small.write_text("few\n")
    with log.open("a") as writer:
        writer.write("many\n" * 100)
        writer.flush()
        bound(tmp_path, at_most=100)
        writer.write("on\n")
    assert log.read_text() == "on\n"
    assert (tmp_path / "app1.log.1").read_text() == "many\n" * 100
    assert small.read_text() == "few\n"


def test_a_follower_hears_whole_lines_once_also_after_the_log_was_emptied(tmp_path: Path) -> None:
    log, later = tmp_path / "app1.log", tmp_path / "app2.log"
    log.write_text("before\n")
    lines = follow([log, later], every_s=0)

    def say(file: Path, text: str) -> None:
        with file.open("a") as writer:
            writer.write(text)

    say(log, "one\nhal")
    assert next(lines) == (log, "one")
    say(log, "f\n")
    assert next(lines) == (log, "half")
    say(later, "two\n")
    assert next(lines) == (later, "two")
    log.write_text("")
    say(later, "three\n")
    assert next(lines) == (later, "three")
    say(log, "anew\n")
    assert next(lines) == (log, "anew")


def test_a_file_that_cannot_be_replaced_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(StateUnusable, match="cannot write"):
        write_privately(tmp_path / "taken", "text")
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_a_fleet_goes_on_while_its_record_cannot_be_written_and_catches_up(tmp_path: Path) -> None:
    """A full disk must neither stop a replica from being brought back nor an order from ending."""
    told: list[Event] = []
    file = tmp_path / "fleet.json"
    file.mkdir()
    book = Book(FleetRecord(), file, told.append)
    with book.operation("reload", "me"):
        book.note("app1", ProcessRecord(pid=1, started=1.0))
        book.catch_up()
    assert (len(told), "do not end the supervisor" in str(told[0])) == (1, True)
    file.rmdir()
    book.catch_up()
    found = FleetRecord.load(file)
    assert found is not None
    assert (list(found.processes), found.operation) == (["app1"], None)
    with pytest.raises(StateUnusable):
        Book(FleetRecord(), tmp_path / "nowhere" / "fleet.json", told.append).begin(FleetRecord())


async def test_an_order_that_fails_unforeseen_is_told_to_whoever_gave_it(tmp_path: Path) -> None:
    async def breaks(_: Request) -> None:
        raise RuntimeError("nobody thought of that")

    async with Hotline(tmp_path / "sock", breaks).open():
        with pytest.raises(FleetError, match=r"RuntimeError.*chopho logs supervisor"):
            await ask(tmp_path / "sock", Request(by="me", order=Reload()), lambda _: None)


@pytest.mark.parametrize("length", [10, 3000])
def test_the_last_lines_are_whole_and_as_many_as_are_wanted(tmp_path: Path, length: int) -> None:
    log = tmp_path / "app1.log"
    lines = [f"{number}".ljust(length, "x") for number in range(50)]
    log.write_text("".join(f"{line}\n" for line in lines))
    for count in (0, 1, 7, 50):
        assert last_lines(log, count) == lines[50 - count :]
    assert last_lines(log, 99) == lines


async def test_an_order_to_a_supervisor_that_stands_still_is_not_waited_for(tmp_path: Path) -> None:
    """As after SIGSTOP: the kernel takes the connection, and nobody reads from it."""
    with closing(socket(AF_UNIX)) as stopped:
        stopped.bind(str(tmp_path / "sock"))
        stopped.listen()
        with pytest.raises(SupervisorGone, match="stands still"):
            await ask(
                tmp_path / "sock",
                Request(by="me", order=Reload()),
                lambda _: None,
                within=timedelta(milliseconds=50),
            )
