"""How often a page lacked a part, and what was shown in its place."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

from app.shop.degradation import Shown


class Degradations:
    """Counts them by dependency: a copy was shown, or nothing."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counted = Counter(
            "degraded_parts",
            "Parts of pages and answers that a dependency could not give, by what was shown instead.",
            ("dependency", "shown"),
            registry=registry,
        )

    def __call__(self, dependency: str, shown: Shown) -> None:
        """One more."""
        self._counted.labels(dependency, shown).inc()
