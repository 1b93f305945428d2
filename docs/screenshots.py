"""Pictures of the shop as shoppers see it: ``python docs/screenshots.py --url http://127.0.0.1:8080 FOLDER``.

Home, category, product, search and cart, on a phone and on a desk, light and dark, taken by Chromium through
whatever answers at the URL, which for a fleet is HAProxy. Needs Playwright and a Chromium of the system.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

try:
    from playwright.sync_api import Browser, sync_playwright
except ImportError:
    sys.exit("screenshots need Playwright: pip install playwright")

PAGES = {
    "home": "/",
    "category": "/danh-muc/quan-ao",
    "product": "/san-pham/ca-phe-arabica-cau-dat",
    "search": "/tim-kiem?q=ca+phe&sort=cheapest&in_stock=1",
    "cart": "/gio-hang",
    "home-english": "/",
}
SCREENS = {"phone": (390, 844), "desk": (1280, 800)}
SCHEMES = ("light", "dark")
IN_CART = ("PHIN-S", "NON-HUE", "CF-ARA-250")


def main() -> None:
    """Take them all."""
    options = argparse.ArgumentParser(description="Pictures of the shop as shoppers see it.")
    options.add_argument("--url", default="http://127.0.0.1:8080")
    options.add_argument("folder", type=Path)
    asked = options.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("screenshots need Chromium: apt-get install chromium")
    asked.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for screen in SCREENS:
            for scheme in SCHEMES:
                _take(browser, asked.url, asked.folder, screen, scheme)
        browser.close()


def _take(browser: Browser, url: str, folder: Path, screen: str, scheme: str) -> None:
    width, height = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=2 if screen == "phone" else 1,
        color_scheme="light" if scheme == "light" else "dark",
        locale="vi-VN",
    )
    page = context.new_page()
    for sku in IN_CART:
        context.request.post(f"{url}/api/v1/cart/items", data={"sku": sku, "quantity": 2})
    for name, path in PAGES.items():
        if name.endswith("-english"):
            context.add_cookies([{"name": "chopho_lang", "value": "en", "url": url}])
        page.goto(url + path, wait_until="networkidle")
        page.screenshot(path=folder / f"{name}-{screen}-{scheme}.png", full_page=name == "cart")
    context.close()


if __name__ == "__main__":
    main()
