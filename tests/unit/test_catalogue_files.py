"""Import files: what they mean, and what is refused by line and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from app.shop.errors import Invalid
from app.shop.importing import CatalogueFile, ImportedProduct, Terms, checked_terms
from app.shop.importing.refusals import REFUSALS_MOST

APPAREL = Path(__file__).parents[1] / "data" / "apparel.csv"
HEADER = [
    "Handle", "Title", "Body (HTML)", "Type", "Tags", "Published", "Status", "Option1 Name", "Option1 Value",
    "Option2 Name", "Option2 Value", "Variant SKU", "Variant Inventory Tracker", "Variant Inventory Qty",
    "Variant Inventory Policy", "Variant Price", "Image Src", "Image Position", "Image Alt Text",
]  # fmt: skip
SHIRT = {
    "Handle": "ao",
    "Title": "Áo",
    "Type": "Quần áo",
    "Variant SKU": "AO",
    "Variant Inventory Qty": "5",
    "Variant Price": "120000",
}


def file_of(*rows: Mapping[str, str], header: Sequence[str] = HEADER, ending: str = "\r\n") -> bytes:
    """A CSV file of these rows."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", lineterminator=ending)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def read(content: bytes, terms: Terms | None = None) -> tuple[list[ImportedProduct], list[str]]:
    """The products of a file, and its refusals as lines."""
    file = CatalogueFile(io.BytesIO(content), name="ao.csv", terms=terms or Terms())
    products = list(file.products())
    return products, [str(refusal) for refusal in file.refusals]


def product_of(*rows: Mapping[str, str]) -> ImportedProduct:
    products, refusals = read(file_of(*rows))
    assert refusals == []
    assert len(products) == 1
    return products[0]


def refused(*rows: Mapping[str, str]) -> str:
    """The one refusal of a file of these rows, after its file and line."""
    products, refusals = read(file_of(*rows))
    assert len(refusals) == 1, refusals
    assert len(products) < len({row["Handle"] for row in rows})
    return refusals[0].removeprefix("ao.csv, ")


