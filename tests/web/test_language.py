"""Two languages: nothing stays Vietnamese for those who chose English, and the choice needs no session."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from starlette.types import Message, Receive, Scope, Send

import app.web
from app.web.language import CATALOGUES, Language, translated, translated_number
from app.web.messages import MESSAGES

TEMPLATES = Path(app.web.__file__).parent / "templates"
VIETNAMESE_LETTER = re.compile(r"[À-ỹĐđ]")
MARKED = re.compile(r"{%-?\s*trans.*?endtrans\s*-?%}|{#.*?#}|{{.*?}}|{%.*?%}", re.DOTALL)


def told() -> set[str]:
    """Every message of the templates and of the table of messages; of a plural, its first form."""
    found = extract_from_dir(
        str(TEMPLATES), [("**.html", "jinja2.ext.babel_extract")], {"**.html": {"trimmed": "true"}}
    )
    messages = [message for _, _, message, _, _ in found]
    return {message if isinstance(message, str) else message[0] for message in messages} | set(
        MESSAGES.values()
    )


def texts_of(catalogue: Catalog) -> dict[str, tuple[str, ...]]:
    """What each message is in English, both forms where it has two; known by its first form."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in catalogue:
        if entry.id:
            key = entry.id if isinstance(entry.id, str) else entry.id[0]
            found[key] = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ())
    return found


def english() -> dict[str, tuple[str, ...]]:
    with (CATALOGUES / "en.po").open("rb") as source:
        return texts_of(read_po(source, locale="en"))


def test_every_message_is_translated_and_no_translation_is_left_over() -> None:
    translations = english()
    assert told() - translations.keys() == set()
    assert translations.keys() - told() == set()
    assert [key for key, texts in translations.items() if not texts or not all(texts)] == []


async def test_what_is_said_in_english_is_what_was_written() -> None:
    said: dict[str, tuple[str, ...]] = {}

    async def speak(_scope: Scope, _receive: Receive, _send: Send) -> None:
        for message, texts in english().items():
            forms = [translated_number(message, message, number) for number in (1, 2)]
            said[message] = (translated(message),) if len(texts) == 1 else tuple(forms)

    await Language(speak)({"type": "http", "headers": [(b"cookie", b"chopho_lang=en")]}, receive, send)
    assert said == english()


async def receive() -> Message:
    raise AssertionError("nothing is sent")


async def send(message: Message) -> None:
    raise AssertionError(message)


def test_every_translation_is_there_from_a_clone_alone() -> None:
    """Nothing of them is compiled beforehand, so nothing can be missing from an image or be older than its source."""
    assert {path.suffix for path in CATALOGUES.iterdir()} == {".po"}


def test_a_translation_names_the_same_things_as_its_message() -> None:
    named = re.compile(r"%\(\w+\)s|{\w+}")
    for message, texts in english().items():
        for text in texts:
            assert sorted(named.findall(text)) == sorted(named.findall(message)), message


@pytest.mark.parametrize(
    "template", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES))
)
def test_a_template_says_nothing_that_is_not_marked_for_translation(template: Path) -> None:
    bare = MARKED.sub("", template.read_text(encoding="utf-8")).replace("Chợ Phố", "")
    assert [line for line in bare.splitlines() if VIETNAMESE_LETTER.search(line.replace("×", ""))] == []


PAGES = [
    "/dang-nhap",
    "/dang-ky",
    "/gio-hang",
    "/none",
    "/tim-kiem?q=xyzxyz",
    "/tim-kiem?q=xyzzy&min_price=x",
]


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_in_english_has_no_vietnamese_but_names(browser: httpx.AsyncClient, path: str) -> None:
    browser.cookies.set("chopho_lang", "en", domain="chopho.example")
    page = (await browser.get(path)).text
    assert '<html lang="en">' in page
    said = re.sub(r'<nav class="shelves".*?</nav>', "", page, flags=re.DOTALL)
    said = said.replace("Chợ Phố", "").replace("Tiếng Việt", "").replace("đồng", "")
    assert VIETNAMESE_LETTER.findall(said.replace("×", "")) == []


async def test_the_switch_is_remembered_and_leads_back(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/tim-kiem?q=ca phe&sort=name")).text
    nonce = re.findall(r'action="/ngon-ngu".*?name="nonce" value="([^"]+)"', page, re.DOTALL)[0]
    here = re.findall(r'name="next" value="([^"]+)"', page)[-1].replace("&amp;", "&")
    assert here == "/tim-kiem?q=ca%20phe&sort=name"
    answer = await browser.post("/ngon-ngu", data={"language": "en", "next": here, "nonce": nonce})
    assert (answer.status_code, answer.headers["location"]) == (303, here)
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "chopho_session" not in answer.headers["set-cookie"], "a language is nothing to keep a session for"
    assert ">Search for “ca phe”" in re.sub(
        r"\s+<", "<", re.sub(r">\s+", ">", (await browser.get(here)).text)
    )
    await browser.post("/ngon-ngu", data={"language": "vi", "next": "/", "nonce": nonce})
    assert '<html lang="vi">' in (await browser.get("/")).text


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "\\\\evil", "javascript:x"])
async def test_the_switch_leads_to_no_other_site(browser: httpx.AsyncClient, wanted: str) -> None:
    answer = await browser.post("/ngon-ngu", data={"language": "en", "next": wanted})
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("chosen", ["", "fr", "en\r\nx", "EN"])
async def test_an_unknown_language_is_refused(browser: httpx.AsyncClient, chosen: str) -> None:
    answer = await browser.post("/ngon-ngu", data={"language": chosen})
    assert answer.status_code == 422


async def test_a_refusal_speaks_the_visitors_language(browser: httpx.AsyncClient) -> None:
    browser.cookies.set("chopho_lang", "en", domain="chopho.example")
    answer = await browser.post("/dang-nhap", data={"email": "a@b.example", "password": "wrong password"})
    assert "The e-mail or the password is not right." in answer.text


async def test_a_vietnamese_address_survives_the_way_back(browser: httpx.AsyncClient) -> None:
    wanted = "/tim-kiem?q=phở Ánh 🧧"
    answer = await browser.post("/ngon-ngu", data={"language": "en", "next": wanted})
    location = answer.headers["location"]
    assert location.isascii()
    assert unquote(location) == wanted
    assert "phở Ánh 🧧" in (await browser.get(location)).text
