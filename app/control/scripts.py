"""What is done on the Redis server as one step, by its clock."""

from __future__ import annotations

from typing import Final

_NOW: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

# No key stays for ever: reports and wishes go with the last of them, the audit a year after its last entry.
_DAY_MS: Final = 86_400_000

# KEYS: wishes, audit. ARGV: breaker, state, milliseconds, by, reason, length of the audit.
# Expired wishes are swept here: whoever reads ignores them anyway.
SET_WISH: Final = (
    _NOW
    + """
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
    local read, wish = pcall(cjson.decode, redis.call('HGET', KEYS[1], name))
    if not read or type(wish) ~= 'table' or (tonumber(wish.until_ms) or 0) <= now then
        redis.call('HDEL', KEYS[1], name)
    end
end
local till = now + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({
    state = ARGV[2], since_ms = now, until_ms = till, by = ARGV[4], reason = ARGV[5]}))
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[6], '*', 'breaker', ARGV[1], 'state', ARGV[2],
    'until_ms', string.format('%d', till), 'by', ARGV[4], 'reason', ARGV[5])
redis.call('PEXPIRE', KEYS[1], DAY)
redis.call('PEXPIRE', KEYS[2], 366 * DAY)
return {string.format('%d', now), string.format('%d', till)}
""".replace("DAY", str(_DAY_MS))
)

# KEYS: drains, audit. ARGV: replica, its wish, milliseconds it is kept, by, reason, length of the audit, state.
# Every wish for a replica keeps all of them: one that is drained has heard, and a new one must hear too.
SET_DRAIN: Final = (
    _NOW
    + """
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({state = ARGV[2], since_ms = now, by = ARGV[4], reason = ARGV[5]}))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[6], '*', 'breaker', ARGV[1], 'state', ARGV[2],
    'until_ms', string.format('%d', now + ARGV[3]), 'by', ARGV[4], 'reason', ARGV[5])
redis.call('PEXPIRE', KEYS[2], 366 * DAY)
return {string.format('%d', now)}
""".replace("DAY", str(_DAY_MS))
)

# KEYS: wishes, replicas, drains. ARGV: milliseconds a report is good for, and, from a replica, its name and report.
# A report is stored behind the time until which it is good.
EXCHANGE: Final = (
    _NOW
    + """
if ARGV[2] then
    redis.call('HSET', KEYS[2], ARGV[2], string.format('%d', now + ARGV[1]) .. ' ' .. ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
local reports = redis.call('HGETALL', KEYS[2])
for i = 1, #reports, 2 do
    if (tonumber(string.match(reports[i + 1], '^%d+')) or 0) <= now then
        redis.call('HDEL', KEYS[2], reports[i])
    end
end
return {string.format('%d', now), redis.call('HGETALL', KEYS[1]), ARGV[2] and {} or redis.call('HGETALL', KEYS[2]),
    redis.call('HGETALL', KEYS[3])}
"""
)