class TestMeaning:
    def test_the_real_file_is_read_whole(self) -> None:
        file = CatalogueFile(io.BytesIO(APPAREL.read_bytes()), name="apparel.csv", terms=Terms())
        products = list(file.products())
        assert file.refusals == []
        summary = file.summary
        assert (summary.products, summary.variants, summary.pictures) == (20, 22, 20)
        assert summary.skus_made_up == 22
        assert "Variant Taxable" in summary.ignored_columns
        top = next(product for product in products if product.slug == "classic-varsity-top")
        assert top.options == ("Size",)
        assert [variant.values for variant in top.variants] == [("Small",), ("Medium",), ("Large",)]
        assert {variant.price for variant in top.variants} == {60}
        assert top.category == "women"

    def test_options_are_named_on_the_first_row_only(self) -> None:
        product = product_of(
            SHIRT
            | {"Option1 Name": "Cỡ", "Option1 Value": "S", "Option2 Name": "Màu", "Option2 Value": "Đỏ"},
            {"Handle": "ao", "Option1 Value": "M", "Option2 Value": "Đỏ", "Variant Price": "1"},
        )
        assert product.options == ("Cỡ", "Màu")
        assert [variant.values for variant in product.variants] == [("S", "Đỏ"), ("M", "Đỏ")]

    def test_default_title_means_no_options(self) -> None:
        product = product_of(SHIRT | {"Option1 Name": "Title", "Option1 Value": "Default Title"})
        assert (product.options, product.variants[0].values) == ((), ())

    def test_rows_without_a_variant_add_pictures(self) -> None:
        product = product_of(
            SHIRT | {"Image Src": "https://x.example/2.jpg", "Image Position": "2"},
            {
                "Handle": "ao",
                "Image Src": "https://x.example/1.jpg",
                "Image Position": "1",
                "Image Alt Text": "Trước",
            },
            {"Handle": "ao", "Image Src": "https://x.example/2.jpg"},
        )
        assert len(product.variants) == 1
        assert [(picture.source[-5], picture.alt) for picture in product.pictures] == [
            ("1", "Trước"),
            ("2", ""),
        ]

    def test_rows_of_one_product_may_stand_apart(self) -> None:
        products, refusals = read(
            file_of(
                SHIRT | {"Option1 Name": "Cỡ", "Option1 Value": "S"},
                SHIRT | {"Handle": "mu", "Title": "Mũ", "Variant SKU": "MU"},
                {"Handle": "ao", "Option1 Value": "M", "Variant Price": "1"},
            )
        )
        assert refusals == []
        assert [(product.slug, len(product.variants)) for product in products] == [("mu", 1), ("ao", 2)]

    def test_a_title_repeated_on_every_row_is_one_product(self) -> None:
        product = product_of(
            SHIRT | {"Option1 Name": "Cỡ", "Option1 Value": "S"},
            SHIRT | {"Option1 Value": "M", "Variant SKU": "AO-M"},
        )
        assert len(product.variants) == 2

    @pytest.mark.parametrize(
        ("published", "status", "visibility"),
        [
            ("true", "active", "visible"),
            ("", "", "visible"),
            ("FALSE", "", "hidden"),
            ("true", "draft", "draft"),
            ("false", "Archived", "archived"),
        ],
    )
    def test_visibility_follows_published_and_status(
        self, published: str, status: str, visibility: str
    ) -> None:
        assert product_of(SHIRT | {"Published": published, "Status": status}).visibility == visibility

    @pytest.mark.parametrize(
        ("tracker", "quantity", "policy", "past_zero"),
        [
            ("shopify", "0", "deny", False),
            ("shopify", "0", "continue", True),
            ("shopify", "", "", False),
            ("", "3", "deny", False),
            ("", "", "deny", True),
        ],
    )
    def test_the_policy_says_what_sells_past_zero(
        self, tracker: str, quantity: str, policy: str, *, past_zero: bool
    ) -> None:
        row = {
            "Variant Inventory Tracker": tracker,
            "Variant Inventory Qty": quantity,
            "Variant Inventory Policy": policy,
        }
        assert product_of(SHIRT | row).variants[0].sells_past_zero is past_zero

    def test_missing_skus_are_made_up_the_same_whatever_the_order(self) -> None:
        small = SHIRT | {"Variant SKU": "", "Option1 Name": "Cỡ", "Option1 Value": "S/M"}
        large = {"Handle": "ao", "Option1 Value": "S-M", "Variant Price": "1"}
        forth = {variant.values: variant.sku for variant in product_of(small, large).variants}
        back = {variant.values: variant.sku for variant in product_of(large, small).variants}
        assert forth == back
        assert len(set(forth.values())) == 2
        assert all(sku.startswith("AO-") for sku in forth.values())

    def test_the_category_is_the_type_or_the_taxonomy_or_a_tag(self) -> None:
        header = [*HEADER, "Product Category"]
        rows = [
            SHIRT | {"Product Category": "Apparel > Shirts", "Tags": "nam"},
            SHIRT | {"Handle": "b", "Variant SKU": "b", "Type": "", "Product Category": "Apparel > Shirts"},
            SHIRT | {"Handle": "c", "Variant SKU": "c", "Type": "", "Tags": "nam, hè"},
            SHIRT | {"Handle": "d", "Variant SKU": "d", "Type": ""},
        ]
        products, _ = read(file_of(*rows, header=header))
        assert [product.category for product in products] == ["Quần áo", "Shirts", "nam", "Khác"]

    def test_bodies_lose_what_runs_and_what_loads(self) -> None:
        body = (
            "<p onclick=x()>Vải <b>lanh</b><script>x()</script><img src=//x><a href='javascript:x'>a</a></p>"
        )
        product = product_of(SHIRT | {"Body (HTML)": body})
        assert product.body == '<p>Vải <b>lanh</b><a rel="nofollow noopener noreferrer">a</a></p>'

    def test_a_name_is_kept_in_one_unicode_form_and_on_one_line(self) -> None:
        assert product_of(SHIRT | {"Title": "  A\u0301o\n dài "}).name == "Áo dài"

    def test_foreign_handles_become_stable_ascii_slugs(self) -> None:
        slugs = [
            product_of(SHIRT | {"Handle": handle}).slug for handle in ("Áo Dài", "シャツ", "シャツ ", "帽子")
        ]
        assert slugs[0] == "ao-dai"
        assert slugs[1] == slugs[2] != slugs[3]
        assert all(slug.isascii() for slug in slugs)


