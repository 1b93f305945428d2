"""Reviews as people write, read and moderate them in the shop."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import wait_until
from tests.integration.services.conftest import World
from tests.integration.services.shop import Person, Shop

NONCE = re.compile(r'name="nonce" value="([^"]+)"')


@pytest.fixture
def slug(world: World) -> str:
    found: str = world.rows("SELECT slug FROM products ORDER BY id LIMIT 1")[0][0]
    return found


@pytest.fixture
def customer(shop: Shop) -> Iterator[Person]:
    with shop.person("Nguyễn Thị Ánh 🧧") as customer:
        yield customer


@pytest.fixture
def owner(shop: Shop, world: World) -> Iterator[Person]:
    with shop.person("Bà Chủ") as owner:
        world.rows("UPDATE accounts SET role = 'owner' WHERE email = %(email)s", email=owner.email)
        yield owner


def send(person: Person, path: str, **fields: str) -> httpx.Response:
    """The form of the page, filled in."""
    nonce = NONCE.findall(person.client.get(path).text)[-1]
    return person.client.post(path, data={"nonce": nonce, **fields}, follow_redirects=True)


def test_a_customer_writes_edits_and_takes_back_a_review(shop: Shop, customer: Person, slug: str) -> None:
    path = f"/san-pham/{slug}/danh-gia"
    written = send(customer, path, rating="4", text="Thơm, gói kỹ.")
    assert (written.status_code, written.url.path) == (200, path)
    assert "đánh giá đã được đăng" in written.text
    product = shop.client.get(f"/san-pham/{slug}").text
    assert "Nguyễn Thị Ánh 🧧" in product
    assert "Thơm, gói kỹ." in product
    send(customer, path, rating="5", text="Uống thêm thì càng thích.")
    told = shop.whole(slug)["reviews"]
    assert (told["total"], told["average"], told["items"][0]["rating"]) == (1, 5.0, 5)
    assert "đã được xoá" in send(customer, path, what="remove").text
    assert shop.whole(slug)["reviews"]["total"] == 0


def test_a_visitor_reads_and_is_led_to_the_log_in_to_write(shop: Shop, slug: str) -> None:
    with httpx.Client(base_url=shop.url, headers={"accept": "text/html"}, timeout=60) as visitor:
        page = visitor.get(f"/san-pham/{slug}/danh-gia")
        assert page.status_code == 200
        assert "Đăng nhập để viết đánh giá" in page.text
        sent = visitor.post(f"/san-pham/{slug}/danh-gia", data={"nonce": "n" * 20, "rating": "5"})
        assert (sent.status_code, sent.headers["location"].partition("?")[0]) == (303, "/dang-nhap")


@pytest.mark.parametrize("fields", [{"rating": "6"}, {"rating": ""}, {"rating": "5", "text": "x" * 3000}])
def test_what_is_no_review_is_shown_again_with_what_was_typed(
    shop: Shop, customer: Person, slug: str, fields: dict[str, str]
) -> None:
    page = send(customer, f"/san-pham/{slug}/danh-gia", **{"text": "Để dành", **fields})
    assert page.status_code == 422
    assert fields.get("text", "Để dành") in page.text
    assert shop.whole(slug)["reviews"]["total"] == 0


def test_a_product_that_is_not_there_has_no_reviews(customer: Person) -> None:
    assert customer.client.get("/san-pham/khong-co/danh-gia").status_code == 404
    assert (
        customer.client.put("/api/v1/products/khong-co/reviews/mine", json={"rating": 5}).status_code == 404
    )


def test_a_program_writes_reads_and_takes_back_a_review(shop: Shop, customer: Person, slug: str) -> None:
    path = f"/api/v1/products/{slug}/reviews"
    assert customer.client.get(f"{path}/mine").status_code == 404
    written = customer.client.put(f"{path}/mine", json={"rating": 3, "text": "Được."})
    assert (written.status_code, written.json()["status"]) == (200, "shown")
    listed = shop.client.get(f"{path}?page_size=5").json()
    assert (listed["total"], listed["average"], listed["items"][0]["author"]) == (1, 3.0, customer.name)
    assert shop.client.put(f"{path}/mine", json={"rating": 3}).status_code == 401
    assert customer.client.put(f"{path}/mine", json={"rating": 3, "author": "x"}).status_code == 422
    assert customer.client.delete(f"{path}/mine").status_code == 204
    assert shop.client.get(path).json()["total"] == 0


def test_the_owner_hides_a_review_and_no_copy_of_it_stays(
    shop: Shop, customer: Person, owner: Person, slug: str
) -> None:
    send(customer, f"/san-pham/{slug}/danh-gia", rating="1", text="Lời thô lỗ.")
    assert shop.copied(slug)["reviews"]["total"] == 1
    path = "/quan-tri/danh-gia?status=shown"
    page = owner.client.get(path).text
    assert "Lời thô lỗ." in page
    review = re.findall(r'name="review" value="([^"]+)"', page)[0]
    form = {"nonce": NONCE.findall(page)[-1], "review": review, "back": "shown"}
    done = owner.client.post(path, data={**form, "verdict": "hidden"}, follow_redirects=True)
    assert done.status_code == 200
    assert "Lời thô lỗ." not in done.text
    assert shop.copy_of("reviews", slug) is None
    assert shop.whole(slug)["reviews"]["total"] == 0
    mine = customer.client.get(f"/san-pham/{slug}/danh-gia").text
    assert "Cửa hàng đã ẩn đánh giá này" in mine
    again = owner.client.post(path, data={**form, "verdict": "shown"}, follow_redirects=False)
    assert (again.status_code, again.headers["location"]) == (303, f"/quan-tri/danh-gia#{review}")
    assert shop.whole(slug)["reviews"]["total"] == 0, "the form was carried out before"
    log = owner.client.get("/quan-tri/nhat-ky?action=review.judge").text
    assert (log.count(review), "status: hidden" in log) == (1, True)


def test_nobody_but_the_owner_moderates(shop: Shop, customer: Person) -> None:
    assert customer.client.get("/quan-tri/danh-gia").status_code in {403, 404}
    sent = customer.client.post("/quan-tri/danh-gia", data={"nonce": "n" * 20, "verdict": "hidden"})
    assert sent.status_code in {403, 404}
    with httpx.Client(base_url=shop.url, headers={"accept": "text/html"}) as visitor:
        assert visitor.get("/quan-tri/danh-gia").status_code == 303


def test_while_the_service_is_away_reviews_are_read_from_the_copy_and_writing_says_why_not(
    shop: Shop, customer: Person, slug: str, world: World
) -> None:
    path = f"/san-pham/{slug}/danh-gia"
    send(customer, path, rating="5", text="Ngon.")
    shop.copied(slug)
    world.reviews.faults.turn_on({"endpoint": "/v1/*", "mode": "refuse", "for_s": 600})
    page = customer.client.get(path)
    assert page.status_code == 200, page.text
    assert page.headers["x-degraded"] == "reviews"
    assert "Ngon." in page.text
    assert "Lúc này chưa viết được đánh giá" in page.text
    refused = customer.client.post(path, data={"nonce": "n" * 20, "rating": "1"})
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    world.reviews.faults.turn_off()
    assert shop.whole(slug)["reviews"]["items"][0]["rating"] == 5


def test_an_erased_account_loses_its_name_at_its_reviews_as_soon_as_they_can_be_asked(
    shop: Shop, customer: Person, slug: str, world: World
) -> None:
    send(customer, f"/san-pham/{slug}/danh-gia", rating="4", text="Thơm, gói kỹ.")
    assert shop.copied(slug)["reviews"]["items"][0]["author"] == customer.name
    world.reviews.faults.turn_on({"endpoint": "DELETE *", "error_rate": 1, "error_status": 503, "for_s": 600})
    assert customer.client.delete("/api/v1/account").status_code in {200, 204}
    # As if the requests that were under way had ended.
    world.rows("UPDATE accounts SET erased_at = erased_at - interval '1 hour' WHERE erased_at IS NOT NULL")
    wait_until(lambda: "keep their name at their reviews for now" in shop.log.read_text(), what="a try")
    assert names(world) == [customer.name]
    world.reviews.faults.turn_off()
    wait_until(lambda: names(world) == [""], within_s=60, what="a review without a name")
    wait_until(lambda: _owed(world) == 0, what="the end of it")
    review = shop.whole(slug)["reviews"]["items"][0]
    assert (review["author"], review["text"]) == ("", "Thơm, gói kỹ.")
    assert customer.name.encode() not in (shop.copy_of("reviews", slug) or b"")
    assert "Khách hàng cũ" in shop.client.get(f"/san-pham/{slug}").text


def names(world: World) -> list[str]:
    return [name for (name,) in world.rows("SELECT author_name FROM reviews.reviews")]


def _owed(world: World) -> int:
    (count,) = world.rows(
        "SELECT count(*) FROM accounts WHERE erased_at IS NOT NULL AND author_forgotten_at IS NULL"
    )[0]
    return int(count)
