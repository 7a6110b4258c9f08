"""Records as numpy arrays."""

import math

import pytest

import aerolane
from aerolane import native

np = pytest.importorskip("numpy")

DTYPE = np.dtype([("i", "i8"), ("f", "f8"), ("s", "S8")])


@pytest.fixture
def keys(client, set_name):
    """Keys of 20 records; every fifth does not exist."""
    keys = [native.Key("test", set_name, n) for n in range(20)]
    for n, key in enumerate(keys):
        if n % 5:
            client.put_blocking(key, {"i": n, "f": n / 4, "s": f"s{n}", "other": 1})
    return keys


def test_batches(client, keys):
    records = client.batch_read_blocking(keys, as_numpy=DTYPE)
    data = records.batch_records
    assert isinstance(data, np.ndarray) and data.dtype == DTYPE and len(records) == len(data) == 20
    there = np.arange(20) % 5 != 0
    assert (records.result_codes == np.where(there, 0, 2)).all()
    for name in DTYPE.names:
        assert (records.valid[name] == there).all()
    assert (data["i"] == np.where(there, np.arange(20), 0)).all()
    assert (data["f"][there] == np.arange(20)[there] / 4).all() and np.isnan(data["f"][~there]).all()
    assert data["s"][7] == b"s7" and data["s"][0] == b""
    assert (records.meta["gen"] == there).all()


async def test_batches_async(client, keys):
    records = await client.batch_read(keys, ["i"], as_numpy=[("i", "i4")])
    assert records.batch_records["i"].tolist() == [n if n % 5 else 0 for n in range(20)]


def test_arrays_can_be_written_and_outlive_what_they_came_from(client, keys):
    data = client.batch_read_blocking(keys, as_numpy=DTYPE).batch_records
    data["i"] += 1
    column = data["i"]
    del data
    assert column.tolist() == [n + 1 if n % 5 else 1 for n in range(20)]


def test_masked(client, keys):
    masked = client.batch_read_blocking(keys, as_numpy=DTYPE).masked()
    assert masked["i"].sum() == sum(n for n in range(20) if n % 5)
    assert masked["i"].mask.tolist() == [n % 5 == 0 for n in range(20)]


@pytest.mark.parametrize(
    ("value", "field", "expected"),
    [
        (127, "i1", 127),
        (128, "i1", None),
        (-128, "i1", -128),
        (-129, "i1", None),
        (255, "u1", 255),
        (256, "u1", None),
        (-1, "u8", None),
        (2**63 - 1, "u8", 2**63 - 1),
        (-(2**63), "i8", -(2**63)),
        (5, ">i4", 5),
        (5, ">u2", 5),
        (1.5, "f4", 1.5),
        (1.5, ">f8", 1.5),
        (3, "f8", 3.0),
        (2**53 + 1, "f8", None),
        (1.5, "i8", None),
        ("1", "i8", None),
        (True, "?", True),
        (True, "i1", None),
        (1, "?", None),
        ("abc", "S3", b"abc"),
        ("abcd", "S3", None),
        (b"abc", "S5", b"abc"),
        ("äöü", "U3", "äöü"),
        ("äöü", ">U4", "äöü"),
        ("äöüß", "U3", None),
        (b"abc", "U3", None),
        ("\U0001f600", "U1", "\U0001f600"),
        ([1], "i8", None),
        ({"a": 1}, "S8", None),
        (b"\1\2", "V3", b"\1\2\0"),
    ],
)
def test_what_fits_a_field(client, key, value, field, expected):
    client.put_blocking(key, {"v": value})
    records = client.batch_read_blocking([key], as_numpy=[("v", field)])
    found, valid = records.batch_records["v"][0], bool(records.valid["v"][0])
    assert valid is (expected is not None)
    if not valid:
        assert math.isnan(found) if np.dtype(field).kind == "f" else not np.any(found)
    elif np.dtype(field).kind == "V":
        assert bytes(found) == expected
    else:
        assert found == expected


def test_dtypes_that_bins_cannot_become(client, key):
    for dtype in (
        "i8",
        [("v", "O")],
        [("v", "M8[s]")],
        [("v", "c16")],
        [("v", "i8", 3)],
        [("v", [("w", "i8")])],
        "f2,f2",
    ):
        with pytest.raises(TypeError):
            client.batch_read_blocking([key], as_numpy=dtype)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.batch_read_blocking([key], as_numpy=[("v" * 16, "i8")])


def test_fields_with_gaps_between_them(client, keys):
    dtype = np.dtype({"names": ["i", "s"], "formats": ["i2", "S4"], "offsets": [3, 11], "itemsize": 17})
    data = client.batch_read_blocking(keys, as_numpy=dtype).batch_records
    assert data.dtype == dtype and data["i"][6] == 6 and data["s"][6] == b"s6"


def test_no_keys(client):
    records = client.batch_read_blocking([], as_numpy=DTYPE)
    assert len(records) == 0 and records.batch_records.shape == (0,)


def test_queries(client, set_name, keys):
    records = client.query_blocking(native.Statement("test", set_name)).to_numpy_blocking(DTYPE)
    assert sorted(records.batch_records["i"]) == [n for n in range(20) if n % 5]
    assert records.valid["s"].all() and (records.result_codes == 0).all()


async def test_queries_async(client, set_name, keys):
    partitions = native.PartitionFilter()
    recordset = await client.query(native.Statement("test", set_name, ["f"]), partitions)
    records = await recordset.to_numpy([("f", "f8"), ("none", "i8")])
    assert sorted(records.batch_records["f"]) == [n / 4 for n in range(20) if n % 5]
    assert not records.valid["none"].any()
    assert recordset.partition_filter_sync().done() and not recordset.active and not partitions.done()
    # Nobody else keeps the recordset.
    for _ in range(20):
        records = await (await client.query(native.Statement("test", set_name, ["f"]))).to_numpy([("f", "f8")])
        assert sorted(records.batch_records["f"]) == [n / 4 for n in range(20) if n % 5]