class TestForms:
    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    def test_every_line_ending_is_read_and_counted(self, ending: str) -> None:
        good = SHIRT | {"Body (HTML)": f"một{ending}hai"}
        _, refusals = read(
            file_of(good, SHIRT | {"Handle": "b", "Variant SKU": "b", "Variant Price": "x"}, ending=ending)
        )
        assert [line.split(":")[0] for line in refusals] == ["ao.csv, line 4, column Variant Price"]

    def test_a_mark_at_the_start_changes_nothing(self) -> None:
        assert read(b"\xef\xbb\xbf" + file_of(SHIRT)) == read(file_of(SHIRT))

    def test_semicolons_of_a_vietnamese_spreadsheet_are_read(self) -> None:
        out = io.StringIO()
        csv.writer(out, delimiter=";").writerows([list(SHIRT), list(SHIRT.values())])
        products, refusals = read(out.getvalue().encode())
        assert (len(products), refusals) == (1, [])

    def test_blank_lines_and_blank_rows_are_passed_over(self) -> None:
        products, refusals = read(b"\n" + file_of(SHIRT, {}) + b"\n\n")
        assert (len(products), refusals) == (1, [])

    def test_utf_16_is_named(self) -> None:
        for content in (
            file_of(SHIRT).decode().encode("utf-16"),
            file_of(SHIRT).decode().encode("utf-16-le"),
        ):
            products, refusals = read(content)
            assert products == []
            assert refusals == ["ao.csv, line 1: got 'UTF-16', expected a file saved as CSV UTF-8"]

    @pytest.mark.parametrize("encoding", ["cp1252", "cp1258"])
    def test_a_windows_encoding_is_named_with_its_line_and_column(self, encoding: str) -> None:
        rows = file_of(SHIRT | {"Title": "Mu"}, SHIRT | {"Handle": "b", "Title": "à la"})
        _, refusals = read(rows.decode().replace("Quần áo", "Do").encode(encoding))
        assert len(refusals) == 1
        assert refusals[0].startswith(
            "ao.csv, line 3, column Title: got 'byte 0xE0', expected a file saved as"
        )
        assert "looks like Windows-1258 or Windows-1252" in refusals[0]

    def test_an_empty_file_wants_a_header(self) -> None:
        for content in (b"", b"\n", b"\xef\xbb\xbf"):
            assert len(read(content)[1]) == 3

    def test_missing_and_doubled_columns_are_all_named(self) -> None:
        _, refusals = read(b"Handle,Handle,Variant Price\n")
        assert refusals == [
            "ao.csv, line 1, column Title: expected a column of this name, but the header has none",
            "ao.csv, line 1, column Handle: expected one column of this name, but the header has more",
        ]

    @pytest.mark.parametrize(("row", "cells"), [("ao,Áo", 2), ("ao,Áo,1,2", 4)])
    def test_rows_with_too_few_or_too_many_cells_are_named(self, row: str, cells: int) -> None:
        _, refusals = read(f"Handle,Title,Variant Price\nmu,Mũ,1\n{row}\n".encode())
        assert refusals == [f"ao.csv, line 3: got '{cells} cells', expected 3 cells, as in the header"]

    def test_an_open_quotation_mark_is_named_where_it_opens(self) -> None:
        _, refusals = read(b'Handle,Title,Variant Price\nmu,M,1\nao,"A,1\nb,B,1\n')
        assert refusals == [
            "ao.csv, line 3: expected a closing quotation mark; a cell opened in this row never ends"
        ]

    def test_a_cell_and_a_line_without_end_are_refused_in_bounded_memory(self) -> None:
        _, cell = read(b'Handle,Title,Variant Price\nao,"' + b"x\n" * 100_000)
        _, line = read(b"Handle,Title,Variant Price\n" + b"x" * 1_000_001)
        assert cell[0].startswith("ao.csv, line 2: expected cells of at most 131072 characters")
        assert line[0] == "ao.csv, line 2: expected lines of at most 1000000 characters"

    def test_unknown_columns_are_listed(self) -> None:
        file = CatalogueFile(
            io.BytesIO(file_of(SHIRT, header=[*HEADER, "Màu sắc", "Cost"])), name="ao.csv", terms=Terms()
        )
        list(file.products())
        assert file.summary.ignored_columns == ["Màu sắc", "Cost"]


