"""The pages, in Vietnamese and English, each usable without a script."""

from app.web.pages import (
    account,
    cart,
    category,
    checkout,
    devices,
    home,
    language,
    login,
    moderation,
    orders,
    password,
    payment,
    product,
    register,
    reviews,
    search,
)

ROUTES = [
    *home.routes,
    *search.routes,
    *category.routes,
    *product.routes,
    *reviews.routes,
    *moderation.routes,
    *cart.routes,
    *login.routes,
    *register.routes,
    *checkout.routes,
    *payment.routes,
    *orders.routes,
    *account.routes,
    *devices.routes,
    *password.routes,
    *language.routes,
]
