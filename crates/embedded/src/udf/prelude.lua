-- What scripts find, made of what Lua and the cluster offer. Arguments: whether the time is up, the log, and patterns.
local is_late, log, patterns = ...
local error, rawget, select, string_format, tostring, type = error, rawget, select, string.format, tostring, type

-- A script that catches errors must not catch the end of its time.
local function passed(...)
  if is_late() then error("the script takes too long", 0) end
  return ...
end

local pcall0, xpcall0, resume0, load0, setmetatable0 = pcall, xpcall, coroutine.resume, load, setmetatable
function pcall(...) return passed(pcall0(...)) end
function xpcall(...) return passed(xpcall0(...)) end
function coroutine.resume(...) return passed(resume0(...)) end
-- Compiled code is not checked by Lua, so only text is loaded.
function load(chunk, name, _, ...) return load0(chunk, name, "t", ...) end
-- Finalizers run where no time limit can end them.
function setmetatable(t, mt)
  if type(mt) == "table" and rawget(mt, "__gc") ~= nil then error("finalizers are not supported", 2) end
  return setmetatable0(t, mt)
end
string.dump, dofile, loadfile = nil, nil, nil

-- Scripts tell lists from maps by their metatables: `getmetatable(v) == getmetatable(list())`.
local getmetatable0, class = getmetatable, aerolane_class
aerolane_class = nil
local metatables = {}
function getmetatable(v)
  local name = class and class(v)
  if not name then return getmetatable0(v) end
  metatables[name] = metatables[name] or {}
  return metatables[name]
end

-- Functions of Lua that can take very long, with nothing to interrupt them, have an end here.
local search, plain = patterns.search, patterns.plain
local byte, sub = string.byte, string.sub
local tointeger, tonumber, concat = math.tointeger, tonumber, table.concat

local function text(v, position, name)
  if type(v) == "string" then return v end
  if type(v) == "number" then return tostring(v) end
  error(string_format("bad argument #%d to '%s' (string expected, got %s)", position, name, v == nil and "no value" or type(v)), 3)
end

-- A place in a text of this size, from 1 on; negative ones count from the end.
local function place(at, size)
  if at == nil then return 1 end
  if at > 0 then return at end
  if at == 0 or at < -size then return 1 end
  return size + at + 1
end

local function sound(first, ...)
  if first == false then error((...), 3) end
  return first, ...
end

local function whole(s, first, last, ...)
  if first == nil then return nil end
  if select("#", ...) == 0 then return sub(s, first, last) end
  return ...
end

local function anchor(p)
  if byte(p, 1) == 94 then return sub(p, 2), true end
  return p, false
end