class TestRefusals:
    @pytest.mark.parametrize(
        "price",
        [
            "1.000",
            "1,000",
            "1.000.000",
            "-1",
            "+3",
            "49.99",
            "１２",
            "٣",
            "1e3",
            "",
            "1_000",
            "50đ",
            "9" * 14,
        ],
    )
    def test_a_price_that_is_no_whole_dong_is_refused(self, price: str) -> None:
        assert refused(SHIRT | {"Variant Price": price}).startswith("line 2, column Variant Price: got ")

    @pytest.mark.parametrize(
        ("price", "dong"), [("120000", 120000), ("120000.00", 120000), ("50.0", 50), ("0", 0)]
    )
    def test_a_plain_price_is_read(self, price: str, dong: int) -> None:
        assert product_of(SHIRT | {"Variant Price": price}).variants[0].price == dong

    def test_what_was_sold_past_zero_has_no_stock(self) -> None:
        assert product_of(SHIRT | {"Variant Inventory Qty": "-3"}).variants[0].stock == 0

    @pytest.mark.parametrize("stock", ["-1.5", "--1", "1.5", "1.000", "1,000", "３", "x", "1000000001"])
    def test_a_stock_that_is_no_whole_number_is_refused(self, stock: str) -> None:
        assert refused(SHIRT | {"Variant Inventory Qty": stock}).startswith(
            "line 2, column Variant Inventory Qty: "
        )

    @pytest.mark.parametrize(
        ("column", "cell"),
        [
            ("Handle", ""),
            ("Handle", "—"),
            ("Title", ""),
            ("Title", "x" * 256),
            ("Type", "x" * 101),
            ("Variant SKU", "x" * 65),
            ("Variant SKU", "ộ" * 22),
            ("Body (HTML)", "x" * 60_001),
            ("Published", "có"),
            ("Status", "sold"),
            ("Variant Inventory Policy", "maybe"),
            ("Image Src", "javascript:alert(1)"),
            ("Image Src", "../../etc/passwd"),
            ("Option2 Value", "Đỏ"),
            ("Title", "Á\0o"),
            ("Title", "Á\x1bo"),
        ],
    )
    def test_every_cell_that_cannot_be_used_is_named(self, column: str, cell: str) -> None:
        assert refused(SHIRT | {column: cell}).startswith(f"line 2, column {column}: ")

    def test_a_variant_without_its_option_is_refused(self) -> None:
        message = refused(
            SHIRT | {"Option1 Name": "Cỡ", "Option1 Value": "S"}, {"Handle": "ao", "Variant Price": "1"}
        )
        assert message == "line 3, column Option1 Value: got '', expected 1 to 100 characters"

    def test_two_options_of_one_name_are_refused(self) -> None:
        message = refused(
            SHIRT | {"Option1 Name": "Cỡ", "Option1 Value": "S", "Option2 Name": "Cỡ", "Option2 Value": "M"},
        )
        assert message.startswith("line 2, column Option2 Name: got 'Cỡ'")

    def test_the_same_options_twice_are_refused(self) -> None:
        message = refused(
            SHIRT | {"Option1 Name": "Cỡ", "Option1 Value": "S"},
            SHIRT | {"Option1 Value": "S", "Variant SKU": "AO-2"},
        )
        assert message == "line 3, column Option1 Value: got 'S', expected other options than in line 2"

    def test_the_same_sku_twice_is_refused_whatever_its_case(self) -> None:
        message = refused(SHIRT, SHIRT | {"Handle": "mu", "Variant SKU": "ao"})
        assert message == "line 3, column Variant SKU: got 'ao', expected a SKU of its own; line 2 has ao"

    def test_two_products_of_one_handle_are_refused(self) -> None:
        message = refused(SHIRT, {"Handle": "ao", "Title": "Quần"})
        assert "line 3, column Title: got 'Quần', expected the same as in line 2" in message

    def test_all_refusals_are_listed_in_the_order_of_their_lines(self) -> None:
        rows = [SHIRT | {"Handle": f"h{n}", "Variant SKU": f"s{n}", "Variant Price": "x"} for n in range(3)]
        content = file_of(*rows) + b"too,few\r\n"
        assert [refusal.split(":")[0] for refusal in read(content)[1]] == [
            "ao.csv, line 2, column Variant Price",
            "ao.csv, line 3, column Variant Price",
            "ao.csv, line 4, column Variant Price",
            "ao.csv, line 5",
        ]

    def test_the_list_of_refusals_is_bounded(self) -> None:
        rows = [SHIRT | {"Handle": f"h{n}", "Variant Price": "x"} for n in range(1_000)]
        assert len(read(file_of(*rows))[1]) == REFUSALS_MOST
        assert len(read(file_of(SHIRT) + b"x\r\n" * 1_000)[1]) == REFUSALS_MOST


