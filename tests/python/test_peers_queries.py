"""The requests of queries beside those of aerospike-native: the same header, fields and operations, as a node that
keeps what it is sent has received them. Skipped where that client is not installed (see test_peers.py).
"""

import contextlib
import itertools
import json
import os
import queue
import socket
import struct
import threading

import pytest

from aerolane import native

os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")
peer = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
QUERY_ID, INDEX_RANGE = 7, 22
POINT = '{"type": "Point", "coordinates": [1, 2]}'
# The last message of an answer, with code 0.
DONE = bytes((2, 3, 0, 0, 0, 0, 0, 22)) + bytes((22, 0, 0, 1)) + bytes(18)


class Node:
    """A server that answers information requests well enough to be taken for a node, keeps every message that it is
    sent, and answers it with success."""

    def __init__(self):
        self.requests = queue.Queue()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = self._listener.getsockname()[1]
        self.seeds = f"127.0.0.1:{self._port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream):
        with contextlib.suppress(OSError, EOFError), stream, stream.makefile("rb") as file:
            while True:
                head = file.read(8)
                if len(head) < 8:
                    return
                body = file.read(int.from_bytes(head[2:], "big"))
                if head[1] == 1:
                    text = self._info(body.decode()).encode()
                    stream.sendall(bytes((2, 1)) + len(text).to_bytes(6, "big") + text)
                else:
                    self.requests.put(body)
                    stream.sendall(DONE)

    def _info(self, commands):
        answers = {
            "node": "A1",
            "cluster-name": "null",
            "build": "8.1.2.0",
            # One replica, all 4096 partitions: 512 bytes of ones in base 64.
            "replicas": f"test:0,1,{'/' * 682}8=",
        }
        lines = []
        for command in commands.splitlines():
            if command.endswith("-generation"):
                answer = "1"
            elif command.startswith("service-"):
                answer = self.seeds
            elif command.startswith("peers-"):
                answer = "1,3000,[]"
            else:
                answer = answers.get(command, "ok")
            lines.append(f"{command}\t{answer}\n")
        return "".join(lines)

    def close(self):
        self._listener.close()


def taken_apart(message):
    """The header without its counts, the fields as pairs in the order of their kinds (the number of the query left
    out), and the operations' bytes."""
    fields, at = [], 22
    for _ in range(int.from_bytes(message[18:20], "big")):
        size, kind = struct.unpack_from(">IB", message, at)
        fields.append((kind, b"" if kind == QUERY_ID else message[at + 5 : at + 4 + size]))
        at += 4 + size
    return message[:18].hex(), sorted(fields), message[20:22] + message[at:]


@pytest.fixture(scope="module")
def sides():
    """The two modules, each with a client of its own that is connected to a node of its own."""
    with contextlib.ExitStack() as stack:
        found = []
        for m in (peer, native):
            node = Node()
            stack.callback(node.close)
            client = m.new_client_blocking(m.ClientPolicy(), node.seeds)
            stack.callback(client.close_blocking)
            found.append((m, client, node))
        yield found


def compared(sides, call):
    """Both clients carry out `call(module, client)`; their one request is the same."""
    seen = []
    for m, client, node in sides:
        while not node.requests.empty():
            node.requests.get()
        call(m, client)
        seen.append(taken_apart(node.requests.get(timeout=10)))
        assert node.requests.empty()
    theirs, ours = seen
    assert ours == theirs
    return ours


def statement_of(m, bins=None, filters=None):
    statement = m.Statement("test", "people", bins)
    statement.filters = filters
    return statement


REGION = '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}'
POINT = '{"type":"Point","coordinates":[0.5,0.25]}'
FILTERS = {
    "equal": lambda f, c: f.equal("n", 5),
    "equal, text": lambda f, c: f.equal("s", "text"),
    "equal, negative": lambda f, c: f.equal("n", -(2**63)),
    "equal_by_index": lambda f, c: f.equal_by_index("idx", 5),
    "range": lambda f, c: f.range("n", -3, 2**40),
    "range_by_index": lambda f, c: f.range_by_index("idx", -3, 2**40),
    "contains": lambda f, c: f.contains("l", 7, c),
    "contains, text": lambda f, c: f.contains("l", "seven", c),
    "contains_by_index": lambda f, c: f.contains_by_index("idx", 7, c),
    "contains_range": lambda f, c: f.contains_range("l", 1, 9, c),
    "contains_range_by_index": lambda f, c: f.contains_range_by_index("idx", 1, 9, c),
    "within_region": lambda f, c: f.within_region("g", REGION, c),
    "within_region_by_index": lambda f, c: f.within_region_by_index("idx", REGION, c),
    "within_radius": lambda f, c: f.within_radius("g", 0.5, 0.25, 1000.0, c),
    "within_radius_by_index": lambda f, c: f.within_radius_by_index("idx", 0.5, 0.25, 1000.0, c),
    "regions_containing_point": lambda f, c: f.regions_containing_point("g", POINT, c),
    "regions_containing_point_by_index": lambda f, c: f.regions_containing_point_by_index("idx", POINT, c),
}
COLLECTIONS = ("DEFAULT", "LIST", "MAP_KEYS", "MAP_VALUES")


