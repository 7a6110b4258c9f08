-- Streams of aggregations: `stream : filter(f) : map(f) : aggregate(init, f) : reduce(f)`.
--
-- A stream only takes note of its operations: each is one more of the same stream, whatever the script does with what it
-- gives. The server's part of them is run by `run`: all up to the first reduce, that one included; what stands behind it
-- is for the client, which combines what the nodes have answered.
local Stream = {}
Stream.__index = Stream
local list, map, insert = list, map, table.insert

local function with(stream, kind, f, init)
  insert(stream.ops, { kind = kind, f = f, init = init })
  return stream
end

function Stream:filter(f) return with(self, "filter", f) end
function Stream:map(f) return with(self, "map", f) end
function Stream:aggregate(init, f) return with(self, "aggregate", f, init) end
function Stream:reduce(f) return with(self, "reduce", f) end

-- Each of these makes a source of values of another one. A source answers nil when it has no more.
local function filtered(source, f)
  return function()
    while true do
      local value = source()
      if value == nil then return nil end
      if f(value) then return value end
    end
  end
end

-- Folds everything into one value. A reduction begins with the first value, an aggregation with one given.
local function folded(source, f, value)
  local done = false
  return function()
    if done then return nil end
    done = true
    if value == nil then value = source() end
    for next_value in source do
      value = f(value, next_value)
    end
    return value
  end
end

-- Errors of the server name the line of this call, so it stays on line 50 (golden scenario `query/by-hand`, bad_stream).
local function mapped(source, f)
  -- A record for which the function has no value ends the stream, as nil always does.
  return function()
    local value = source()
    if value ~= nil then return f(value) end
  end
end

-- A map of lists: the values for which the function gives the same.
function Stream:groupby(f)
  local function add(groups, value)
    local group = f and f(value) or nil
    local members = groups[group] or list()
    list.append(members, value)
    groups[group] = members
    return groups
  end
  local function join(one, other)
    return map.merge(one, other, list.merge)
  end
  return self:aggregate(map(), add):reduce(join)
end

-- Runs the function of a module over `read`, and hands what comes out to `write`.
return function(stream_function, read, write, ...)
  local stream = stream_function(setmetatable({ ops = {} }, Stream), ...)
  if getmetatable(stream) ~= Stream then error("the function does not return a stream", 0) end
  local source = read
  for _, op in ipairs(stream.ops) do
    if op.kind == "filter" then
      source = filtered(source, op.f)
    elseif op.kind == "map" then
      source = mapped(source, op.f)
    elseif op.kind == "aggregate" then
      source = folded(source, op.f, op.init)
    else
      source = folded(source, op.f)
      break
    end
  end
  for value in source do write(value) end
end
