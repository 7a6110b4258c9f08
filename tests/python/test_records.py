"""Records: lazily decoded bins, metadata, projections, operations, and malformed answers."""

import pickle
import struct
import threading
import time

import pytest

from aerolane import HLL, Key, Operation, Record, UnknownValue
from aerolane.exceptions import BadResponseError, RecordNotFoundError


def op(name, kind, value, op_type=1):
    """An operation of an answer."""
    return struct.pack(">IBBBB", 4 + len(name) + len(value), op_type, kind, 0, len(name)) + name + value


def answer(*ops, generation=3, expires=0, fields=b"", n_fields=0):
    """The body of an answer: 22 bytes of header, fields, operations."""
    header = struct.pack(">BBBBBBIIIHH", 22, 0, 0, 0, 0, 0, generation, expires, 0, n_fields, len(ops))
    return header + fields + b"".join(ops)


def record(body, *, key=None, operate=False):
    """A record from an answer, the way that unpickling makes one."""
    return Record._restore(key, body, operate, None)


ONE = op(b"a", 1, struct.pack(">q", 7))
TEXT = op(b"s", 3, b"text")
NIL = op(b"n", 0, b"")


def test_bins_and_metadata():
    key = Key("test", "demo", 1)
    it = record(answer(ONE, TEXT, NIL, fields=b"\0\0\0\3\x2dxy", n_fields=1), key=key)
    assert it.bins == {"a": 7, "s": "text"} and list(it.bins) == ["a", "s"]
    assert it.bins is it.bins
    assert (it.generation, it.ttl, it.expiration, it.results, it.key) == (3, None, None, None, key)
    assert it.operation_result(0) is None
    assert repr(it) == "Record(key=Key('test', 'demo', 1), generation=3, ttl=None, bins={'a': 7, 's': 'text'})"


def test_one_bin_is_decoded_alone():
    broken = op(b"x", 20, b"\x91")
    it = record(answer(broken, ONE))
    assert it.bin("a") == 7 and it.bin("nope") is None and it.bin("") is None
    with pytest.raises(Exception, match="malformed"):
        it.bin("x")
    with pytest.raises(Exception, match="malformed"):
        _ = it.bins
    assert it.bin("a") == 7
    with pytest.raises(TypeError):
        it.bin(1)


def test_a_changed_bin_is_what_bin_gives():
    it = record(answer(ONE))
    it.bins["a"] = 8
    assert it.bin("a") == 8


def test_ttl_counts_down_to_one():
    epoch = 1_262_304_000  # 2010-01-01 00:00:00 UTC
    now = int(time.time())
    soon = record(answer(ONE, expires=now - epoch + 1000))
    assert soon.expiration == now - epoch + 1000 and 990 <= soon.ttl <= 1000
    assert record(answer(ONE, expires=1)).ttl == 1


def test_results_of_operate():
    touched = op(b"", 0, b"")
    it = record(answer(NIL, ONE, touched, TEXT, ONE), operate=True)
    assert it.bins == {"n": None, "a": [7, 7], "s": "text"}
    assert it.results == [None, 7, None, "text", 7] and it.results is it.results
    assert [it.operation_result(i) for i in range(6)] == [None, 7, None, "text", 7, None]
    fresh = record(answer(ONE, ONE, ONE, NIL), operate=True)
    assert fresh.bin("a") == [7, 7, 7] and fresh.bin("n") is None


def test_a_repeated_list_stays_one_result():
    one_list = op(b"l", 20, b"\x91\x01")
    it = record(answer(one_list, one_list, one_list), operate=True)
    assert it.bins == {"l": [[1], [1], [1]]}