function string.find(s, p, init, is_plain)
  s, p = text(s, 1, "find"), text(p, 2, "find")
  local from = place(init, #s)
  if from > #s + 1 then return nil end
  if is_plain or plain(p, "%", 1) == nil and not search(p, "[%^%$%*%+%?%.%(%[%-]", 1, false) then
    local first, last = plain(s, p, from)
    if first == nil then return nil end
    return first, last
  end
  local bare, anchored = anchor(p)
  local function found(first, ...)
    if first == nil then return nil end
    return first, ...
  end
  return found(sound(search(s, bare, from, anchored)))
end

function string.match(s, p, init)
  s, p = text(s, 1, "match"), text(p, 2, "match")
  local from = place(init, #s)
  if from > #s + 1 then return nil end
  local bare, anchored = anchor(p)
  return whole(s, sound(search(s, bare, from, anchored)))
end

function string.gmatch(s, p, init)
  s, p = text(s, 1, "gmatch"), text(p, 2, "gmatch")
  local from, before = place(init, #s), nil
  return function()
    if from > #s + 1 then return nil end
    local function step(first, last, ...)
      if first == nil then
        from = #s + 2
        return nil
      end
      from, before = last + 1, last
      return whole(s, first, last, ...)
    end
    return step(sound(search(s, p, from, false, before)))
  end
end

-- What a replacement text says for a match.
local function filled(replacement, s, first, last, ...)
  local parts, from = {}, 1
  while true do
    local at = plain(replacement, "%", from)
    if at == nil then break end
    parts[#parts + 1] = sub(replacement, from, at - 1)
    local c = sub(replacement, at + 1, at + 1)
    if c == "%" then
      parts[#parts + 1] = "%"
    elseif c == "0" then
      parts[#parts + 1] = sub(s, first, last)
    elseif byte(c) and byte(c) >= 49 and byte(c) <= 57 then
      local n = byte(c) - 48
      local count = select("#", ...)
      if n == 1 and count == 0 then
        parts[#parts + 1] = sub(s, first, last)
      elseif n > count then
        error(string_format("invalid capture index %%%d", n), 4)
      else
        parts[#parts + 1] = tostring((select(n, ...)))
      end
    else
      error("invalid use of '%' in replacement string", 4)
    end
    from = at + 2
  end
  parts[#parts + 1] = sub(replacement, from)
  return concat(parts)
end

function string.gsub(s, p, with, most)
  s, p = text(s, 1, "gsub"), text(p, 2, "gsub")
  local kind = type(with)
  if kind == "number" then with, kind = tostring(with), "string" end
  if kind ~= "string" and kind ~= "table" and kind ~= "function" then
    error(string_format("bad argument #3 to 'gsub' (string/function/table expected, got %s)", with == nil and "nil" or kind), 2)
  end
  most = most or #s + 1
  local bare, anchored = anchor(p)
  local parts, count, from, before = {}, 0, 1, nil
  local function replaced(first, last, ...)
    if first == nil then return false end
    parts[#parts + 1] = sub(s, from, first - 1)
    local value
    if kind == "string" then
      value = filled(with, s, first, last, ...)
    elseif kind == "table" then
      value = with[(whole(s, first, last, ...))]
    else
      value = with(whole(s, first, last, ...))
    end
    if not value then
      value = sub(s, first, last)
    elseif type(value) ~= "string" and type(value) ~= "number" then
      error(string_format("invalid replacement value (a %s)", type(value)), 3)
    end
    parts[#parts + 1] = tostring(value)
    count, from, before = count + 1, last + 1, last
    return true
  end
  while count < most and from <= #s + 1 do
    if not replaced(sound(search(s, bare, from, anchored, before))) then break end
    if anchored then break end
  end
  parts[#parts + 1] = sub(s, from)
  return concat(parts), count
end

local rep0 = string.rep
function string.rep(s, n, separator)
  -- Nothing, times without number, is a loop of Lua's.
  if s == "" and (separator == nil or separator == "") then return "" end
  return rep0(s, n, separator)
end

-- No table of a script has more elements: they would not fit into its memory.
local most_elements = 4000000
local function bounded(first, last)
  local a, b = tointeger(tonumber(first) or 0), tointeger(tonumber(last) or 0)
  if a and b and a < b and (b - a > most_elements or b - a < 0) then error("too many elements", 3) end
end
local insert0, remove0, move0, concat0, sort0 = table.insert, table.remove, table.move, table.concat, table.sort
local function size(t) return type(t) == "table" and #t or 0 end
function table.insert(t, ...)
  bounded(0, size(t))
  return insert0(t, ...)
end
function table.remove(t, ...)
  bounded(0, size(t))
  return remove0(t, ...)
end
function table.move(a, f, e, ...)
  bounded(f, e)
  return move0(a, f, e, ...)
end
function table.concat(t, separator, i, j)
  bounded(i or 1, j or size(t))
  return concat0(t, separator, i or 1, j or size(t))
end
local function less(a, b) return a < b end
function table.sort(t, before)
  bounded(0, size(t))
  -- With a function of Lua there is always something to interrupt.
  return sort0(t, before or (size(t) > 100000 and less or nil))
end

local function logger(level)
  return function(text, ...)
    if select("#", ...) > 0 then text = string_format(text, ...) end
    log(level, tostring(text))
  end
end
trace, debug, info, warn = logger("trace"), logger("debug"), logger("info"), logger("warn")
function print(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  log("info", table.concat(parts, "\t"))
end
local levels = { [0] = "warn", "warn", "info", "debug", "trace" }
function aerospike:log(level, text) log(levels[level] or "info", tostring(text)) end
