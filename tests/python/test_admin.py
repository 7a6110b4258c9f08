"""Users, roles and privileges; filters of replication."""

import asyncio
import inspect

import pytest

import aerolane
from aerolane import native

NO_SECURITY = [
    ("create_user", ("u", "p", ["read"])),
    ("create_pki_user", ("u", ["read"])),
    ("drop_user", ("u",)),
    ("change_password", ("u", "p")),
    ("grant_roles", ("u", ["read"])),
    ("revoke_roles", ("u", ["read"])),
    ("query_users", ()),
    ("query_users", ("u",)),
    ("query_roles", ()),
    ("query_roles", ("r",)),
    ("create_role", ("r", [native.Privilege(native.PrivilegeCode.Read)], [], 0, 0)),
    ("drop_role", ("r",)),
    ("grant_privileges", ("r", [native.Privilege(native.PrivilegeCode.Read)])),
    ("revoke_privileges", ("r", [native.Privilege(native.PrivilegeCode.Read)])),
    ("set_allowlist", ("r", ["10.0.0.0/8"])),
    ("set_quotas", ("r", 1, 2)),
]


@pytest.mark.parametrize(("name", "args"), NO_SECURITY, ids=lambda value: value if isinstance(value, str) else "")
def test_without_security_the_server_says_so(client, name, args):
    with pytest.raises(aerolane.SecurityError) as caught:
        getattr(client, f"{name}_blocking")(*args)
    assert caught.value.result_code in (51, 52)


async def test_without_security_the_server_says_so_async(client):
    with pytest.raises(aerolane.SecurityError):
        await client.query_users()


@pytest.fixture
def secured(new_cluster):
    """A cluster where one has to log in; the administrator is `admin` with the password `secret`."""
    return new_cluster(nodes=2, users={"admin": "secret"})


@pytest.fixture
def call(request, secured, connect):
    """`call(name, *args)`: a call of the administrator."""
    client = connect(secured.seeds, native.ClientPolicy(user="admin", password="secret"))
    if request.param == "blocking":
        return lambda name, *args, **kwargs: getattr(client, f"{name}_blocking")(*args, **kwargs)

    def on_a_loop(name, *args, **kwargs):
        async def main():
            return await getattr(client, name)(*args, **kwargs)

        return asyncio.run(main())

    return on_a_loop


@pytest.mark.parametrize("call", ["blocking", "async"], indirect=True)
def test_users_and_roles(call, secured, connect):
    code = native.PrivilegeCode
    scoped = native.Privilege(code.ReadWrite, "test", "a")
    call("create_role", "writer", [scoped], ["127.0.0.0/8"], 100, 50)
    for name, args in (("create_role", ("writer", [scoped], [], 0, 0)), ("create_role", ("read", [scoped], [], 0, 0))):
        with pytest.raises(aerolane.SecurityError) as caught:
            call(name, *args)
        assert caught.value.result_code == aerolane.ResultCode.ROLE_ALREADY_EXISTS
    more = [native.Privilege(code.Truncate)]
    call("grant_privileges", "writer", more)
    (role,) = call("query_roles", "writer")
    assert {privilege.code for privilege in role.privileges} == {code.ReadWrite, code.Truncate}
    call("revoke_privileges", "writer", more)
    call("set_quotas", "writer", 7, 8)
    call("set_allowlist", "writer", ["127.0.0.0/8", "10.0.0.0/8"])
    (role,) = call("query_roles", "writer")
    assert (role.name, role.privileges, role.allowlist) == ("writer", [scoped], ["127.0.0.0/8", "10.0.0.0/8"])
    assert (role.read_quota, role.write_quota) == (7, 8)
    assert "writer" in {role.name for role in call("query_roles")}
    with pytest.raises(aerolane.SecurityError) as caught:
        call("set_allowlist", "writer", ["nonsense"])
    assert caught.value.result_code == aerolane.ResultCode.INVALID_ALLOWLIST

    call("create_user", "u", "first", ["writer"])
    call("grant_roles", "u", ["read", "sys-admin"])
    call("revoke_roles", "u", ["sys-admin"])
    call("change_password", "u", "second")
    (user,) = call("query_users", "u")
    assert (user.user, user.roles) == ("u", ["read", "writer"])
    assert {user.user for user in call("query_users")} == {"admin", "u"}

    # What the new user may do.
    other = connect(secured.seeds, native.ClientPolicy(user="u", password="second"))
    other.put_blocking(native.Key("test", "a", 1), {"n": 1})
    for refused in (
        lambda: other.put_blocking(native.Key("test", "b", 1), {"n": 1}),
        lambda: other.create_user_blocking("w", "x", []),
    ):
        with pytest.raises(aerolane.AerospikeError) as caught:
            refused()
        assert caught.value.result_code == aerolane.ResultCode.ROLE_VIOLATION
    with pytest.raises(aerolane.AuthenticationError):
        connect(secured.seeds, native.ClientPolicy(user="u", password="first"))

    call("drop_user", "u")
    call("drop_role", "writer")
    for name, args in (("query_users", ("u",)), ("drop_user", ("u",)), ("drop_role", ("writer",))):
        with pytest.raises(aerolane.SecurityError):
            call(name, *args)


