-- One change of one session, all or nothing. The reference is `applied` in changes.py.
-- ARGV: now, idle, absolute, lease (ms), most fields, most bytes,
--       counts of expect, default, put, drop, add, then their items.
local key = KEYS[1]
local now, idle, absolute, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most = 999999999999999
local at = 11

local function take()
  at = at + 1
  return ARGV[at]
end

local flat = redis.call('HGETALL', key)
local old = {}
for i = 1, #flat, 2 do old[flat[i]] = flat[i + 1] end

local created, seen = tonumber(old['~c'] or ''), tonumber(old['~s'] or '')
if not created or not seen then return {'ended'} end
local left = math.min(created + absolute, seen + idle) - now
if left <= 0 then return {'ended'} end
local claimed = tonumber(string.match(old['~m'] or '', '^%d+') or '')
if claimed and now - claimed < lease then return {'ended'} end

for _ = 1, tonumber(ARGV[7]) do
  local name, present, wanted = take(), take(), take()
  local stored = old[name]
  if present == '1' and stored ~= wanted or present == '0' and stored then
    return {'refused', name, 'is not as expected'}
  end
end

local changed, dropped = {}, {}
local function write(name, value)
  old[name] = value
  changed[name] = value
  dropped[name] = nil
end
local function remove(name)
  if old[name] then dropped[name] = true end
  old[name] = nil
  changed[name] = nil
end

for _ = 1, tonumber(ARGV[8]) do
  local name, value = take(), take()
  if not old[name] then write(name, value) end
end
for _ = 1, tonumber(ARGV[9]) do
  local name = take()
  write(name, take())
end
for _ = 1, tonumber(ARGV[10]) do remove(take()) end

local answer = {'ok', old['~e'] or '0'}
for _ = 1, tonumber(ARGV[11]) do
  local name, by, low, high, clamp, drop_zero =
    take(), tonumber(take()), tonumber(take()), tonumber(take()), take(), take()
  local stored = old[name] or '0'
  if #stored > 16 or not string.match(stored, '^%-?%d+$') or #string.match(stored, '%d+') > 15 then
    return {'refused', name, 'is not a number'}
  end
  local value = tonumber(stored) + by
  if clamp == '1' then
    if high and value > high then value = high end
    if low and value < low then value = low end
  elseif by >= 0 and high and value > high or by <= 0 and low and value < low then
    return {'refused', name, 'would leave its bounds'}
  end
  if value > most or value < -most then return {'refused', name, 'the number is too large'} end
  local text = string.format('%.0f', value)
  if value == 0 and drop_zero == '1' then remove(name) else write(name, text) end
  answer[#answer + 1] = text
end

if tonumber(ARGV[8]) + tonumber(ARGV[9]) + tonumber(ARGV[11]) > 0 then
  local count, bytes = 0, 0
  for name, value in pairs(old) do
    if string.byte(name) ~= 126 then
      count = count + 1
      bytes = bytes + #name + #value
    end
  end
  if count > tonumber(ARGV[5]) then return {'large', 'would hold more than ' .. ARGV[5] .. ' fields'} end
  if bytes > tonumber(ARGV[6]) then return {'large', 'would hold more than ' .. ARGV[6] .. ' bytes'} end
end

local sets, dels = {'HSET', key, '~s', ARGV[1]}, {'HDEL', key}
for name, value in pairs(changed) do
  sets[#sets + 1] = name
  sets[#sets + 1] = value
end
for name in pairs(dropped) do dels[#dels + 1] = name end
-- Whoever claimed it and was late must not replace it by what it was before this change.
if claimed then dels[#dels + 1] = '~m' end
-- A full server refuses a script's first write if it needs memory, and only that one. So what makes the
-- session grow goes first, and what needs no memory lets a mere use of the session be noted after it.
if #sets > 4 then redis.call(unpack(sets)) end
redis.call('PEXPIRE', key, string.format('%.0f', math.min(idle, created + absolute - now)))
if #dels > 2 then redis.call(unpack(dels)) end
if #sets == 4 then redis.call(unpack(sets)) end
return answer
