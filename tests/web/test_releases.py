"""Two releases side by side during a rollout: a page comes from one, its form goes to the other."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.web.conftest import BROWSER, KEY, Build

NEW_KEY = "the key that the new release signs with"


def hidden_fields(page: str, action: str) -> dict[str, str]:
    """What the form of that action sends without being typed."""
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', page, re.DOTALL)
    assert form is not None
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form[0]))


@pytest.mark.parametrize("old_first", [True, False], ids=["old to new", "new to old"])
async def test_a_form_of_one_release_is_carried_out_by_the_other(
    build_world: Build, redis_url: str, *, old_first: bool
) -> None:
    """Both know both keys, as a rotation in steps has it; each signs with its own."""
    old = build_world(session_url=redis_url, replica_name="old", keys=(KEY, NEW_KEY))
    new = build_world(session_url=redis_url, replica_name="new", keys=(NEW_KEY, KEY))
    shows, takes = (old, new) if old_first else (new, old)
    async with shows.client(headers=BROWSER) as browser:
        page = await browser.get("/san-pham/phin-nhom-ca-phe")
        form = hidden_fields(page.text, "/gio-hang/them")
        cookies = browser.cookies
    for _ in range(2):
        async with takes.client(headers=BROWSER, cookies=cookies) as browser:
            added = await browser.post("/gio-hang/them", data={**form, "sku": "PHIN-S", "quantity": "2"})
            cookies = browser.cookies
            assert added.status_code == 303
    async with shows.client(headers=BROWSER, cookies=cookies) as browser:
        cart: httpx.Response = await browser.get("/api/v1/cart")
        assert [(line["sku"], line["quantity"]) for line in cart.json()["lines"]] == [("PHIN-S", 2)]
