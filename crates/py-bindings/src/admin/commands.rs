//! The calls about users, roles and replication. All of them need security (Enterprise Edition): without it the server
//! answers so.

use std::sync::Arc;

use aerolane::raw::RawClient;
use aerospike_core as core;
use pyo3::prelude::*;

use super::Privilege;
use super::users::{Role, User};
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::errors;
use crate::policy::AdminPolicy;
use crate::query::filter::core_expression;
use crate::query::statement::check_namespace;

type Policy<'a, 'py> = Option<&'a Bound<'py, AdminPolicy>>;
type Client = aerolane::Client;

/// The longest name of a user or role, and the longest password, in bytes.
const MAX_NAME: usize = 63;
/// Most roles or privileges in one request.
const MAX_LIST: usize = 255;

fn name(py: Python<'_>, what: &str, text: &str) -> PyResult<String> {
    if text.is_empty() || text.len() > MAX_NAME {
        let size = text.len();
        return Err(errors::invalid_argument(py, format!("the {what} has {size} bytes, it must have 1 to {MAX_NAME}")));
    }
    Ok(text.to_owned())
}

fn password(py: Python<'_>, text: &str) -> PyResult<String> {
    if text.len() > MAX_NAME {
        return Err(errors::invalid_argument(py, format!("a password has at most {MAX_NAME} bytes")));
    }
    Ok(text.to_owned())
}

fn names(py: Python<'_>, what: &str, list: Vec<String>) -> PyResult<Vec<String>> {
    if list.len() > MAX_LIST {
        let count = list.len();
        return Err(errors::invalid_argument(py, format!("{count} {what}s are too many: at most {MAX_LIST}")));
    }
    list.iter().try_for_each(|text| name(py, what, text).map(drop))?;
    Ok(list)
}

fn privileges(py: Python<'_>, list: &[PyRef<'_, Privilege>]) -> PyResult<Vec<core::Privilege>> {
    if list.is_empty() || list.len() > MAX_LIST {
        let count = list.len();
        return Err(errors::invalid_argument(py, format!("1 to {MAX_LIST} privileges are needed, not {count}")));
    }
    list.iter().map(|privilege| privilege.to_core(py)).collect()
}

fn borrowed(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// A call whose result is nothing.
fn silent<F, R>(core: &Arc<ClientCore>, policy: Policy<'_, '_>, run: F) -> impl Executable + use<F, R>
where
    F: FnOnce(Client, Arc<core::AdminPolicy>) -> R + Send + 'static,
    R: Future<Output = aerolane::Result<()>> + Send + 'static,
{
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    Control { future: run(client, policy), convert: |py: Python<'_>, ()| Ok(py.None()) }
}

type Core<'a> = &'a Arc<ClientCore>;
type Privileges<'py> = Vec<PyRef<'py, Privilege>>;

pub(crate) fn create_user(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    secret: &str,
    roles: Vec<String>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (user, secret, roles) = (name(py, "user name", user)?, password(py, secret)?, names(py, "role", roles)?);
    Ok(silent(core, policy, |client, policy| async move {
        client.create_user(&policy, &user, &secret, &borrowed(&roles)).await
    }))
}

pub(crate) fn create_pki_user(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    roles: Vec<String>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (user, roles) = (name(py, "user name", user)?, names(py, "role", roles)?);
    Ok(silent(
        core,
        policy,
        |client, policy| async move { client.create_pki_user(&policy, &user, &borrowed(&roles)).await },
    ))
}

pub(crate) fn drop_user(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let user = name(py, "user name", user)?;
    Ok(silent(core, policy, |client, policy| async move { client.drop_user(&policy, &user).await }))
}

pub(crate) fn change_password(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    secret: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (user, secret) = (name(py, "user name", user)?, password(py, secret)?);
    Ok(silent(core, policy, |client, policy| async move { client.change_password(&policy, &user, &secret).await }))
}

pub(crate) fn grant_roles(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    roles: Vec<String>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (user, roles) = (name(py, "user name", user)?, names(py, "role", roles)?);
    Ok(silent(
        core,
        policy,
        |client, policy| async move { client.grant_roles(&policy, &user, &borrowed(&roles)).await },
    ))
}

pub(crate) fn revoke_roles(
    py: Python<'_>,
    core: Core<'_>,
    user: &str,
    roles: Vec<String>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (user, roles) = (name(py, "user name", user)?, names(py, "role", roles)?);
    Ok(silent(
        core,
        policy,
        |client, policy| async move { client.revoke_roles(&policy, &user, &borrowed(&roles)).await },
    ))
}

pub(crate) fn query_users(
    py: Python<'_>,
    core: Core<'_>,
    user: Option<&str>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let user = user.map(|user| name(py, "user name", user)).transpose()?;
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    Ok(Control {
        future: async move { client.query_users(&policy, user.as_deref()).await },
        convert: |py: Python<'_>, users: Vec<core::User>| {
            let users: Vec<User> = users.into_iter().map(User).collect();
            Ok(users.into_pyobject(py)?.into_any().unbind())
        },
    })
}

pub(crate) fn query_roles(
    py: Python<'_>,
    core: Core<'_>,
    role: Option<&str>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let role = role.map(|role| name(py, "role name", role)).transpose()?;
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    Ok(Control {
        future: async move { client.query_roles(&policy, role.as_deref()).await },
        convert: |py: Python<'_>, roles: Vec<core::Role>| {
            let roles: Vec<Role> = roles.into_iter().map(Role).collect();
            Ok(roles.into_pyobject(py)?.into_any().unbind())
        },
    })
}

