"""Flask-Session with its Redis interface."""

from __future__ import annotations

import os
import time

import redis
from flask import Flask, jsonify, request, session
from flask_session import Session

app = Flask(__name__)
app.config.update(
    SESSION_TYPE="redis",
    SESSION_REDIS=redis.Redis.from_url(os.environ["BENCH_REDIS"]),
    SESSION_COOKIE_NAME="sid",
    SESSION_PERMANENT=True,
    PERMANENT_SESSION_LIFETIME=1800,
)
Session(app)


@app.get("/fill")
def fill():
    session["user"] = request.args.get("user", "user:48213")
    for number in range(int(request.args["n"])):
        session[f"line:SKU-{number:05}"] = number + 1
    return jsonify({})


@app.get("/cart")
def cart():
    return jsonify([{"sku": n, "quantity": q} for n, q in session.items() if n.startswith("line:")])


@app.get("/put")
def put():
    session[f"line:{request.args['key']}"] = 1
    return jsonify({})


@app.get("/login")
def login():
    session["user"] = request.args["user"]
    return jsonify({})


@app.get("/me")
def me():
    return jsonify({"user": session.get("user")})


@app.get("/slow")
def slow():
    user = session.get("user")
    time.sleep(0.3)
    return jsonify({"user": user})


@app.get("/logout")
def logout():
    session.clear()
    return jsonify({})
