-- End a claim that still stands. ARGV: stamp, what to do ('end' or 'release').
if redis.call('HGET', KEYS[1], '~m') ~= ARGV[1] then return 0 end
if ARGV[2] == 'end' then redis.call('DEL', KEYS[1]) else redis.call('HDEL', KEYS[1], '~m') end
return 1
