"""What goes with a product, over HTTP: `app.shop.recommendations.Recommendations`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel

from app.clients.dependency import Dependency, DependencyConfig, Question
from app.resilience import Listener
from app.shop.recommendations import Reason, Recommended

NAME: Final = "recommendations"


class RecommendedTold(BaseModel):
    """One recommendation as the service tells it."""

    product: str
    reason: Reason


class ListTold(BaseModel):
    """The recommendations for one product."""

    items: Sequence[RecommendedTold]


class HttpRecommendations:
    """They are the same for everybody, so no token goes along."""

    def __init__(self, config: DependencyConfig, *, listeners: Sequence[Listener] = ()) -> None:
        self.dependency = Dependency(NAME, config, endpoints=("beside",), listeners=listeners)

    async def beside(self, product: str, *, most: int) -> Sequence[Recommended]:
        """See the port."""
        path = f"/v1/products/{quote(product, safe='')}/recommendations?most={most}"
        told = await self.dependency.ask("beside", Question(method="GET", path=path), ListTold)
        return [Recommended(product=one.product, reason=one.reason) for one in told.items]
