"""Django with sessions in its own Redis cache, saved on every request (its sliding expiry)."""

from __future__ import annotations

import os
import time

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

settings.configure(
    SECRET_KEY="bench-" * 8,
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
    ],
    CACHES={
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": os.environ["BENCH_REDIS"],
        }
    },
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
    SESSION_COOKIE_NAME="sid",
    SESSION_COOKIE_AGE=1800,
    SESSION_SAVE_EVERY_REQUEST=True,
)
django.setup()


def fill(request):
    request.session["user"] = request.GET.get("user", "user:48213")
    for number in range(int(request.GET["n"])):
        request.session[f"line:SKU-{number:05}"] = number + 1
    return JsonResponse({})


def cart(request):
    lines = request.session.items()
    return JsonResponse([{"sku": n, "quantity": q} for n, q in lines if n.startswith("line:")], safe=False)


def put(request):
    request.session[f"line:{request.GET['key']}"] = 1
    return JsonResponse({})


def login(request):
    request.session["user"] = request.GET["user"]
    return JsonResponse({})


def me(request):
    return JsonResponse({"user": request.session.get("user")})


def slow(request):
    user = request.session.get("user")
    time.sleep(0.3)
    return JsonResponse({"user": user})


def logout(request):
    request.session.flush()
    return JsonResponse({})


urlpatterns = [path(view.__name__, view) for view in (fill, cart, put, login, me, slow, logout)]
app = get_wsgi_application()