class TestTerms:
    def test_dollars_become_whole_dong_rounded_half_up(self) -> None:
        terms = checked_terms("usd", Decimal("25400.5"))
        file = CatalogueFile(
            io.BytesIO(file_of(*(SHIRT | {"Handle": f"h{n}", "Variant SKU": f"s{n}", "Variant Price": price}
                                 for n, price in enumerate(("49.99", "1", "0.01", "2.00"))))),
            name="x", terms=terms,
        )  # fmt: skip
        assert [product.variants[0].price for product in file.products()] == [1_269_771, 25_401, 254, 50_801]
        assert (file.summary.currency, file.summary.rate) == ("USD", Decimal("25400.5"))
        assert file.summary.prices_rounded == 3

    @pytest.mark.parametrize("price", ["1.000", "1,000", "49,99", "1.234,5", "-1"])
    def test_a_dollar_price_that_may_mean_two_is_refused(self, price: str) -> None:
        products, refusals = read(
            file_of(SHIRT | {"Variant Price": price}), checked_terms("USD", Decimal(25000))
        )
        assert products == []
        assert "expected an amount of USD in plain digits such as 49.99" in refusals[0]

    @pytest.mark.parametrize(
        ("currency", "rate", "field"),
        [
            ("XXL", Decimal(1), "currency"),
            ("USD", None, "rate"),
            ("USD", Decimal(0), "rate"),
            ("USD", Decimal("NaN"), "rate"),
            ("USD", Decimal("Infinity"), "rate"),
            ("VND", Decimal(2), "rate"),
            (None, Decimal(2), "rate"),
        ],
    )
    def test_terms_that_make_no_sense_are_refused(
        self, currency: str | None, rate: Decimal | None, field: str
    ) -> None:
        with pytest.raises(Invalid) as refusal:
            checked_terms(currency, rate)
        assert refusal.value.field == field
