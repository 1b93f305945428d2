"""The recommendations."""

from __future__ import annotations

from app.services.recommendations.app import create_app
from app.serving.process import around, database_of, run
from app.settings import RecommendationsServiceSettings, read

_NAME = "recommendations"


def serve_recommendations(host: str, port: int) -> int:
    """Run them until a signal says stop; the exit code. Raises `SettingsError`, `OSError`."""
    settings = read(RecommendationsServiceSettings)
    surroundings = around(settings, _NAME)
    app = create_app(database_of(settings, _NAME), surroundings, every=settings.recommendations_refresh)
    return run(app, surroundings, _NAME, host=host, port=port)
