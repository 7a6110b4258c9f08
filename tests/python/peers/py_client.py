"""What aerospike-py is asked to do."""

import asyncio

from harness import NS, N, check, hosts, module_file, until


def run(seeds, log):
    import aerospike_py as ap

    client = ap.client({"hosts": hosts(seeds)[:1]}).connect()
    key = (NS, "peer_py_single", "k")
    keys = [(NS, "peer_py", i) for i in range(N)]

    def connect():
        check(client.is_connected() and client.ping())
        until(lambda: len(client.get_node_names()) == 3)
        return "3 nodes"

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
        with module_file() as path:
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


def run_secured(cluster, _certificate, log):
    import aerospike_py as ap

    def login():
        config = {"hosts": hosts(cluster["seeds"])[:1], "user": "admin", "password": "secret"}
        client = ap.client(config).connect()
        key = (NS, "peer_py_login", "k")
        client.put(key, {"i": 5})
        check(client.get(key).bins == {"i": 5})
        client.close()

    log.step("login", login)