#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn create_role(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    list: Privileges<'_>,
    allowlist: Vec<String>,
    read_quota: u32,
    write_quota: u32,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (role, list) = (name(py, "role name", role_name)?, privileges(py, &list)?);
    Ok(silent(core, policy, move |client, policy| async move {
        client.create_role(&policy, &role, &list, &borrowed(&allowlist), read_quota, write_quota).await
    }))
}

pub(crate) fn drop_role(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let role = name(py, "role name", role_name)?;
    Ok(silent(core, policy, |client, policy| async move { client.drop_role(&policy, &role).await }))
}

pub(crate) fn grant_privileges(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    list: Privileges<'_>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (role, list) = (name(py, "role name", role_name)?, privileges(py, &list)?);
    Ok(silent(core, policy, |client, policy| async move { client.grant_privileges(&policy, &role, &list).await }))
}

pub(crate) fn revoke_privileges(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    list: Privileges<'_>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (role, list) = (name(py, "role name", role_name)?, privileges(py, &list)?);
    Ok(silent(core, policy, |client, policy| async move { client.revoke_privileges(&policy, &role, &list).await }))
}

pub(crate) fn set_allowlist(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    allowlist: Vec<String>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let role = name(py, "role name", role_name)?;
    Ok(silent(core, policy, |client, policy| async move {
        client.set_allowlist(&policy, &role, &borrowed(&allowlist)).await
    }))
}

pub(crate) fn set_quotas(
    py: Python<'_>,
    core: Core<'_>,
    role_name: &str,
    read_quota: u32,
    write_quota: u32,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let role = name(py, "role name", role_name)?;
    Ok(silent(core, policy, move |client, policy| async move {
        client.set_quotas(&policy, &role, read_quota, write_quota).await
    }))
}

/// What a datacenter is sent.
pub(crate) fn set_xdr_filter(
    py: Python<'_>,
    core: Core<'_>,
    datacenter: &str,
    namespace: &str,
    filter_expression: Option<&Bound<'_, PyAny>>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    check_namespace(py, namespace)?;
    let (datacenter, namespace) = (name(py, "datacenter name", datacenter)?, namespace.to_owned());
    let filter = filter_expression.map(core_expression).transpose()?;
    Ok(silent(core, policy, |client, policy| async move {
        client.set_xdr_filter(&policy, &datacenter, &namespace, filter.as_ref()).await
    }))
}
