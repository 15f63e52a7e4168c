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
local KEPT_AFTER_CUT, HEAVY_SHARE, LEAST_KEPT, LOST_SLOTS = 0.9, 0.1, 0.5, 1.07
local FEWEST_ANSWERS, FEW_ANSWERS, SETTLE, COUNTING = 4, 6, 1, 0.3
local BACK_SLOTS, SHORTEST_BACK, LONGEST_BACK = 140, 7, 30
local BEYOND, BEYOND_PART, MARGIN_TIME, MARGIN_ANSWERS = 0.12, 0.3, 0.3, 4
local PER_ANSWER, PER_ANSWER_AGAIN, HEARD_SHARE, FLOOR_SHARE = 0.65, 0.1, 0.5, 0.2
local LEAST_ANSWERS, FREE_TIME, CLIMB_FROM = 20, 0.3, 1.25
local USED_PART, USE_SMOOTH = 0.5, 2
local LEARN_FOR, LEARN_EVERY, DARK_SHARE, UNLIMITED_AFTER = 3, 0.5, 0.9, 60
local DENSER, LATEST_AGAIN = 1.1, 10
local LEAST_RATE, OPEN_AFTER = 0.05, 600
local SEARCHING = 1 -- the since of a climb that looks for a limit

local function number(text, most) -- false or nil if it is none from 0 to most
  local n = tonumber(text)
  return n and n >= 0 and n <= most and n
end

local function parse(text)
  if not text or text:find('[^%d%.e%+%- ]') then return nil end
  local at, epoch, wmax, goal, since, left, tc, ahead, line, sold, ok, bad, use, age =
    text:match('^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  local s = {
    at = number(at, 1e15), epoch = number(epoch, MOST_EPOCH), wmax = number(wmax, MOST_RATE), goal = number(goal, MOST_RATE),
    since = number(since, MOST_EPOCH), left = number(left, 1e15), tc = number(tc, 1e9),
    ahead = number(ahead, SOLD_AHEAD + 1 / LEAST_RATE), line = number(line, LATEST_AGAIN + 1 / LEAST_RATE),
    sold = number(sold, 1e15), ok = number(ok, 1e15), bad = number(bad, 1e15), use = number(use, 1e15),
    age = number(age, OPEN_AFTER + 1),
  }
  return s.at and s.epoch and s.wmax and s.goal and s.since and s.left and s.tc and s.ahead and s.line and s.sold
    and s.ok and s.bad and s.use and s.age and s.epoch >= 1 and s.epoch % 1 == 0 and s.since <= s.epoch and s
end

local function back(rate) return math.min(math.max(BACK_SLOTS / rate, SHORTEST_BACK), LONGEST_BACK) end

local function lone(s) return s.since == SEARCHING and 1 or 0 end

local function margin(rate) return MARGIN_TIME * rate + MARGIN_ANSWERS end

local function current(s) -- rate in Step
  local b = back(s.wmax)
  if s.since > 0 then return s.wmax end
  if s.tc < b then return s.wmax * (1 - (1 - KEPT_AFTER_CUT) * (1 - s.tc / b) ^ 3) end
  return math.min(s.wmax * (1 + BEYOND * math.min((s.tc - b) / (BEYOND_PART * b), 1)), MOST_RATE)
end

local function plateau(s, rate, left)
  s.wmax, s.goal, s.since, s.left, s.tc = rate, rate, 0, left, back(rate)
end

local function forget(s) s.ok, s.bad, s.sold = 0, 0, 0 end

local function begin(s, rate, goal, since, left)
  s.epoch = math.min(s.epoch + 1, MOST_EPOCH)
  s.wmax = math.min(math.max(rate, LEAST_RATE), MOST_RATE)
  s.goal, s.since, s.left, s.tc = goal, since, left, 0
  if goal < CLIMB_FROM * s.wmax then s.goal, s.since, s.left = s.wmax, 0, margin(s.wmax) end
  forget(s)
end

local function cut(s, rate)
  if s.goal == MOST_RATE then return begin(s, math.min(rate, s.use), rate, s.since, s.left) end
  local kept, goal = rate, math.max(s.goal, rate)
  local throttled = math.max(s.bad - 1, 0) / math.max(s.ok + s.bad, FEW_ANSWERS)
  if throttled > HEAVY_SHARE then
    kept = math.max(rate * math.max((1 - throttled) * LOST_SLOTS, LEAST_KEPT), FLOOR_SHARE * goal)
  end
  if s.since > 0 and s.ok > 0 then
    begin(s, kept, kept + (goal - kept) * math.min(s.left / LEAST_ANSWERS, 1), s.since, s.left)
  elseif s.since > 0 then
    begin(s, kept, goal, s.since, s.left)
  elseif kept < rate and s.bad > s.ok then
    begin(s, kept, goal, s.epoch + 1, LEAST_ANSWERS + FREE_TIME * rate)
  else
    begin(s, kept, kept, 0, 0)
  end
