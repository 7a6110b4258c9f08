"""Configuration files of clients, read by aerospike-native and by us: the same calls send the same.

Skipped where that client is not installed; `make test-peers` installs it.
"""

import asyncio
import contextlib

import pytest
from client_config import SECTIONS, VARIABLE, said_by

from aerolane import native
from aerolane.testing import EmbeddedCluster

peer = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")


@pytest.fixture(scope="module")
def one_node():
    with EmbeddedCluster(nodes=1) as cluster:
        yield cluster


@pytest.mark.parametrize("section", SECTIONS)
def test_requests_are_the_same(one_node, tmp_path, monkeypatch, set_name, section):
    path = tmp_path / "client.yaml"
    path.write_text(f"version: 1.0.0\ndynamic: {{{SECTIONS[section]}}}\n")
    monkeypatch.setenv(VARIABLE, f"file://{path}")
    theirs, ours = (said_by(names, one_node, set_name) for names in (peer, native))
    for said in (theirs, ours):
        for name, requests in said.items():
            for fact in requests:
                first, second, third, fourth = fact["info"]
                # Only ours sends the read mode of strongly consistent namespaces to others, which do not look at it.
                third &= ~0xC0
                if name in ("write alone", "delete alone"):
                    # What one of them sets and servers do not look at in these: the read mode of the batch, and whether
                    # each operation answers.
                    first, second = first & ~0x40, second & ~0x80
                fact["info"] = (first, second, third, fourth)
        # Only ours sends a user key along with a delete that is alone.
        said["delete alone"][0].pop("user key", None)
    assert ours == theirs


async def prefers_racks(names, cluster, path, set_name):
    """Whether a client that was connected without racks takes reads that prefer one: at first, and by the file."""
    path.write_text("version: 1.0.0\n")
    client = await names.new_client(names.ClientPolicy(), cluster.seeds)
    policy, key = names.ReadPolicy(), names.Key("test", set_name, 1)
    policy.replica = names.Replica.PREFER_RACK
    policy.max_retries = 0

    async def taken():
        with contextlib.suppress(Exception):
            await client.exists(key, policy=policy)
            return True
        return False

    said = [await taken()]
    path.write_text("version: 1.0.0\ndynamic: {client: {rack_ids: [3]}}\n")
    for _ in range(100):
        if await taken():
            break
        await asyncio.sleep(0.1)
    said.append(await taken())
    closing = client.close()
    if closing is not None:
        await closing
    return said


def test_settings_of_the_client_change_while_it_is_open(one_node, tmp_path, monkeypatch, set_name):
    path = tmp_path / "client.yaml"
    monkeypatch.setenv(VARIABLE, f"file://{path}")
    theirs, ours = (asyncio.run(prefers_racks(names, one_node, path, set_name)) for names in (peer, native))
    assert ours == theirs == [False, True]
