"""`chopho vouchers`: make vouchers, see how they are used, end them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.cli.desk import Desk, Json, at_desk, say_json
from app.cli.exits import EPILOG
from app.cli.root import DEFAULT_STATE, State
from app.fleet.errors import FleetError

if TYPE_CHECKING:
    from app.shop.pricing import KnownVoucher, Voucher

vouchers = typer.Typer(
    help="Vouchers of the shop. Asked of the shop that the settings in the environment name; by default of the local fleet.",
    no_args_is_help=True,
    epilog=EPILOG,
)

_Code = Annotated[str, typer.Argument(help="What shoppers type, such as TET-2027.")]


@vouchers.command("add", epilog=EPILOG)
def add(  # noqa: PLR0913  # a voucher has that many terms
    code: _Code,
    *,
    amount: Annotated[int | None, typer.Option(help="Whole đồng off.")] = None,
    percent: Annotated[int | None, typer.Option(help="Percent off the goods.")] = None,
    at_most: Annotated[
        int | None, typer.Option(help="Whole đồng that the percentage takes off at most.")
    ] = None,
    minimum: Annotated[int, typer.Option(help="What the goods must be worth.")] = 0,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="First day, as 2026-12-01; today.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Last day; none.")] = None,
    limit: Annotated[int | None, typer.Option(help="Uses by all together.")] = None,
    limit_each: Annotated[int | None, typer.Option(help="Uses by one customer.")] = None,
    state: State = DEFAULT_STATE,
) -> None:
    """Make a voucher; days are Vietnam's, the last one included."""
    from app.shop.errors import Invalid
    from app.shop.orders import VIETNAM
    from app.shop.pricing import Voucher, bounded, voucher_code
    from app.stores.vouchers import SqlVouchers

    try:
        voucher = bounded(
            Voucher(
                code=voucher_code(code),
                amount=amount,
                percent=percent,
                at_most=at_most,
                minimum=minimum,
                starts_at=datetime.combine(_day(since), time(), VIETNAM) if since else datetime.now(UTC),
                ends_at=datetime.combine(_day(until) + timedelta(days=1), time(), VIETNAM) if until else None,
                limit=limit,
                limit_each=limit_each,
            )
        )
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from wrong
    except Invalid as wrong:
        raise typer.BadParameter(f"{wrong.field} {wrong.message}") from wrong

    async def added(desk: Desk) -> bool:
        return await SqlVouchers(database=desk.database).add(voucher)

    if not at_desk(state, added):
        raise FleetError(f"there is a voucher {voucher.code} already; take another code")
    sys.stdout.write(f"{voucher.code} is good {_window(voucher)}\n")


@vouchers.command("list", epilog=EPILOG)
def show(state: State = DEFAULT_STATE, json: Json = False) -> None:
    """Show all vouchers and how often they are used, the newest first."""
    from app.stores.vouchers import SqlVouchers

    async def found(desk: Desk) -> Sequence[KnownVoucher]:
        return await SqlVouchers(database=desk.database).page()

    known = at_desk(state, found)
    if json:
        say_json([{**asdict(one.voucher), "used": one.used} for one in known])
    elif known:
        _show(known)
    else:
        sys.stdout.write("there are no vouchers\n")


@vouchers.command("end", epilog=EPILOG)
def end(code: _Code, state: State = DEFAULT_STATE) -> None:
    """Let nobody use a voucher any more; orders that used it stay as they are."""
    from app.stores.vouchers import SqlVouchers

    async def ended(desk: Desk) -> bool:
        return await SqlVouchers(database=desk.database).end(code.strip().upper(), at=datetime.now(UTC))

    if not at_desk(state, ended):
        raise FleetError(f"no voucher {code} is good; see `chopho vouchers list`")
    sys.stdout.write(f"{code.strip().upper()} has ended\n")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as wrong:
        raise ValueError(f"a day is written like 2026-12-01, not {text!r}") from wrong


def _window(voucher: Voucher) -> str:
    from app.shop.orders import VIETNAM

    ends = voucher.ends_at
    until = "" if ends is None else f" until {ends.astimezone(VIETNAM):%H:%M %Y-%m-%d}"
    return f"from {voucher.starts_at.astimezone(VIETNAM):%H:%M %Y-%m-%d}{until}, Vietnam's time"


def _show(known: Sequence[KnownVoucher]) -> None:
    table = Table("code", "takes off", "minimum", "good", "used", box=None, pad_edge=False)
    for one in known:
        voucher = one.voucher
        cap = "" if voucher.at_most is None else f", at most {voucher.at_most}"
        off = f"{voucher.percent} %{cap}" if voucher.amount is None else str(voucher.amount)
        used = str(one.used) if voucher.limit is None else f"{one.used} of {voucher.limit}"
        table.add_row(voucher.code, off, str(voucher.minimum), _window(voucher), used)
    Console(markup=False).print(table)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(vouchers, name="vouchers")