def test_equality_and_pickling():
    key = Key("test", "demo", 1)
    it = record(answer(ONE), key=key)
    assert it == record(answer(ONE), key=Key("test", "demo", 1))
    for other in (
        record(answer(TEXT), key=key),
        record(answer(ONE, generation=4), key=key),
        record(answer(ONE, expires=9), key=key),
        record(answer(ONE), key=Key("test", "demo", 2)),
        record(answer(ONE)),
        {"a": 7},
        None,
    ):
        assert it != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(it)
    assert pickle.loads(pickle.dumps(it)) == it
    it.bins["a"] = 9
    assert pickle.loads(pickle.dumps(it)).bins == {"a": 9}


@pytest.mark.parametrize("size", [0, 40, 41, 42, 43, 1000, 100_000])
def test_answers_of_all_sizes(size):
    assert record(answer(op(b"s", 3, b"x" * size))).bins == {"s": "x" * size}


# Particle type and value of answers that hold no such value.
MALFORMED = [
    (1, b""),
    (1, b"123"),
    (2, b"1234"),
    (17, b"\2"),
    (17, b""),
    (3, b"\xff"),
    (3, b"\xed\xa0\x80"),
    (20, b""),
    (20, b"\x01"),
    (20, b"\x91"),
    (20, b"\x91\x01\x01"),
    (20, b"\xdd\xff\xff\xff\xff\x01"),
    (20, b"\x91" * 600 + b"\x01"),
    (20, b"\x91\xc1"),
    (20, b"\x91\xa2\x03\xff"),
    (20, b"\x91\xa0"),
    (19, b"\x81\x01"),
    (19, b"\x81\x90\x01"),
    (19, b"\x82\x01\x01\x01\x02"),
    (19, b"\x91\x01"),
    (23, b"\0"),
    (23, b"\0\0\1x"),
    (23, b"\0\0\0\xff"),
]


@pytest.mark.parametrize(("kind", "value"), MALFORMED)
def test_malformed_values_are_typed_errors(kind, value):
    it = record(answer(op(b"x", kind, value), ONE))
    for look in (lambda: it.bins, lambda: it.bin("x"), lambda: repr(it)):
        with pytest.raises(BadResponseError, match="malformed"):
            look()
    with pytest.raises(BadResponseError):
        _ = record(answer(op(b"x", kind, value)), operate=True).results


def test_a_bin_name_that_is_no_text_is_a_typed_error():
    with pytest.raises(BadResponseError, match="bin name"):
        _ = record(answer(op(b"\xff", 1, bytes(8)))).bins


def test_cut_answers_are_no_records():
    whole = answer(ONE, TEXT)
    for end in range(len(whole)):
        with pytest.raises(BadResponseError, match="malformed"):
            record(whole[:end])


def test_values_of_unknown_types_and_odd_integers():
    it = record(answer(op(b"u", 99, b"raw"), op(b"h", 18, b"hh"), op(b"i", 1, b"\xff"), op(b"long" * 20, 1, bytes(8))))
    assert it.bins == {"u": UnknownValue(99, b"raw"), "h": HLL(b"hh"), "i": 255, "long" * 20: 0}


def test_maps_whose_order_is_the_answer():
    pairs = record(answer(op(b"m", 19, b"\x83\xc7\x00\x08\xc0\x02\x01\x01\x02")))
    assert list(pairs.bins["m"].items()) == [(2, 1), (1, 2)]


def test_bin_names_are_made_once_and_by_many_threads():
    """More names than are kept, from several threads at once."""
    names = [f"bin{i}".encode() for i in range(5000)]
    body = answer(*(op(name, 1, bytes(7) + b"\1") for name in names))
    wrong = []

    def look():
        for _ in range(5):
            bins = record(body).bins
            if list(bins) != [name.decode() for name in names]:
                wrong.append(bins)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_record_is_decoded_by_many_threads():
    for _ in range(200):
        it = record(answer(ONE, TEXT))
        barrier = threading.Barrier(4)
        seen = []

        def look(it=it, barrier=barrier, seen=seen):
            barrier.wait()
            seen.append(id(it.bins))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 4 and len(set(seen)) == 1


