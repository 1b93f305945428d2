"""Searches over 100 and over 100,000 products beside each other: ``python -m bench.catalog_search``."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from app.shop.catalog import ProductQuery
from app.shop.importing import ImportCatalogue, Terms
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.imports import SqlImports, patient
from bench.catalogue_file import write_catalogue_file
from bench.database import own_database

QUERIES: Mapping[str, ProductQuery] = {
    "everything, first page": ProductQuery(),
    "everything by name": ProductQuery(sort="name"),
    "everything by name, page 100": ProductQuery(sort="name", page=100),
    "a category by price": ProductQuery(category="ca-phe", sort="cheapest"),
    "a category in stock by name": ProductQuery(category="ca-phe", in_stock=True, sort="name"),
    "a price range": ProductQuery(price_least=100_000, price_most=120_000, sort="cheapest"),
    "one product by its number": ProductQuery(text="san pham 99"),
    "three words": ProductQuery(text="cà phê huế"),
    "two words, a category": ProductQuery(text="lụa huế", category="khan-lua", sort="name"),
    "a beginning of two letters": ProductQuery(text="ph"),
    "a beginning of one letter": ProductQuery(text="c"),
    "a word of a third of all": ProductQuery(text="lụa"),
    "nothing": ProductQuery(text="không có đâu"),
}

SHELVES = "the shelves with their numbers"


def main() -> None:
    """Fill two databases and time each query on both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[100, 100_000])
    options.add_argument("--times", type=int, default=15)
    asked = options.parse_args()
    columns = [asyncio.run(_measured(size, asked.times)) for size in asked.sizes]
    print(f"{'ms, median':32}" + "".join(f"{size:>12}" for size in asked.sizes))
    for name in (*QUERIES, SHELVES):
        print(f"{name:32}" + "".join(f"{column[name]:>12.1f}" for column in columns))


async def _measured(products: int, times: int) -> Mapping[str, float]:
    with TemporaryDirectory() as folder, own_database() as url:
        path = Path(folder) / "catalogue.csv"
        write_catalogue_file(path, products, rows_per_product=1)
        database = Database(patient(url))
        with path.open("rb") as source:
            await ImportCatalogue(imports=SqlImports(database=database))(source, name="x", terms=Terms())
        catalog = SqlCatalog(database=database)
        found = {
            name: await _median_ms(partial(catalog.page, query), times) for name, query in QUERIES.items()
        }
        found[SHELVES] = await _median_ms(catalog.categories, times)
        await database.close()
        return found


async def _median_ms(ask: Callable[[], Awaitable[object]], times: int) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await ask()
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


if __name__ == "__main__":
    main()
