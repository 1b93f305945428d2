"""How long a catalogue of 100,000 rows takes to import, and how much memory: ``python -m bench.catalog_import``."""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from app.shop.importing import CatalogueFile, ImportCatalogue, Terms
from app.stores.database import Database
from app.stores.imports import SqlImports, patient
from bench.catalogue_file import write_catalogue_file
from bench.database import own_database


def main() -> None:
    """Write the file, read it, import it, import it again; say what each took."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--rows-per-product", type=int, default=4)
    asked = options.parse_args()
    with TemporaryDirectory() as folder, own_database() as url:
        path = Path(folder) / "catalogue.csv"
        write_catalogue_file(path, asked.rows, rows_per_product=asked.rows_per_product)
        print(
            f"{asked.rows} rows, {path.stat().st_size / 2**20:.1f} MiB; peak memory so far {_peak_mib():.0f} MiB"
        )
        _read(path)
        asyncio.run(_import(path, url))
        asyncio.run(_import(path, url))


def _read(path: Path) -> None:
    began = time.perf_counter()
    with path.open("rb") as source:
        file = CatalogueFile(source, name=path.name, terms=Terms())
        products = sum(1 for _ in file.products())
    print(f"read alone: {products} products in {_since(began)}")


async def _import(path: Path, url: str) -> None:
    database = Database(patient(url))
    began = time.perf_counter()
    with path.open("rb") as source:
        imported = await ImportCatalogue(imports=SqlImports(database=database))(
            source, name=path.name, terms=Terms()
        )
    print(f"imported: {imported.kept} in {_since(began)}")
    await database.close()


def _since(began: float) -> str:
    return f"{time.perf_counter() - began:.1f} s, peak memory {_peak_mib():.0f} MiB"


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
