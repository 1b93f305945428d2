"""Products."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from app.shop.catalog import Product, ProductSummary, Sort
from app.shop.errors import NotFound
from app.shop.money import CURRENCY
from app.web.api.answers import public
from app.web.api.models import ProductOut, ProductsOut
from app.web.api.paging import PageNumber, PageSize, listed
from app.web.browsing import price
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
    """One product with its variants."""
    found = await shop_of(request).catalog.product(known_name("product", slug))
    if found is None:
        raise NotFound("product")
    return public(_product(found))


def _summary(product: ProductSummary) -> dict[str, object]:
    return {
        "slug": product.slug,
        "name": product.name,
        "category": product.category,
        "price": product.price,
        "currency": CURRENCY,
        "in_stock": product.in_stock,
    }


def _product(product: Product) -> dict[str, object]:
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
                "stock": variant.stock,
                "options": dict(variant.options),
            }
            for variant in product.variants
        ],
        "degraded": [],
    }
