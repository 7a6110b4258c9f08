"""Errors name what they are about: the key of the record, the index that is missing. Never the value of a bin."""

import pickle

import pytest

from aerolane import AerospikeError, Key, RecordNotFoundError, native
from aerolane.exceptions import IndexNotFoundError, TimeoutError, UdfError
from aerolane.native import Filter, ReadPolicy, Statement, WritePolicy

SECRET = "the value of a bin"


def names(error, key):
    """Checks that an error names this key."""
    assert error.key == key and repr(key) in str(error), str(error)
    assert SECRET not in str(error)


def raised(call, *arguments, kind=AerospikeError):
    with pytest.raises(kind) as caught:
        call(*arguments)
    return caught.value


@pytest.mark.parametrize("call", ["get", "touch", "operate"])
def test_a_call_on_a_record_that_does_not_exist(run, client, key, call):
    arguments = {"operate": [[native.Operation.get()]]}.get(call, [])
    error = raised(lambda: run(client, call, key, *arguments), kind=RecordNotFoundError)
    names(error, key)
    assert error.base_message == error.result_code.description


def test_a_record_that_is_known_by_its_digest(run, client, key):
    digest = Key.key_with_digest(key.namespace, key.set_name, key.digest)
    names(raised(lambda: run(client, "get", digest)), digest)


def test_a_long_user_key_is_not_shown(client, set_name):
    key = Key("test", set_name, "k" * 1000)
    error = raised(client.get_blocking, key)
    assert error.key == key and key.digest in str(error) and "kkk" not in str(error)


def test_a_failed_write_names_its_key_and_no_value(new_cluster, connect, key):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds)
    client.put_blocking(key, {"a": 1})
    with cluster.inject("stall", on="write"):
        policy = WritePolicy(total_timeout=100)
        error = raised(lambda: client.put_blocking(key, {"a": SECRET}, policy=policy), kind=TimeoutError)
    names(error, key)
    assert error.in_doubt


def test_rows_name_their_keys(run, client, key):
    (row,) = run(client, "batch_read", [key])
    names(row.error, key)


def test_functions_name_their_keys(run, client, key):
    names(raised(lambda: run(client, "execute_udf", key, "no_such_module", "f"), kind=UdfError), key)


def test_results_of_sessions_name_their_keys(either, key):
    names(raised(lambda: either.run(either.session.get(key)), kind=RecordNotFoundError), key)
    update = either.session.update(key).bin("a").set_to(SECRET)
    names(raised(lambda: either.run(update.execute()), kind=RecordNotFoundError), key)
    other = Key(key.namespace, key.set_name, "other")
    found = {}
    either.results(
        either.session.update([key, other]).bin("a").set_to(1),
        on_error=lambda key, index, error: found.update({key: error}),
    )
    assert {found_key: error.key for found_key, error in found.items()} == {key: key, other: other}


def test_outcomes_of_writers_name_their_keys(client, key):
    policy = WritePolicy(record_exists_action=native.RecordExistsAction.UPDATE_ONLY)
    with client.writer_blocking() as writer:
        outcome = writer.put(key, {"a": SECRET}, policy=policy)
        names(raised(outcome.result, kind=RecordNotFoundError), key)
    names(outcome.exception(), key)


def test_the_key_is_pickled_with_the_error(client, key):
    error = pickle.loads(pickle.dumps(raised(client.get_blocking, key)))
    names(error, key)


def test_errors_that_are_about_no_record_have_no_key(client, key):
    assert raised(lambda: client.info_blocking("\x01"), kind=ValueError)
    assert raised(lambda: client.truncate_blocking("nowhere", "")).key is None
    assert AerospikeError("made by hand").key is None
    assert AerospikeError("made by hand", key=key).key is key


@pytest.mark.parametrize("name", ["get", "batch_read"])
def test_a_namespace_that_does_not_exist(client, name):
    key = Key("nowhere", "s", 1)
    if name == "get":
        error = raised(lambda: client.get_blocking(key, policy=ReadPolicy(max_retries=0)))
        assert error.key == key
    else:
        error = raised(client.batch_read_blocking, [key])
    assert "nowhere" in str(error)


def test_a_missing_index_is_named(run, client, set_name):
    def query(chosen):
        statement = Statement("test", set_name)
        statement.filters = [chosen]
        return raised(lambda: list(run(client, "query", statement)), kind=IndexNotFoundError)

    error = query(Filter.equal_by_index("no_such_index", 1))
    assert 'no index "no_such_index"' in str(error) and "namespace test" in str(error)
    error = query(Filter.equal("age", 1))
    assert f'test.{set_name} on bin "age"' in str(error)
    assert error.result_code.name == "INDEX_NOT_FOUND" and error.key is None
