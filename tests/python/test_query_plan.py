"""Queries by plan: a server says which index serves a condition, the query is carried out by it.

Servers do that from 8.2 on. No such server is at hand: a proxy in front of an embedded node says that it is one, and
answers the question for a plan; the query itself is the embedded node's, which does not look at the condition.
"""

import contextlib
import socket
import struct
import threading

import pytest

import aerolane
from aerolane import native
from aerolane.native import QuerySelection, QueryWhereFlags, ResultCode

SET = "people"
NAMESPACE_FIELD, SET_FIELD, INDEX_NAME, INDEX_RANGE, INDEX_TYPE, FILTER, WHERE = 0, 1, 21, 22, 26, 43, 44
AEL = "$.age > 17 and $.age <= 30"


def integers(name, begin, end):
    """A range of integers, as a server answers with it and as clients send it."""
    bound = struct.Struct(">Iq").pack
    return bytes([1, len(name)]) + name + bytes([1]) + bound(8, begin) + bound(8, end)


def message(result_code=0, fields=()):
    body = struct.pack(">B4xB12xHH", 22, result_code, len(fields), 0)
    for kind, value in fields:
        body += struct.pack(">IB", len(value) + 1, kind) + value
    return struct.pack(">Q", 2 << 56 | 3 << 48 | len(body)) + body


class NewServer:
    """A server of version 8.2, as far as plans go."""

    def __init__(self, host, port):
        self.node = (host, port)
        self.asked = []  # The fields of requests that have a condition.
        self.answer = message()  # To the question for a plan.
        self.listener = socket.create_server((host, 0))
        self.port = self.listener.getsockname()[1]
        assert len(str(self.port)) == len(str(port)), "ports of answers are replaced in place"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                node = socket.create_connection(self.node)
            except OSError:  # The cluster has ended; the client goes on asking for it.
                client.close()
                continue
            for pump in (self.to_node, self.to_client):
                threading.Thread(target=self.until_closed, args=(pump, client, node), daemon=True).start()

    @staticmethod
    def until_closed(pump, client, node):
        with contextlib.suppress(OSError):
            pump(client, node)
        for end in (client, node):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    @staticmethod
    def frames(source):
        def exactly(size):
            data = b""
            while len(data) < size:
                part = source.recv(size - len(data))
                if not part:
                    raise OSError("closed")
                data += part
            return data

        while True:
            head = exactly(8)
            kind, size = head[1], int.from_bytes(head[2:], "big")
            yield head, kind, exactly(size)

    def to_node(self, client, node):
        for head, kind, body in self.frames(client):
            fields, at = {}, 22
            if kind == 3:
                for _ in range(int.from_bytes(body[18:20], "big")):
                    size = int.from_bytes(body[at : at + 4], "big")
                    fields[body[at + 4]] = body[at + 5 : at + 4 + size]
                    at += 4 + size
            if WHERE in fields:
                self.asked.append(fields)
                if fields[WHERE][0] & QueryWhereFlags.EXPLAIN:
                    client.sendall(self.answer)
                    continue
            node.sendall(head + body)

    def to_client(self, client, node):
        for head, kind, body in self.frames(node):
            if kind == 1:
                body = body.replace(b"8.1.2.0", b"8.2.0.0").replace(b"%d" % self.node[1], b"%d" % self.port)
            client.sendall(head + body)


@pytest.fixture
def server(new_cluster, connect):
    """Ages 0 to 49 behind an index, and the server that plans."""
    cluster = new_cluster(nodes=1)
    behind = connect(cluster.seeds)
    for n in range(50):
        behind.put_blocking(native.Key("test", SET, n), {"age": n, "name": f"n{n}"})
    index = behind.create_index_blocking("test", SET, "age", "by_age", native.IndexType.NUMERIC)
    index.wait_till_complete_blocking(0.01)
    server = NewServer(cluster.nodes[0].host, cluster.nodes[0].port)
    yield server
    server.listener.close()


@pytest.fixture
def planner(server, connect):
    client = connect(f"127.0.0.1:{server.port}")
    assert client.nodes()[0].version.supports_query_selection()
    return client


