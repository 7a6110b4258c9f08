"""Values, keys and metadata beside other clients: what they write we read as they do, and the reverse.

Each peer that is not installed is skipped (`pip install -r tests/python/peers/requirements.txt` brings them, and
`make test-peers` runs this file with them). Whole commands of theirs are in peers/check_peers.py.
"""

import json
import math
import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aerolane import Behavior, GeoJSON, Key, RecordNotFoundError, SortedMap, SyncClient, native

# aerospike-native would put uvloop into this process as it is imported.
os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")

# Theirs, of settings that their other versions need.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
POINT = '{"type": "Point", "coordinates": [1.5, 2.25]}'


class CClient:
    """`aerospike`, the client in C."""

    nul_in_text = False  # It cuts a str at a NUL.
    empty_bytes_as_key = False  # It refuses them.

    def __init__(self, seeds):
        self.module = pytest.importorskip("aerospike", reason="aerospike (the C client) is not installed")
        hosts = [(host, int(port)) for host, port in (seed.rsplit(":", 1) for seed in seeds.split(","))]
        self.client = self.module.client({"hosts": hosts[:1]}).connect()

    def close(self):
        self.client.close()

    def key(self, namespace, set_name, user_key):
        return namespace, set_name, bytearray(user_key) if isinstance(user_key, bytes) else user_key

    def digest(self, key):
        return bytes(self.module.calc_digest(*key))

    def value(self, value):
        """The value in this client's own types."""
        if isinstance(value, GeoJSON):
            return self.module.GeoJSON(value.value)
        if isinstance(value, dict):
            kind = self.module.KeyOrderedDict if isinstance(value, SortedMap) else dict
            return kind({key: self.value(item) for key, item in value.items()})
        return [self.value(item) for item in value] if isinstance(value, list) else value

    def put(self, key, bins, ttl=None, send_key=False):
        meta = {} if ttl is None else {"ttl": ttl}
        policy = {"key": self.module.POLICY_KEY_SEND} if send_key else {}
        self.client.put(key, {name: self.value(value) for name, value in bins.items()}, meta, policy)

    def get(self, key):
        """Bins, generation and TTL; the TTL of what does not expire is None."""
        _, meta, bins = self.client.get(key)
        return bins, meta["gen"], None if meta["ttl"] == self.module.TTL_NEVER_EXPIRE & 0xFFFFFFFF else meta["ttl"]

    def batch(self, keys, bins=None):
        """Bins and generation of each record, or None where there is none."""
        rows = self.client.batch_read(keys, bins).batch_records if bins else self.client.batch_read(keys).batch_records
        assert {row.result for row in rows} <= {0, 2}
        return [(row.record[2], row.record[1]["gen"]) if row.result == 0 else None for row in rows]

    def exists(self, key):
        return self.client.exists(key)[1] is not None

    def remove(self, key):
        self.client.remove(key)

    def change(self, key):
        self.client.increment(key, "i", 5)
        self.client.append(key, "s", "after")
        self.client.prepend(key, "s", "before")
        self.client.touch(key, 500)


class NativeClient:
    """`aerospike_native`, the client in Rust."""

    nul_in_text = True
    empty_bytes_as_key = True

    def __init__(self, seeds):
        self.module = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")
        self.client = self.module.new_client_blocking(self.module.ClientPolicy(), seeds)

    def close(self):
        self.client.close_blocking()

    def key(self, namespace, set_name, user_key):
        return self.module.Key(namespace, set_name, user_key)

    def digest(self, key):
        return bytes.fromhex(key.digest)

    def value(self, value):
        if isinstance(value, GeoJSON):
            return self.module.GeoJSON(value.value)
        if isinstance(value, dict):
            kind = self.module.SortedMap if isinstance(value, SortedMap) else dict
            return kind({key: self.value(item) for key, item in value.items()})
        return [self.value(item) for item in value] if isinstance(value, list) else value

    def put(self, key, bins, ttl=None, send_key=False):
        policy = self.module.WritePolicy()
        policy.send_key = send_key
        if ttl is not None:
            policy.expiration = self.module.Expiration.seconds(ttl)
        self.client.put_blocking(key, {name: self.value(value) for name, value in bins.items()}, policy=policy)

    def get(self, key):
        record = self.client.get_blocking(key)
        return record.bins, record.generation, record.ttl

    def batch(self, keys, bins=None):
        codes = self.module.ResultCode
        rows = self.client.batch_read_blocking(keys, bins)
        assert all(row.result_code in (codes.OK, codes.KEY_NOT_FOUND_ERROR) for row in rows)
        return [(row.record.bins, row.record.generation) if row.result_code == codes.OK else None for row in rows]

    def exists(self, key):
        return self.client.exists_blocking(key)

    def remove(self, key):
        assert self.client.delete_blocking(key)

    def change(self, key):
        self.client.add_blocking(key, {"i": 5})
        self.client.append_blocking(key, {"s": "after"})
        self.client.prepend_blocking(key, {"s": "before"})
        policy = self.module.WritePolicy()
        policy.expiration = self.module.Expiration.seconds(500)
        self.client.touch_blocking(key, policy=policy)


