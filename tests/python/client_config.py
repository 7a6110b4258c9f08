"""What a configuration file of clients makes of requests, as bytes on the wire: the same calls for our native client
and aerospike-native."""

import asyncio
import contextlib

from conftest import overheard

VARIABLE = "AEROSPIKE_CLIENT_CONFIG_URL"
# By the section that each is about.
SECTIONS = {
    "nothing": "",
    "read": "read: {read_mode_ap: ALL, socket_timeout: 1111, total_timeout: 2222, error_detail_verbosity: 2}",
    "write": "write: {send_key: true, durable_delete: true, xdr: true, total_timeout: 3333}",
    "query": "query: {include_bin_data: false, expected_duration: SHORT, total_timeout: 5555}",
    "batch": "batch: {allow_inline: false, allow_inline_ssd: true, respond_all_keys: false, read_mode_ap: ALL}",
    "batch_times": "batch: {total_timeout: 4444}",
    "batch_read": "batch_read: {read_mode_ap: ALL, read_mode_sc: LINEARIZE, allow_inline: false}",
    "batch_write": "batch_write: {send_key: true, durable_delete: true}",
    "batch_delete": "batch_delete: {send_key: true, durable_delete: true}",
    "several": "read: {total_timeout: 7000}, batch: {read_mode_ap: all}, batch_write: {send_key: true}",
    "wrong": "write: {send_key: 7, total_timeout: 2222}",
}
INFO_1, INFO_2, INFO_3, INFO_4 = range(4)


def frames(said):
    """The bodies of messages in what a client has said."""
    data, bodies = bytes(said), []
    while len(data) >= 8:
        size = int.from_bytes(data[2:8])
        # Older versions of Python do not wait for what their peer has still to send.
        if data[1] == 3:
            bodies.append(data[8 : 8 + size])
        data = data[8 + size :]
    return bodies


def facts(body):
    """What a request says that a policy can decide: info bytes, timeout, user keys, flags of a batch and a row."""
    at, found = 22, {"info": tuple(body[1:5]), "timeout": int.from_bytes(body[14:18])}
    for _ in range(int.from_bytes(body[18:20])):
        size = int.from_bytes(body[at : at + 4])
        kind, value = body[at + 4], body[at + 5 : at + 4 + size]
        at += 4 + size
        if kind == 2:
            found["user key"] = True
        if kind == 41:
            found |= {"flags": value[4], "row": tuple(value[30:33]), "user key": b"stored" in value}
    return found


async def calls(native, client, set_name):
    """Calls of each kind, as name and what to await."""
    one, two = (native.Key("test", set_name, name) for name in ("stored 1", "stored 2"))
    # With policies that say otherwise, where there can be one: the file goes before them.
    read, write = native.ReadPolicy(), native.WritePolicy()
    read.max_retries = write.max_retries = 1

    async def query():
        records = await client.query(
            native.Statement("test", set_name, None), native.PartitionFilter.all(), policy=native.QueryPolicy()
        )
        async for _ in records:
            pass

    return {
        "put": lambda: client.put(one, {"a": 1}, policy=write),
        "get": lambda: client.get(one, policy=read),
        "exists": lambda: client.exists(one, policy=read),
        "touch": lambda: client.touch(one, policy=write),
        "query": query,
        "batch_write": lambda: client.batch_write([one, two], [{"a": 1}, {"a": 2}]),
        "batch_read": lambda: client.batch_read([one, two]),
        "batch_delete": lambda: client.batch_delete([one, two]),
        "write alone": lambda: client.batch_write([one], [{"a": 1}]),
        "read alone": lambda: client.batch_read([one]),
        "delete alone": lambda: client.batch_delete([one]),
        "delete": lambda: client.delete(one, policy=write),
    }


def said_by(native, cluster, set_name):
    """The facts of each call's request, by its name. `cluster` has one node, and the environment names a file."""
    host, _, port = cluster.nodes[0].address.rpartition(":")

    async def run():
        with overheard((host, int(port))) as (address, said):
            policy = native.ClientPolicy()
            # The node is known by the address that overhears.
            policy.seed_only_cluster = True
            client = await native.new_client(policy, f"{address[0]}:{address[1]}")
            found = {}
            for name, call in (await calls(native, client, set_name)).items():
                # What was opened before is said by now, or tells itself by not being a message.
                del said[:]
                with contextlib.suppress(Exception):
                    await call()
                found[name] = [facts(body) for body in frames(said)]
            closing = client.close()
            if closing is not None:
                await closing
            return found

    return asyncio.run(run())
