"""What the C client is asked to do."""

import tempfile

from harness import NS, TLS_NAME, N, check, hosts, module_file, until


def values(client, log):
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


def collections(client, log):
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


def run(seeds, log):
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
        until(lambda: client.job_info(job, aerospike.JOB_QUERY)["status"] != aerospike.JOB_STATUS_INPROGRESS)
        until(lambda: client.get(keys[10])[2]["i"] == 1010)

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
        with module_file() as path:
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
        until(lambda: all(client.get(k)[2]["i"] == k[2] + 1000 for k in keys[300:310]))
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
    values(client, log)
    collections(client, log)
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


def run_secured(cluster, certificate, log):
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
