-- End a session if it is this user's. ARGV: user.
if redis.call('HGET', KEYS[1], '~u') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
