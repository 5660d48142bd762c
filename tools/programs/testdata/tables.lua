-- Tables, strings, closures, coroutines, weak tables and finalizers, with collections between.
-- usage: tables.lua SIZE
local size = tonumber(arg[1]) or 60000

-- A sequence of numbers that is the same everywhere.
local state = 12345
local function number()
  state = (state * 1103515245 + 12345) % 2147483648
  return state >> 4
end

local function word(n)
  local parts = {}
  for i = 0, n % 9 do parts[#parts + 1] = string.char(97 + (n >> (3 * i)) % 26) end
  return table.concat(parts)
end

local function digest(text, sum)
  sum = sum or 5381
  for i = 1, #text do sum = (sum * 33 + text:byte(i)) & 0xffffffffffff end
  return sum
end

-- The order of pairs() depends on a random seed of the hash: keys are sorted before they are shown.
local function sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local count = {}
for _ = 1, size do
  local w = word(number())
  count[w] = (count[w] or 0) + 1
end
local sum = 5381
for _, key in ipairs(sorted(count)) do sum = digest(key .. count[key], sum) end
print("words", sum)

local list = {}
for i = 1, size do list[i] = { id = i, key = number() % 1000, text = word(i) .. i } end
table.sort(list, function(a, b)
  if a.key ~= b.key then return a.key < b.key end
  return a.id < b.id
end)
for i = #list, 1, -3 do table.remove(list) end
print("list", #list, list[1].text, list[#list].text)

local text = {}
for i = 1, size do text[i] = word(number()) end
text = table.concat(text, " ")
local changed, times = text:gsub("([aeiou])(%w*)", function(a, b) return a:upper() .. b:reverse() end)
print("text", times, digest(changed))

local generators = {}
for k = 1, 200 do
  generators[k] = coroutine.wrap(function()
    local mine = {}
    while true do
      mine[#mine + 1] = ("x"):rep(#mine % 60)
      coroutine.yield(#table.concat(mine) + k)
      if #mine > 100 then mine = {} end
    end
  end)
end
local total = 0
for i = 1, size do total = total + generators[i % 200 + 1]() end
print("coroutines", total)

for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  local weak, kept, ended = setmetatable({}, { __mode = "v" }), {}, 0
  for i = 1, size do
    local object = setmetatable({ i, word(i) }, { __gc = function() ended = ended + 1 end })
    weak[i] = object
    if i % 10 == 0 then kept[#kept + 1] = object end
    if i % 1000 == 0 then kept[i // 1000] = { ("y"):rep(i % 5000) } end
  end
  collectgarbage()
  collectgarbage()
  local alive = 0
  for _ in pairs(weak) do alive = alive + 1 end
  print(mode, alive, ended, #kept)
end

for round = 1, 200 do
  local ok, err = pcall(function()
    local deep = {}
    for i = 1, 100 do deep = { deep, ("z"):rep(i) } end
    error({ round = round, deep = deep })
  end)
  if ok or err.round ~= round then print("an error was lost") end
end
print("refused", pcall(string.rep, "x", 1 << 46))
print("done")
