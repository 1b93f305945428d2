"""A cardholder is sent to the acquirer, answers there, and comes back to the shop by a cross-site POST."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from tests.integration.payments.conftest import Acquirer

BACK = "http://127.0.0.1:9/thanh-toan/tro-ve?order=1"


def sent_away(acquirer: Acquirer) -> str:
    payment = acquirer.authorise("order-1", token="tok_redirect", return_url=BACK).json()
    assert payment["status"] == "requires_action"
    assert acquirer.ledger()["accounts"] == {}
    url = urlsplit(payment["redirect_url"])
    assert f"{url.scheme}://{url.netloc}" == acquirer.url
    return str(url.path)


@pytest.mark.parametrize(
    ("decision", "status", "held"), [("agree", "authorised", 250_000), ("cancel", "declined", None)]
)
def test_the_cardholders_answer_decides_and_the_first_one_counts(
    acquirer: Acquirer, decision: str, status: str, held: int | None
) -> None:
    path = sent_away(acquirer)
    page = acquirer.client.get(path)
    assert "250.000" in page.text
    assert 'name="decision"' in page.text
    back = acquirer.client.post(path, data={"decision": decision})
    form = re.search(r'<form method="post" action="([^"]+)"', back.text)
    assert form
    assert form[1] == BACK
    assert dict(re.findall(r'name="([^"]+)" value="([^"]+)"', back.text))["status"] == status
    again = acquirer.client.post(path, data={"decision": "agree" if decision == "cancel" else "cancel"})
    assert again.status_code == 200
    assert acquirer.find("order-1")["items"][0]["status"] == status
    assert acquirer.ledger()["accounts"].get("held") == held


def test_a_page_may_send_its_form_to_the_shop_and_nothing_else(acquirer: Acquirer) -> None:
    path = sent_away(acquirer)
    policy = acquirer.client.get(path).headers["content-security-policy"]
    assert "form-action 'self' http://127.0.0.1:9" in policy
    assert "unsafe" not in policy
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)
    assert nonce
    assert nonce[1] not in acquirer.client.get(path).text


def test_a_wrong_page_answers_as_if_there_were_none(acquirer: Acquirer) -> None:
    path = sent_away(acquirer)
    assert acquirer.client.get(path[:-1]).status_code == 404
    assert acquirer.client.post(path, data={"decision": "maybe"}).status_code == 422
    assert acquirer.client.post(path).status_code == 422


@pytest.mark.parametrize(
    "url", [None, "javascript:alert(1)", "/relative", "http://a b", 'http://a/"><script>']
)
def test_the_way_back_is_a_web_address(acquirer: Acquirer, url: str | None) -> None:
    answer = acquirer.authorise(token="tok_redirect", return_url=url)
    if answer.status_code == 201:
        page = acquirer.client.get(urlsplit(answer.json()["redirect_url"]).path).text
        assert "<script>" not in page
    else:
        assert answer.status_code == 422


def test_a_merchant_who_does_not_wait_any_more_voids(acquirer: Acquirer) -> None:
    path = sent_away(acquirer)
    payment = acquirer.find("order-1")["items"][0]["id"]
    assert acquirer.post(f"/payments/{payment}/void", {}).json()["status"] == "voided"
    assert acquirer.client.post(path, data={"decision": "agree"}).status_code == 200
    assert acquirer.find("order-1")["items"][0]["status"] == "voided"
    assert acquirer.ledger()["accounts"] == {}