def test_projections(client, key):
    client.put_blocking(key, {"a": 1, "b": "x", "c": [1]})
    everything = client.get_blocking(key)
    assert everything.bins == {"a": 1, "b": "x", "c": [1]} and everything.key == key
    assert client.get_blocking(key, ["a", "nope"]).bins == {"a": 1}
    assert client.get_blocking(key, ("c", "b")).bins == {"c": [1], "b": "x"}
    header = client.get_blocking(key, [])
    assert header.bins == {} and header.generation == 1 and header.results is None
    for wrong in ("a", b"a", [1], [None], 7):
        with pytest.raises(TypeError):
            client.get_blocking(key, wrong)
    with pytest.raises(ValueError, match="16 bytes"):
        client.get_blocking(key, ["a", "b" * 16])


def test_writes_of_each_kind(client, key):
    client.put_blocking(key, {"i": 1, "f": 0.5, "s": "m", "b": b"m"})
    client.add_blocking(key, {"i": 2, "f": 1.5})
    client.append_blocking(key, {"s": "z", "b": b"z"})
    client.prepend_blocking(key, {"s": "a", "b": b"a"})
    client.touch_blocking(key)
    it = client.get_blocking(key)
    assert it.bins == {"i": 3, "f": 2.0, "s": "amz", "b": b"amz"} and it.generation == 5
    assert client.exists_blocking(key)
    assert client.delete_blocking(key)
    assert not client.exists_blocking(key) and not client.delete_blocking(key)


def test_operate(client, key):
    put, read = Operation.put("a", 5), Operation.get_bin("a")
    with pytest.raises(RecordNotFoundError):
        client.operate_blocking(key, [Operation.touch()])
    client.operate_blocking(key, [put])
    it = client.operate_blocking(key, [put, Operation.add("a", 2), read, Operation.put("s", "m")])
    assert it.bins == {"a": [None, None, 7], "s": None} and it.results == [None, None, 7, None]
    assert client.operate_blocking(key, [Operation.touch(), read]).bin("a") == 7
    it = client.operate_blocking(key, (Operation.append("s", "z"), Operation.prepend("s", "a"), Operation.get_bin("s")))
    assert it.bin("s") == [None, None, "amz"]
    assert client.operate_blocking(key, [Operation.get()]).bins == {"a": 7, "s": "amz"}
    assert client.operate_blocking(key, [Operation.get_header()]).generation == 4
    client.operate_blocking(key, [Operation.delete()])
    assert not client.exists_blocking(key)


def test_operations_are_values():
    items = [1]
    put = Operation.put("a", items)
    items.append(2)
    assert repr(put) == "Operation.put('a', [1])"
    assert put == Operation.put("a", [1]) != Operation.put("a", [2]) and hash(put) == hash(Operation.put("a", [1]))
    assert put != Operation.add("a", 1) and put.bin_name == "a" and Operation.touch().bin_name is None
    for make in (Operation.get, Operation.get_header, Operation.touch, Operation.delete):
        assert make() == make() and repr(make()) == f"Operation.{make.__name__}()"
    assert repr(Operation.get_bin("é")) == "Operation.get_bin('é')"


def test_wrong_operations_are_refused(client, key):
    for wrong, error in [([], ValueError), (None, TypeError), (["x"], TypeError), ([Operation.get(), 1], TypeError)]:
        with pytest.raises(error):
            client.operate_blocking(key, wrong)
    with pytest.raises(ValueError, match="operations in one request"):
        client.operate_blocking(key, [Operation.touch()] * 65_536)
    for make in (Operation.put, Operation.add, Operation.append, Operation.prepend):
        with pytest.raises(TypeError, match="bin 'a': set is not supported"):
            make("a", {1})
        with pytest.raises(ValueError, match="16 bytes"):
            make("b" * 16, 1)
    with pytest.raises(ValueError, match="16 bytes"):
        Operation.get_bin("b" * 16)
