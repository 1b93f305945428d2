"""Tells observability of the helpful services and of the cache of their answers."""

from __future__ import annotations

from typing import Final

from app.observability.health import Check
from app.observability.observability import Observability
from app.observability.sources import http_pool, redis_pool
from app.stores.copies import Cache
from app.wiring.downstream import Downstream

_WITHOUT: Final = {
    "reviews": "pages show a copy of the reviews with its age, or say that there are none now",
    "recommendations": "pages recommend nothing",
    "inventory": "pages show the last known stock with its age, or the catalogue's",
}


def list_helpful(observability: Observability, downstream: Downstream) -> None:
    """The helpful services' slots, connections and breakers, and the cache of their answers."""
    watch = observability.resilience
    for dependency in downstream.dependencies:
        without = _WITHOUT[dependency.name]
        watch.add(dependency.slots, *(guard.breaker for guard in dependency.guards.values()))
        shared_by = (f"the {dependency.name} of every product page",)
        slots = watch.slots(dependency.slots, shared_by=shared_by, dies=f"that part alone: {without}")
        observability.compartments.add(slots)
        observability.compartments.add(
            http_pool(
                f"{dependency.name} connections",
                dependency.connections,
                shared_by=shared_by,
                dies="nobody else: there are as many as slots, so whoever has a slot waits for none",
            )
        )
        observability.components.add(
            Check(name=dependency.name, look=dependency.look, essential=False, without=without)
        )
    _cache(observability, downstream.cache)


def _cache(observability: Observability, cache: Cache) -> None:
    watch = observability.resilience
    watch.add(cache.slots, *(guard.breaker for guard in cache.guards))
    shared_by = ("copies of the services' answers",)
    observability.compartments.add(
        watch.slots(cache.slots, shared_by=shared_by, dies="nobody: what it does not answer is a miss")
    )
    observability.compartments.add(
        redis_pool(
            "cache Redis",
            cache.pool,
            shared_by=shared_by,
            dies="nobody else: there are as many as slots, so whoever has a slot waits for none",
        )
    )
    observability.components.add(
        Check(name="cache", look=cache.look, essential=False, without="no copies of the services' answers")
    )
