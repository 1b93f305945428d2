// Fastify with @fastify/session and connect-redis, rolling.
const fastify = require("fastify")();
const { RedisStore } = require("connect-redis");
const { createClient } = require("redis");

const client = createClient({ url: process.env.BENCH_REDIS });
fastify.register(require("@fastify/cookie"));
fastify.register(require("@fastify/session"), {
  store: new RedisStore({ client, prefix: "fastify:", ttl: 1800 }),
  cookieName: "sid", secret: "bench-bench-bench-bench-bench-bench-bench", saveUninitialized: false,
  rolling: true, cookie: { secure: false, maxAge: 1800000 },
});
fastify.get("/fill", async (req) => {
  req.session.user = req.query.user || "user:48213";
  const lines = {};
  for (let n = 0; n < Number(req.query.n); n++) lines[`line:SKU-${String(n).padStart(5, "0")}`] = n + 1;
  req.session.lines = lines;
  return {};
});
fastify.get("/cart", async (req) =>
  Object.entries(req.session.lines || {}).map(([sku, quantity]) => ({ sku, quantity })));
fastify.get("/put", async (req) => {
  req.session.lines = { ...(req.session.lines || {}), [`line:${req.query.key}`]: 1 };
  return {};
});
fastify.get("/login", async (req) => { req.session.user = req.query.user; return {}; });
fastify.get("/me", async (req) => ({ user: req.session.user || null }));
fastify.get("/slow", async (req) => {
  const user = req.session.user || null;
  await new Promise((done) => setTimeout(done, 300));
  return { user };
});
fastify.get("/logout", async (req) => { await req.session.destroy(); return {}; });
client.connect().then(() => fastify.listen({ port: Number(process.env.BENCH_PORT), host: "127.0.0.1" }));
