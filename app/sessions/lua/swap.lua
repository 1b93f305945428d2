-- Replace an entry of the block list that still is what the caller thinks.
-- ARGV: what it is, what it becomes (nothing: it goes), time to live (ms).
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
