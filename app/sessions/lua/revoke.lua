-- Raise a user's epoch above every one handed out so far.
-- ARGV: time to live (ms), at least (0: no matter), the epoch of who asks (0: no matter). Nothing, if that is over.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local old = tonumber(redis.call('GET', KEYS[1]) or '0')
local own = tonumber(ARGV[3])
if own > 0 and own < old then return 0 end
-- One past the present: a session that began in this very millisecond is older than this call.
local epoch = tonumber(ARGV[2])
if epoch == 0 then epoch = math.max(old, now) + 1 end
epoch = string.format('%.0f', math.max(old, epoch))
redis.call('SET', KEYS[1], epoch, 'PX', ARGV[1])
return epoch
