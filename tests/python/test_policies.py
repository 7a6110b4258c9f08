"""Policies: each property, each enumeration; wrong values, copies, pickles, threads."""

import copy
import inspect
import pickle
import shutil
import subprocess
import threading

import pytest

from aerolane import policy as p
from aerolane.exceptions import InvalidArgumentError

MOST = 2**32 - 1
MS = (0, 1, MOST)
CALL = {
    "total_timeout": (1000, MS),
    "socket_timeout": (30_000, MS),
    "timeout_delay": (0, MS),
    "max_retries": (2, MS),
    "sleep_between_retries": (0, MS),
    "sleep_multiplier": (1.0, (0.0, 1.5, 2)),
    "replica": (p.Replica.SEQUENCE, tuple(p.Replica)),
    "read_mode_ap": (p.ReadModeAP.ONE, tuple(p.ReadModeAP)),
    "read_mode_sc": (p.ReadModeSC.SESSION, tuple(p.ReadModeSC)),
    "read_touch_ttl": (0, (-1, 0, 1, 100)),
    "use_compression": (False, (True, False)),
    "compression_threshold": (128, MS),
    "error_detail_verbosity": (0, (0, 1, 2, 3)),
    "filter_expression": (None, (None,)),
    "txn": (None, (None,)),
}
NUMBER = (0, MS)
SWITCH = (False, (True, False))
EXPIRES = (
    p.Expiration.NAMESPACE_DEFAULT,
    (p.Expiration.seconds(1), p.Expiration.NEVER_EXPIRE, p.Expiration.DONT_UPDATE, p.Expiration.NAMESPACE_DEFAULT),
)
ROW = {"send_key": SWITCH, "durable_delete": SWITCH, "filter_expression": (None, (None,))}
COMMIT = {"commit_level": (p.CommitLevel.COMMIT_ALL, tuple(p.CommitLevel))}
GENERATION = {"generation": NUMBER, "generation_policy": (p.GenerationPolicy.NONE, tuple(p.GenerationPolicy))}
EXISTS = {"record_exists_action": (p.RecordExistsAction.UPDATE, tuple(p.RecordExistsAction))}
TXN = {
    "total_timeout": (10_000, MS),
    "socket_timeout": (3000, MS),
    "max_retries": (5, MS),
    "sleep_between_retries": (1000, MS),
    "replica": (p.Replica.MASTER, tuple(p.Replica)),
}
TEXT = (None, ("x", "ü", None))
CLIENT = {
    "auth_mode": (p.AuthMode.NONE, tuple(p.AuthMode)),
    "user": (None, ("x", None)),
    "password": (None, ("x", None)),
    "tls_config": (None, (None,)),
    "timeout": (1000, MS),
    "connect_timeout": (0, MS),
    "login_timeout": (5000, MS),
    "idle_timeout": (0, MS),
    "min_conns_per_node": (0, (0, 1, 65_535)),
    "max_conns_per_node": (256, (0, 1, 65_535)),
    "connection_spread": (None, (1, 65_535, None)),
    "pipeline_depth": (None, (1, 1024, None)),
    "max_bytes_in_flight": (None, (1024, 2**30, None)),
    "max_batch_conns_per_node": (None, (1, 65_535, None)),
    "max_waiting_per_node": (None, (1, MOST, None)),
    "max_waiting_bytes_per_node": (None, (1024, 2**40, None)),
    "max_batch_answer_bytes": (None, (1024, 2**40, None)),
    "when_full": (p.WhenFull.WAIT, tuple(p.WhenFull)),
    "slow_operation_threshold": (None, (1, MOST, None)),
    "conn_pools_per_node": (1, (1, 255)),
    "opening_connection_threshold": NUMBER,
    "use_services_alternate": SWITCH,
    "rack_ids": (None, ([1], [2, 0], None)),
    "fail_if_not_connected": (True, (True, False)),
    "seed_only_cluster": SWITCH,
    "buffer_reclaim_threshold": (65_536, MS),
    "max_error_rate": (100, MS),
    "error_rate_window": (1, MS),
    "tend_interval": (1000, (250, MOST)),
    "ip_map": (None, ({"10.0.0.1": "1.2.3.4"}, {}, None)),
    "cluster_name": TEXT,
    "application_id": TEXT,
    "custom_client_id": (p.ClientPolicy().custom_client_id, ("x", None)),
    "per_client_runtime_workers": (None, (1, 32, None)),
}
POLICIES = {
    p.ReadPolicy: CALL,
    p.WritePolicy: {
        **CALL,
        **COMMIT,
        **GENERATION,
        **EXISTS,
        "max_retries": (0, MS),
        "expiration": EXPIRES,
        "send_key": SWITCH,
        "respond_per_each_op": SWITCH,
        "durable_delete": SWITCH,
        "records_per_second": NUMBER,
        "on_locking_only": SWITCH,
        "xdr": SWITCH,
    },
    p.BatchPolicy: {
        **CALL,
        "concurrency": (p.Concurrency.PARALLEL, tuple(p.Concurrency)),
        "allow_inline": (True, (True, False)),
        "allow_inline_ssd": SWITCH,
        "respond_all_keys": (True, (True, False)),
    },
    p.QueryPolicy: {
        **CALL,
        "total_timeout": (0, MS),
        "max_retries": (5, MS),
        "max_concurrent_nodes": NUMBER,
        "record_queue_size": (1024, MS),
        "records_per_second": NUMBER,
        "max_records": (0, (1, 2**63 - 1)),
        "include_bin_data": (True, (True, False)),
        "expected_duration": (p.QueryDuration.LONG, tuple(p.QueryDuration)),
    },
    p.BatchReadPolicy: {"read_touch_ttl": (0, (-1, 0, 100)), "filter_expression": (None, (None,))},
    p.BatchWritePolicy: {**ROW, **COMMIT, **GENERATION, **EXISTS, "expiration": EXPIRES, "on_locking_only": SWITCH},
    p.BatchDeletePolicy: {**ROW, **COMMIT, **GENERATION},
    p.BatchUDFPolicy: {**ROW, **COMMIT, "expiration": EXPIRES, "on_locking_only": SWITCH},
    p.AdminPolicy: {"timeout": NUMBER},
    p.TxnVerifyPolicy: {**TXN, "read_mode_sc": (p.ReadModeSC.LINEARIZE, tuple(p.ReadModeSC))},
    p.TxnRollPolicy: TXN,
    p.ClientPolicy: CLIENT,
    p.MetricsPolicy: {
        "operational": SWITCH,
        "latency_unit": (p.LatencyUnit.MILLISECONDS, tuple(p.LatencyUnit)),
        "latency_columns": (7, (1, 64)),
        "latency_shift": (1, (1, 63)),
        "labels": ([], ([{"a": "b"}], [])),
        "sampler": (p.Sampler.all(), (p.Sampler.never(), p.Sampler(10, 3))),
    },
}
PROPERTIES = [(cls, name, *row) for cls, rows in POLICIES.items() for name, row in rows.items()]