@pytest.fixture(scope="module", params=[CClient, NativeClient], ids=["aerospike", "aerospike-native"])
def peer(request, seeds):
    peer = request.param(seeds)
    yield peer
    peer.close()


def key_ordered(value):
    """The value with its `SortedMap`s in the order of their keys: that of the server."""
    if isinstance(value, SortedMap):
        ranks = {int: 0, str: 1, bytes: 2}

        def order(pair):
            key = pair[0]
            return ranks[type(key)], key.encode() if isinstance(key, str) else key

        return SortedMap({key: key_ordered(item) for key, item in sorted(value.items(), key=order)})
    if isinstance(value, dict):
        return {key: key_ordered(item) for key, item in value.items()}
    return [key_ordered(item) for item in value] if isinstance(value, list) else value


def plain(value):
    """A value with the kinds of all that is in it, the same for all clients' types."""
    match type(value).__name__:
        case "GeoJSON" | "Geospatial":
            return "geojson", json.dumps(json.loads(str(getattr(value, "value", value))), sort_keys=True)
        case "SortedMap" | "KeyOrderedDict":
            return "key-ordered", tuple((type(key), key, plain(item)) for key, item in value.items())
        case "dict":
            return "map", frozenset((type(key), key, plain(item)) for key, item in value.items())
        case "list":
            return "list", tuple(plain(item) for item in value)
    return type(value), repr(value)


VALUES = {
    "bool": [True, False],
    "int": [0, 1, -1, 127, 128, -128, -129, 2**31 - 1, 2**31, 2**32, -(2**31) - 1, 2**63 - 1, -(2**63)],
    "float": [0.0, -0.0, 1.5, -1e300, 5e-324, math.nan, math.inf, -math.inf],
    "str": ["", "x", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "x" * 70_000, "é漢😀", "\x7f\x01"],
    "bytes": [b"", b"\0", bytes(range(256)), b"b" * 70_000],
    "geojson": [GeoJSON(POINT)],
    "empty": [[], {}, SortedMap()],
    "list": [[1], [[]], [{}], [[[[[b""]]]]], list(range(-200, 200)), [None, True, 1, 1.5, "s", b"b", [1], {"k": 1}]],
    "map": [
        {"a": 1},
        {1: "a", "1": "b", b"1": "c"},
        {-(2**63): 1, 2**63 - 1: 2, 0: 3, -1: 4},
        {"": {"": {}}},
        {"é漢😀": "é漢😀"},
        {n: {str(n): [n]} for n in range(300)},
    ],
    "key-ordered map": [
        SortedMap({"z": 1, "a": 2}),
        SortedMap({3: 1, "a": 2, b"b": 3, -5: 4}),
        SortedMap({1: SortedMap({"y": [1], "x": 2})}),
        {"in a map": SortedMap({2: 1, 1: 2})},
        [SortedMap({2: 1, 1: 2}), {"u": 1}],
        SortedMap({"plain": {1: 2}, "list": []}),
    ],
    "edges inside": [[2**63 - 1, -(2**63), math.nan, math.inf, "x" * 300, b"b" * 300, GeoJSON(POINT), True, None]],
}
EACH = [pytest.param(value, id=f"{kind}-{n}") for kind, values in VALUES.items() for n, value in enumerate(values)]