def by_index(server):
    server.answer = message(fields=[(INDEX_NAME, b"by_age"), (INDEX_RANGE, integers(b"age", 18, 30))])


def ages(records):
    return sorted(record.bins["age"] for record in records)


def test_servers_before_8_2_are_not_asked(client, set_name):
    old = [node.version for node in client.nodes() if not node.version.supports_query_selection()]
    if not old:
        pytest.skip("a server that plans")
    with pytest.raises(aerolane.AerospikeError, match=r"8\.2.*" + str(old[0]).replace(".", r"\.")) as caught:
        client.query_explain_blocking("test", AEL, set_name=set_name)
    assert caught.value.result_code == ResultCode.UNSUPPORTED_FEATURE
    assert not caught.value.in_doubt


async def test_servers_before_8_2_are_not_asked_async(new_cluster, connect):
    cluster = new_cluster(nodes=2)
    client = connect(cluster.seeds)
    with cluster.inject("stall", on="query") as fault:
        with pytest.raises(aerolane.AerospikeError) as caught:
            await client.query_explain("test", AEL)
        assert fault.struck == 0
    assert caught.value.result_code == ResultCode.UNSUPPORTED_FEATURE


def test_by_a_secondary_index(server, planner):
    by_index(server)
    plan = planner.query_explain_blocking("test", AEL, set_name=SET, index_name_hint="by_age")
    assert isinstance(plan, native.QueryPlan)
    assert (plan.namespace, plan.set_name, plan.ael) == ("test", SET, AEL)
    assert plan.selection is QuerySelection.SECONDARY_INDEX
    assert (plan.is_primary_index, plan.is_secondary_index, plan.is_filtered_out) == (False, True, False)
    assert (plan.index_name, plan.index_type) == ("by_age", native.CollectionIndexType.DEFAULT)
    assert plan.index_range_bytes == integers(b"age", 18, 30)
    assert plan.where_flags == QueryWhereFlags.EXPLAIN
    assert plan.filter_for_execute() == native.Filter.range_by_index("by_age", 18, 30)
    assert "by_age" in repr(plan) and AEL in repr(plan)
    (asked,) = server.asked
    assert asked[WHERE] == b"\x02" + AEL.encode() and asked[INDEX_NAME] == b"by_age"
    assert (asked[NAMESPACE_FIELD], asked[SET_FIELD]) == (b"test", SET.encode())

    statement = native.Statement("test", SET, ["age"])
    for _ in range(2):  # A plan can be used again.
        assert ages(planner.query_with_plan_blocking(statement, native.PartitionFilter(), plan)) == list(range(18, 31))
    sent = server.asked[-1]
    assert sent[WHERE] == b"\x00" + AEL.encode()
    assert (sent[INDEX_NAME], sent[INDEX_RANGE]) == (b"by_age", integers(b"", 18, 30))
    assert INDEX_TYPE not in sent and FILTER not in sent


async def test_pages_of_a_plan(server, planner):
    by_index(server)
    plan = await planner.query_explain("test", AEL, set_name=SET)
    statement, partitions = native.Statement("test", SET), native.PartitionFilter()
    found, policy = [], native.QueryPolicy(max_records=4)
    while not partitions.done():
        records = await planner.query_with_plan(statement, partitions, plan, policy=policy)
        found += [record.bins["age"] async for record in records]
        partitions = await records.partition_filter()
    assert sorted(found) == list(range(18, 31))


def test_by_the_primary_index_and_with_operations(server, planner):
    plan = planner.query_explain_blocking("test", "$.name == 'n1'", set_name=SET)
    assert plan.selection is QuerySelection.PRIMARY_INDEX and plan.is_primary_index
    assert (plan.index_name, plan.index_range_bytes, plan.filter_for_execute()) == (None, None, None)
    assert INDEX_NAME not in server.asked[0]
    statement = native.Statement("test", SET)
    statement.set_operations([native.Operation.get_bin("age")])
    records = list(planner.query_with_plan_blocking(statement, None, plan))
    assert ages(records) == list(range(50)), "the embedded node does not look at the condition"
    assert server.asked[-1][WHERE] == b"\x00$.name == 'n1'"


