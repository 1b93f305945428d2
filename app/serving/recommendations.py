"""The recommendations."""

from __future__ import annotations

from app.services.recommendations.app import create_app
from app.serving.process import database_of, run, surroundings_of
from app.settings import RecommendationsServiceSettings, read

_NAME = "recommendations"


def serve_recommendations(host: str, port: int) -> int:
    """Run them until a signal says stop; the exit code. Raises `SettingsError`, `OSError`."""
    settings = read(RecommendationsServiceSettings)
    around = surroundings_of(settings, _NAME)
    app = create_app(database_of(settings, _NAME), around, every=settings.recommendations_refresh)
    return run(app, settings, around, host=host, port=port)
