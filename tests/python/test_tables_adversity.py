"""Tables while the cluster is in trouble: what the summary says of each row is held against what the cluster holds."""

import contextlib
import itertools
import threading

import numpy as np

import aerolane
from aerolane import DataSet, Key

# Keys that each table writes, some of them twice, and keys that are written once.
KEYS, ONCE = 120, 200
TABLES = 40


def _trouble(cluster, over):
    """What happens to the cluster, one thing after the other, until `over`."""
    nodes = list(cluster.nodes)
    faults = {"on": ["write", "batch"]}
    for turn in itertools.count():
        node = nodes[turn % 3]
        match turn % 9:
            case 0:
                cluster.inject("result", 18, node=node, probability=0.2, **faults)
            case 1:
                cluster.inject("drop-after", node=node, probability=0.2, **faults)
            case 2:
                cluster.inject("reject-unowned")
                for partition in range(turn, 4096, 31):
                    cluster.set_master(partition, node)
            case 3 | 8:
                cluster.clear_faults()
            case 4:
                cluster.stop_node(node)
            case 5:
                cluster.inject("drop-before", node=nodes[(turn + 1) % 3], probability=0.2, **faults)
            case 6:
                cluster.start_node(nodes[(turn - 2) % 3])
            case _:
                cluster.inject("result", 14, probability=0.1, **faults)
        if over.wait(0.04):
            break
    cluster.clear_faults()
    for node in nodes:
        cluster.start_node(node)


def test_each_row_is_what_its_summary_says(new_cluster):
    cluster = new_cluster(nodes=3)
    dataset = DataSet("test", "tables")
    told, once, rows = {}, itertools.count(10_000), 0
    over = threading.Event()
    trouble = threading.Thread(target=_trouble, args=(cluster, over))
    with aerolane.SyncClient(cluster.seeds) as client:
        session = client.create_session()
        options = {"attempt_timeout": 1.5, "record_ttl": 10, "max_outstanding_records": 800, "batch_records": 64}
        with session.writer(**options) as writer, contextlib.ExitStack() as cleanup:
            trouble.start()
            cleanup.callback(trouble.join)
            cleanup.callback(over.set)
            for _ in range(TABLES):
                ids = [*range(KEYS), *itertools.islice(once, ONCE), *range(0, KEYS, 3)]
                values = np.arange(rows + 1, rows + 1 + len(ids))
                summary = writer.write_table({"id": ids, "n": values}, dataset, key="id")
                failed = {failure.row: failure for failure in summary.failures}
                assert (summary.rows, summary.ok + summary.failed) == (len(ids), len(ids))
                assert summary.failed == len(failed) and all(ids[row] == of.key for row, of in failed.items())
                for row, key in enumerate(ids):
                    told.setdefault(key, []).append((rows + 1 + row, failed.get(row)))
                rows += len(ids)
        counted = writer.metrics()
        held = {}
        for key in told:
            record = session.get(Key("test", "tables", key))
            held[key] = record.bins["n"] if record is not None else 0
    counts = {"ok": 0, "failed": 0, "in doubt": 0}
    for key, written in told.items():
        confirmed = max((value for value, failure in written if failure is None), default=0)
        doubts = {value for value, failure in written if failure and failure.in_doubt and value > confirmed}
        for value, failure in written:
            counts["ok" if failure is None else "in doubt" if failure.in_doubt else "failed"] += 1
            assert failure is None or failure.in_doubt or value != held[key], (key, failure)
        assert held[key] == confirmed or held[key] in doubts, (key, held[key], confirmed, doubts)
    print(counts, counted)
    assert counts["ok"] > rows / 2
    assert counted["retries"] > 0, "nothing has happened"
    # Most rows of a request went together; those that failed went on by themselves.
    assert counted["ok"] == counts["ok"] and counted["requests"] < rows / 2
