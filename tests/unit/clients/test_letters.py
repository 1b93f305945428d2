"""Mails as they are written: in the reader's language, with Vietnamese intact, and nobody else's header in them."""

from __future__ import annotations

import json
from email import message_from_bytes
from email.policy import SMTP, default
from typing import get_args

import pytest

from app.clients.mail.config import LettersConfig, SmtpConfig, sender_of
from app.clients.mail.console import Console
from app.clients.mail.letters import Letters
from app.shop.errors import Unavailable
from app.shop.mail import LANGUAGES, Fact, Language, MailKind, Message, Undeliverable

LETTERS = Letters(LettersConfig(sender="Chợ Phố <shop@chopho.example>", public_url="https://chopho.example"))
FACTS: dict[str, Fact] = {
    "name": "Nguyễn Thị Ánh 🧧",
    "number": "260430-000123",
    "lines": [{"name": "Phin nhôm cà phê", "quantity": 2, "total": 90_000}],
    "total": 120_000,
    "path": "/don-hang/1",
    "minutes": 30,
}


def message(kind: str = "welcome", recipient: str = "anh@chopho.example", **facts: str) -> Message:
    return Message(kind=kind, recipient=recipient, language="vi", fields={**FACTS, **facts})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", get_args(MailKind))
def test_every_mail_is_written_in_every_language_and_arrives_as_written(
    kind: str, language: Language
) -> None:
    told = Message(kind=kind, recipient="anh@chopho.example", language=language, fields=FACTS)
    letter = LETTERS.write(told, message_id="1")
    sent = letter.as_bytes(policy=SMTP)
    assert sent.isascii()
    read = message_from_bytes(sent, policy=default)
    assert read["To"] == "anh@chopho.example"
    assert read["From"] == "Chợ Phố <shop@chopho.example>"
    assert read["Message-ID"] == "<1@chopho.example>"
    assert read["Content-Language"] == language
    assert read["Subject"] == letter["Subject"]
    assert 10 < len(read["Subject"]) < 80
    text = read.get_content().replace("\r\n", "\n")
    assert "Chợ Phố\nhttps://chopho.example/\n" in text
    assert "Nguyễn Thị Ánh 🧧,\n\n" in text
    assert "\n\n\n" not in text


def test_a_mail_about_an_order_says_what_it_costs_and_where_to_see_it() -> None:
    text = LETTERS.write(message("order_confirmed"), message_id="1").get_content()
    assert "2 × Phin nhôm cà phê: 90.000\u00a0₫" in text
    assert "Tổng cộng: 120.000\u00a0₫" in text
    assert "https://chopho.example/don-hang/1" in text


@pytest.mark.parametrize(
    "recipient",
    [
        "a@chopho.example\r\nBcc: all@chopho.example",
        "a@chopho.example\nSubject: x",
        "a@chopho.example, b@chopho.example",
        "Tên <a@chopho.example>",
        "a@b@chopho.example",
        "a@",
        "@chopho.example",
        "",
        "a@chopho..example",
        "\ud800@chopho.example",
    ],
)
def test_a_recipient_is_one_address_and_brings_no_header_of_its_own(recipient: str) -> None:
    with pytest.raises(Undeliverable):
        LETTERS.write(message(recipient=recipient), message_id="1")


@pytest.mark.parametrize("number", ["1\r\nBcc: all@chopho.example", "1\nBcc: all@chopho.example"])
def test_no_fact_brings_a_header_of_its_own(number: str) -> None:
    with pytest.raises(Undeliverable):
        LETTERS.write(message("order_shipped", number=number), message_id="1")


@pytest.mark.parametrize(
    "name", ["www.xau.example", "https://xau.example", "Quà ở xau.example/1", "<b>", "goi@xau.example"]
)
def test_a_name_brings_nobodys_link_into_a_mail(name: str) -> None:
    text = LETTERS.write(message(name=name), message_id="1").get_content()
    assert "xau.example" not in text
    assert "<b>" not in text
    assert text.startswith("Chào bạn,")


def test_a_kind_of_another_release_waits_for_that_release() -> None:
    with pytest.raises(Unavailable):
        LETTERS.write(message("birthday"), message_id="1")


def test_a_mail_that_lacks_its_facts_is_nobodys() -> None:
    with pytest.raises(Undeliverable):
        LETTERS.write(Message(kind="order_shipped", recipient="anh@chopho.example"), message_id="1")


def test_an_address_in_vietnamese_stays_one() -> None:
    letter = LETTERS.write(message(recipient="ánh@chopho.example"), message_id="1")
    assert letter["To"] == "ánh@chopho.example"


async def test_the_console_shows_a_mail_in_one_line() -> None:
    lines: list[bytes] = []
    await Console(letters=LETTERS, say=lines.append).send(message(), message_id="1")
    (line,) = lines
    assert line.count(b"\n") == 1
    told = json.loads(line)
    assert (told["to"], told["subject"]) == ("anh@chopho.example", "Chào mừng bạn đến với Chợ Phố")
    assert "/dang-nhap" in told["text"]


def test_a_password_travels_through_tls_alone() -> None:
    assert SmtpConfig.parse("smtps://u:p@mail.example").tls == "from the start"
    assert SmtpConfig.parse("smtp://u:p@mail.example").tls == "demanded"
    assert SmtpConfig.parse("smtp://mail.example:25").tls == "if offered"
    assert SmtpConfig.parse("smtp://u:p@127.0.0.1:2525").tls == "if offered"
    config = SmtpConfig.parse("smtp://shop%40chopho.example:p%2Fw@mail.example")
    assert (config.host, config.port, config.user, config.password) == (
        "mail.example",
        587,
        "shop@chopho.example",
        "p/w",
    )


@pytest.mark.parametrize("url", ["http://x", "smtp://", "smtp://u@x", "smtp://x/y", "smtp://x:0x", "mail"])
def test_a_url_that_leads_to_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="wants"):
        SmtpConfig.parse(url)


@pytest.mark.parametrize("sender", ["", "x", "x@", "@x", "a\n@x.example", "ánh@x.example"])
def test_a_sender_is_an_address(sender: str) -> None:
    with pytest.raises(ValueError, match="wants"):
        sender_of(sender)
