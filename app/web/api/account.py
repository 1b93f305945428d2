"""The account that is logged in: its profile, its addresses, its e-mail."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import Account
from app.shop.addresses import Address, Place
from app.shop.errors import LoginNeeded, NotFound
from app.web.api.answers import nothing, private
from app.web.api.models.accounts import EmailWanted, PasswordGiven, ProfileIn, ProfileOut, TokenGiven
from app.web.api.models.addresses import AddressesOut, NewAddress, SavedAddressOut
from app.web.language import language
from app.web.proof import prove, proved
from app.web.shopping import client_of, known_name, shop_of
from app.web.visitors import customer

router = APIRouter(tags=["account"], dependencies=[Depends(customer)])

Customer = Annotated[str, Depends(customer)]


@router.get("/account", response_model=ProfileOut)
async def profile(request: Request, account_id: Customer) -> Response:
    """Who is logged in, in full."""
    account = await shop_of(request).accounts.by_id(account_id)
    if account is None:
        raise LoginNeeded("the account is gone")
    return private(profile_as_json(account))


@router.put("/account", response_model=ProfileOut)
async def change_profile(request: Request, account_id: Customer, wanted: ProfileIn) -> Response:
    """Replace name, phone number and the language of mails."""
    account = await shop_of(request).people.change_profile(
        account_id, name=wanted.name, phone=wanted.phone, language=wanted.language
    )
    return private(profile_as_json(account))


@router.post("/session/proof", status_code=204)
async def give_proof(request: Request, given: PasswordGiven) -> Response:
    """Give the password again, for what answers `proof_needed` without it."""
    await prove(request, given.password, field="password")
    return nothing()


@router.post("/account/email", status_code=202, response_model=None)
async def change_email(request: Request, wanted: EmailWanted) -> Response:
    """Have a link sent to the new address; asks for the password, if it was given long ago."""
    await shop_of(request).people.change_email(
        await proved(request), email=wanted.email, client=client_of(request), language=language()
    )
    return private({}, 202)


@router.post("/account/email/confirm", status_code=204)
async def confirm_email(request: Request, account_id: Customer, given: TokenGiven) -> Response:
    """Make the new address the account's, by the token of the link."""
    await shop_of(request).people.confirm_email(account_id, token=given.token)
    return nothing()


@router.get("/addresses", response_model=AddressesOut)
async def addresses(request: Request, account_id: Customer) -> Response:
    """Where this account's parcels go; the default one first."""
    items = [address_as_json(one) for one in await shop_of(request).people.addresses.of(account_id)]
    return private({"items": items, "total": len(items), "page": 1, "page_size": max(1, len(items))})


@router.post("/addresses", status_code=201, response_model=SavedAddressOut)
async def add_address(request: Request, account_id: Customer, wanted: NewAddress) -> Response:
    """Keep one more."""
    address = await shop_of(request).people.keep_address(
        account_id, _place(wanted), is_default=wanted.is_default
    )
    return private(address_as_json(address), 201, {"location": f"/api/v1/addresses/{address.id}"})


@router.put("/addresses/{address_id}", response_model=SavedAddressOut)
async def change_address(
    request: Request, account_id: Customer, address_id: str, wanted: NewAddress
) -> Response:
    """Replace one; the default one stays it until another one becomes it."""
    address = await shop_of(request).people.keep_address(
        account_id,
        _place(wanted),
        address_id=known_name("address", address_id),
        is_default=wanted.is_default,
    )
    return private(address_as_json(address))


@router.delete("/addresses/{address_id}", status_code=204)
async def remove_address(request: Request, account_id: Customer, address_id: str) -> Response:
    """Forget one."""
    known = known_name("address", address_id)
    if not await shop_of(request).people.addresses.remove(account_id, known):
        raise NotFound("address")
    return nothing()


def profile_as_json(account: Account) -> dict[str, object]:
    """What an account is to itself, in full."""
    return {
        "id": account.id,
        "email": account.email,
        "name": account.name,
        "phone": account.phone,
        "language": account.language,
        "role": account.role,
        "created_at": account.created_at,
    }


def address_as_json(address: Address) -> dict[str, object]:
    """An address that is kept."""
    place = address.place
    return {
        "id": address.id,
        "name": place.name,
        "phone": place.phone,
        "address": place.address,
        "province": place.province,
        "is_default": address.is_default,
    }


def _place(wanted: NewAddress) -> Place:
    return Place(name=wanted.name, phone=wanted.phone, address=wanted.address, province=wanted.province)
