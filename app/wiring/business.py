"""The business of a replica: every use case, with the adapters behind its ports."""

from __future__ import annotations

from app.clients.payments import HttpPayments
from app.sessions import Sessions
from app.settings import Settings
from app.shop.accounts import LogIn, Register
from app.shop.authors import ForgetAuthors
from app.shop.cancelling import CancelOrder
from app.shop.cart import AddToCart, PutInCart, ShowCart
from app.shop.checkout import PlaceOrder
from app.shop.fulfilment import MoveOrder
from app.shop.guests import FollowOrder
from app.shop.password import ChangePassword
from app.shop.quoting import QuoteCart
from app.shop.recovery import Recovery
from app.shop.revocations import EndSession, EndSessions
from app.shop.settlement import Settlement
from app.shop.shop import Shop
from app.stores.accounts import SqlAccounts
from app.stores.asks import RedisAsks
from app.stores.attempts import RedisAttempts
from app.stores.authors import SqlErasedAuthors
from app.stores.carts import SqlCarts
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.guest_links import SignedGuestLinks
from app.stores.offers import OffersSnapshot
from app.stores.orders import SqlLedger, SqlOrders
from app.stores.passwords import ArgonPasswords
from app.stores.revocations import SessionEnds, SessionEpochs, SqlRevocations
from app.stores.shopper_cart import AccountCarts
from app.stores.snapshot import Snapshot
from app.stores.vouchers import SqlVouchers
from app.web.pages.payment import PATH as RETURN_PATH
from app.wiring.charges import charges_of
from app.wiring.downstream import Downstream
from app.wiring.people import asks_config, people_of
from app.wiring.product_pages import product_pages


def settlement_of(settings: Settings, database: Database, payments: HttpPayments | None) -> Settlement | None:
    """What moves orders and their money, over that pool; None without an acquirer."""
    if payments is None:
        return None
    return Settlement(
        orders=SqlOrders(database=database, guest_path=SignedGuestLinks(settings.secret_keys).path),
        ledger=SqlLedger(database=database),
        payments=payments,
        return_url=settings.public_url + RETURN_PATH,
        wait=settings.payment_wait,
    )


def recovery_of(settings: Settings, background: Database, payments: HttpPayments | None) -> Recovery | None:
    """What tidies up after crashes; None without an acquirer."""
    settlement = settlement_of(settings, background, payments)
    if settlement is None:
        return None
    return Recovery(ledger=settlement.ledger, settlement=settlement, interval=settings.recovery_interval)


def forget_authors_of(background: Database, shop: Shop) -> ForgetAuthors | None:
    """What takes names of erased accounts off their reviews; None without that service."""
    if shop.reviewing is None:
        return None
    return ForgetAuthors(authors=SqlErasedAuthors(database=background), reviewing=shop.reviewing)


def shop_of(
    settings: Settings,
    database: Database,
    logins: Database,
    attempts: RedisAttempts,
    passwords: ArgonPasswords,
    sessions: Sessions,
    downstream: Downstream,
    offers: OffersSnapshot,
) -> Shop:
    """Every use case with the adapters it needs."""
    catalog = SqlCatalog(database=database)
    logging_in = SqlAccounts(database=logins)
    charges = charges_of(settings)
    links = SignedGuestLinks(settings.secret_keys)
    orders = SqlOrders(database=database, charges=charges, guest_path=links.path)
    revocations = SqlRevocations(database=database)
    settlement = settlement_of(settings, database, downstream.payments)
    show_product, reviewing = product_pages(catalog, downstream)
    return Shop(
        catalog=catalog,
        show_product=show_product,
        reviewing=reviewing,
        accounts=SqlAccounts(database=database),
        orders=orders,
        register=Register(accounts=logging_in, passwords=passwords),
        log_in=LogIn(
            accounts=logging_in,
            passwords=passwords,
            attempts=attempts,
            epochs=SessionEpochs(sessions=sessions),
        ),
        change_password=ChangePassword(
            accounts=logging_in,
            passwords=passwords,
            attempts=attempts,
            revocations=revocations,
            ends=SessionEnds(sessions=sessions),
        ),
        people=people_of(
            database=database,
            logins=logins,
            sessions=sessions,
            passwords=passwords,
            attempts=attempts,
            asks=RedisAsks(asks_config(settings), attempts.pool),
        ),
        end_session=EndSession(revocations=revocations),
        end_sessions=EndSessions(revocations=revocations),
        show_cart=ShowCart(offers=offers),
        add_to_cart=AddToCart(offers=offers),
        put_in_cart=PutInCart(offers=offers),
        quote_cart=QuoteCart(
            show_cart=ShowCart(offers=offers), charges=charges, vouchers=SqlVouchers(database=database)
        ),
        guest_links=links,
        follow_order=FollowOrder(orders=orders, links=links),
        place_order=PlaceOrder(
            orders=orders, offers=offers, settlement=settlement, lease=settings.checkout_lease
        ),
        cancel_order=CancelOrder(orders=orders, settlement=settlement),
        move_order=MoveOrder(orders=orders, settlement=settlement),
        settlement=settlement,
    )


def carts_of(database: Database, offers: OffersSnapshot, settings: Settings) -> AccountCarts:
    """The carts of accounts and visitors."""
    carts = SqlCarts(database=database)
    return AccountCarts(
        carts=carts, versions=Snapshot(carts.versions), offers=offers, merging=settings.cart_merging
    )
