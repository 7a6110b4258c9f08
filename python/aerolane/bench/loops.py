"""The hot loops.

The loop of a run is made as source text from one template, for all clients: the client gives its calls as expressions
(`clients.calls`), the run says which branches there are. So every client gets the same loop, without a wrapper, a
branch or a look-up that it does not need. `--print-loop` shows it.

What a loop does per operation: draw, build the key and the bins, call, count. One operation in `sample_every` is
timed, from before the draw until the answer is there, or with a rate, from when it was due. Counters are cells of one
list per worker, which the conductor reads while the worker runs.
"""

import importlib
import linecache
from collections.abc import Callable
from textwrap import indent
from typing import Any

from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.measure import MISSED, READS, WRITES
from aerolane.bench.spec import RunSpec
from aerolane.bench.workload import Workload

PARAMETERS = (
    "below",
    "stop",
    "cell",
    "failed",
    "clock",
    "nap",
    "note_read",
    "note_write",
    "namespace",
    "set_name",
    "keys",
    "first_id",
    "stride",
    "untimed",
    "untimed_later",
    "take",
    "wait",
    "prebuilt",
    "not_found",
)
FILE = "<aerolane.bench loop>"


def build(spec: RunSpec, asynchronous: bool, calls: Calls, loading: bool = False) -> Callable[..., Any]:
    """The worker function (or coroutine function) of a run. Raises `Unsupported` if the client lacks a call."""
    text, constants = source(spec, asynchronous, calls, loading)
    # So that tracebacks show its lines.
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    module: dict[str, Any] = {}
    exec(compile(text, FILE, "exec"), module)  # its parts come from this package only, never from the command line
    bound = {**constants, **calls.names, "not_found": calls.not_found}
    if spec.as_numpy:
        bound["dtype"] = _dtype(spec)
    work: Callable[..., Any] = module["work"]

    def worker(**arguments: object) -> Any:
        return work(**bound, **arguments)

    return worker


def source(spec: RunSpec, asynchronous: bool, calls: Calls, loading: bool = False) -> tuple[str, dict[str, object]]:
    """The text of the worker function, and the constants that it takes beside `PARAMETERS`."""
    bins, constants = spec.payload().source()
    parameters = ", ".join((*PARAMETERS, *constants, *calls.names, *["dtype"] * spec.as_numpy))
    text = f"{'async ' if asynchronous else ''}def work(*, {parameters}):\n"
    text += "    reads = writes = missed = 0\n    kid = first_id - stride\n"
    if loading:
        body = _persistent(_write(_need(calls.write, "write"), _key(spec, calls, loading), bins, 1, ""), asynchronous)
        return text + "    for kid in range(first_id, keys, stride):\n" + indent(body, " " * 8), constants
    timed = _guarded(_operation(spec, calls, bins, True), asynchronous)
    plain = _guarded(_operation(spec, calls, bins, False), asynchronous)
    if spec.rate:
        take = f"began = take(){' or await wait()' * asynchronous}\nif not began:\n    break\n"
        timed, plain = take + timed, take + plain
        text += "    while True:\n"
    else:
        timed, plain = "began = clock()\n" + timed, "if stop:\n    break\n" + plain
        text += "    while not stop:\n"
    if spec.sample_every > 1 and not spec.parsed_workload().queries:
        # The first stretch is shorter, by another length for each worker, so that they do not all time at once.
        text += "        for _ in untimed:\n" + indent(plain, " " * 12) + "        untimed = untimed_later\n"
    text += indent(timed, " " * 8)
    return text, constants


def _dtype(spec: RunSpec) -> Any:
    try:
        numpy = importlib.import_module("numpy")
    except ModuleNotFoundError:
        raise Unsupported("numpy is not installed (pip install numpy)") from None
    return numpy.dtype(spec.payload().fields())


def _guarded(operation: str, asynchronous: bool) -> str:
    # A client that fails without waiting must not keep the loop from everything else.
    rest = "    await nap(0)\n" if asynchronous else ""
    return (
        f"try:\n{indent(operation, '    ')}"
        f"except not_found:\n    reads += 1\n    cell[{READS}] = reads\n    missed += 1\n    cell[{MISSED}] = missed\n"
        f"except Exception as error:\n    failed(error)\n{rest}"
    )


# Tries per record of a load.
LOAD_TRIES = 5


def _persistent(operation: str, asynchronous: bool) -> str:
    # A machine or a cluster that stands still for a moment must not end a load.
    nap = f"{'await ' * asynchronous}nap(0.05 * 2**tries)"
    return (
        f"for tries in range({LOAD_TRIES}):\n    try:\n{indent(operation, ' ' * 8)}        break\n"
        f"    except Exception as error:\n        if tries == {LOAD_TRIES - 1}:\n            failed(error)\n"
        f"        else:\n            {nap}\n"
    )


def _key(spec: RunSpec, calls: Calls, loading: bool = False) -> str:
    return "prebuilt[kid]" if spec.prebuilt_keys and not loading else calls.key


