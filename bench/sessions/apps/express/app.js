// Express with express-session and connect-redis, rolling.
const express = require("express");
const session = require("express-session");
const { RedisStore } = require("connect-redis");
const { createClient } = require("redis");

const client = createClient({ url: process.env.BENCH_REDIS });
const app = express();
app.disable("etag");
app.use(session({
  store: new RedisStore({ client, prefix: "express:", ttl: 1800 }),
  name: "sid", secret: "bench-bench-bench-bench-bench-bench", resave: false, saveUninitialized: false,
  rolling: true, cookie: { maxAge: 1800000 },
}));
app.get("/fill", (req, res) => {
  req.session.user = req.query.user || "user:48213";
  req.session.lines = {};
  for (let n = 0; n < Number(req.query.n); n++) req.session.lines[`line:SKU-${String(n).padStart(5, "0")}`] = n + 1;
  res.json({});
});
app.get("/cart", (req, res) => {
  res.json(Object.entries(req.session.lines || {}).map(([sku, quantity]) => ({ sku, quantity })));
});
app.get("/put", (req, res) => {
  req.session.lines = req.session.lines || {};
  req.session.lines[`line:${req.query.key}`] = 1;
  res.json({});
});
app.get("/login", (req, res) => { req.session.user = req.query.user; res.json({}); });
app.get("/me", (req, res) => res.json({ user: req.session.user || null }));
app.get("/slow", (req, res) => { const user = req.session.user || null; setTimeout(() => res.json({ user }), 300); });
app.get("/logout", (req, res) => req.session.destroy(() => res.json({})));
client.connect().then(() => app.listen(Number(process.env.BENCH_PORT), "127.0.0.1"));
