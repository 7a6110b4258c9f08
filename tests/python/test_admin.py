"""Users, roles and privileges; filters of replication."""

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


def test_privileges():
    code = native.PrivilegeCode
    privilege = native.Privilege(code.ReadWrite, "test", "users")
    assert (privilege.code, privilege.namespace, privilege.set_name) == (code.ReadWrite, "test", "users")
    assert privilege.as_string() == "read-write.test.users"
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
