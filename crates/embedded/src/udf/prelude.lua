-- What scripts find, made of what Lua and the cluster offer. Arguments: whether the time is up, and the log.
local is_late, log = ...
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
