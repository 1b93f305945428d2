-- The epoch for a session that begins now, by the server's clock: no revocation so far reaches it.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now))
