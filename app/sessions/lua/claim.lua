-- The one right to replace a session. ARGV: now, lease (ms), stamp. Returns its hash, or nothing.
local held = redis.call('HMGET', KEYS[1], '~c', '~m')
if not held[1] then return {} end
local claimed = tonumber(string.match(held[2] or '', '^%d+') or '')
if claimed and tonumber(ARGV[1]) - claimed < tonumber(ARGV[2]) then return {} end
redis.call('HSET', KEYS[1], '~m', ARGV[3])
return redis.call('HGETALL', KEYS[1])