@pytest.mark.parametrize("value", EACH)
def test_a_value_is_the_same_to_both(client, peer, set_name, value):
    key, theirs = Key("test", set_name, "k"), peer.key("test", set_name, "k")
    expected = plain(key_ordered(value))
    peer.put(theirs, {"v": value, "more": 1})
    assert plain(peer.get(theirs)[0]["v"]) == expected, "the peer itself"
    record = client.get_blocking(key)
    assert plain(record.bins["v"]) == plain(record.bin("v")) == expected, "written by the peer"
    client.delete_blocking(key)
    client.put_blocking(key, {"v": value, "more": 1})
    assert plain(peer.get(theirs)[0]["v"]) == expected, "read by the peer"
    assert plain(client.get_blocking(key).bins["v"]) == expected


@pytest.mark.parametrize("value", EACH)
def test_what_was_read_can_be_written_back(client, peer, set_name, value):
    """To the peer, a record is the same after we read it and wrote what we had read."""
    key, theirs = Key("test", set_name, "k"), peer.key("test", set_name, "k")
    peer.put(theirs, {"v": value})
    before = plain(peer.get(theirs)[0]["v"])
    client.put_blocking(key, client.get_blocking(key).bins)
    assert plain(peer.get(theirs)[0]["v"]) == before


def values(text):
    numbers = st.integers(-(2**63), 2**63 - 1)
    scalars = st.one_of(st.booleans(), numbers, st.floats(), text, st.binary(max_size=40), st.just(GeoJSON(POINT)))
    keys = st.one_of(numbers, text, st.binary(max_size=20))

    def more(inner):
        maps = st.dictionaries(keys, inner, max_size=8)
        return st.one_of(st.lists(inner, max_size=8), maps, maps.map(SortedMap))

    return st.recursive(scalars, more, max_leaves=25)


TEXT = st.text(max_size=40)
WITHOUT_NUL = TEXT.map(lambda text: text.replace("\0", "0"))


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_any_value_is_the_same_to_both(client, peer, set_name, data):
    value = data.draw(values(TEXT if peer.nul_in_text else WITHOUT_NUL))
    key, theirs = Key("test", set_name, "k"), peer.key("test", set_name, "k")
    expected = plain(key_ordered(value))
    client.put_blocking(key, {"v": value})
    assert plain(client.get_blocking(key).bins["v"]) == expected
    assert plain(peer.get(theirs)[0]["v"]) == expected
    peer.put(theirs, {"v": value})
    assert plain(client.get_blocking(key).bins["v"]) == expected


USER_KEYS = [0, 1, -1, 2**63 - 1, -(2**63), 2**32, "", "k", "1", "é漢😀", "x" * 300, b"", b"k", bytes(range(256))]


@pytest.mark.parametrize("user_key", USER_KEYS, ids=lambda key: repr(key)[:20])
def test_keys_name_the_same_record(client, peer, set_name, user_key):
    if user_key == b"" and not peer.empty_bytes_as_key:
        pytest.skip("the peer refuses it")
    key, theirs = Key("test", set_name, user_key), peer.key("test", set_name, user_key)
    assert key.digest_bytes == peer.digest(theirs)
    peer.put(theirs, {"v": "theirs"})
    assert client.get_blocking(key).bins == {"v": "theirs"}
    client.put_blocking(key, {"v": "ours"})
    assert peer.get(theirs)[0] == {"v": "ours"}
    by_digest = Key.key_with_digest("test", set_name, peer.digest(theirs))
    assert client.get_blocking(by_digest).bins == {"v": "ours"}
    assert client.delete_blocking(key) and not peer.exists(theirs)


def test_digests_of_many_keys(peer):
    rng = random.Random(3)
    for _ in range(500):
        user_key = rng.choice(
            [rng.getrandbits(64) - 2**63, rng.randbytes(rng.randrange(1, 80)), f"{rng.getrandbits(99)}"]
        )
        set_name = "s" * rng.randrange(1, 63)
        assert Key("test", set_name, user_key).digest_bytes == peer.digest(peer.key("test", set_name, user_key))