@pytest.mark.parametrize(
    "expression", [None, native.FilterExpression.gt(native.FilterExpression.ttl(), native.FilterExpression.int_val(5))]
)
def test_a_filter_of_replication_is_for_the_enterprise_edition(client, expression):
    with pytest.raises(aerolane.AerospikeError, match=r"(?i)enterprise") as caught:
        client.set_xdr_filter_blocking("elsewhere", "test", expression)
    assert not caught.value.in_doubt

    async def main():
        await client.set_xdr_filter("elsewhere", "test", expression)

    with pytest.raises(aerolane.AerospikeError, match=r"(?i)enterprise"):
        asyncio.run(main())


def test_privileges():
    code = native.PrivilegeCode
    privilege = native.Privilege(code.ReadWrite, "test", "users")
    assert (privilege.code, privilege.namespace, privilege.set_name) == (code.ReadWrite, "test", "users")
    assert privilege.as_string() == str(privilege) == "read-write:test.users"
    assert repr(privilege) == "Privilege(read-write:test.users)"
    assert native.Privilege(code.UserAdmin).as_string() == "user-admin"
    assert privilege == native.Privilege(code.ReadWrite, "test", "users") != native.Privilege(code.ReadWrite, "test")
    assert len({privilege, native.Privilege(code.ReadWrite, "test", "users")}) == 1
    with pytest.raises(aerolane.InvalidArgumentError):
        native.Privilege(code.Read, None, "users")
    with pytest.raises(aerolane.InvalidArgumentError):
        native.Privilege(code.SysAdmin, "test")
    with pytest.raises(TypeError):
        native.Privilege("read")


def test_arguments_are_checked_at_once(client):
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_user_blocking("", "p", [])
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_user_blocking("u" * 64, "p", [])
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_user_blocking("u", "p" * 64, [])
    with pytest.raises(aerolane.InvalidArgumentError):
        client.grant_roles_blocking("u", [""])
    with pytest.raises(TypeError):
        client.grant_roles_blocking("u", "read")
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_role_blocking("r", [], [], 0, 0)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.grant_privileges_blocking("r", [native.Privilege(native.PrivilegeCode.Unknown)])
    with pytest.raises((OverflowError, aerolane.InvalidArgumentError)):
        client.set_quotas_blocking("r", -1, 0)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.set_xdr_filter_blocking("", "test")
    with pytest.raises(TypeError):
        client.set_xdr_filter_blocking("dc", "test", "$.a")


def test_a_password_is_in_no_message(client):
    with pytest.raises(aerolane.AerospikeError) as caught:
        client.create_user_blocking("u", "s3cret", ["read"])
    assert "s3cret" not in str(caught.value) + repr(caught.value)


def test_each_call_has_a_twin():
    names = {name for name, _ in inspect.getmembers(native.Client) if not name.startswith("_")}
    for name in {name for name, _ in NO_SECURITY} | {"query", "execute_udf", "create_index", "set_xdr_filter"}:
        assert {name, f"{name}_blocking"} <= names
