#!/usr/bin/env python3
"""Runs transactions of the vendor's Python clients, unmodified, against an embedded cluster in strong-consistency mode.

    pip install aerospike aerospike-native
    cargo build -p aerolane-embedded
    python tests/python/peers/check_transactions.py [--binary target/debug/aerolane-embedded]

A peer that is not installed is skipped and said so; with --require, that is a failure. Exit status 0: every installed
peer did everything.
"""

import argparse
import sys
import warnings

from harness import Log, check, hosts, start

warnings.simplefilter("ignore", DeprecationWarning)

NS, SET = "test", "txn"


def raises(code, call):
    """The call fails with this result code."""
    try:
        call()
    except Exception as error:
        found = getattr(error, "code", None) or getattr(error, "result_code", None)
        check(found is not None and int(found) == code, f"code {code} expected, not {found}: {error}")
        return
    raise AssertionError(f"code {code} expected")


def c_client(seeds, log):
    import aerospike
    from aerospike_helpers.batch.records import BatchRecords, Read, Write
    from aerospike_helpers.operations import list_operations as lists
    from aerospike_helpers.operations import operations as op

    client = aerospike.client({"hosts": hosts(seeds)[:1]}).connect()
    keys = [(NS, SET, f"c{number}") for number in range(20)]
    durable = {"durable_delete": True}

    def within(txn):
        return {"txn": txn, **durable}

    def begin():
        client.put(keys[0], {"n": 1})
        txn = aerospike.Transaction()
        client.put(keys[0], {"n": 2}, policy=within(txn))
        client.put(keys[1], {"n": 3}, policy=within(txn))
        client.operate(keys[1], [lists.list_append("l", "x"), op.read("n")], policy=within(txn))
        check(client.get(keys[1], policy={"txn": txn})[2] == {"n": 3, "l": ["x"]})
        check(client.get(keys[0])[2] == {"n": 1})
        check(client.exists(keys[1])[1] is None)
        return txn

    def commit():
        txn = begin()
        check(client.commit(txn) == aerospike.COMMIT_OK)
        check(client.get(keys[0])[2] == {"n": 2} and client.get(keys[1])[2] == {"n": 3, "l": ["x"]})
        client.remove(keys[1], policy=durable)

    def abort():
        txn = begin()
        check(client.abort(txn) == aerospike.ABORT_OK)
        check(client.get(keys[0])[2] == {"n": 1} and client.exists(keys[1])[1] is None)

    def conflicts():
        txn = begin()
        raises(120, lambda: client.put(keys[0], {"n": 9}))
        raises(120, lambda: client.put(keys[0], {"n": 9}, policy=within(aerospike.Transaction())))
        client.abort(txn)
        txn = aerospike.Transaction()
        client.get(keys[0], policy={"txn": txn})
        client.put(keys[1], {"n": 3}, policy=within(txn))
        client.put(keys[0], {"n": 7})
        try:
            client.commit(txn)
        except aerospike.exception.AerospikeError as error:
            check(client.exists(keys[1])[1] is None, "what failed is taken back")
            return f"{error.code}"
        raise AssertionError("the commit of what has changed must fail")

    def batches():
        txn = aerospike.Transaction()
        records = BatchRecords([Write(key, [op.write("n", 5)]) for key in keys])
        client.batch_write(records, {"txn": txn})
        check(all(record.result == 0 for record in records.batch_records))
        reads = BatchRecords([Read(key, [op.read("n")]) for key in keys])
        client.batch_write(reads, {"txn": txn})
        check(all(record.record[2] == {"n": 5} for record in reads.batch_records))
        check(client.exists(keys[5])[1] is None)
        client.commit(txn)
        check(all(client.get(key)[2]["n"] == 5 for key in keys))

    for name, run in (("commit", commit), ("abort", abort), ("conflicts", conflicts), ("batches", batches)):
        log.step(name, run)
    client.close()


def native(seeds, log):
    import aerospike_native as an

    client = an.new_client_blocking(an.ClientPolicy(), seeds.split(",")[0])
    keys = [an.Key(NS, SET, f"n{number}") for number in range(20)]

    def within(txn):
        policy = an.WritePolicy()
        policy.txn, policy.durable_delete = txn, True
        return policy

    def missing(key):
        return not client.exists_blocking(key)

    def begin():
        client.put_blocking(keys[0], {"n": 1})
        txn = an.Txn()
        client.put_blocking(keys[0], {"n": 2}, txn=txn)
        append = an.ListOperation.append("l", "x", an.ListPolicy())
        client.operate_blocking(keys[1], [append, an.Operation.put("n", 3)], txn=txn)
        check(dict(client.get_blocking(keys[1], txn=txn).bins) == {"n": 3, "l": ["x"]})
        check(client.get_blocking(keys[0]).bins["n"] == 1)
        check(missing(keys[1]))
        return txn

    def commit():
        txn = begin()
        client.commit_blocking(txn)
        check(client.get_blocking(keys[0]).bins["n"] == 2 and client.get_blocking(keys[1]).bins["n"] == 3)
        txn = an.Txn()
        client.delete_blocking(keys[1], policy=within(txn))
        client.commit_blocking(txn)
        check(missing(keys[1]))

    def abort():
        client.abort_blocking(begin())
        check(client.get_blocking(keys[0]).bins["n"] == 1 and missing(keys[1]))

    def conflicts():
        txn = begin()
        raises(120, lambda: client.put_blocking(keys[0], {"n": 9}))
        client.abort_blocking(txn)
        txn = an.Txn()
        client.get_blocking(keys[0], txn=txn)
        client.put_blocking(keys[1], {"n": 3}, txn=txn)
        client.put_blocking(keys[0], {"n": 7})
        try:
            client.commit_blocking(txn)
        except Exception as error:
            check(missing(keys[1]), "what failed is taken back")
            return type(error).__name__
        raise AssertionError("the commit of what has changed must fail")

    def batches():
        txn = an.Txn()
        policy = an.BatchPolicy()
        policy.txn = txn
        rows = client.batch_write_blocking(keys, [{"n": 5}] * len(keys), batch_policy=policy)
        check(all(int(row.result_code) == 0 for row in rows))
        rows = client.batch_read_blocking(keys, batch_policy=policy)
        check(all(row.record.bins["n"] == 5 for row in rows))
        check(missing(keys[5]))
        client.commit_blocking(txn)
        check(all(client.get_blocking(key).bins["n"] == 5 for key in keys))

    for name, run in (("commit", commit), ("abort", abort), ("conflicts", conflicts), ("batches", batches)):
        log.step(name, run)
    client.close_blocking()


PEERS = {"aerospike (C client)": c_client, "aerospike-native": native}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/debug/aerolane-embedded")
    parser.add_argument("--require", action="store_true", help="fail if a peer is not installed")
    arguments = parser.parse_args()
    process, cluster = start(arguments.binary, "--strong-consistency")
    failed = 0
    try:
        for name, run in PEERS.items():
            print(name)
            log = Log(name)
            try:
                run(cluster["seeds"], log)
            except ImportError as error:
                print(f"  skipped: {error}")
                failed += arguments.require
            failed += log.failed
    finally:
        process.stdin.close()
        failed += process.wait(timeout=10) != 0
    print("all good" if not failed else f"{failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
