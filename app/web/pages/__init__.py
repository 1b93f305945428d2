"""The pages, in Vietnamese, each usable without a script."""

from app.web.pages import account, cart, checkout, devices, home, login, orders, product, register, search

ROUTES = [
    *home.routes,
    *search.routes,
    *product.routes,
    *cart.routes,
    *login.routes,
    *register.routes,
    *checkout.routes,
    *orders.routes,
    *account.routes,
    *devices.routes,
]
