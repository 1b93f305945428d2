"""What an owner does to people and their money asks for the password again, and loses nothing typed."""

from __future__ import annotations

import secrets
from datetime import timedelta
from html import unescape

import httpx
import pytest

from tests.web.conftest import BROWSER, Person, World
from tests.web.desk.test_accounts_at_the_desk import do, path_of
from tests.web.desk.test_orders_at_the_desk import left, ordered, step, stocked
from tests.web.test_proof import hidden

PROOF = {"proof": "mat-khau-dai"}


def forget(world: World) -> None:
    """Whoever gave a password gave it too long ago."""
    world.app.state.proof_lasts = timedelta(seconds=-1)


def kept(answer: httpx.Response) -> dict[str, str]:
    """The fields that travel along with the question for the password."""
    assert answer.status_code == 403, answer.text
    assert 'name="proof"' in answer.text
    return {name: unescape(value) for name, value in hidden(answer.text).items()}


async def test_a_cancellation_waits_for_the_password_and_keeps_its_note(
    world: World, owner: httpx.AsyncClient
) -> None:
    sku = await stocked(owner)
    path = await ordered(world, sku)
    forget(world)
    nonce, note = secrets.token_urlsafe(16), 'khách "đổi ý" & xin lỗi'
    fields = kept(await step(owner, path, "cancelled", nonce=nonce, note=note))
    assert fields == {"nonce": nonce, "do": "move", "note": note, "to": "cancelled"}
    assert await left(owner, sku, 7)
    assert "khách" not in (await owner.get(f"/quan-tri/nhat-ky?subject={path.rpartition('/')[2]}")).text
    wrong = await owner.post(path, data={**fields, "proof": "sai-mat-khau"})
    assert (wrong.status_code, await left(owner, sku, 7)) == (422, True)
    done = await owner.post(path, data={**fields, **PROOF})
    assert (done.status_code, done.headers["location"]) == (303, f"{path}?done=1")
    assert await left(owner, sku, 9)
    assert "xin lỗi" in (await owner.get(path)).text


async def test_a_parcel_goes_out_unasked_and_its_refund_does_not(
    world: World, owner: httpx.AsyncClient
) -> None:
    path = await ordered(world, await stocked(owner))
    forget(world)
    for to in ("packed", "shipped"):
        assert (await step(owner, path, to)).status_code == 303, to
    fields = kept(await step(owner, path, "refunded"))
    assert (await owner.post(path, data={**fields, **PROOF})).status_code == 303


@pytest.mark.parametrize("what", ["lock", "unlock", "role", "end-one", "end-all"])
async def test_what_is_done_to_an_account_waits_for_the_password(
    world: World, owner: httpx.AsyncClient, person: Person, what: str
) -> None:
    path = await path_of(owner, person.email)
    async with world.client(headers=BROWSER) as phone:
        await phone.post("/dang-nhap", data=person.credentials)
        handle = (await owner.get(path)).text.split('name="handle" value="')[1].split('"')[0]
        forget(world)
        fields = kept(await do(owner, path, what, handle=handle, role="operator", seen="customer"))
        assert (fields["do"], fields["handle"], fields["role"]) == (what, handle, "operator")
        assert (await phone.get("/tai-khoan")).status_code == 200
        assert (await owner.post(path, data={**fields, **PROOF})).headers["location"] == f"{path}?done=1"
        assert (await phone.get("/tai-khoan")).status_code == (200 if what == "unlock" else 303)


async def test_whoever_just_came_in_is_asked_for_nothing(
    world: World, owner: httpx.AsyncClient, person: Person
) -> None:
    assert (await do(owner, await path_of(owner, person.email), "lock")).status_code == 303
    path = await ordered(world, await stocked(owner))
    assert (await step(owner, path, "cancelled")).status_code == 303
