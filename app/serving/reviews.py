"""The reviews."""

from __future__ import annotations

from app.services.reviews.app import create_app
from app.serving.process import database_of, run, surroundings_of
from app.settings import ReviewsServiceSettings, read
from app.shop.reviews import ReviewStatus

_NAME = "reviews"


def serve_reviews(host: str, port: int) -> int:
    """Run them until a signal says stop; the exit code. Raises `SettingsError`, `OSError`."""
    settings = read(ReviewsServiceSettings)
    around = surroundings_of(settings, _NAME)
    first: ReviewStatus = "pending" if settings.reviews_wait else "shown"
    app = create_app(database_of(settings, _NAME), around, first=first)
    return run(app, settings, around, host=host, port=port)