def test_keys_of_each_kind_are_distinct_records(client, peer, set_name):
    for n, user_key in enumerate([1, "1", b"1", "\0", b"\0", 0]):
        peer.put(peer.key("test", set_name, user_key), {"n": n})
    for n, user_key in enumerate([1, "1", b"1", "\0", b"\0", 0]):
        if not peer.nul_in_text and user_key == "\0":
            continue
        assert client.get_blocking(Key("test", set_name, user_key)).bins == {"n": n}


def test_generation_and_ttl_are_seen_alike(client, peer, set_name):
    key, theirs = Key("test", set_name, "k"), peer.key("test", set_name, "k")

    def same(generation, ttl):
        record = client.get_blocking(key)
        _, their_generation, their_ttl = peer.get(theirs)
        assert record.generation == their_generation == generation
        if ttl is None:
            assert record.ttl is None and record.expiration is None and their_ttl is None
        else:
            assert abs(record.ttl - their_ttl) <= 1 and ttl - 5 <= record.ttl <= ttl

    policy = native.WritePolicy(expiration=native.Expiration.seconds(1000))
    never = native.WritePolicy(expiration=native.Expiration.NEVER_EXPIRE)
    keep = native.WritePolicy(expiration=native.Expiration.DONT_UPDATE)
    peer.put(theirs, {"a": 1}, ttl=300)
    same(1, 300)
    client.put_blocking(key, {"a": 2}, policy=policy)
    same(2, 1000)
    client.put_blocking(key, {"a": 2}, policy=keep)
    same(3, 1000)
    client.touch_blocking(key, policy=native.WritePolicy(expiration=native.Expiration.seconds(2000)))
    same(4, 2000)
    client.put_blocking(key, {"a": 2}, policy=never)
    same(5, None)
    peer.put(theirs, {"a": 1}, ttl=31_536_000)
    same(6, 31_536_000)


def test_each_changes_what_the_other_wrote(client, peer, set_name):
    key, theirs = Key("test", set_name, "k"), peer.key("test", set_name, "k")
    client.put_blocking(key, {"i": 1, "s": "-", "gone": 1})
    peer.change(theirs)
    client.add_blocking(key, {"i": 10})
    client.append_blocking(key, {"s": "!"})
    client.prepend_blocking(key, {"s": "¡"})
    client.put_blocking(key, {"gone": None})
    expected = {"i": 16, "s": "¡before-after!"}
    assert client.get_blocking(key).bins == peer.get(theirs)[0] == expected
    assert client.get_blocking(key).generation == peer.get(theirs)[1] == 9
    peer.remove(theirs)
    assert not client.exists_blocking(key)
    with pytest.raises(RecordNotFoundError):
        client.get_blocking(key)


def test_a_key_that_is_stored_does_not_disturb(client, peer, set_name):
    for n, user_key in enumerate([5, "five", b"5"]):
        key, theirs = Key("test", set_name, user_key), peer.key("test", set_name, user_key)
        peer.put(theirs, {"n": n}, send_key=True)
        assert client.get_blocking(key).bins == {"n": n}
        client.put_blocking(key, {"n": -n}, policy=native.WritePolicy(send_key=True))
        assert peer.get(theirs)[0] == {"n": -n}


def test_many_records_are_seen_alike(seeds, peer, set_name):
    """Every third is missing, every second was written by the peer."""
    keys = [Key("test", set_name, n) for n in range(300)]
    theirs = [peer.key("test", set_name, n) for n in range(300)]
    with SyncClient(seeds) as client:
        session = client.create_session(Behavior.DEFAULT)
        for n in (n for n in range(300) if n % 3):
            bins = {"n": n, "l": [n, {str(n): n}], "t": "x" * n}
            if n % 2:
                peer.put(theirs[n], bins)
            else:
                session.put(keys[n], bins)
    for bins in (None, ["n"], ["n", "t", "nope"]):
        rows = peer.batch(theirs, bins)
        with native.new_client_blocking(native.ClientPolicy(), seeds) as client:
            for row, ours in zip(rows, client.batch_read_blocking(keys, bins), strict=True):
                assert (row is None) == (ours.record is None)
                if row is not None:
                    assert (ours.record.bins, ours.record.generation) == (dict(row[0]), row[1])
