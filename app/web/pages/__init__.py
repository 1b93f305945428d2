"""The pages, in Vietnamese and English, each usable without a script."""

from app.web.pages import (
    account,
    cart,
    category,
    checkout,
    desk,
    devices,
    forgotten,
    home,
    language,
    login,
    orders,
    password,
    payment,
    product,
    register,
    search,
)

ROUTES = [
    *home.routes,
    *search.routes,
    *category.routes,
    *product.routes,
    *cart.routes,
    *login.routes,
    *register.routes,
    *checkout.routes,
    *payment.routes,
    *orders.routes,
    *account.routes,
    *devices.routes,
    *password.routes,
    *forgotten.routes,
    *language.routes,
    *desk.ROUTES,
]
