"""`chopho catalog`: bring a catalogue in from a file, and write it out to one."""

from __future__ import annotations

import asyncio
import json as jsonlib
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from app.cli.databases import DatabaseUrl, database_of
from app.cli.exits import EPILOG, CatalogueRefused
from app.cli.progress import progress_of
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError
from app.shop.errors import Invalid, Unavailable

# The other commands need not wait for the database's driver to be imported.
if TYPE_CHECKING:
    from app.shop.importing import Imported, Terms
    from app.stores.imports import SqlImports

T = TypeVar("T")

catalog = typer.Typer(
    help="The catalogue, in and out as a Shopify product CSV.", no_args_is_help=True, epilog=EPILOG
)

Json = Annotated[bool, typer.Option("--json", help="For machines, without progress.")]


@catalog.command("import", epilog=EPILOG)
def bring_in(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A Shopify product CSV.")
    ],
    currency: Annotated[
        str | None, typer.Option(metavar="CODE", help="What the file's prices are in; default: VND, đồng.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="N", help="How many đồng one unit is; half a đồng is rounded up.")
    ] = None,
    json: Json = False,
    state: State = DEFAULT_STATE,
    database: DatabaseUrl = None,
) -> None:
    """Add or replace the products of FILE, all or none; the same file again changes nothing.

    Products that the file leaves out stay. Pictures are kept as addresses and never fetched.
    """
    from app.shop.importing import FileRefused, ImportCatalogue

    terms = _terms(currency, rate)
    with file.open("rb") as source, progress_of(f"Reading {file.name}", shown=not json) as progress:
        if not source.seekable():
            raise typer.BadParameter(f"{file} is read twice; wants a regular file, not a pipe")

        async def bring(imports: SqlImports) -> Imported:
            importing = ImportCatalogue(imports=imports)
            return await importing(source, name=file.name, terms=terms, progress=progress)

        try:
            imported = _on_database(database, state, bring)
        except FileRefused as refused:
            _tell_refusals([str(refusal) for refusal in refused.refusals], json=json)
            raise CatalogueRefused(f"{file.name} was refused; nothing was imported") from refused
    _tell(imported, json=json)


@catalog.command("export", epilog=EPILOG)
def take_out(
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The CSV to write.")],
    state: State = DEFAULT_STATE,
    database: DatabaseUrl = None,
) -> None:
    """Write the whole catalogue to FILE, as a file that imports back to the same and that is safe to open."""
    from app.shop.importing import CatalogueWriter

    file = file.resolve()
    if file.exists() and not file.is_file():
        raise typer.BadParameter(f"{file} is not a regular file")
    partial = file.with_name(f".{file.name}.partial")

    async def write(imports: SqlImports) -> int:
        written = 0
        with partial.open("w", encoding="utf-8-sig", newline="") as out:
            writer = CatalogueWriter(out)
            async for product in imports.everything():
                writer.write(product)
                written += 1
        return written

    try:
        written = _on_database(database, state, write)
        partial.replace(file)
    except OSError as unwritable:
        raise FleetError(f"{file} cannot be written: {unwritable.strerror}") from unwritable
    finally:
        partial.unlink(missing_ok=True)
    sys.stdout.write(f"{written} products written to {file}\n")


def _terms(currency: str | None, rate: str | None) -> Terms:
    from app.shop.importing import checked_terms

    # 25.400 is twenty-five thousand to some and twenty-five to others, so three decimals are nobody's.
    if rate is not None and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", rate) is None:
        raise typer.BadParameter(f"--rate is {rate!r}; wants plain digits such as 25400 or 25400.5")
    try:
        return checked_terms(currency, None if rate is None else Decimal(rate))
    except Invalid as unusable:
        raise typer.BadParameter(f"--{unusable.field}: {unusable.message}") from unusable


def _on_database(url: str | None, state: Path, work: Callable[[SqlImports], Awaitable[T]]) -> T:
    from app.stores.database import Database
    from app.stores.imports import SqlImports, patient

    config = patient(database_of(url, state))

    async def done() -> T:
        database = Database(config)
        try:
            return await work(SqlImports(database=database))
        finally:
            await database.close()

    try:
        return asyncio.run(done())
    except Unavailable as away:
        raise FleetError(f"{away}; nothing changed") from away


def _tell_refusals(refusals: list[str], *, json: bool) -> None:
    if json:
        sys.stdout.write(jsonlib.dumps({"refusals": refusals}, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write("".join(f"{refusal}\n" for refusal in refusals))


def _tell(imported: Imported, *, json: bool) -> None:
    summary, kept = imported.summary, imported.kept
    if json:
        told = {**asdict(summary), **asdict(kept), "rate": str(summary.rate)}
        sys.stdout.write(jsonlib.dumps(told, indent=2, ensure_ascii=False) + "\n")
        return
    lines = [
        f"{summary.file}: {kept.added} products added, {kept.changed} changed, {kept.unchanged} as they were",
        f"{summary.variants} variants, {summary.pictures} pictures, {summary.not_visible} products not visible",
    ]
    if summary.skus_made_up:
        lines.append(f"{summary.skus_made_up} SKUs made up, the same ones every time")
    if summary.rate != 1:
        lines.append(
            f"prices at {summary.rate} đồng for one {summary.currency}, "
            f"{summary.prices_rounded} of them rounded, half a đồng up"
        )
    if summary.ignored_columns:
        lines.append(f"columns without a meaning here: {', '.join(summary.ignored_columns)}")
    sys.stdout.write("\n".join(lines) + "\n")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(catalog, name="catalog")