def _operation(spec: RunSpec, calls: Calls, bins: str, timed: bool) -> str:
    workload = spec.parsed_workload()
    note_read = "note_read(began)\nnote_read(clock())\n" if timed else ""
    note_write = "note_write(began)\nnote_write(clock())\n" if timed else ""
    key = _key(spec, calls)
    if spec.batch > 1:
        if workload.kind not in ("RU", "I"):
            raise Unsupported(f"batches go with the workloads RU and I, not with {workload.kind}")
        return _batch(spec, workload, calls, bins, key, note_read, note_write)
    if workload.kind == "I":
        return _next_id() + _write(calls.write, key, bins, 1, note_write)
    if workload.queries:
        return _query(spec, calls, note_read)
    draw = "kid = below(keys)\n"
    if workload.kind == "LG":
        call = _need(calls.list_get, "operate with list operations")
        return draw + _read(spec, call, key, 1, note_read, calls.touch)
    if workload.reads_then_writes:
        change = {"RMU": None, "RMI": "1", "RMD": "-1"}[workload.kind]
        first_bin, _ = spec.payload().source(only_first=True)
        write = calls.write if change is None else _need(calls.add, "increment").replace("{amount}", change)
        read = _read(spec, calls.read, "key", 1, "", calls.touch)
        return draw + f"key = {key}\n" + read + note_read + _write(write, "key", first_bin, 1, note_write)
    read = _read(spec, calls.read, key, 1, note_read, calls.touch)
    if workload.read_all_pct < 100:
        one = _read(spec, _need(calls.read_first_bin, "read of single bins"), key, 1, note_read, calls.touch)
        read = _choose(workload.read_all_pct, read, one)
    if workload.kind == "RR":
        write = _write(_need(calls.replace, "replace"), key, bins, 1, note_write)
    else:
        write = _write(calls.write, key, bins, 1, note_write)
        if workload.write_all_pct < 100:
            first_bin, _ = spec.payload().source(only_first=True)
            write = _choose(workload.write_all_pct, write, _write(calls.write, key, first_bin, 1, note_write))
    return draw + _choose(workload.read_pct, read, write)


def _batch(
    spec: RunSpec, workload: Workload, calls: Calls, bins: str, key: str, note_read: str, note_write: str
) -> str:
    if workload.kind == "I":
        draw = f"ids = []\nfor _ in range({spec.batch}):\n{indent(_next_id(), '    ')}    ids.append(kid)\n"
    else:
        draw = f"ids = [below(keys) for _ in range({spec.batch})]\n"
    keys, rows = f"[{key} for kid in ids]", f"[{bins} for kid in ids]"
    read = write = ""
    if workload.read_pct > 0:
        if spec.as_numpy:
            call, touch = _need(calls.read_many_numpy, "batch read as numpy arrays"), "record"
        else:
            call, touch = _need(calls.read_many, "batch read"), calls.touch_many
        read = _read(spec, call.replace("{keys}", keys), key, spec.batch, note_read, touch)
    if workload.read_pct < 100:
        call = _need(calls.write_many, "batch write").replace("{keys}", keys).replace("{rows}", rows)
        write = _write(call, key, bins, spec.batch, note_write)
    return draw + _choose(workload.read_pct, read, write)


# The counter that the conductor reads is kept up to date once in so many records: more often would cost as much as a
# record does. A power of two.
TOLD = 4096


def _query(spec: RunSpec, calls: Calls, note: str) -> str:
    if spec.as_numpy:
        call = _need(calls.query_numpy, "query as numpy arrays")
        return f"record = {call}\nreads += len(record)\ncell[{READS}] = reads\n{note}"
    look = f"    {calls.touch_each}\n" if spec.touch_bins else ""
    return (
        f"{_need(calls.each, 'query')}:\n{look}"
        f"    reads += 1\n    if not reads & {TOLD - 1}:\n        cell[{READS}] = reads\n"
        f"cell[{READS}] = reads\n{note}"
    )


def _need(call: str | None, what: str) -> str:
    if call is None:
        raise Unsupported(f"it has no {what}")
    return call


def _next_id() -> str:
    return "kid += stride\nif kid >= keys:\n    kid = first_id\n"


def _choose(percent: int, often: str, otherwise: str) -> str:
    if percent in (0, 100):
        return often if percent else otherwise
    return f"if below(100) < {percent}:\n{indent(often, '    ')}else:\n{indent(otherwise, '    ')}"


def _read(spec: RunSpec, call: str, key: str, records: int, note: str, touch: str) -> str:
    look = f"{touch}\n" if spec.touch_bins else ""
    return f"record = {call.replace('{key}', key)}\n{look}reads += {records}\ncell[{READS}] = reads\n{note}"


def _write(call: str, key: str, bins: str, records: int, note: str) -> str:
    call = call.replace("{key}", key).replace("{bins}", bins)
    return f"{call}\nwrites += {records}\ncell[{WRITES}] = writes\n{note}"
