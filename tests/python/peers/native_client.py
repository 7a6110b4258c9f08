"""What aerospike-native is asked to do."""

import asyncio

from harness import MODULE, NS, TLS_NAME, N, check, hosts, until


def run(seeds, log):
    import aerospike_native as an

    policy = an.ClientPolicy()
    policy.tend_interval = 250
    client = an.new_client_blocking(policy, seeds.split(",")[0])
    key = an.Key(NS, "peer_native_single", "k")
    keys = [an.Key(NS, "peer_native", i) for i in range(N)]

    def connect():
        until(lambda: len(client.node_names()) == 3)
        return "3 nodes"

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


def run_secured(cluster, certificate, log):
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