def ids(value):
    return getattr(value, "__name__", value) if isinstance(value, (type, str)) else ""


def test_no_property_is_missing():
    for cls, rows in POLICIES.items():
        found = {name for name, member in inspect.getmembers(cls) if inspect.isgetsetdescriptor(member)}
        # Follows from another one.
        found.discard("latency_base")
        # Other names of `operational`.
        also = {"operational_enabled", "usage_enabled"}
        assert found - also == set(rows), cls
        assert set(inspect.signature(cls).parameters) == found
        assert set(inspect.signature(cls.from_fields).parameters) == found


@pytest.mark.parametrize(("cls", "name", "default", "values"), PROPERTIES, ids=ids)
def test_property(cls, name, default, values):
    assert getattr(cls, name).__doc__
    assert getattr(cls(), name) == default
    assert repr(cls()) == f"{cls.__name__}()"
    for value in values:
        policy = cls()
        setattr(policy, name, value)
        assert getattr(policy, name) == value
        made = cls.from_fields(**{name: value})
        if value is not None:
            assert cls(**{name: value}) == policy == made
            assert (policy == cls()) is (value == default)
            if value != default:
                assert name in repr(policy)
        for same in (copy.copy(policy), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
            if value is not None:
                assert same == policy
                assert same is not policy
    with pytest.raises(AttributeError):
        delattr(policy, name)


@pytest.mark.parametrize(("cls", "name", "default", "values"), PROPERTIES, ids=ids)
def test_wrong_values_are_refused(cls, name, default, values):
    policy = cls()
    wrong = [object(), b"x", (), 1j]
    if isinstance(default, bool):
        wrong += [0, 1, "yes"]
    elif isinstance(default, float):
        wrong += [True, "1", None, -2]
    elif isinstance(default, int):
        wrong += [True, "1", None, -2, 2**64]
    elif default is not None and not isinstance(default, str):
        wrong += [0, "MASTER", p.Scope.ALL, None]
    for value in wrong:
        with pytest.raises((TypeError, InvalidArgumentError, NotImplementedError), match=name):
            setattr(policy, name, value)
        assert getattr(policy, name) == default
        if value is not None:
            with pytest.raises((TypeError, InvalidArgumentError, NotImplementedError), match=name):
                cls(**{name: value})
    assert policy == cls()


def test_messages_of_wrong_values():
    policy = p.ReadPolicy()
    for value in (-1, 2**32):
        with pytest.raises(InvalidArgumentError, match=f"^total_timeout is {value}, it must be 0 to 4294967295$"):
            policy.total_timeout = value
    with pytest.raises(TypeError, match=r"^total_timeout must be an int, not float$"):
        policy.total_timeout = 1.5
    with pytest.raises(TypeError, match=r"^replica must be a member of Replica, not CommitLevel$"):
        policy.replica = p.CommitLevel.COMMIT_ALL
    for value in (101, -2):
        with pytest.raises(InvalidArgumentError, match="must be -1 to 100"):
            policy.read_touch_ttl = value
    for value in (float("nan"), float("inf"), -0.5):
        with pytest.raises(InvalidArgumentError, match="must be 0 or more"):
            policy.sleep_multiplier = value
    with pytest.raises(InvalidArgumentError, match="rack_ids is empty"):
        p.ClientPolicy(rack_ids=[])
    with pytest.raises(TypeError, match="ip_map must be a dict of str to str"):
        p.ClientPolicy(ip_map={1: "x"})
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        p.ReadPolicy(wrong=1)
    with pytest.raises(AttributeError):
        policy.totl_timeout = 5


def test_policies_are_mutable_so_not_hashable():
    for cls in POLICIES:
        with pytest.raises(TypeError, match="unhashable"):
            hash(cls())
        assert cls() != object()
        assert cls() == cls()


def test_base_policy():
    for cls in (p.ReadPolicy, p.WritePolicy, p.BatchPolicy, p.QueryPolicy):
        assert isinstance(cls(), p.BasePolicy)
    assert not isinstance(p.BatchWritePolicy(), p.BasePolicy)
    with pytest.raises(TypeError):
        p.BasePolicy()


@pytest.mark.parametrize(
    ("cls", "members"),
    [
        (p.Replica, "MASTER MASTER_PROLES RANDOM SEQUENCE PREFER_RACK"),
        (p.ReadModeAP, "ONE ALL"),
        (p.ReadModeSC, "SESSION LINEARIZE ALLOW_REPLICA ALLOW_UNAVAILABLE"),
        (p.CommitLevel, "COMMIT_ALL COMMIT_MASTER"),
        (p.GenerationPolicy, "NONE EXPECT_GEN_EQUAL EXPECT_GEN_GREATER"),
        (p.RecordExistsAction, "UPDATE UPDATE_ONLY REPLACE REPLACE_ONLY CREATE_ONLY"),
        (p.Concurrency, "SEQUENTIAL PARALLEL"),
        (p.QueryDuration, "LONG SHORT LONG_RELAX_AP"),
        (p.WhenFull, "WAIT FAIL"),
        (p.AuthMode, "NONE INTERNAL EXTERNAL EXTERNAL_INSECURE PKI"),
    ],
    ids=ids,
)
def test_enumerations(cls, members):
    assert [member.name for member in cls] == members.split()
    assert [int(member) for member in cls] == list(range(len(cls)))
    assert cls.__doc__
    for member in cls:
        assert repr(member) == f"{cls.__name__}.{member.name}"
        assert pickle.loads(pickle.dumps(member)) is member
        assert copy.deepcopy(member) is member
        assert hash(member) == hash(member)
        assert member != int(member)


def test_expiration():
    assert p.Expiration.seconds(60) == p.Expiration.seconds(60)
    assert len({p.Expiration.seconds(60), p.Expiration.seconds(60), p.Expiration.seconds(61)}) == 2
    assert p.Expiration.seconds(60) != p.Expiration.NEVER_EXPIRE
    for text in ("seconds(60)", "NAMESPACE_DEFAULT", "NEVER_EXPIRE", "DONT_UPDATE"):
        value = eval(f"p.Expiration.{text}")
        assert repr(value) == f"Expiration.{text}"
        assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == value
    for wrong in (0, -1, 315_360_001):
        with pytest.raises(InvalidArgumentError, match="it must be 1 to 315360000"):
            p.Expiration.seconds(wrong)
    for wrong in (1.0, "1", None, True):
        with pytest.raises(TypeError, match="seconds must be an int"):
            p.Expiration.seconds(wrong)


def test_login():
    policy = p.ClientPolicy()
    policy.user = "u"
    assert policy.auth_mode is p.AuthMode.INTERNAL
    policy.password = "secret"
    assert "secret" not in repr(policy)
    assert "'u'" in repr(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy
    policy.set_auth_mode(p.AuthMode.EXTERNAL_INSECURE, "v", "w")
    assert (policy.auth_mode, policy.user, policy.password) == (p.AuthMode.EXTERNAL_INSECURE, "v", "w")
    assert p.ClientPolicy(auth_mode=p.AuthMode.EXTERNAL, user="x").auth_mode is p.AuthMode.EXTERNAL
    policy.set_pki_auth()
    assert (policy.auth_mode, policy.user, policy.password) == (p.AuthMode.PKI, None, None)
    for mode in (p.AuthMode.PKI, p.AuthMode.NONE):
        policy.set_auth_mode(p.AuthMode.INTERNAL, "v", "w")
        policy.set_auth_mode(mode, "v", "w")
        assert (policy.auth_mode, policy.user, policy.password) == (mode, None, None)
    with pytest.raises(TypeError, match="mode must be a member of AuthMode"):
        policy.set_auth_mode(1)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=x",
    ]
    subprocess.run([*command, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return cert, key


def test_tls(certificate, tmp_path):
    cert, key = certificate
    config = p.TlsConfig(cert, protocols=["TLSv1.3"], ciphers=["TLS_AES_128_GCM_SHA256"], for_login_only=True)
    assert config.for_login_only is True
    own = p.TlsConfig.with_client_auth(cert, cert, key)
    for each in (config, own):
        assert pickle.loads(pickle.dumps(each)) == copy.copy(each) == each
        policy = p.ClientPolicy(tls_config=each)
        assert policy.tls_config == each
        assert cert in repr(policy)
    assert config != own
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for wrong, text in (
        (lambda: p.TlsConfig("/not/there"), "no certificate can be read from /not/there"),
        (lambda: p.TlsConfig(str(empty)), "there is none in it"),
        (lambda: p.TlsConfig(cert, protocols=["SSLv3"]), "is no protocol that is supported"),
        (lambda: p.TlsConfig(cert, protocols=[]), "protocols is empty"),
        (lambda: p.TlsConfig(cert, ciphers=["RC4"]), "is no cipher suite that is supported: TLS_AES"),
        (lambda: p.TlsConfig(cert, protocols=["TLSv1.2"], ciphers=["TLS_AES_128_GCM_SHA256"]), "do not fit"),
        (lambda: p.TlsConfig.with_client_auth(cert, cert, cert), "no private key can be read"),
    ):
        with pytest.raises(InvalidArgumentError, match=text):
            wrong()


def test_threads_change_different_properties_of_one_policy():
    policy = p.WritePolicy()

    def change(name):
        for number in range(2000):
            setattr(policy, name, number)

    names = ["total_timeout", "socket_timeout", "max_retries", "generation"]
    threads = [threading.Thread(target=change, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [getattr(policy, name) for name in names] == [1999] * 4
