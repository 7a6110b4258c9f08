"""Keys: digests, names, equality, pickling, and what is refused."""

import copy
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerolane import Key

# Computed by aerospike-native 1.0.0.
DIGESTS = [
    ("demo", 1, "b7f4b83889e2da67de683e1df6919a1eacc446c8", 1207),
    ("demo", "a", "40013b3ef08b61f2d1621a602d6e5aa9711b6ef9", 0x140),
    ("demo", b"x", "abcb8fffabca603d7353795e7948b8d1061b04ba", 0xBAB),
    ("demo", "", "6253653507ba82c3f57c87af2f86d39033149e0c", 0x362),
    ("demo", -(2**63), "ed1e7c46ae5e7ece2d07934101b63291bf9a3606", 0xEED),
]
INT64 = st.integers(-(2**63), 2**63 - 1)
USER_KEYS = st.one_of(INT64, st.text(), st.binary(max_size=200))


@pytest.mark.parametrize(("set_name", "value", "digest", "partition"), DIGESTS)
def test_digests_are_those_of_other_clients(set_name, value, digest, partition):
    key = Key("test", set_name, value)
    assert (key.digest, key.partition_id) == (digest, partition)
    assert key.digest_bytes == bytes.fromhex(digest)


def test_a_key_tells_what_it_was_made_from():
    key = Key("test", "demo", "k")
    assert (key.namespace, key.set_name, key.value, key.user_key) == ("test", "demo", "k", "k")
    assert repr(key) == "Key('test', 'demo', 'k')"
    assert Key(namespace="test", set=None, key=b"k").set_name == ""
    assert Key("test", None, 1) == Key("test", "", 1)


@given(st.text(min_size=1, max_size=7), st.text(max_size=15), USER_KEYS)
def test_keys_come_back_as_they_were(namespace, set_name, value):
    key = Key(namespace, set_name, value)
    assert (key.namespace, key.set_name, key.value) == (namespace, set_name, value)
    assert type(key.value) is type(value)
    again = pickle.loads(pickle.dumps(key))
    assert again == key and hash(again) == hash(key) and again.value == value
    digest_only = Key.key_with_digest(namespace, set_name, key.digest)
    assert digest_only == key and digest_only.value is None
    assert eval(repr(key)) == key and eval(repr(digest_only)) == key
    assert pickle.loads(pickle.dumps(digest_only)).value is None


@pytest.mark.parametrize("size", [0, 1, 20, 54, 55, 56, 63, 64, 119, 120, 1000])
def test_user_keys_of_all_sizes(size):
    key = Key("n" * 31, "s" * 63, b"k" * size)
    assert (key.namespace, key.set_name, key.value) == ("n" * 31, "s" * 63, b"k" * size)


@given(INT64)
def test_an_int_user_key_is_its_text(number):
    key = Key.from_int_user_key("test", "demo", number)
    assert key.value == str(number) and key == Key("test", "demo", str(number))


def test_equality_is_by_namespace_and_digest():
    key = Key("test", "demo", 1)
    assert key == Key("test", "demo", 1) and hash(key) == hash(Key("test", "demo", 1))
    for other in (Key("other", "demo", 1), Key("test", "d", 1), Key("test", "demo", "1"), 1, None):
        assert key != other
    assert len({key, Key("test", "demo", 1), Key("test", "demo", 2)}) == 2
    with pytest.raises(TypeError):
        _ = key < key


def test_copies_are_the_key_itself():
    key = Key("test", "demo", 1)
    assert copy.copy(key) is key and copy.deepcopy([key])[0] is key


def test_subclasses_and_bytes_like_objects():
    class Number(int):
        pass

    class Text(str):
        pass

    for given_key, plain in [
        (Number(7), 7),
        (Text("x"), "x"),
        (bytearray(b"x"), b"x"),
        (memoryview(b"axb")[1:2], b"x"),
        (memoryview(b"x.y.")[::2], b"xy"),
    ]:
        key = Key("test", "demo", given_key)
        assert key == Key("test", "demo", plain) and key.value == plain


def test_numpy_integers():
    numpy = pytest.importorskip("numpy")
    for kind in ("int8", "uint8", "int32", "int64", "uint64"):
        assert Key("test", "demo", numpy.dtype(kind).type(7)) == Key("test", "demo", 7)
    assert Key("test", "demo", numpy.uint64(2**64 - 1)) == Key("test", "demo", -1)
    for wrong in (numpy.float64(1), numpy.bool_(True), numpy.datetime64("2020-01-01")):
        with pytest.raises(TypeError):
            Key("test", "demo", wrong)


@pytest.mark.parametrize("value", [True, False, None, 1.5, [1], {}, object()])
def test_other_user_keys_are_refused(value):
    with pytest.raises(TypeError, match=r"user key|not supported"):
        Key("test", "demo", value)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 2**200])
@pytest.mark.parametrize("make", [Key, Key.from_int_user_key])
def test_integers_beyond_64_bits_are_refused(make, value):
    with pytest.raises(OverflowError, match=f"{value} does not fit into 64 bits"):
        make("test", "demo", value)


@pytest.mark.parametrize(
    ("namespace", "set_name", "text"),
    [("", "s", "empty"), ("n" * 32, "s", "32 bytes"), ("n", "s" * 64, "64 bytes"), ("é" * 16, "s", "32 bytes")],
)
def test_names_are_bounded(namespace, set_name, text):
    for make in (Key, Key.from_int_user_key):
        with pytest.raises(ValueError, match=text):
            make(namespace, set_name, 1)
    with pytest.raises(ValueError, match=text):
        Key.key_with_digest(namespace, set_name, bytes(20))


def test_text_that_is_no_utf8_is_refused():
    with pytest.raises(ValueError, match="surrogates"):
        Key("test", "demo", "\ud800")


@pytest.mark.parametrize("digest", [b"x", bytes(21), "ab", "z" * 40, "é" * 20])
def test_wrong_digests_are_refused(digest):
    with pytest.raises(ValueError, match="digest"):
        Key.key_with_digest("test", "demo", digest)


@pytest.mark.parametrize("digest", [None, 7, [0] * 20])
def test_other_types_of_digests_are_refused(digest):
    with pytest.raises(TypeError, match="digest"):
        Key.key_with_digest("test", "demo", digest)


def test_one_key_is_shared_by_threads():
    key = Key("test", "demo", "shared")
    wrong = []

    def look():
        for _ in range(2000):
            if key != Key("test", "demo", "shared") or key.value != "shared" or hash(key) != hash(key):
                wrong.append(1)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