def test_collections(server, planner):
    fields = [(INDEX_NAME, b"i"), (INDEX_TYPE, b"\x02"), (INDEX_RANGE, integers(b"m", 1, 1))]
    server.answer = message(fields=fields)
    plan = planner.query_explain_blocking("test", AEL)
    assert plan.set_name is None and plan.index_type is native.CollectionIndexType.MAP_KEYS
    with pytest.raises(aerolane.IndexNotFoundError):
        list(planner.query_with_plan_blocking(native.Statement("test"), None, plan))
    assert server.asked[-1][INDEX_TYPE] == b"\x02" and SET_FIELD not in server.asked[-1]


def test_no_record_can_match(server, planner):
    server.answer = message(ResultCode.FILTERED_OUT)
    plan = planner.query_explain_blocking("test", AEL, set_name=SET)
    assert plan.selection is QuerySelection.FILTERED_OUT and plan.is_filtered_out
    with pytest.raises(aerolane.FilteredOutError):
        planner.query_with_plan_blocking(native.Statement("test", SET), None, plan)
    assert len(server.asked) == 1, "only the question for the plan was sent"


def test_flags(server, planner):
    flags = QueryWhereFlags.EXPLAIN | QueryWhereFlags.REQUIRE_INDEX
    plan = planner.query_explain_blocking("test", AEL, explain_where_flags=flags)
    assert plan.where_flags == flags and server.asked[0][WHERE][0] == flags
    hard = QueryWhereFlags.EXPLAIN | QueryWhereFlags.HARD_HINT
    for bad in [
        {"explain_where_flags": hard},
        {"explain_where_flags": QueryWhereFlags.REQUIRE_INDEX},
        {"explain_where_flags": QueryWhereFlags.EXPLAIN | QueryWhereFlags.ENC_VARINT},
        {"explain_where_flags": 2 + 16},
        {"explain_where_flags": 2 + 256},
        {"index_name_hint": "i" * 256},
        {"set_name": "s" * 64},
    ]:
        with pytest.raises(aerolane.InvalidArgumentError):
            planner.query_explain_blocking("test", AEL, **bad)
    for namespace, ael in [("", AEL), ("test", ""), ("test", "  ")]:
        with pytest.raises(ValueError):
            planner.query_explain_blocking(namespace, ael)
    assert len(server.asked) == 1
    assert (
        planner.query_explain_blocking("test", AEL, index_name_hint="i", explain_where_flags=hard).where_flags == hard
    )


def test_what_the_server_refuses(server, planner):
    policy = native.QueryPolicy(max_retries=0)
    server.answer = message(ResultCode.PARAMETER_ERROR)
    with pytest.raises(aerolane.AerospikeError) as caught:
        planner.query_explain_blocking("test", "$.age >", policy=policy)
    assert caught.value.result_code == ResultCode.PARAMETER_ERROR
    for fields in [
        [(INDEX_NAME, b"by_age")],
        [(INDEX_RANGE, integers(b"age", 1, 2))],
        [(INDEX_NAME, b"by_age"), (INDEX_RANGE, b"\x02\x00\x01")],
        [(INDEX_NAME, b"by_age"), (INDEX_RANGE, b"\x01\x09age")],
    ]:
        server.answer = message(fields=fields)
        with pytest.raises(aerolane.AerospikeError):
            planner.query_explain_blocking("test", AEL, policy=policy)


def test_what_does_not_go_with_a_plan(server, planner):
    by_index(server)
    plan = planner.query_explain_blocking("test", AEL, set_name=SET)
    filtered = native.Statement("test", SET)
    filtered.filters = [native.Filter.equal("age", 1)]
    for statement in [
        native.Statement("test", "others"),
        native.Statement("test"),
        native.Statement("t", SET),
        filtered,
    ]:
        with pytest.raises(ValueError, match="plan"):
            planner.query_with_plan_blocking(statement, None, plan)
    policy = native.QueryPolicy(filter_expression=native.FilterExpression.bool_val(True))
    with pytest.raises(ValueError, match="filter expression"):
        planner.query_with_plan_blocking(native.Statement("test", SET), None, plan, policy=policy)
    with pytest.raises(TypeError):
        planner.query_with_plan_blocking(native.Statement("test", SET), None, "plan")
    assert len(server.asked) == 1
