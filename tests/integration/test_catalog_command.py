"""`chopho catalog import` and `export`, as an owner runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.stores.migrations import migrate

APPAREL = Path(__file__).parents[1] / "data" / "apparel.csv"

Catalog = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def catalog(empty_database_url: str) -> Catalog:
    migrate(empty_database_url)

    def catalog(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "CHOPHO_DATABASE_URL": empty_database_url}
        return subprocess.run(
            [sys.executable, "-m", "app", "catalog", *words],
            capture_output=True, text=True, check=False, env=environment, timeout=120,
        )  # fmt: skip

    return catalog


def test_a_file_goes_in_comes_out_and_goes_in_again(catalog: Catalog, tmp_path: Path) -> None:
    first = catalog("import", str(APPAREL), "--currency", "USD", "--rate", "25400")
    assert (first.returncode, first.stderr) == (0, "")
    assert "20 products added" in first.stdout
    assert "25400 đồng for one USD" in first.stdout
    out = tmp_path / "out.csv"
    assert catalog("export", str(out)).returncode == 0
    assert out.read_bytes().startswith(b"\xef\xbb\xbfHandle,")
    assert list(tmp_path.iterdir()) == [out]
    again = json.loads(catalog("import", str(out), "--json").stdout)
    assert (again["added"], again["changed"], again["unchanged"]) == (0, 0, 20)


def test_a_refused_file_is_told_by_file_line_and_column_and_changes_nothing(
    catalog: Catalog, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_bytes(APPAREL.read_bytes().replace(b"deny,manual,65", b"deny,manual,1.000", 1))
    told = catalog("import", str(broken))
    assert told.returncode == 9
    assert "broken.csv, line 14, column Variant Price: got '1.000'" in told.stderr
    assert "nothing was imported" in told.stderr
    assert catalog("export", str(tmp_path / "out.csv")).stdout.startswith("0 products")


@pytest.mark.parametrize(
    "words",
    [
        ["--currency", "USD"],
        ["--rate", "x"],
        ["--currency", "ABC", "--rate", "2"],
        ["--currency", "USD", "--rate", "25.400"],
        ["--currency", "USD", "--rate", "1e3"],
    ],
)
def test_prices_that_cannot_be_converted_are_a_wrong_option(catalog: Catalog, words: list[str]) -> None:
    told = catalog("import", str(APPAREL), *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1


def test_many_refusals_are_all_told(catalog: Catalog, tmp_path: Path) -> None:
    """More of them than a database server takes as the reason why a copy ends."""
    head, first, *_ = APPAREL.read_text(encoding="utf-8-sig").splitlines()
    rows = [first.replace("ocean-blue-shirt", f"shirt-{n}").replace(",50,", ",zz,") for n in range(3000)]
    broken = tmp_path / "broken.csv"
    broken.write_text("\n".join([head, *rows]))
    told = catalog("import", str(broken))
    assert told.returncode == 9
    assert told.stderr.count("column Variant Price: got 'zz'") >= 60


def test_what_cannot_be_written_or_read_twice_is_one_line(catalog: Catalog, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # so that whoever opens it need not wait
    for words, code in (
        (("export", str(tmp_path / "none" / "x.csv")), 1),
        (("export", str(pipe)), 2),
        (("import", str(pipe)), 2),
        (("export", str(tmp_path / "x.csv"), "--database", "garbage"), 8),
    ):
        told = catalog(*words)
        assert (told.returncode, told.stderr.count("\n")) == (code, 1), told.stderr
    os.close(writer)


def test_an_export_onto_a_link_writes_what_it_leads_to(catalog: Catalog, tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.touch()
    link.symlink_to(real)
    assert catalog("export", str(link)).returncode == 0
    assert link.is_symlink()
    assert real.stat().st_size > 0