def test_each_filter_is_here():
    names = {name for name in dir(peer.Filter) if not name.startswith("_")} - {"context", "expression"}
    assert {name.partition(",")[0] for name in FILTERS} == names


@pytest.mark.parametrize("name", FILTERS)
def test_filters(sides, name):
    def query(m, client, collection, extra):
        made = FILTERS[name](m.Filter, getattr(m.CollectionIndexType, collection))
        statement = statement_of(m, filters=[extra(m, made)])
        assert list(client.query_blocking(statement, m.PartitionFilter.all())) == []

    def in_context(m, made):
        return made.context([m.CTX.map_key("a"), m.CTX.list_index(-1)])

    def of_expression(m, made):
        return made.expression(
            m.FilterExpression.num_add([m.FilterExpression.int_bin("a"), m.FilterExpression.int_val(1)])
        )

    for collection, extra in itertools.product(COLLECTIONS, (lambda m, made: made, in_context, of_expression)):
        _, fields, _ = compared(sides, lambda m, client, c=collection, e=extra: query(m, client, c, e))
        assert INDEX_RANGE in dict(fields)


POLICIES = {
    "as they are": {},
    "records per second": {"records_per_second": 7},
    "most records": {"max_records": 9},
    "without bins": {"include_bin_data": False},
    "timeouts": {"total_timeout": 50_000, "socket_timeout": 7000},
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("bins", [None, [], ["a", "bin"]])
def test_scans(sides, name, bins):
    def scan(m, client):
        policy = m.QueryPolicy()
        for field, value in POLICIES[name].items():
            setattr(policy, field, value)
        policy.filter_expression = m.FilterExpression.gt(m.FilterExpression.int_bin("a"), m.FilterExpression.int_val(3))
        assert list(client.query_blocking(statement_of(m, bins), m.PartitionFilter.all(), policy=policy)) == []

    compared(sides, scan)


@pytest.mark.parametrize("duration", ["LONG", "SHORT", "LONG_RELAX_AP"])
@pytest.mark.parametrize("places", ["all", "by_id", "by_range", "by_key"])
def test_partitions(sides, duration, places):
    def scan(m, client):
        policy = m.QueryPolicy()
        policy.expected_duration = getattr(m.QueryDuration, duration)
        filters = m.PartitionFilter
        made = {
            "all": filters.all,
            "by_id": lambda: filters.by_id(77),
            "by_range": lambda: filters.by_range(1000, 50),
            "by_key": lambda: filters.by_key(m.Key("test", "people", 5)),
        }[places]()
        assert list(client.query_blocking(statement_of(m), made, policy=policy)) == []

    compared(sides, scan)


def test_a_filter_is_left_as_it_is(sides):
    """However far a query has come: that tells the filter of its records."""
    made = {m: m.PartitionFilter.by_range(1000, 50) for m, *_ in sides}

    def scan(m, client):
        records = client.query_blocking(statement_of(m), made[m])
        assert list(records) == []
        assert not made[m].done() and records.partition_filter_sync().done()

    for _ in range(2):
        compared(sides, scan)


@pytest.mark.parametrize("name", ["within_region", "regions_containing_point"])
def test_regions_from_dicts(sides, name):
    ring = [[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [0.5, 0.5]]
    shape = {"type": "Polygon", "coordinates": [ring]} if name == "within_region" else json.loads(POINT)

    def scan(m, client):
        region = getattr(m.Filter, name)("p", m.GeoJSON(shape).value, None)
        assert list(client.query_blocking(statement_of(m, filters=[region]), m.PartitionFilter.all())) == []

    compared(sides, scan)
    make = getattr(native.Filter, name)
    assert make("p", shape) == make("p", json.dumps(shape)) == make("p", native.GeoJSON(shape))
    assert "Point" in repr(make("p", POINT)) and "x" in repr(make("p", "x"))
    for wrong in (5, None, [1, 2], b"{}"):
        with pytest.raises(TypeError):
            make("p", wrong)


def operations(m):
    return [
        m.Operation.put("a", 1),
        m.Operation.add("b", 2),
        m.ListOperation.append("l", "x", m.ListPolicy()),
        m.MapOperation.remove_by_key("m", "k", m.MapReturnType.NONE),
    ]


def test_background_operations(sides):
    def run(m, client):
        policy = m.WritePolicy()
        policy.filter_expression = m.FilterExpression.bool_bin("go")
        client.query_operate_blocking(statement_of(m), operations(m), write_policy=policy)

    compared(sides, run)


def test_background_functions(sides):
    def run(m, client):
        statement = statement_of(m, filters=[m.Filter.range("n", 1, 5)])
        client.query_execute_udf_blocking(statement, "module", "function", [1, "two", [3.5, None], {"k": True}])

    compared(sides, run)


def test_results_in_place_of_bins(sides):
    def run(m, client):
        statement = statement_of(m)
        statement.set_operations([m.Operation.get_bin("a"), m.ListOperation.size("l")])
        assert list(client.query_blocking(statement, m.PartitionFilter.all())) == []

    compared(sides, run)


def test_streams_of_functions(sides):
    def run(m, client):
        statement = statement_of(m)
        statement.set_aggregate_function("module", "function", [1, "x"])
        assert list(client.query_blocking(statement, m.PartitionFilter.all())) == []

    compared(sides, run)
