"""What is sensitive asks for the password again after a while, and nothing that was typed is lost."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import unquote

import httpx
import pytest

from tests.web.conftest import BROWSER, Build, Person, World
from tests.web.mailing import delivered

NEW = "moi.cua.anh@khach.example"


@pytest.fixture
def world(build_world: Build) -> World:
    """A shop where the password is asked for each time."""
    return build_world(proof_lasts=timedelta(0))


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of the page's own form."""
    main = page[page.index("<main") :]
    form = main[main.index("<form") : main.index("</form>")]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


async def asks(world: World) -> list[str]:
    return [message.recipient for message, _ in await delivered(world) if message.kind == "email_confirm"]


async def test_a_form_that_comes_late_is_carried_out_once_the_password_is_given(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    sent = await shopper.post("/tai-khoan/e-mail", data={"email": NEW, "nonce": "n" * 20})
    assert (sent.status_code, 'action="/tai-khoan/e-mail"' in sent.text) == (403, True)
    kept = hidden(sent.text)
    assert kept == {"email": NEW, "nonce": "n" * 20}
    assert await asks(world) == []
    wrong = await shopper.post("/tai-khoan/e-mail", data={**kept, "proof": "sai-mat-khau"})
    assert (wrong.status_code, hidden(wrong.text)) == (422, kept)
    assert "sai-mat-khau" not in wrong.text
    done = await shopper.post("/tai-khoan/e-mail", data={**kept, "proof": person.password})
    assert (done.status_code, done.headers["location"]) == (303, "/tai-khoan/e-mail?asked=1")
    assert await asks(world) == [NEW]


async def test_guessing_there_is_slowed_like_guessing_at_the_door(shopper: httpx.AsyncClient) -> None:
    statuses = {
        (
            await shopper.post("/tai-khoan/e-mail", data={"email": NEW, "proof": f"đoán-thử-{n:02}"})
        ).status_code
        for n in range(20)
    }
    assert statuses == {422, 429}


async def test_whoever_just_came_in_is_not_asked(build_world: Build, person: Person) -> None:
    world = build_world()
    async with world.client(headers=BROWSER) as browser:
        await browser.post("/dang-nhap", data=person.credentials)
        sent = await browser.post("/tai-khoan/e-mail", data={"email": NEW})
    assert sent.status_code == 303


async def test_the_page_for_it_leads_on_to_where_one_was_going(
    shopper: httpx.AsyncClient, person: Person
) -> None:
    page = await shopper.get("/tai-khoan/xac-nhan?next=/don-hang%3Fpage%3D2")
    assert hidden(page.text)["next"] == "/don-hang?page=2"
    done = await shopper.post(
        "/tai-khoan/xac-nhan", data={"next": "/don-hang?page=2", "proof": person.password}
    )
    assert (done.status_code, unquote(done.headers["location"])) == (303, "/don-hang?page=2")
    away = await shopper.post("/tai-khoan/xac-nhan", data={"next": "//xau.example", "proof": person.password})
    assert away.headers["location"] == "/tai-khoan"
    wrong = await shopper.post("/tai-khoan/xac-nhan", data={"next": "/don-hang", "proof": "sai-mat-khau"})
    assert (wrong.status_code, hidden(wrong.text)["next"]) == (422, "/don-hang")


async def test_a_program_is_told_and_gives_it(build_world: Build, person: Person) -> None:
    world = build_world(proof_lasts=timedelta(minutes=15))
    async with world.client() as api:
        await api.post("/api/v1/session", json=person.credentials)
        world.app.state.proof_lasts = timedelta(seconds=-1)
        told = await api.post("/api/v1/account/email", json={"email": NEW})
        assert (told.status_code, told.json()["code"]) == (403, "proof_needed")
        wrong = await api.post("/api/v1/session/proof", json={"password": "sai-mat-khau"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "password")
        given = await api.post("/api/v1/session/proof", json={"password": person.password})
        assert given.status_code == 204
        world.app.state.proof_lasts = timedelta(minutes=15)
        assert (await api.post("/api/v1/account/email", json={"email": NEW})).status_code == 202


async def test_a_visitor_is_led_to_the_log_in_and_proves_nothing(world: World) -> None:
    async with world.client(headers=BROWSER) as visitor:
        for sent in (
            await visitor.get("/tai-khoan/xac-nhan"),
            await visitor.post("/tai-khoan/xac-nhan", data={"proof": "x" * 8}),
            await visitor.post("/tai-khoan/e-mail", data={"email": NEW, "proof": "x" * 8}),
        ):
            assert (sent.status_code, sent.headers["location"].startswith("/dang-nhap")) == (303, True)
            assert "set-cookie" not in sent.headers
