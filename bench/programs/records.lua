-- What Lua is given to do: records are made in tables, strings are built, split and joined, most of
-- it is dropped. Call: records.lua SCALE_PERCENT. Prints sums that depend on every step and not on
-- the order of keys.

local scale = tonumber(arg[1]) or 100
local state = 42

local function below(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return (state >> 8) % limit
end

local function make_record(number)
  return {
    id = number,
    name = "record " .. number,
    tags = { "t" .. below(50), "t" .. below(50), "t" .. below(50) },
    score = below(1000) / 10,
    notes = string.rep("note " .. below(100) .. " ", below(8)),
  }
end

local function to_line(record)
  local tags = table.concat(record.tags, ",")
  return table.concat({ record.id, record.name, tags, record.score, record.notes }, ";")
end

local function from_line(line)
  local fields = {}
  for field in (line .. ";"):gmatch("([^;]*);") do
    fields[#fields + 1] = field
  end
  return fields
end

local records, index, sum = {}, {}, 0
for round = 1, 10 do
  for number = 1, 60 * scale do
    local record = make_record(number * round)
    local fields = from_line(to_line(record))
    sum = sum + #fields[5] + #fields
    records[below(4000) + 1] = record
    index[record.tags[1]] = (index[record.tags[1]] or 0) + 1
  end
  local kept = {}
  for slot = 1, 4001 do
    local record = records[slot]
    if record and record.id % 3 ~= 0 then
      kept[#kept + 1] = record
    end
  end
  table.sort(kept, function(a, b)
    if a.score ~= b.score then return a.score < b.score end
    return a.id < b.id
  end)
  records = kept
end

local tags = 0
for _, count in pairs(index) do tags = tags + count end
print(#records, sum, tags)
