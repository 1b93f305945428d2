"""`chopho sample`: fill a shop with made-up goods, people and orders, as many as one likes."""

from __future__ import annotations

import asyncio
import json as jsonlib
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.databases import DatabaseUrl, database_of
from app.cli.exits import EPILOG
from app.cli.progress import progress_of
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError

# The other commands need not wait for the database's driver to be imported.
if TYPE_CHECKING:
    from collections.abc import Callable

    from app.stores.sample.volume import MadeUp, Volume

_ORDERS_OF_ONE = 20
"""On average; who comes most has some hundreds."""


def sample(
    products: Annotated[int, typer.Option(min=0, max=1_000_000, help="Products with their variants.")] = 0,
    orders: Annotated[int, typer.Option(min=0, max=10_000_000, help="Orders of the past year.")] = 0,
    seed: Annotated[int, typer.Option(min=1, max=10**6, help="The same seed makes the same shop.")] = 1,
    until: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The year of orders ends here; default: today."),
    ] = None,
    among_orders: Annotated[
        bool, typer.Option("--among-orders", help="Also into a shop that has orders of its own.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="For machines, without progress.")] = False,
    state: State = DEFAULT_STATE,
    database: DatabaseUrl = None,
) -> None:
    """Fill the shop with made-up goods, people and orders, to see how it does when it is large.

    All orders or none; nobody can log in to the accounts, and no stock is taken.
    """
    from app.shop.orders import VIETNAM
    from app.stores.sample.volume import Volume

    if not products and not orders:
        raise typer.BadParameter("say how much: --products N, --orders N or both")
    volume = Volume(
        products=products,
        orders=orders,
        accounts=-(-orders // _ORDERS_OF_ONE),
        seed=seed,
        until=(until or datetime.now(VIETNAM)).date(),
    )
    with progress_of("Making up", shown=not json) as progress:
        made = _made(database_of(database, state), volume, among_orders=among_orders, progress=progress)
    if json:
        sys.stdout.write(jsonlib.dumps({**asdict(made), "seed": seed}, indent=2) + "\n")
    else:
        sys.stdout.write(
            f"{made.products} products, {made.accounts} accounts, {made.orders} orders of {made.order_lines} lines\n"
        )


def _made(url: str, volume: Volume, *, among_orders: bool, progress: Callable[[float], None]) -> MadeUp:
    from app.shop.errors import Unavailable
    from app.stores.database import Database
    from app.stores.imports import patient
    from app.stores.sample.volume import NotMadeUp, make_up

    async def done() -> MadeUp:
        database = Database(patient(url))
        try:
            return await make_up(database, volume, among_orders=among_orders, progress=progress)
        finally:
            await database.close()

    try:
        return asyncio.run(done())
    except NotMadeUp as refused:
        raise FleetError(str(refused)) from refused
    except Unavailable as away:
        raise FleetError(f"{away}; no order was made up") from away


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(epilog=EPILOG)(sample)
