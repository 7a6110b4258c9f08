"""What the checks of other clients have in common."""

import contextlib
import json
import subprocess
import tempfile
import time
import traceback
from pathlib import Path

NS = "test"
N = 500
TLS_NAME = "nodes.example"

MODULE = """
function add(rec, name, by)
  rec[name] = (rec[name] or 0) + by
  if aerospike:exists(rec) then aerospike:update(rec) else aerospike:create(rec) end
  return rec[name]
end
function fail(rec) error("on purpose") end
local function value(rec) return rec.i end
local function plus(a, b) return a + b end
function total(stream) return stream : map(value) : reduce(plus) end
"""


class Log:
    """Collects what a peer did, one line per step."""

    def __init__(self, peer):
        self.peer = peer
        self.failed = 0

    def step(self, name, run):
        try:
            result = run()
        except Exception as error:  # every failure of a step is told, and the next one is tried
            self.failed += 1
            print(f"  FAIL {name}: {type(error).__name__}: {error}")
            traceback.print_exc(limit=3)
            return None
        print(f"  ok   {name}" + (f" ({result})" if result is not None else ""))
        return result


def check(condition, text="unexpected result"):
    if not condition:
        raise AssertionError(text)


@contextlib.contextmanager
def module_file():
    """The path of a file that has `MODULE` in it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "peer.lua")
        path.write_text(MODULE)
        yield str(path)


def until(condition, seconds=30):
    """Waits for what goes on in the background."""
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, "it takes too long")
        time.sleep(0.01)


def hosts(seeds):
    return [(host, int(port)) for host, port in (seed.rsplit(":", 1) for seed in seeds.split(","))]


def start(binary, *more):
    """Starts a cluster that ends with this process; answers it and what it said about itself."""
    command = [binary, "--nodes", "3", "--port", "0", "--json", "--stdin", *more]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"{binary} did not start")
    return process, json.loads(line)
