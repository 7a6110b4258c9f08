#!/usr/bin/env python3
"""Runs the vendor's and the community's Python clients, unmodified, against the embedded cluster.

    pip install aerospike aerospike-native aerospike-py
    cargo build -p aerolane-embedded
    python tests/python/peers/check_peers.py [--binary target/debug/aerolane-embedded] [--seeds host:port,...]

Starts a 3-node cluster of its own unless --seeds names one. A peer that is not installed is skipped and said so; with
--require, that is a failure. Exit status 0: every installed peer did everything.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")

NS = "test"
N = 500

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


def hosts(seeds):
    return [(host, int(port)) for host, port in (seed.rsplit(":", 1) for seed in seeds.split(","))]


def c_client_values(client, log):
    """Bit, HLL and expression operations of the C client."""
    import aerospike
    from aerospike_helpers import cdt_ctx
    from aerospike_helpers import expressions as exp
    from aerospike_helpers.operations import bitwise_operations as bit
    from aerospike_helpers.operations import expression_operations as expop
    from aerospike_helpers.operations import hll_operations as hll
    from aerospike_helpers.operations import operations as op

    key = (NS, "peer_c_values", "k")

    def last(operations):
        """The answers of an ordered operate call: name and value of each."""
        return client.operate_ordered(key, operations)[2]

    def bits():
        client.put(key, {"b": bytes([0b00000001, 0b01000010, 0x03])})
        _, _, bins = client.operate(key, [bit.bit_get("b", 9, 5)])
        check(bins == {"b": bytes([0b10000000])}, f"{bins}")
        answers = last(
            [
                bit.bit_set("b", 0, 8, 1, b"\xf0"),
                bit.bit_add("b", 16, 8, 255, False, aerospike.BIT_OVERFLOW_WRAP),
                bit.bit_resize("b", 4),
                bit.bit_count("b", 0, 32),
                bit.bit_get_int("b", 16, 8, False),
                bit.bit_lscan("b", 8, 16, True),
                op.read("b"),
            ]
        )
        check([value for _, value in answers][-4:] == [7, 2, 1, bytes([0xF0, 0x42, 2, 0])], f"{answers}")
        try:
            client.operate(key, [bit.bit_not("b", 30, 8)])
        except aerospike.exception.OpNotApplicable:
            return
        raise AssertionError("OpNotApplicable expected")

    def hlls():
        names = [f"v{i}" for i in range(1000)]
        _, _, bins = client.operate(key, [hll.hll_add("h", names, 12)])
        # How many changed a register: some share one.
        check(850 < bins["h"] <= 1000, f"{bins}")
        client.operate(key, [hll.hll_add("g", names[500:], 12, 16)])
        other = client.get(key)[2]["g"]
        answers = last(
            [
                hll.hll_get_count("h"),
                hll.hll_describe("g"),
                hll.hll_get_union_count("h", [other]),
                hll.hll_get_intersect_count("h", [other]),
                hll.hll_get_similarity("h", [other]),
            ]
        )
        count, shape, union, common, similarity = (value for _, value in answers)
        check(940 < count < 1060 and shape == [12, 16] and union == count, f"{answers}")
        check(420 < common < 580 and 0.4 < similarity < 0.6, f"{answers}")

    def expressions():
        client.put(key, {"i": 7, "l": [5, 1, 9, 1], "m": {"a": 1, "b": [1, 2]}, "s": "hello", "b": b"\x0f"})
        over = {"expressions": exp.GT(exp.ListSize(None, exp.ListBin("l")), 4).compile()}
        try:
            client.get(key, over)
        except aerospike.exception.FilteredOut:
            pass
        else:
            raise AssertionError("FilteredOut expected")
        under = exp.And(
            exp.CmpRegex(aerospike.REGEX_EXTENDED, "^h(e|a)l+o$", exp.StrBin("s")),
            exp.Eq(exp.BitCount(0, 8, exp.BlobBin("b")), 4),
            exp.InList(9, exp.ListBin("l")),
        )
        check(client.get(key, {"expressions": under.compile()})[2]["i"] == 7)
        value = exp.Let(exp.Def("n", exp.ListSize(None, exp.ListBin("l"))), exp.Add(exp.Var("n"), exp.IntBin("i")))
        nested = exp.ListGetByIndex(
            [cdt_ctx.cdt_ctx_map_key("b")], aerospike.LIST_RETURN_VALUE, exp.ResultType.INTEGER, 1, exp.MapBin("m")
        )
        answers = last(
            [
                expop.expression_write("w", value.compile()),
                expop.expression_read("r", nested.compile()),
                expop.expression_read("q", exp.Div(exp.IntBin("i"), 0).compile(), aerospike.EXP_READ_EVAL_NO_FAIL),
                op.read("w"),
            ]
        )
        check(answers[-3:] == [("r", 2), ("q", None), ("w", 11)], f"{answers}")

    log.step("bit operations", bits)
    log.step("HLL operations", hlls)
    log.step("expressions: filters, reads, writes", expressions)


def c_client_collections(client, log):
    """List and map operations of the C client, on nested values too."""
    import aerospike
    from aerospike_helpers import cdt_ctx
    from aerospike_helpers.operations import list_operations as lists
    from aerospike_helpers.operations import map_operations as maps

    key = (NS, "peer_c_collections", "k")
    ordered = {"list_order": aerospike.LIST_ORDERED, "write_flags": aerospike.LIST_WRITE_ADD_UNIQUE}
    by_key = {"map_order": aerospike.MAP_KEY_ORDERED}

    def answers(*operations):
        return [value for _, value in client.operate_ordered(key, list(operations))[2]]

    def list_steps():
        found = answers(
            lists.list_append_items("l", [5, 1, 9, 1]),
            lists.list_insert("l", 0, 7),
            lists.list_get_by_value_range("l", aerospike.LIST_RETURN_INDEX, 1, 7),
            lists.list_get_by_rank_range("l", -2, aerospike.LIST_RETURN_VALUE, 2),
            lists.list_remove_by_value_list("l", [1, 9], aerospike.LIST_RETURN_COUNT),
            lists.list_increment("l", 1, 10),
            lists.list_get_range("l", 0, 9),
        )
        check(found == [4, 5, [1, 2, 4], [7, 9], 3, 15, [7, 15]], f"{found}")
        found = answers(
            lists.list_append_items("o", [3, 1, 2], ordered),
            lists.list_get_by_index("o", 0, aerospike.LIST_RETURN_VALUE),
        )
        check(found == [3, 1], f"{found}")
        try:
            answers(lists.list_append("o", 2, ordered))
        except aerospike.exception.ElementExistsError:
            return
        raise AssertionError("ElementExistsError expected")

    def map_steps():
        found = answers(
            maps.map_put_items("m", {"a": 2, "b": 7, "c": 4}, by_key),
            maps.map_increment("m", "a", 1),
            maps.map_get_by_key("m", "a", aerospike.MAP_RETURN_VALUE),
            maps.map_get_by_rank_range("m", 0, 2, aerospike.MAP_RETURN_KEY),
            maps.map_get_by_key_range("m", "a", "c", aerospike.MAP_RETURN_VALUE),
            maps.map_get_by_value_list("m", [3, 4], aerospike.MAP_RETURN_COUNT, inverted=True),
            maps.map_get_by_key_index_range_relative("m", "b", 0, aerospike.MAP_RETURN_KEY),
            maps.map_remove_by_key_list("m", ["a", "zz"], aerospike.MAP_RETURN_COUNT),
            maps.map_size("m"),
        )
        check(found == [3, 3, 3, ["a", "c"], [3, 7], 1, ["b", "c"], 1, 2], f"{found}")

    def nested():
        books = [cdt_ctx.cdt_ctx_map_key_create("books", aerospike.MAP_KEY_ORDERED)]
        first = [*books, cdt_ctx.cdt_ctx_map_key("first")]
        found = answers(
            maps.map_put(
                "n",
                "price",
                10,
                by_key,
                ctx=[*books, cdt_ctx.cdt_ctx_map_key_create("first", aerospike.MAP_KEY_ORDERED)],
            ),
            maps.map_increment("n", "price", 5, by_key, ctx=first),
            maps.map_get_by_key("n", "price", aerospike.MAP_RETURN_VALUE, ctx=first),
        )
        check(found[-1] == 15 and client.get(key)[2]["n"] == {"books": {"first": {"price": 15}}}, f"{found}")
        try:
            answers(lists.list_append("n", 1, ctx=first))
        except aerospike.exception.BinIncompatibleType:
            return
        raise AssertionError("BinIncompatibleType expected")

    client.put(key, {"i": 1})
    log.step("list operations", list_steps)
    log.step("map operations", map_steps)
    log.step("operations on nested values", nested)
    client.remove(key)


def c_client(seeds, log):
    import aerospike
    from aerospike import predicates as p
    from aerospike_helpers.batch import records
    from aerospike_helpers.operations import operations as op

    # The client keeps a copy of each module here, and does the last part of aggregations with it.
    modules = tempfile.TemporaryDirectory()
    lua = {"user_path": modules.name}
    client = aerospike.client({"hosts": hosts(seeds)[:1], "tend_interval": 250, "lua": lua}).connect()
    keys = [(NS, "peer_c", i) for i in range(N)]
    key = (NS, "peer_c_single", "k")

    def connect():
        check(client.is_connected())
        nodes = client.get_node_names()
        check(len(nodes) == 3, f"{nodes}")
        return f"{len(nodes)} nodes"

    def missing(call, error):
        try:
            call()
        except error:
            return
        raise AssertionError(f"{error.__name__} expected")

    def single():
        client.put(key, {"i": 1, "s": "b", "f": 1.5, "y": b"\x00\x01", "l": [1, "x"], "m": {"a": 1}, "t": True})
        client.increment(key, "i", 41)
        client.append(key, "s", "c")
        client.prepend(key, "s", "a")
        client.touch(key, 100)
        _, meta, bins = client.get(key)
        check(bins["i"] == 42 and bins["s"] == "abc" and bins["l"] == [1, "x"] and bins["m"] == {"a": 1}, f"{bins}")
        check(meta["gen"] == 5 and 90 < meta["ttl"] <= 100, f"{meta}")
        check(client.select(key, ["f"])[2] == {"f": 1.5})
        check(client.exists(key)[1]["gen"] == 5)

    def operate():
        _, _, bins = client.operate(key, [op.increment("i", 1), op.write("n", 7), op.read("i")])
        check(bins == {"i": 43}, f"{bins}")
        _, _, bins = client.operate(key, [op.touch(), op.append("s", "d"), op.read("s")])
        check(bins == {"s": "abcd"}, f"{bins}")

    def remove():
        client.remove(key)
        missing(lambda: client.get(key), aerospike.exception.RecordNotFound)
        missing(lambda: client.remove(key), aerospike.exception.RecordNotFound)

    def batch_write():
        rows = records.BatchRecords([records.Write(k, [op.write("i", k[2]), op.write("s", "v")]) for k in keys])
        client.batch_write(rows)
        check(all(row.result == 0 for row in rows.batch_records))

    def batch_read():
        rows = client.batch_read([*keys, (NS, "peer_c", "missing")]).batch_records
        check([row.record[2]["i"] for row in rows[:N]] == list(range(N)))
        check(rows[N].result == 2)
        rows = client.batch_read(keys, ["s"]).batch_records
        check(all(row.record[2] == {"s": "v"} for row in rows))
        rows = client.batch_read(keys, []).batch_records
        check(all(row.result == 0 for row in rows))

    def batch_mixed():
        rows = records.BatchRecords(
            [
                records.Read(keys[0], [op.read("i")]),
                records.Write(keys[1], [op.increment("i", 100), op.read("i")]),
                records.Remove(keys[2]),
                records.Read(keys[2], None, read_all_bins=True),
                records.Remove((NS, "peer_c", "missing")),
            ]
        )
        client.batch_write(rows)
        check([r.result for r in rows.batch_records][:3] == [0, 0, 0])
        check(rows.batch_records[1].record[2]["i"] == 101)
        check(rows.batch_records[4].result == 2)
        removed = client.batch_remove(keys[3:6])
        check(removed.result == 0 and all(r.result == 0 for r in removed.batch_records))

    def scan(expected):
        found = client.scan(NS, "peer_c").results()
        check(len(found) == expected, f"{len(found)} records")
        found = client.query(NS, "peer_c").results()
        check(len(found) == expected, f"{len(found)} records")
        part = client.query(NS, "peer_c").results({"partition_filter": {"begin": 0, "count": 2048}})
        check(0 < len(part) < expected)
        return f"{expected} records"

    def background():
        query = client.query(NS, "peer_c")
        query.add_ops([op.increment("i", 1000)])
        job = query.execute_background()
        for _ in range(100):
            if client.job_info(job, aerospike.JOB_QUERY)["status"] != aerospike.JOB_STATUS_INPROGRESS:
                break
        _, _, bins = client.get(keys[10])
        for _ in range(100):
            if bins["i"] == 1010:
                return
            _, _, bins = client.get(keys[10])
        raise AssertionError(f"{bins}")

    def indexes():
        created = [
            (client.index_single_value_create, "i", aerospike.INDEX_NUMERIC, "peer_c_i"),
            (client.index_single_value_create, "s", aerospike.INDEX_STRING, "peer_c_s"),
            (client.index_list_create, "l", aerospike.INDEX_NUMERIC, "peer_c_l"),
            (client.index_single_value_create, "g", aerospike.INDEX_GEO2DSPHERE, "peer_c_g"),
        ]
        for k in keys[6:]:
            point = aerospike.GeoJSON({"type": "Point", "coordinates": [k[2] / 10, 10.0]})
            client.put(k, {"i": k[2], "s": f"s{k[2] % 7}", "l": [k[2], k[2] + 1], "g": point})
        for create, bin_name, kind, name in created:
            create(NS, "peer_c", bin_name, kind, name)

        def found(*predicate):
            query = client.query(NS, "peer_c")
            query.where(*predicate)
            return sorted(record[2]["i"] for record in query.results())

        check(found(p.equals("i", 77)) == [77])
        check(found(p.between("i", 100, 120)) == list(range(100, 121)))
        check(found(p.equals("s", "s3")) == [i for i in range(6, N) if i % 7 == 3])
        check(found(p.contains("l", aerospike.INDEX_TYPE_LIST, 200)) == [199, 200])
        circle = found(p.geo_within_radius("g", 20.0, 10.0, 56_000))
        check(circle == list(range(195, 206)), f"{circle}")
        query = client.query(NS, "peer_c")
        query.where(p.between("i", 0, N))
        query.max_records, pages = 100, []
        query.paginate()
        while not query.is_done():
            pages += [record[2]["i"] for record in query.results()]
        check(sorted(pages) == list(range(6, N)), f"{len(pages)} records")
        for _, _, _, name in created[1:]:
            client.index_remove(NS, name)

    def udfs():
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "peer.lua")
            with open(path, "w") as file:
                file.write(MODULE)
            client.udf_put(path)
            check([m["name"] for m in client.udf_list()] == ["peer.lua"])
            check(client.apply(keys[50], "peer", "add", ["n", 5]) == 5)
            rows = client.batch_apply(keys[50:60], "peer", "add", ["n", 2]).batch_records
            check([row.record[2]["SUCCESS"] for row in rows] == [7] + [2] * 9)
            try:
                client.apply(keys[50], "peer", "fail", [])
            except aerospike.exception.UDFError as error:
                check("peer.lua:7: on purpose" in str(error), f"{error}")
            else:
                raise AssertionError("UDFError expected")

    def aggregation():
        query = client.query(NS, "peer_c")
        query.where(p.between("i", 100, 199))
        query.apply("peer", "total")
        check(query.results() == [sum(range(100, 200))])

    def background_udf():
        query = client.query(NS, "peer_c")
        query.where(p.between("i", 300, 309))
        query.apply("peer", "add", ["i", 1000])
        query.execute_background()
        for _ in range(200):
            if all(client.get(k)[2]["i"] == k[2] + 1000 for k in keys[300:310]):
                break
            time.sleep(0.01)
        check([client.get(k)[2]["i"] for k in keys[299:311]] == [299, *range(1300, 1310), 310])
        client.index_remove(NS, "peer_c_i")
        client.udf_remove("peer.lua")

    def truncate():
        client.truncate(NS, "peer_c", 0)
        check(client.scan(NS, "peer_c").results() == [])

    log.step("connect and tend", connect)
    log.step("put get increment append prepend touch exists select", single)
    log.step("operate", operate)
    log.step("remove", remove)
    c_client_values(client, log)
    c_client_collections(client, log)
    log.step("batch write", batch_write)
    log.step("batch read", batch_read)
    log.step("batch mixed and remove", batch_mixed)
    log.step("scan and query of a set", lambda: scan(N - 4))
    log.step("background operations", background)
    log.step("secondary indexes: numbers, strings, list elements, points; pages", indexes)
    log.step("UDFs, in batches too", udfs)
    log.step("aggregation", aggregation)
    log.step("background UDF", background_udf)
    log.step("truncate", truncate)
    log.step("info on all nodes", lambda: check(len(client.info_all("statistics")) == 3))
    client.close()
    modules.cleanup()


def native(seeds, log):
    import aerospike_native as an

    policy = an.ClientPolicy()
    policy.tend_interval = 250
    client = an.new_client_blocking(policy, seeds.split(",")[0])
    key = an.Key(NS, "peer_native_single", "k")
    keys = [an.Key(NS, "peer_native", i) for i in range(N)]

    def connect():
        for _ in range(100):
            if len(client.node_names()) == 3:
                return "3 nodes"
            asyncio.run(asyncio.sleep(0.05))
        raise AssertionError(f"{client.node_names()}")

    def single():
        client.put_blocking(key, {"i": 1, "s": "b", "f": 1.5, "l": [1, "x"]})
        client.add_blocking(key, {"i": 41})
        client.append_blocking(key, {"s": "c"})
        client.prepend_blocking(key, {"s": "a"})
        client.touch_blocking(key)
        record = client.get_blocking(key)
        check(record.bins["i"] == 42 and record.bins["s"] == "abc" and record.bins["l"] == [1, "x"], f"{record.bins}")
        check(record.generation == 5)
        check(dict(client.get_blocking(key, ["f"]).bins) == {"f": 1.5})
        check(client.exists_blocking(key))

    def operate():
        record = client.operate_blocking(
            key, [an.Operation.add("i", 1), an.Operation.put("n", 7), an.Operation.get_bin("i")]
        )
        check(record.generation == 6, f"{record.generation}")
        check(client.get_blocking(key).bins["i"] == 43)

    def values():
        f = an.FilterExpression
        wrap = an.BitwiseOverflowActions.WRAP
        client.put_blocking(key, {"b": b"\x0f\xff", "l": [5, 1, 9]})
        record = client.operate_blocking(
            key,
            [
                an.BitOperation.add("b", 8, 8, 2, False, wrap, an.BitPolicy()),
                an.BitOperation.count("b", 0, 16),
            ],
        )
        check(record.bins["b"] in (5, [None, 5]), f"{record.bins}")
        names = [f"v{i}" for i in range(100)]
        client.operate_blocking(key, [an.HllOperation.add("h", names, 10)])
        record = client.operate_blocking(key, [an.HllOperation.get_count("h")])
        check(90 < record.bins["h"] < 110, f"{record.bins}")
        size = f.list_size(f.list_bin("l"), [])
        record = client.operate_blocking(key, [an.ExpOperation.read("n", f.num_add([size, f.int_val(39)]))])
        check(record.bins["n"] == 42, f"{record.bins}")
        only = an.ReadPolicy()
        only.filter_expression = f.gt(f.bit_count(f.int_val(0), f.int_val(8), f.blob_bin("b")), f.int_val(4))
        try:
            client.get_blocking(key, policy=only)
        except an.exceptions.FilteredOut:
            return
        raise AssertionError("FilteredOut expected")

    def collections():
        lists, maps, value = an.ListOperation, an.MapOperation, an.MapReturnType.VALUE
        plain, by_key = an.ListPolicy(), an.MapPolicy(an.MapOrder.KEY_ORDERED)

        def last(*operations):
            """What the last of them answers."""
            client.delete_blocking(key)
            bins = client.operate_blocking(key, list(operations)).bins
            (answer,) = bins.values()
            return answer[-1] if isinstance(answer, list) and len(operations) > 1 else answer

        ranks = lists.get_by_rank_range("l", -2, 2, an.ListReturnType.VALUE)
        check(last(lists.append_items("l", [5, 1, 9], plain), ranks) == [5, 9])
        put = maps.put_items("m", [("a", 2), ("b", 7)], by_key)
        check(last(put, maps.increment_value("m", "a", 3, by_key), maps.get_by_key("m", "a", value)) == 5)
        create = [an.CTX.map_key_create("x", an.MapOrder.KEY_ORDERED)]
        nested = maps.put("n", "y", 1, by_key).set_context(create)
        found = last(nested, maps.get_by_key("n", "y", value).set_context([an.CTX.map_key("x")]))
        check(found == 1, f"{found}")

    def remove():
        check(client.delete_blocking(key))
        check(not client.exists_blocking(key))
        try:
            client.get_blocking(key)
        except an.exceptions.RecordNotFound:
            return
        raise AssertionError("RecordNotFound expected")

    def batch_write():
        rows = client.batch_write_blocking(keys, [{"i": i, "s": "v"} for i in range(N)])
        check(all(row.result_code == an.ResultCode.OK for row in rows))

    def batch_read():
        rows = client.batch_read_blocking([*keys, an.Key(NS, "peer_native", "missing")])
        check([row.record.bins["i"] for row in rows[:N]] == list(range(N)))
        check(rows[N].result_code == an.ResultCode.KEY_NOT_FOUND_ERROR)
        check(client.batch_exists_blocking(keys) == [True] * N)
        check(all(header is not None for header in client.batch_get_header_blocking(keys)))

    def batch_mixed():
        ops = [
            an.BatchReadOp(keys[0], ["i"]),
            an.BatchWriteOp(keys[1], [an.Operation.add("i", 100)]),
            an.BatchDeleteOp(keys[2]),
        ]
        rows = client.batch_blocking(ops)
        check(all(row.result_code == an.ResultCode.OK for row in rows), f"{[r.result_code for r in rows]}")
        check(client.get_blocking(keys[1]).bins["i"] == 101)
        rows = client.batch_delete_blocking(keys[3:6])
        check(all(row.result_code == an.ResultCode.OK for row in rows))

    def scan():
        statement = an.Statement(NS, "peer_native", None)
        found = list(client.query_blocking(statement, an.PartitionFilter.all()))
        check(len(found) == N - 4, f"{len(found)} records")
        return f"{len(found)} records"

    def indexes():
        task = client.create_index_blocking(NS, "peer_native", "i", "peer_native_i", an.IndexType.NUMERIC)
        task.wait_till_complete_blocking()
        statement = an.Statement(NS, "peer_native", None)
        statement.filters = [an.Filter.range("i", 200, 219)]
        found = sorted(r.bins["i"] for r in client.query_blocking(statement, an.PartitionFilter.all()))
        check(found == list(range(200, 220)), f"{found}")

    def udfs():
        client.register_udf_blocking(MODULE.encode(), "peer.lua", an.UDFLang.LUA).wait_till_complete_blocking()
        check(client.execute_udf_blocking(keys[50], "peer", "add", ["n", 5]) == 5)
        statement = an.Statement(NS, "peer_native", None)
        statement.filters = [an.Filter.range("i", 300, 309)]
        client.query_execute_udf_blocking(statement, "peer", "add", ["i", 1000]).wait_till_complete_blocking()
        check([client.get_blocking(k).bins["i"] for k in keys[299:311]] == [299, *range(1300, 1310), 310])
        client.drop_index_blocking(NS, "peer_native", "peer_native_i")
        client.remove_udf_blocking("peer.lua")

    def truncate():
        client.truncate_blocking(NS, "peer_native")
        check(client.batch_exists_blocking(keys) == [False] * N)

    async def asynchronous():
        async_client = await an.new_client(policy, seeds)
        many = [an.Key(NS, "peer_native_async", i) for i in range(N)]
        await asyncio.gather(*(async_client.put(k, {"i": i}) for i, k in enumerate(many)))
        records = await asyncio.gather(*(async_client.get(k) for k in many))
        check([r.bins["i"] for r in records] == list(range(N)))
        await async_client.close()

    log.step("connect and tend", connect)
    log.step("put get add append prepend touch exists", single)
    log.step("operate", operate)
    log.step("bits, HLL and expressions", values)
    log.step("list and map operations", collections)
    log.step("delete", remove)
    log.step("batch write", batch_write)
    log.step("batch read, exists, headers", batch_read)
    log.step("batch mixed and delete", batch_mixed)
    log.step("query of a set", scan)
    log.step("secondary index", indexes)
    log.step("UDFs, in the background too", udfs)
    log.step("truncate", truncate)
    log.step("asyncio: 500 at once", lambda: asyncio.run(asynchronous()))
    log.step("info on all nodes", lambda: check(len(client.info_on_all_nodes_blocking("build")) == 3))
    client.close_blocking()


def py(seeds, log):
    import aerospike_py as ap

    client = ap.client({"hosts": hosts(seeds)[:1]}).connect()
    key = (NS, "peer_py_single", "k")
    keys = [(NS, "peer_py", i) for i in range(N)]

    def connect():
        check(client.is_connected() and client.ping())
        names = client.get_node_names()
        check(len(names) == 3, f"{names}")
        return f"{len(names)} nodes"

    def single():
        client.put(key, {"i": 1, "s": "b", "f": 1.5, "l": [1, "x"]})
        client.increment(key, "i", 41)
        client.append(key, "s", "c")
        client.prepend(key, "s", "a")
        client.touch(key, 100)
        record = client.get(key)
        check(record.bins["i"] == 42 and record.bins["s"] == "abc" and record.bins["l"] == [1, "x"], f"{record.bins}")
        check(record.meta.gen == 5 and 90 < record.meta.ttl <= 100, f"{record.meta}")
        check(client.select(key, ["f"]).bins == {"f": 1.5})
        check(client.exists(key).meta is not None)

    def operate():
        ops = [
            {"op": ap.OPERATOR_INCR, "bin": "i", "val": 1},
            {"op": ap.OPERATOR_READ, "bin": "i", "val": None},
        ]
        check(client.operate(key, ops).bins["i"] == 43)

    def values():
        e, bit, hll = ap.exp, ap.bit_operations, ap.hll_operations
        client.put(key, {"b": b"\x0f\xff"})
        ops = [bit.bit_set("b", 0, 8, b"\xf1"), bit.bit_count("b", 0, 16)]
        check(client.operate(key, ops).bins["b"] in (13, [None, 13]))
        client.operate(key, [hll.hll_add("h", [f"v{i}" for i in range(100)], 10)])
        check(90 < client.operate(key, [hll.hll_get_count("h")]).bins["h"] < 110)
        check(client.get(key, {"filter_expression": e.eq(e.int_bin("i"), e.int_val(43))}).bins["i"] == 43)
        try:
            client.get(key, {"filter_expression": e.gt(e.int_bin("i"), e.int_val(43))})
        except ap.FilteredOut:
            return
        raise AssertionError("FilteredOut expected")

    def collections():
        lists, maps = ap.list_operations, ap.map_operations

        def last(*operations):
            """What the last of them answers."""
            (answer,) = client.operate(key, list(operations)).bins.values()
            return answer[-1] if isinstance(answer, list) and len(operations) > 1 else answer

        ranks = lists.list_get_by_rank_range("cl", -2, ap.LIST_RETURN_VALUE, 2)
        check(last(lists.list_append_items("cl", [5, 1, 9]), ranks) == [5, 9])
        put = maps.map_put_items("cm", {"a": 2, "b": 7}, {"order": ap.MAP_KEY_ORDERED})
        found = last(put, maps.map_increment("cm", "a", 3), maps.map_get_by_key("cm", "a", ap.MAP_RETURN_VALUE))
        check(found == 5, f"{found}")

    def remove():
        client.remove(key)
        try:
            client.get(key)
        except ap.RecordNotFound:
            return
        raise AssertionError("RecordNotFound expected")

    def batch_write():
        result = client.batch_write([(k, {"i": k[2], "s": "v"}) for k in keys])
        check(all(row.result == 0 for row in result.batch_records))

    def batch_read():
        rows = client.batch_read([*keys, (NS, "peer_py", "missing")]).to_list()
        check([row["i"] for row in rows[:N]] == list(range(N)) and rows[N] is None)

    def batch_mixed():
        result = client.batch_operate(keys[:2], [{"op": ap.OPERATOR_INCR, "bin": "i", "val": 100}])
        check(all(row.result == 0 for row in result.batch_records))
        check(client.get(keys[1]).bins["i"] == 101)
        result = client.batch_remove(keys[2:6])
        check(all(row.result == 0 for row in result.batch_records))

    def scan():
        found = client.query(NS, "peer_py").results()
        check(len(found) == N - 4, f"{len(found)} records")
        return f"{len(found)} records"

    def indexes():
        client.index_integer_create(NS, "peer_py", "i", "peer_py_i")
        query = client.query(NS, "peer_py")
        query.where(ap.predicates.between("i", 200, 219))
        found = sorted(record.bins["i"] for record in query.results())
        check(found == list(range(200, 220)), f"{found}")
        client.index_remove(NS, "peer_py_i")

    def udfs():
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "peer.lua")
            with open(path, "w") as file:
                file.write(MODULE)
            client.udf_put(path)
        check(client.apply(keys[50], "peer", "add", ["n", 5]) == 5)
        client.udf_remove("peer")

    def truncate():
        client.truncate(NS, "peer_py")
        check(client.query(NS, "peer_py").results() == [])

    async def asynchronous():
        async_client = ap.AsyncClient({"hosts": hosts(seeds)})
        await async_client.connect()
        many = [(NS, "peer_py_async", i) for i in range(N)]
        await asyncio.gather(*(async_client.put(k, {"i": k[2]}) for k in many))
        records = await asyncio.gather(*(async_client.get(k) for k in many))
        check([r.bins["i"] for r in records] == list(range(N)))
        await async_client.close()

    log.step("connect and tend", connect)
    log.step("put get increment append prepend touch exists select", single)
    log.step("operate", operate)
    log.step("bits, HLL and filters", values)
    log.step("list and map operations", collections)
    log.step("remove", remove)
    log.step("batch write", batch_write)
    log.step("batch read", batch_read)
    log.step("batch operate and remove", batch_mixed)
    log.step("query of a set", scan)
    log.step("secondary index", indexes)
    log.step("UDFs", udfs)
    log.step("truncate", truncate)
    log.step("asyncio: 500 at once", lambda: asyncio.run(asynchronous()))
    log.step("info on all nodes", lambda: check(len(client.info_all("build")) == 3))
    client.close()


def c_client_secured(cluster, certificate, log):
    import aerospike

    host, port = hosts(cluster["tls_seeds"])[0]
    plain = hosts(cluster["seeds"])[:1]
    key = (NS, "peer_c_tls", "k")

    def tls():
        tls_config = {"enable": True, "cafile": certificate}
        config = {"hosts": [(host, port, TLS_NAME)], "tls": tls_config, "user": "admin", "password": "secret"}
        client = aerospike.client(config).connect()
        client.put(key, {"big": "x" * 200_000})
        check(len(client.get(key)[2]["big"]) == 200_000)
        check(len(client.get_node_names()) == 3)
        client.close()

    def refused(credentials, error):
        try:
            aerospike.client({"hosts": plain, **credentials}).connect()
        except error:
            return
        raise AssertionError(f"{error.__name__} expected")

    def roles():
        config = {"hosts": plain, "user": "admin", "password": "secret"}
        admin = aerospike.client(config).connect()
        admin.admin_create_role("peer-writer", [{"code": aerospike.PRIV_READ_WRITE, "ns": NS, "set": "peer_c_role"}])
        admin.admin_create_user("peer", "pw", ["peer-writer"])
        check(admin.admin_query_user_info("peer")["roles"] == ["peer-writer"])
        check(admin.admin_get_role("peer-writer")["privileges"][0]["code"] == aerospike.PRIV_READ_WRITE)
        user = aerospike.client({**config, "user": "peer", "password": "pw"}).connect()
        user.put((NS, "peer_c_role", 1), {"i": 1})
        check(user.get((NS, "peer_c_role", 1))[2] == {"i": 1})
        try:
            user.put((NS, "another", 1), {"i": 1})
        except aerospike.exception.RoleViolation:
            pass
        else:
            raise AssertionError("RoleViolation expected")
        user.close()
        admin.admin_drop_user("peer")
        admin.admin_drop_role("peer-writer")
        check("peer" not in admin.admin_query_users_info())
        admin.close()

    wrong = {"user": "admin", "password": "wrong"}
    log.step("TLS with login", tls)
    log.step("users and roles", roles)
    log.step("wrong password", lambda: refused(wrong, aerospike.exception.InvalidCredential))
    log.step("no login", lambda: refused({}, aerospike.exception.NotAuthenticated))


def native_secured(cluster, certificate, log):
    import aerospike_native as an

    def tls():
        policy = an.ClientPolicy()
        policy.set_auth_mode(an.AuthMode.INTERNAL, "admin", "secret")
        policy.tls_config = an.TlsConfig(certificate)
        host, port = hosts(cluster["tls_seeds"])[0]
        client = an.new_client_blocking(policy, f"{host}:{TLS_NAME}:{port}")
        key = an.Key(NS, "peer_native_tls", "k")
        client.put_blocking(key, {"i": 5})
        check(client.get_blocking(key).bins["i"] == 5)
        client.close_blocking()

    log.step("TLS with login", tls)


def py_secured(cluster, _certificate, log):
    import aerospike_py as ap

    def login():
        config = {"hosts": hosts(cluster["seeds"])[:1], "user": "admin", "password": "secret"}
        client = ap.client(config).connect()
        key = (NS, "peer_py_login", "k")
        client.put(key, {"i": 5})
        check(client.get(key).bins == {"i": 5})
        client.close()

    log.step("login", login)


PEERS = {
    "aerospike": ("aerospike (C client)", c_client, c_client_secured),
    "aerospike_native": ("aerospike-native", native, native_secured),
    "aerospike_py": ("aerospike-py", py, py_secured),
}
TLS_NAME = "nodes.example"


def start(binary, *more):
    """Starts a cluster that ends with this process; answers it and what it said about itself."""
    command = [binary, "--nodes", "3", "--port", "0", "--json", "--stdin", *more]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"{binary} did not start")
    return process, json.loads(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/debug/aerolane-embedded")
    parser.add_argument("--seeds", help="a running cluster of 3 nodes, in place of one started here")
    parser.add_argument("--only", choices=PEERS, action="append", help="only this peer (module name)")
    parser.add_argument("--require", action="store_true", help="fail if a peer is not installed")
    arguments = parser.parse_args()
    processes = []
    secured = None
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        certificate = os.path.join(directory, "ca.pem")
        try:
            if arguments.seeds:
                seeds = arguments.seeds
            else:
                process, cluster = start(arguments.binary)
                processes.append(process)
                seeds = cluster["seeds"]
                more = ["--users", "admin:secret", "--tls-name", TLS_NAME, "--tls-certificate", certificate]
                process, secured = start(arguments.binary, *more)
                processes.append(process)
            for module, (name, run, run_secured) in PEERS.items():
                if arguments.only and module not in arguments.only:
                    continue
                print(name)
                log = Log(name)
                try:
                    run(seeds, log)
                    if secured:
                        run_secured(secured, certificate, log)
                except ImportError as error:
                    print(f"  skipped: {error}")
                    failed += arguments.require
                except Exception:  # such as: no connection at all
                    traceback.print_exc()
                    log.failed += 1
                failed += log.failed
        finally:
            for process in processes:
                process.stdin.close()
                failed += process.wait(timeout=10) != 0
    print("all good" if not failed else f"{failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
