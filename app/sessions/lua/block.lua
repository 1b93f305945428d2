-- Claim a session that lives outside the server, by its entry in the block list.
-- ARGV: now, lease (ms), entry, time to live (ms). An entry begins with its time; a stale claim is none.
local held = redis.call('GET', KEYS[1])
local claimed = held and tonumber(string.match(held, '^(%d+):claimed:') or '')
if held and not (claimed and tonumber(ARGV[1]) - claimed >= tonumber(ARGV[2])) then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