end

local key, kept, time = KEYS[1], redis.call('GET', KEYS[1]), redis.call('TIME')
local now = (time[1] * 1e6 + time[2]) / 1e6
local epoch, ok, bad = number(ARGV[2], MOST_EPOCH) or 0, number(ARGV[3], 1e9) or 0, number(ARGV[4], 1e9) or 0
local want, starting = math.floor(number(ARGV[5], 1e9) or 0), number(ARGV[6], 1e9) or 0
local ceiling = number(ARGV[7], 1e9) or 0

local function open()
  if kept then redis.call('DEL', key) end
  return {}
end

local function save(s, rate, again, slots, start, gap)
  local state = ('%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g'):format(
    s.at, s.epoch, s.wmax, s.goal, s.since, s.left, s.tc, s.ahead, s.line, s.sold, s.ok, s.bad, s.use, s.age)
  redis.call('SET', key, state, 'PX', KEPT_FOR)
  return {
    ('%.17g'):format(s.epoch), ('%.17g'):format(rate), ('%.17g'):format(again), ('%d'):format(slots),
    ('%.17g'):format(start), ('%.17g'):format(gap), state,
  }
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
  s = {
    at = now, epoch = 1, wmax = starting, goal = 0, since = 0, left = 0, tc = 0, ahead = 0, line = 0, sold = 0, ok = 0, bad = 0,
    use = 0, age = 0,
  }
  if starting > 0 then
    s.epoch = 3
    plateau(s, starting, starting)
  end
end

-- Let time pass, and count the answers.
local dt = math.min(math.max(now - s.at, 0), 1)
s.at, s.ahead, s.line = now, math.max(s.ahead - dt, 0), math.max(s.line - dt, 0)
s.age = math.min(s.age + dt, OPEN_AFTER + 1)
s.use = s.use * math.exp(-dt / USE_SMOOTH) + (ok + bad) / USE_SMOOTH
if s.since > 0 and epoch >= s.since then s.left = math.max(s.left - ok, 0) end
if epoch == s.epoch then
  s.ok, s.bad = s.ok + ok, s.bad + bad
  if bad > 0 then s.age = 0 end
  if s.since > 0 and s.bad <= lone(s) and s.tc >= SETTLE + COUNTING and s.ok >= HEARD_SHARE * s.sold then
    if s.use > USED_PART / 2 * s.wmax then
      local growth = PER_ANSWER
      if s.since == SEARCHING and s.goal < MOST_RATE then growth = PER_ANSWER_AGAIN end
      s.wmax = s.wmax + growth * ok
      if s.wmax >= s.goal then plateau(s, s.goal, s.goal + margin(s.goal)) end
    end
  elseif s.since == 0 and s.tc >= back(s.wmax) then
    s.left = math.min(math.max(s.left + s.wmax * dt - ok, 0), s.wmax + margin(s.wmax))
  end
end
if starting == 0 and (s.age > OPEN_AFTER or s.wmax == 0 and s.age > UNLIMITED_AFTER) then return open() end

-- Learn what the members get without the fleet.
if s.wmax == 0 then
  s.tc = s.tc + dt
  if s.tc < SETTLE or s.bad > DARK_SHARE * (s.ok + s.bad) then
    s.tc, s.ok, s.bad = math.min(s.tc, SETTLE), 0, 0
  end
  if s.tc < LEARN_FOR or s.age > 0 then return save(s, 0, LEARN_EVERY, 0, 0, 0) end
  s.use = math.max(s.ok / (s.tc - SETTLE), LEAST_RATE)
  begin(s, s.use, MOST_RATE, SEARCHING, 0)
end

-- Steer the rate.
local rate = current(s)
if s.use > USED_PART * rate or s.tc < SETTLE + COUNTING then
  s.tc = s.tc + dt
  rate = current(s)
end
if s.tc < SETTLE then
  forget(s)
elseif s.bad > lone(s) and s.tc >= SETTLE + COUNTING and s.ok + s.bad >= FEWEST_ANSWERS then
  cut(s, rate)
elseif s.since == 0 and s.left == 0 and s.tc >= back(s.wmax) then
  s.wmax, s.goal, s.since, s.tc = rate, MOST_RATE, SEARCHING, SETTLE
  forget(s)
end
rate = math.max(current(s), LEAST_RATE)
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
s.ahead, s.sold = s.ahead + slots / rate, s.sold + slots
return save(s, rate, 0, slots, start, gap)
