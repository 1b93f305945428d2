"""The shop as people and programs see it: pages, the JSON API, and what guards them."""

from app.web.config import WebConfig
from app.web.install import bare_app, install

__all__ = ["WebConfig", "bare_app", "install"]
