"""Functions of UDF modules: registered, run on a record, on all in the background, as streams."""

import pytest
from conftest import UDFS, udf_module

import aerolane
from aerolane import native

SOURCE = f"""{UDFS}
local function one(rec)
  return 1
end

local function plus(a, b)
  return a + b
end

function count(stream)
  return stream : map(one) : reduce(plus)
end
"""


@pytest.fixture(scope="module")
def module(client):
    with udf_module(client, SOURCE, "py_udf_test") as name:
        yield name


def test_on_a_record(client, module, key):
    assert client.execute_udf_blocking(key, module, "add", ["n", 5]) == 5
    assert client.execute_udf_blocking(key, module, "add", ["n", 2]) == 7
    assert client.get_blocking(key).bins == {"n": 7}


@pytest.mark.parametrize("value", [1, "text", b"bytes", [1, "a"], {"a": 1}, 1.5], ids=repr)
def test_values_come_back(client, module, key, value):
    client.put_blocking(key, {"n": 1})
    assert client.execute_udf_blocking(key, module, "back", [value]) == value


def test_without_a_result(client, module, key):
    client.put_blocking(key, {"n": 1})
    assert client.execute_udf_blocking(key, module, "back", [None]) is None


@pytest.mark.parametrize("user_key", [7, "text", b"bytes"], ids=repr)
def test_records_known_by_their_digests(client, module, set_name, user_key):
    key = native.Key("test", set_name, user_key)
    known = native.Key.key_with_digest("test", set_name, key.digest)
    policy = native.WritePolicy(send_key=True)
    # There is no user key to send.
    assert client.execute_udf_blocking(known, module, "add", ["n", 5], policy=policy) == 5
    (found,) = client.query_blocking(native.Statement("test", set_name))
    assert found.key == key and found.key.value is None
    assert client.execute_udf_blocking(found.key, module, "add", ["n", 1]) == 6
    assert client.execute_udf_blocking(key, module, "add", ["n", 1], policy=policy) == 7
    (found,) = client.query_blocking(native.Statement("test", set_name))
    assert found.key.value == user_key and found.bins == {"n": 7}


async def test_async(client, module, key):
    assert await client.execute_udf(key, module, "add", ["n", 1]) == 1


def test_failures_say_where(client, module, key):
    client.put_blocking(key, {"n": 1})
    with pytest.raises(aerolane.UdfError, match=r"py_udf_test\.lua:13: on purpose"):
        client.execute_udf_blocking(key, module, "fail")
    with pytest.raises(aerolane.UdfError, match="function not found"):
        client.execute_udf_blocking(key, module, "nothing")
    with pytest.raises(aerolane.UdfError):
        client.execute_udf_blocking(key, "no_such_module", "add")


def test_in_the_background(client, module, set_name):
    for n in range(20):
        client.put_blocking(native.Key("test", set_name, n), {"n": n})
    statement = native.Statement("test", set_name)
    task = client.query_execute_udf_blocking(statement, module, "add", ["n", 1000])
    assert task.wait_till_complete_blocking(0.02, 30)
    assert sorted(r.bins["n"] for r in client.query_blocking(statement)) == list(range(1000, 1020))


def test_as_a_stream(client, module, set_name):
    for n in range(50):
        client.put_blocking(native.Key("test", set_name, n), {"n": n})
    statement = native.Statement("test", set_name)
    statement.set_aggregate_function(module, "count")
    results = list(client.query_blocking(statement))
    assert sum(result.bins["SUCCESS"] for result in results) == 50
    assert all(result.key is None for result in results)
    statement.set_aggregate_function(module, "nothing")
    with pytest.raises(aerolane.UdfError):
        list(client.query_blocking(statement))


def test_the_list_of_modules(client, module):
    modules = {entry["filename"]: entry for entry in client.list_udf_blocking()}
    assert modules["py_udf_test.lua"]["type"] == "LUA"
    assert modules["py_udf_test.lua"]["hash"]


def test_from_a_file(client, tmp_path, key):
    path = tmp_path / "source.lua"
    path.write_text("function two(rec) return 2 end")
    task = client.register_udf_from_file_blocking(path, "py_udf_file.lua")
    assert task.wait_till_complete_blocking(0.05, 30)
    client.put_blocking(key, {"n": 1})
    assert client.execute_udf_blocking(key, "py_udf_file", "two") == 2
    client.remove_udf_blocking("py_udf_file.lua").wait_till_complete_blocking(0.05, 30)
    with pytest.raises(FileNotFoundError):
        client.register_udf_from_file_blocking(tmp_path / "none.lua", "py_udf_file.lua")


def test_source_that_does_not_compile(client):
    with pytest.raises(aerolane.UdfError, match=r"does not compile: py_udf_bad\.lua:2: "):
        client.register_udf_blocking("function a() end\nfunction b(", "py_udf_bad.lua")
    with pytest.raises(aerolane.UdfError, match="invalid_filename"):
        client.register_udf_blocking("function a() end", "py_udf_bad")


def test_arguments_are_checked_at_once(client, key):
    for name in ("", "a/b.lua", "a;b.lua", "x" * 128):
        with pytest.raises(aerolane.InvalidArgumentError):
            client.register_udf_blocking("x = 1", name)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.register_udf_blocking("", "a.lua")
    with pytest.raises(TypeError):
        client.register_udf_blocking(1.5, "a.lua")
    with pytest.raises(TypeError):
        client.register_udf_blocking("x = 1", "a.lua", "lua")
    with pytest.raises(TypeError):
        client.execute_udf_blocking(key, "m", "f", "args")
    with pytest.raises(aerolane.InvalidArgumentError):
        client.execute_udf_blocking(key, "m", "")
