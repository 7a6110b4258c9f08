"""Behaviors and configuration files of aerospike-sdk, beside ours: the same snippet on both gives the same settings.

Skipped where that client is not installed; `make test-peers` installs it.
"""

import itertools
import os
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import aerolane
import aerolane.config_file
import aerolane.policy
from aerolane import native

os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")
pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")

import aerospike_native as peer_native
import aerospike_sdk.policy as peer_policy
from aerospike_sdk.policy import sdk_config_loader as peer_loader
from aerospike_sdk.policy.system_settings import MetricsSettings as PeerMetrics

BOTH = ((peer_policy, peer_native), (aerolane.policy, native))
ENUMS = {
    "commit_level": "CommitLevel",
    "replica": "Replica",
    "read_mode_ap": "ReadModeAP",
    "read_mode_sc": "ReadModeSC",
}
spans = st.integers(0, 10**6).map(lambda micros: timedelta(microseconds=micros))
numbers = st.integers(0, 1000)
FIELDS = {
    **dict.fromkeys(["total_timeout", "socket_timeout", "timeout_delay", "retry_delay"], spans),
    **dict.fromkeys(["max_retries", "compression_threshold", "max_concurrent_nodes", "record_queue_size"], numbers),
    **dict.fromkeys(["send_key", "durable_delete", "use_compression", "allow_scans_with_where"], st.booleans()),
    **dict.fromkeys(["allow_inline", "allow_inline_ssd"], st.booleans()),
    "commit_level": st.sampled_from(["COMMIT_ALL", "COMMIT_MASTER"]),
    "replica": st.sampled_from(["MASTER", "MASTER_PROLES", "RANDOM", "SEQUENCE", "PREFER_RACK"]),
    "read_mode_ap": st.sampled_from(["ONE", "ALL"]),
    "read_mode_sc": st.sampled_from(["SESSION", "LINEARIZE", "ALLOW_REPLICA", "ALLOW_UNAVAILABLE"]),
    "read_touch_ttl_percent": st.integers(-1, 100),
    "error_detail_verbosity": st.integers(0, 3),
}
SCOPES = [scope.value for scope in aerolane.policy.Scope]
changes = st.dictionaries(
    st.sampled_from(SCOPES),
    st.fixed_dictionaries({}, optional=FIELDS),
    max_size=len(SCOPES),
)


def settings_of(policy, names, values):
    values = {
        field: getattr(getattr(names, ENUMS[field]), value) if field in ENUMS else value
        for field, value in values.items()
    }
    return policy.Settings(**values)


def plain(settings):
    """Settings without the classes of a client."""
    values = {}
    for field in FIELDS:
        value = getattr(settings, field)
        if field in ENUMS and value is not None:
            value = getattr(value, "name", None) or str(value).rpartition(".")[2]
        values[field] = value
    return values


def matrix(policy, behavior):
    """What a behavior comes to, for each kind, shape and mode, and for the steps of transactions."""
    cells = itertools.product(
        ["READ", "WRITE_RETRYABLE", "WRITE_NON_RETRYABLE"], ["POINT", "BATCH", "QUERY"], ["AP", "SC"]
    )
    found = {}
    for kind, shape, mode in cells:
        cell = getattr(policy.OpKind, kind), getattr(policy.OpShape, shape), getattr(policy.Mode, mode)
        found[kind, shape, mode] = plain(behavior.get_settings(*cell))
    found["verify"] = plain(behavior.get_txn_verify_settings())
    found["roll"] = plain(behavior.get_txn_roll_settings())
    return found


def test_the_scopes_and_fields_are_the_same():
    assert [scope.value for scope in peer_policy.Scope] == SCOPES or set(SCOPES) == {s.value for s in peer_policy.Scope}
    assert set(peer_policy.Settings.__dataclass_fields__) == set(FIELDS)


@pytest.mark.parametrize("name", ["DEFAULT", "READ_FAST", "STRICTLY_CONSISTENT", "FAST_RACK_AWARE"])
def test_predefined(name):
    theirs, ours = (matrix(policy, getattr(policy.Behavior, name)) for policy, _ in BOTH)
    assert ours == theirs


@hypothesis_settings(max_examples=60)
@given(
    st.sampled_from(["DEFAULT", "READ_FAST", "STRICTLY_CONSISTENT", "FAST_RACK_AWARE"]),
    st.lists(changes, min_size=1, max_size=3),
)
def test_what_derived_behaviors_come_to(root, generations):
    found = []
    for policy, names in BOTH:
        behavior = getattr(policy.Behavior, root)
        for number, generation in enumerate(generations):
            patches = {scope: settings_of(policy, names, values) for scope, values in generation.items()}
            behavior = behavior.derive_with_changes(f"peers-{number}", **patches)
        found.append(matrix(policy, behavior))
    assert found[0] == found[1]


