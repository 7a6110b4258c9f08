"""The same program on aerospike-sdk and on Aerolane: for the tests that compare what builders do.

Both get a cluster that says it is a server of 8.2, from which on the SDK uses all that it has.
"""

import contextlib

import pytest

import aerolane
import aerolane.exceptions
import aerolane.sync
from aerolane.testing import EmbeddedCluster

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")
import aerospike_sdk.sync  # noqa: E402

POINT = '{"type":"Point","coordinates":[1.0,2.0]}'
BINS = {
    "i": 5,
    "f": 1.5,
    "s": "Hello wörld ab",
    "n": "42",
    "b": bytes([1, 2, 3, 255]),
    "b64": "aGVsbG8=",
    "l": [3, 1, 2, 1],
    "sl": ["x", "y"],
    "lm": [{"a": 1}, {"b": 2}],
    "m": {"a": 1, "b": 5, "c": 3},
    "ml": {"k": [1, 2, 3], "s": "text"},
}


class Side:
    """One of the two: its package, a session of its own, and a set of its own."""

    def __init__(self, package, cluster, address, embedded=None):
        self.package, self.cluster, self.address, self.embedded = package, cluster, address, embedded
        self.session = cluster.create_session()
        self.dataset = package.DataSet.of("test", f"sides_{package.__name__}")
        self.key = self.dataset.id("one")

    def fresh(self):
        """Writes the record that programs begin with, and removes all others."""
        self.session.truncate(self.dataset)
        self.session.put(self.key, BINS)
        hll = self.session.upsert(self.key).bin("h").hll_init(self.package.HllConfig.of(8))
        hll.bin("h").hll_add([1, 2, 3]).execute()


@contextlib.contextmanager
def sides(**settings):
    """Both sides, on one cluster with these settings."""
    with EmbeddedCluster(nodes=1, build="8.2.0.0", **settings) as embedded:
        host, port = embedded.seeds.rsplit(":", 1)
        address = host, int(port)
        with (
            aerospike_sdk.sync.ClusterDefinition(*address).connect() as theirs,
            aerolane.sync.ClusterDefinition(*address).connect() as ours,
        ):
            yield Side(sdk, theirs, address, embedded), Side(aerolane, ours, address, embedded)


class Ttl:
    """A record's remaining seconds. The sides run one after the other, so some may have passed in between."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __repr__(self):
        return f"Ttl({self.seconds})"

    def __eq__(self, other):
        return isinstance(other, Ttl) and abs(self.seconds - other.seconds) < 20

    __hash__ = None


def plain(value):
    """A value without the classes of a client.

    Left out is what differs on purpose: the index of a result (docs/differences.md), and bins without a value.
    """
    kind = type(value).__name__
    if kind == "RecordResult":
        code = value.result_code.name
        return (
            "result",
            value.key.value,
            code,
            value.is_ok,
            value.in_doubt,
            plain(value.record),
            plain(value.udf_result),
        )
    if kind == "Record":
        bins = {name: item for name, item in dict(value.bins).items() if item is not None}
        return "record", plain(bins), value.generation, value.ttl and Ttl(value.ttl)
    if kind in ("HLL", "GeoJSON"):
        return kind, bytes(value.value) if kind == "HLL" else value.value
    if isinstance(value, bytes | bytearray) or kind == "Blob":
        return bytes(value)
    if isinstance(value, dict):
        return kind, [(plain(name), plain(item)) for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or type(value) in (bool, int, float, str):
        return kind, value
    return getattr(value, "name", None) or kind


class Raised:
    """What a program raised. Ours may be a kind of what theirs is."""

    def __init__(self, error):
        self.error = error
        self.code = getattr(getattr(error, "result_code", None), "name", None)

    def __repr__(self):
        return f"{type(self.error).__name__}({self.error}, {self.code})"

    def __eq__(self, other):
        if not isinstance(other, Raised):
            return NotImplemented
        theirs, ours = (other, self) if type(self.error).__module__.startswith("aerolane") else (self, other)
        kinds = {kind.__name__ for kind in type(ours.error).__mro__}
        return type(theirs.error).__name__ in kinds and theirs.code in (None, ours.code)

    __hash__ = None


def outcome(side, program):
    """What a program gives on a side, and what has become of the record then."""
    side.fresh()
    try:
        given = plain(program(side))
    # A panic of the other client is no `Exception`.
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        given = Raised(error)
    try:
        left = plain(side.session.get(side.key))
    except Exception as error:
        left = type(error).__name__
    return given, left


def compare(both, program):
    """Runs a program, which is given a `Side`, on each; says how it went."""
    theirs, ours = (outcome(side, program) for side in both)
    assert theirs == ours, f"theirs: {theirs}\nours: {ours}"
    return ours[0]


def differ(both, program):
    """As `compare`, for what is different on purpose: both outcomes."""
    theirs, ours = (outcome(side, program) for side in both)
    assert theirs != ours, f"both: {ours}"
    return theirs[0], ours[0]
