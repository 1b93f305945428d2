"""The systemd units say what systemd understands, and start what there is."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from typer.main import get_command

from app.cli.groups import command_line
from app.settings import Settings

ROOT: Final = Path(__file__).parents[2]
UNITS: Final = sorted((ROOT / "deploy/systemd").iterdir())
REPLICAS: Final = [unit for unit in UNITS if "app serve" in unit.read_text(encoding="utf-8")]


def service(unit: Path) -> configparser.SectionProxy:
    parsed = configparser.ConfigParser(strict=False, interpolation=None, delimiters=["="])
    parsed.optionxform = str  # type: ignore[assignment, method-assign]  # keys as they are written
    parsed.read_string(unit.read_text(encoding="utf-8"))
    return parsed["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this machine")
def test_systemd_understands_every_unit(tmp_path: Path) -> None:
    for unit in UNITS:
        # What is installed on the operator's machine is not on this one.
        text = re.sub(r"/opt/chopho/.venv/bin/python|/usr/sbin/haproxy", "/bin/true", unit.read_text())
        text = re.sub(r"^WorkingDirectory=.*$|^EnvironmentFile=.*$", "", text, flags=re.MULTILINE)
        (tmp_path / unit.name.replace("@", "@x")).write_text(text)
        (tmp_path / unit.name).write_text(text)
    units = [str(file) for file in sorted(tmp_path.iterdir()) if "@." not in file.name]
    verified = subprocess.run(
        ["systemd-analyze", "verify", *units],  # noqa: S607 -- wherever this system keeps it
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ours = [line for line in verified.stderr.splitlines() if str(tmp_path) in line]
    assert ours == []


@pytest.mark.parametrize("unit", REPLICAS, ids=lambda unit: unit.name)
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    instance = "1" if unit.name == "chopho@.service" else "payments"
    started = service(unit)["ExecStart"].replace("%i", instance).replace("${PORT}", "8101")
    words = shlex.split(started)
    arguments = words[words.index("app") + 1 :]
    command = get_command(command_line())
    serve = command.commands[arguments[0]]  # type: ignore[attr-defined]  # the group of all commands
    with serve.make_context("serve", arguments[1:]):
        pass


@pytest.mark.parametrize("unit", REPLICAS, ids=lambda unit: unit.name)
def test_systemd_hears_of_ready_and_life_and_waits_for_the_watchdog_inside(unit: Path) -> None:
    said = service(unit)
    assert (said["Type"], said["Restart"]) == ("notify", "always")
    limit: timedelta = Settings.model_fields["loop_limit"].default
    assert int(said["WatchdogSec"]) > limit.total_seconds()
    assert said["WatchdogSignal"] == "SIGABRT"
