"""How long a catalogue of 100,000 rows takes to read, and how much memory: ``python -m bench.catalog_import``."""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from app.shop.importing import CatalogueFile, Terms
from bench.catalogue_file import write_catalogue_file


def main() -> None:
    """Write the file, read it, say what it took."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    rows: int = options.parse_args().rows
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue.csv"
        write_catalogue_file(path, rows)
        before = _peak_mib()
        began = time.perf_counter()
        with path.open("rb") as source:
            file = CatalogueFile(source, name=path.name, terms=Terms())
            products = sum(1 for _ in file.products())
        took_s = time.perf_counter() - began
        print(
            f"{rows} rows, {path.stat().st_size / 2**20:.1f} MiB, {products} products: {took_s:.1f} s, "
            f"peak memory {before:.0f} -> {_peak_mib():.0f} MiB, {len(file.refusals)} refusals"
        )


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
