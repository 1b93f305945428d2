"""The reviews: who may write what, what becomes of it, and who sees it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.identity import Caller
from tests.integration.services.conftest import World
from tests.integration.services.processes import OWNER, Service, person, served, until_ready

ANH, BINH = person("Ánh 🧧"), person("Bình")
SHOP = Caller(subject="shop", role="service")
REVIEWS = "/v1/products/ca-phe/reviews"
MINE = f"{REVIEWS}/mine"


@pytest.fixture
def reviews(world: World) -> Service:
    return world.reviews


def write(reviews: Service, by: Caller, rating: int = 5, text: str = "Ngon.") -> dict[str, Any]:
    answer = reviews.call("PUT", MINE, {"rating": rating, "text": text}, by=by)
    assert answer.status_code == 200, answer.text
    written: dict[str, Any] = answer.json()
    return written


def shown(reviews: Service, query: str = "") -> dict[str, Any]:
    answer = reviews.call("GET", REVIEWS + query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def judge(reviews: Service, review: dict[str, Any], status: str) -> None:
    answer = reviews.call("PUT", f"/v1/reviews/{review['id']}", {"status": status}, by=OWNER)
    assert answer.status_code == 200, answer.text


def test_a_review_is_read_by_everybody_under_the_name_in_the_token(reviews: Service) -> None:
    written = write(reviews, ANH, 4, "Thơm.\n\nVị đậm.")
    found = shown(reviews)
    assert (found["total"], found["average"]) == (1, 4.0)
    (item,) = found["items"]
    assert (item["author_name"], item["rating"], item["text"]) == ("Ánh 🧧", 4, "Thơm.\nVị đậm.")
    assert item["id"] == written["id"]
    assert not {"author", "subject", "status"} & item.keys()


def test_a_name_in_the_body_is_refused(reviews: Service) -> None:
    answer = reviews.call("PUT", MINE, {"rating": 1, "author_name": "Bình"}, by=ANH)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_a_customer_has_one_review_of_a_product_and_edits_it(reviews: Service) -> None:
    first = write(reviews, ANH, 2)
    assert write(reviews, ANH, 2) == first
    edited = write(reviews, ANH, 3, "Uống lại thấy khá hơn.")
    assert (edited["id"], edited["written_at"]) == (first["id"], first["written_at"])
    assert edited["edited_at"] is not None
    assert (shown(reviews)["total"], shown(reviews)["average"]) == (1, 3.0)


def test_many_at_once_by_one_customer_leave_one(reviews: Service) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(write, reviews, ANH, 1 + number % 5) for number in range(16)]:
            done.result()
    assert shown(reviews)["total"] == 1


def test_reviews_come_in_pages_newest_first_with_the_average_of_all(reviews: Service) -> None:
    for number in range(5):
        write(reviews, person(f"Khách {number}"), 1 + number)
    page = shown(reviews, "?page=2&page_size=2")
    assert [item["author_name"] for item in page["items"]] == ["Khách 2", "Khách 1"]
    assert (page["total"], page["page"], page["page_size"], page["average"]) == (5, 2, 2, 3.0)
    past = shown(reviews, "?page=9&page_size=2")
    assert (past["items"], past["total"]) == ([], 5)
    assert shown(reviews, "?page=1&page_size=100")["total"] == 5


def test_without_a_review_there_is_no_average(reviews: Service) -> None:
    assert shown(reviews) == {"items": [], "total": 0, "page": 1, "page_size": 20, "average": None}


@pytest.mark.parametrize("query", ["?page=0", "?page_size=101", "?page=x", "?surprise=1"])
def test_a_page_that_no_list_has_is_refused(reviews: Service, query: str) -> None:
    assert reviews.call("GET", REVIEWS + query).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"rating": 0},
        {"rating": 6},
        {"rating": "5"},
        {"rating": 4.5},
        {},
        {"rating": 5, "text": "x" * 2001},
        {"rating": 5, "text": "\u0000"},
        {"rating": 5, "text": "\ud800"},
        [5],
    ],
)
def test_what_is_no_review_is_refused_and_changes_nothing(reviews: Service, body: Any) -> None:
    write(reviews, ANH, 3)
    answer = reviews.call("PUT", MINE, body, by=ANH)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert shown(reviews)["average"] == 3.0


def test_a_body_without_end_is_cut_off(reviews: Service) -> None:
    assert reviews.call("PUT", MINE, {"rating": 5, "text": "x" * 100_000}, by=ANH).status_code == 413


@pytest.mark.parametrize("token", [None, "", "forged", "a.b.c", "x" * 5000])
def test_without_a_valid_token_a_caller_reads_and_writes_nothing(reviews: Service, token: str | None) -> None:
    assert reviews.call("GET", REVIEWS, token=token).status_code == 200
    for method in ("GET", "PUT", "DELETE"):
        assert reviews.call(method, MINE, {"rating": 5}, token=token).status_code == 401
    assert reviews.call("GET", "/v1/reviews", token=token).status_code == 401


def test_a_token_for_another_service_is_nobodys(reviews: Service) -> None:
    token = reviews.keys.issuer.issue(ANH, audience="inventory")
    assert reviews.call("PUT", MINE, {"rating": 5}, token=token).status_code == 401


def test_a_program_and_a_person_without_a_name_write_nothing(reviews: Service) -> None:
    for caller in (Caller(subject="shop", role="service"), Caller(subject="a", role="customer")):
        assert reviews.call("PUT", MINE, {"rating": 5}, by=caller).status_code == 403


def test_what_the_owner_hides_is_seen_by_its_author_alone(reviews: Service) -> None:
    rude = write(reviews, BINH, 1, "…")
    write(reviews, ANH, 5)
    judge(reviews, rude, "hidden")
    assert [item["author_name"] for item in shown(reviews)["items"]] == ["Ánh 🧧"]
    assert shown(reviews)["average"] == 5.0
    assert reviews.call("GET", MINE, by=BINH).json()["status"] == "hidden"


def test_editing_what_was_hidden_asks_for_another_look_however_often(reviews: Service) -> None:
    judge(reviews, write(reviews, BINH, 1), "hidden")
    assert write(reviews, BINH, 1)["status"] == "hidden"
    assert write(reviews, BINH, 2)["status"] == "pending"
    assert write(reviews, BINH, 3)["status"] == "pending"
    assert shown(reviews)["total"] == 0
    queue = reviews.call("GET", "/v1/reviews?status=pending", by=OWNER).json()
    assert [item["rating"] for item in queue["items"]] == [3]
    judge(reviews, queue["items"][0], "shown")
    assert shown(reviews)["total"] == 1


def test_taking_back_what_was_hidden_does_not_bring_the_next_one_past_the_owner(reviews: Service) -> None:
    rude = write(reviews, BINH, 1, "…")
    judge(reviews, rude, "hidden")
    for _ in range(2):
        assert reviews.call("DELETE", MINE, by=BINH).status_code == 204
        assert reviews.call("GET", MINE, by=BINH).status_code == 404
        assert reviews.call("GET", "/v1/reviews?status=hidden", by=OWNER).json()["total"] == 0
        verdict = reviews.call("PUT", f"/v1/reviews/{rude['id']}", {"status": "shown"}, by=OWNER)
        assert verdict.status_code == 404
        again = write(reviews, BINH, 1, "…")
        assert (again["status"], again["edited_at"], shown(reviews)["total"]) == ("pending", None, 0)
    judge(reviews, write(reviews, BINH, 1, "…"), "shown")
    assert reviews.call("DELETE", MINE, by=BINH).status_code == 204
    assert write(reviews, BINH)["status"] == "shown"


def test_only_the_owner_moderates(reviews: Service) -> None:
    review = write(reviews, ANH)
    for caller in (ANH, person("Vận hành", role="operator")):
        assert reviews.call("GET", "/v1/reviews", by=caller).status_code == 403
        verdict = reviews.call("PUT", f"/v1/reviews/{review['id']}", {"status": "hidden"}, by=caller)
        assert verdict.status_code == 403
    for unknown in ("00000000-0000-0000-0000-000000000000", "x", review["id"].upper()):
        answer = reviews.call("PUT", f"/v1/reviews/{unknown}", {"status": "hidden"}, by=OWNER)
        assert answer.status_code == 404
    assert shown(reviews)["total"] == 1


def test_an_author_takes_a_review_back_and_nobody_elses(reviews: Service) -> None:
    write(reviews, ANH)
    write(reviews, BINH)
    assert reviews.call("DELETE", MINE, by=BINH).status_code == 204
    assert reviews.call("DELETE", MINE, by=BINH).status_code == 204
    assert reviews.call("GET", MINE, by=BINH).status_code == 404
    assert [item["author_name"] for item in shown(reviews)["items"]] == ["Ánh 🧧"]


def test_new_reviews_wait_for_the_owner_where_the_settings_say_so(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("waiting")
    with served("reviews", world.keys, folder, world.database_url, REVIEWS_WAIT="on") as waiting:
        until_ready(waiting)
        judge(waiting, write(waiting, ANH), "shown")
        assert waiting.call("GET", MINE, by=ANH).json()["status"] == "shown"
        assert write(waiting, ANH, 4)["status"] == "pending"
        assert waiting.client.get("/faults").status_code == 404


def test_the_shop_takes_an_authors_name_off_every_review_of_theirs_and_may_ask_again(
    reviews: Service,
) -> None:
    write(reviews, ANH, 4, "Thơm.")
    write(reviews, BINH, 2)
    other = "/v1/products/tra-sen/reviews"
    assert reviews.call("PUT", f"{other}/mine", {"rating": 5, "text": ""}, by=ANH).status_code == 200
    name = f"/v1/authors/{ANH.subject}/name"
    for nobody in (None, ANH, OWNER):
        assert reviews.call("DELETE", name, by=nobody).status_code == (401 if nobody is None else 403)
    for _ in range(2):
        answer = reviews.call("DELETE", name, by=SHOP)
        assert (answer.status_code, sorted(answer.json()["products"])) == (200, ["ca-phe", "tra-sen"])
    named = {(one["author_name"], one["rating"], one["text"]) for one in shown(reviews)["items"]}
    assert named == {("", 4, "Thơm."), ("Bình", 2, "Ngon.")}
    assert reviews.call("DELETE", "/v1/authors/nobody/name", by=SHOP).json() == {"products": []}
