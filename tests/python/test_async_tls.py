"""Calls over TLS on an event loop: the loop's own lane carries them, as it does plain ones."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import eventually_async

from aerolane import ClientPolicy, Key, TlsConfig, native
from aerolane.exceptions import AerospikeError, ClientClosedError, ConnectionError, TimeoutError
from aerolane.testing import EmbeddedCluster

NAME = "lab.example"
# Calls that are not to time out, whatever the machine does meanwhile.
LATER = 600_000
READ = native.ReadPolicy(total_timeout=LATER, socket_timeout=LATER, max_retries=0)
WRITE = native.WritePolicy(total_timeout=LATER, socket_timeout=LATER, max_retries=0)
BATCH = native.BatchPolicy(total_timeout=LATER, socket_timeout=LATER, max_retries=0)


@pytest.fixture
def secure():
    """A cluster that speaks TLS."""
    with EmbeddedCluster(2, tls_name=NAME) as cluster:
        yield cluster


@pytest.fixture
def connect(secure, tmp_path):
    """`connect(**fields)`: a client over TLS, with these fields of its policy."""
    certificate = tmp_path / "ca.pem"
    certificate.write_text(secure.certificate_pem)
    seeds = ",".join(f"127.0.0.1:{NAME}:{node.tls_address.rsplit(':', 1)[1]}" for node in secure.nodes)
    clients = []

    def make(**fields):
        policy = ClientPolicy(tls_config=TlsConfig(str(certificate)), **fields)
        clients.append(native.new_client_blocking(policy, seeds))
        return clients[-1]

    yield make
    secure.clear_faults()
    for client in clients:
        client.close_blocking()


def switches(name):
    """How often the threads of this name have gone to sleep."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            status = (task / "status").read_text()
            count += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return count


async def test_many_calls_at_once_and_large_values(connect, set_name):
    client = connect(max_conns_per_node=10)
    keys = [Key("test", set_name, number) for number in range(300)]
    bins = [{"n": n, "text": "x" * 2_000 * (n % 5)} for n in range(300)]
    await asyncio.gather(*(client.put(key, bins[n], policy=WRITE) for n, key in enumerate(keys)))
    records = await asyncio.gather(*(client.get(key, policy=READ) for key in keys))
    assert [record.bins for record in records] == bins
    # Far more than a record of TLS, a socket, or one read holds.
    large = ["y" * 900_000 + str(number) for number in range(8)]
    await asyncio.gather(*(client.put(keys[n], {"text": text}, policy=WRITE) for n, text in enumerate(large)))
    rows = await client.batch_read(keys[:8], batch_policy=BATCH)
    assert [row.record.bins["text"] for row in rows] == large
    await client.batch_write(keys, [{"n": -1}] * 300, batch_policy=BATCH)
    rows = await client.batch_read(keys, batch_policy=BATCH)
    assert [row.record.bins["n"] for row in rows] == [-1] * 300


async def test_the_loop_does_the_work_and_no_other_thread(connect, set_name):
    # The control plane looks at the cluster in its own time: seldom.
    client = connect(tend_interval=60_000)
    keys = [Key("test", set_name, number) for number in range(50)]
    await asyncio.gather(*(client.put(key, {"n": n}, policy=WRITE) for n, key in enumerate(keys)))
    before = switches("aerolane-ctl")
    for _ in range(20):
        for n, key in enumerate(keys):
            # One after the other: none of them is a thread's affair by the way.
            assert (await client.get(key, policy=READ)).bins == {"n": n}
    assert switches("aerolane-ctl") - before < 500, "1000 calls"


async def test_calls_that_are_given_up(connect, secure, set_name):
    client = connect(max_conns_per_node=4)
    keys = [Key("test", set_name, number) for number in range(100)]
    await asyncio.gather(*(client.put(key, {"n": n}, policy=WRITE) for n, key in enumerate(keys)))
    for _ in range(5):
        calls = [asyncio.ensure_future(client.get(key, policy=READ)) for key in keys]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [result.bins["n"] for result in results[1::2]] == list(range(1, 100, 2))
    with secure.inject("stall", on="read"):
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            await client.get(keys[0], policy=native.ReadPolicy(total_timeout=100, max_retries=0))
        assert time.monotonic() - start >= 0.1
    assert (await client.get(keys[0], policy=READ)).bins == {"n": 0}


async def test_connections_that_are_lost(connect, secure, set_name):
    client = connect()
    key = Key("test", set_name, 1)
    await client.put(key, {"n": 1, "text": "x" * 40_000}, policy=WRITE)
    with secure.inject("truncate", 17_000, on="read", times=1), pytest.raises(ConnectionError):
        await client.get(key, policy=READ)
    with secure.inject("drop-after", on="write", times=1), pytest.raises(ConnectionError) as lost:
        await client.add(key, {"n": 1}, policy=WRITE)
    assert lost.value.in_doubt
    # The next attempt goes over the lane, too.
    again = native.ReadPolicy(total_timeout=LATER, socket_timeout=LATER, max_retries=5)
    with secure.inject("drop-before", on="read", times=2):
        assert (await client.get(key, policy=again)).bins["n"] == 2
    with secure.inject("split", on="read", times=1):
        assert (await client.get(key, ["text"], policy=READ)).bins == {"text": "x" * 40_000}


async def test_closing_with_calls_under_way(connect, secure, set_name):
    client = connect(max_conns_per_node=4)
    key = Key("test", set_name, 1)
    await client.put(key, {"n": 1}, policy=WRITE)
    with secure.inject("stall", on="read") as fault:
        calls = [asyncio.ensure_future(client.get(key, policy=READ)) for _ in range(10)]
        batch = asyncio.ensure_future(client.batch_read([key], batch_policy=BATCH))
        await eventually_async(lambda: fault.struck >= 4)
        await client.close()
        results = await asyncio.gather(*calls, batch, return_exceptions=True)
    assert all(isinstance(result, ClientClosedError) for result in results), results
    with pytest.raises(AerospikeError):
        await client.get(key)


def test_many_threads_and_a_loop(connect, set_name):
    client = connect(max_conns_per_node=40)
    keys = [Key("test", set_name, number) for number in range(32)]
    gate = threading.Barrier(32)

    def work(number):
        gate.wait()
        for turn in range(50):
            client.put_blocking(keys[number], {"n": number, "turn": turn}, policy=WRITE)
            assert client.get_blocking(keys[number], policy=READ).bins == {"n": number, "turn": turn}

    with ThreadPoolExecutor(32) as threads:
        list(threads.map(work, range(32)))

    async def on_a_loop():
        return await asyncio.gather(*(client.get(key, policy=READ) for key in keys))

    assert [record.bins for record in asyncio.run(on_a_loop())] == [{"n": n, "turn": 49} for n in range(32)]
