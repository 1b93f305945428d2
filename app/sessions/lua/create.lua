-- A session that must be new. ARGV: time to live (ms), then names and values.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local set = {'HSET', KEYS[1]}
for i = 2, #ARGV do set[#set + 1] = ARGV[i] end
redis.call(unpack(set))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