FILE = """
system:
  DEFAULT:
    connections: {minimum_connections_per_node: 1, maximum_connections_per_node: 64, maximum_socket_idle_time: 30s,
                  wait_for_connection_to_complete: 500ms}
    circuit_breaker: {num_tend_intervals_in_error_window: 2, maximum_errors_in_error_window: 50}
    refresh: {tend_interval: 1s}
    transactions: {implicit_batch_write_transactions: no, sleep_between_attempts: 5ms, number_of_attempts: 3}
    metrics:
      enabled: true
      labels: {owner: platform}
      extended:
        operational: {enabled: on, latency_unit: microseconds, latency_columns: 18,
                      sampler: {range: 100, threshold: 10}}
        usage: {enabled: true}
  named:
    connections: {maximum_connections_per_node: 9}
  wrong: {connections: {maximum_connections_per_node: many, more: 1}, transactions: {number_of_attempts: 2}}
behaviors:
  peers-file:
    parent: READ_FAST
    all_operations: &all
      abandon_call_after: 2s
      wait_for_call_to_complete: 1.5 seconds
      wait_for_socket_response_after_call_fails: 3s
      delay_between_retries: 1ms
      maximum_number_of_call_attempts: 4
      replica_order: MASTER_PROLES
      send_key: true
      use_compression: false
      reset_ttl_on_read_at_percent: 80
      read_consistency: LINEARIZE
      migration_read_consistency: ALL
      use_durable_delete: true
      max_concurrent_servers: 4
      allow_inline_memory_access: false
      allow_inline_ssd_access: true
      record_queue_size: 100
      allow_scans_with_where: false
      error_detail_verbosity: 2
    retryable_writes: {maximum_number_of_call_attempts: 2}
    non_retryable_writes: {maximum_number_of_call_attempts: 1}
    consistency_mode_reads: {consistency: ALLOW_REPLICA}
    availability_mode_reads: {maximum_number_of_call_attempts: 3}
    batch_reads: {<<: *all, send_key: false}
    batch_writes: {maximum_number_of_call_attempts: 6, unknown: 1}
    query: {maximum_number_of_call_attempts: 8, send_key: 5}
    system_txn_verify: {maximum_number_of_call_attempts: 7, consistency: ALLOW_REPLICA, send_key: true}
    system_txn_roll: {maximum_number_of_call_attempts: 9, consistency: SESSION}
  peers-file-child: {parent: peers-file, query: {record_queue_size: 7}}
"""


def comparable(settings):
    """A `SystemSettings` without the classes of a client."""
    if settings is None:
        return None
    fields = {name: getattr(settings, name) for name in settings.__dataclass_fields__}
    for group in ("transactions", "metrics"):
        part = fields[group]
        fields[group] = {name: getattr(part, name) for name in part.__dataclass_fields__}
    exporter = fields["metrics"]["exporter"]
    fields["metrics"]["exporter"] = getattr(exporter, "value", exporter)
    return fields


def test_files():
    theirs, ours = peer_loader.parse_sdk_config(FILE), aerolane.config_file.parse_sdk_config(FILE)
    assert {name: comparable(value) for name, value in ours.items()} == {
        name: comparable(value) for name, value in theirs.items()
    }
    for name in (None, "DEFAULT", "named", "wrong", "other"):
        assert comparable(aerolane.config_file.resolve_for_cluster(ours, name)) == comparable(
            peer_loader.resolve_for_cluster(theirs, name)
        )
    found = []
    for module, (policy, _) in zip((peer_loader, aerolane.config_file), BOTH, strict=True):
        specs = module.parse_behaviors(FILE)
        assert list(specs) == ["peers-file", "peers-file-child"]
        module.apply_behaviors(specs)
        found.append({name: matrix(policy, policy.get_behavior(name)) for name in specs})
    assert found[0] == found[1]
    assert set(PeerMetrics.__dataclass_fields__) == set(aerolane.policy.MetricsSettings.__dataclass_fields__)


def test_from_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "a.yaml"
    path.write_text(FILE)
    monkeypatch.setenv("AEROSPIKE_SDK_CONFIG_URL", f"file://{path}")
    found = []
    for module, settings in (
        (peer_loader, peer_policy.SystemSettings),
        (aerolane.config_file, aerolane.policy.SystemSettings),
    ):
        program = settings(max_connections_per_node=3, tend_timeout=timedelta(seconds=2))
        resolved, where = module.resolve_from_env("named", program)
        found.append((comparable(resolved), where))
        loaded = module.load_config(str(path))
        found[-1] += (loaded.raw, sorted(loaded.profiles), sorted(loaded.behaviors))
    assert found[0] == found[1]


@pytest.mark.parametrize("text", ["5ms", "1 s", "2.5m", "3 hours", "1d", "7us", "4 nanos", "0s"])
def test_durations(text):
    theirs, ours = peer_loader.parse_duration(text), aerolane.config_file.parse_duration(text)
    # Ours never becomes 0, which means "no limit".
    assert ours == theirs or (text == "4 nanos" and ours == timedelta(microseconds=1))


@pytest.mark.parametrize("value", [5, "5b", "1.5kb", "10 MB", "1gb"])
def test_sizes(value):
    assert aerolane.config_file.parse_size(value) == peer_loader.parse_size(value)


@pytest.mark.parametrize("value", [None, "", "x", "5", "5 parsecs", -1.5, True])
def test_what_is_refused(value):
    for module in (peer_loader, aerolane.config_file):
        for parse in (module.parse_duration, module.parse_size):
            with pytest.raises(ValueError, match=r"."):
                parse(value)
