"""The owner's desk at /quan-tri: for the owner alone, once per form, each change with its entry in the log."""

from __future__ import annotations

from app.web.pages.desk import audit, board, goods, imports, orders, people, product, reviews, stock, vouchers

ROUTES = [
    *board.routes,
    *goods.routes,
    *product.routes,
    *stock.routes,
    *orders.routes,
    *people.routes,
    *reviews.routes,
    *vouchers.routes,
    *imports.routes,
    *audit.routes,
]
