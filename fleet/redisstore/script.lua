-- Step of the package fleet, whose comments hold here too: the names and the order are the same.
-- The state is the text under the one key, and the time is that of the server.
--
-- Arguments: seed, epoch, ok, bad, want, starting, ceiling, as in fleet.Ask.
-- Result: epoch, rate, again, slots, start, gap, state, as in fleet.Reply with durations in
-- seconds. All are strings, because a number in a result loses its fraction. An empty result
-- means that the scope is open.

local KEPT_FOR = 600000 -- ms; the server forgets a state that no call has read for so long
local MOST_EPOCH, MOST_RATE = 2 ^ 52, 1e9

-- The parameters, in seconds and slots per second. parameters.go says what they mean.
local SOLD_AHEAD, RUN_SHARE = 0.5, 0.1
local KEPT_AFTER_CUT, HEAVY_SHARE, LEAST_KEPT, LEAST_ANSWERS = 0.9, 0.1, 0.5, 20
local SETTLE, COUNTING = 1, 0.3
local BACK_SLOTS, SHORTEST_BACK, LONGEST_BACK = 700, 5, 20
local CURVE_SCALE, USED_PART, USE_SMOOTH = 0.1, 0.5, 5
local DOUBLING, LEARN_FOR, LEARN_EVERY = 2, 3, 0.5
local DENSER, LATEST_AGAIN = 1.1, 10
local LEAST_RATE, OPEN_AFTER = 0.05, 600

local function number(text, most) -- false or nil if it is none from 0 to most
  local n = tonumber(text)
  return n and n >= 0 and n <= most and n
end

local function parse(text)
  if not text or text:find('[^%d%.e%+%- ]') then return nil end
  local at, epoch, wmax, tc, ahead, line, ok, bad, use, age =
    text:match('^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  local s = {
    at = number(at, 1e15), epoch = number(epoch, MOST_EPOCH), wmax = number(wmax, MOST_RATE), tc = number(tc, 1e9),
    ahead = number(ahead, SOLD_AHEAD + 1 / LEAST_RATE), line = number(line, LATEST_AGAIN + 1 / LEAST_RATE),
    ok = number(ok, 1e15), bad = number(bad, 1e15), use = number(use, 1e15), age = number(age, OPEN_AFTER + 1),
  }
  return s.at and s.epoch and s.wmax and s.tc and s.ahead and s.line and s.ok and s.bad and s.use and s.age
    and s.epoch >= 1 and s.epoch % 1 == 0 and s
end

local function back(rate) return math.min(math.max(BACK_SLOTS / rate, SHORTEST_BACK), LONGEST_BACK) end

local function curve(s)
  if s.epoch == 2 then return math.min(s.wmax * 2 ^ (s.tc / DOUBLING), MOST_RATE) end
  local u = s.tc / back(s.wmax) - 1
  return math.min(s.wmax * (1 + CURVE_SCALE * u * u * u), MOST_RATE)
end

local function cut(s, rate)
  s.epoch, s.wmax = math.min(s.epoch + 1, MOST_EPOCH), math.min(rate, MOST_RATE)
  s.tc, s.ok, s.bad = 0, 0, 0
end

local key, kept, time = KEYS[1], redis.call('GET', KEYS[1]), redis.call('TIME')
local now = (time[1] * 1e6 + time[2]) / 1e6
local epoch, ok, bad = tonumber(ARGV[2]), number(ARGV[3], 1e9) or 0, number(ARGV[4], 1e9) or 0
local want, starting = math.floor(number(ARGV[5], 1e9) or 0), number(ARGV[6], 1e9) or 0
local ceiling = number(ARGV[7], 1e9) or 0

local function open()
  if kept then redis.call('DEL', key) end
  return {}
end

local function save(s, rate, again, slots, start, gap)
  local state = ('%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g'):format(
    s.at, s.epoch, s.wmax, s.tc, s.ahead, s.line, s.ok, s.bad, s.use, s.age)
  redis.call('SET', key, state, 'PX', KEPT_FOR)
  local reply = {s.epoch, rate, again, slots, start, gap, state}
  for i = 1, 6 do reply[i] = ('%.17g'):format(reply[i]) end
  return reply
end

local s = parse(kept)
-- To parse a seed takes a quarter of the time of all, and most seeds are not newer.
if not s or (number(ARGV[1]:match(' (%S+)'), MOST_EPOCH) or 0) > s.epoch then
  local seed = parse(ARGV[1])
  if seed then
    s = seed
    s.at, s.ahead = now, SOLD_AHEAD -- slots may be out
  end
end
if not s then
  if bad == 0 and starting == 0 then return open() end
  s = {at = now, epoch = 1, wmax = starting, tc = 0, ahead = 0, line = 0, ok = 0, bad = 0, use = 0, age = 0}
  if starting > 0 then s.epoch, s.tc = 3, back(starting) end
end

-- Let time pass, and count the answers.
local dt = math.min(math.max(now - s.at, 0), 1)
s.at, s.ahead, s.line = now, math.max(s.ahead - dt, 0), math.max(s.line - dt, 0)
s.age = math.min(s.age + dt, OPEN_AFTER + 1)
s.use = s.use * math.exp(-dt / USE_SMOOTH) + (ok + bad) / USE_SMOOTH
if epoch == s.epoch then
  s.ok, s.bad = s.ok + ok, s.bad + bad
  if bad > 0 then s.age = 0 end
end
if s.age > OPEN_AFTER and starting == 0 then return open() end

-- Learn what the members get without the fleet.
if s.wmax == 0 then
  s.tc = s.tc + dt
  if s.tc < SETTLE then s.ok = 0 end
  if s.tc < LEARN_FOR then return save(s, 0, LEARN_EVERY, 0, 0, 0) end
  s.use = math.max(s.ok / (s.tc - SETTLE), LEAST_RATE)
  cut(s, s.use)
end

-- Steer the rate.
local rate = curve(s)
if s.use > USED_PART * rate or s.tc < SETTLE + COUNTING then
  s.tc = s.tc + dt
  rate = curve(s)
end
if s.tc < SETTLE then
  s.ok, s.bad = 0, 0
elseif s.bad > 0 and s.tc >= SETTLE + COUNTING then
  local p = s.bad / math.max(s.ok + s.bad, LEAST_ANSWERS)
  if p > HEAVY_SHARE then rate = rate * math.max(1 - p, LEAST_KEPT) end
  cut(s, math.max(rate, LEAST_RATE))
  rate = KEPT_AFTER_CUT * s.wmax
end
rate = math.max(rate, LEAST_RATE)
if ceiling > 0 then rate = math.min(rate, ceiling) end

-- Sell a run of slots, or make an appointment.
local room = SOLD_AHEAD - s.ahead
if want < 1 then return save(s, rate, 0, 0, 0, 0) end
if room <= 0 then
  local again = math.min(math.max(s.line, s.ahead - SOLD_AHEAD / 2), LATEST_AGAIN)
  s.line = again + 1 / (DENSER * rate)
  return save(s, rate, again, 0, 0, 0)
end
local most = RUN_SHARE * room * rate
local slots = math.min(want, math.max(math.floor(most), 1))
local start = s.ahead / slots * math.max(0, 1 - most / want)
local gap = math.max(1 / rate, s.ahead / slots)
s.ahead = s.ahead + slots / rate
return save(s, rate, 0, slots, start, gap)
