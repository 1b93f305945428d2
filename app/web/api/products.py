"""Products."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from app.shop.catalog import ProductSummary, Sort
from app.shop.degradation import Told
from app.shop.inventory import Stock
from app.shop.money import CURRENCY
from app.shop.product_page import ProductView
from app.shop.reviews import ReviewsPage
from app.web.api.answers import public
from app.web.api.models.products import ProductOut, ProductsOut
from app.web.api.paging import PageNumber, PageSize, listed
from app.web.api.reviews import review_as_json
from app.web.browsing import price
from app.web.degraded import degraded_headers
from app.web.searching import product_query
from app.web.shopping import known_name, shop_of

router = APIRouter(tags=["products"])


@router.get("/products", response_model=ProductsOut)
async def search(  # noqa: PLR0913, PLR0917  # one for each thing a list may be asked
    request: Request,
    q: Annotated[str, Query()] = "",
    category: Annotated[str, Query()] = "",
    min_price: Annotated[str, Query()] = "",
    max_price: Annotated[str, Query()] = "",
    in_stock: Annotated[bool, Query()] = False,  # noqa: FBT002  # FastAPI reads parameters by name
    sort: Annotated[Sort, Query()] = "best",
    page: PageNumber = 1,
    page_size: PageSize = 24,
) -> Response:
    """Products that match, best first; without `q` and `category`, all. Prices are in whole đồng."""
    query = replace(
        product_query(text=q, category=category, page=page, page_size=page_size),
        price_least=price("min_price", min_price),
        price_most=price("max_price", max_price),
        in_stock=in_stock,
        sort=sort,
    )
    return public(listed(await shop_of(request).catalog.page(query), _summary))


@router.get("/products/{slug}", response_model=ProductOut)
async def product(request: Request, slug: str) -> Response:
    """One product with its variants, reviews and what goes with it."""
    view = await shop_of(request).show_product(known_name("product", slug))
    return public(product_as_json(view), degraded_headers(view.degraded))


def _summary(product: ProductSummary) -> dict[str, object]:
    return {
        "slug": product.slug,
        "name": product.name,
        "category": product.category,
        "price": product.price,
        "currency": CURRENCY,
        "in_stock": product.in_stock,
    }


def product_as_json(view: ProductView) -> dict[str, object]:
    """A product with all that its services say of it."""
    product = view.product
    return {
        "slug": product.slug,
        "name": product.name,
        "description": product.description,
        "category": product.category,
        "price": min(variant.price for variant in product.variants),
        "currency": CURRENCY,
        "in_stock": any(variant.stock > 0 for variant in product.variants),
        "variants": [
            {
                "sku": variant.sku,
                "name": variant.name,
                "price": variant.price,
                "stock": view.units(variant),
                "options": dict(variant.options),
            }
            for variant in product.variants
        ],
        "stock": _stock(view.stock),
        "reviews": _reviews(view.reviews),
        "recommendations": [_summary(one) for one in view.recommendations.value or []],
        "degraded": view.degraded,
    }


def _stock(told: Told[Stock]) -> dict[str, object] | None:
    return None if told.value is None else {"as_of": told.value.as_of, "age_s": told.age_s}


def _reviews(told: Told[ReviewsPage]) -> dict[str, object] | None:
    if told.value is None:
        return None
    page = told.value
    return {**listed(page, review_as_json), "average": page.average, "age_s": told.age_s}
