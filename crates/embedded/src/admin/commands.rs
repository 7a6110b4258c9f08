//! The commands that administrate users and roles.

use super::accounts::{Accounts, Role, User};
use super::privilege::{Network, Permission, decode_list, name_of};
use super::security::Security;
use crate::clock::Now;
use crate::request::Session;
use aerolane_wire::ResultCode;
use aerolane_wire::admin::{AdminHeader, AdminMessage, command, encode_block, field};
use aerolane_wire::message::Field;
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};

/// Longest credential: hashes have 60 bytes.
const MAX_CREDENTIAL: usize = 128;
/// Longest list of addresses.
const MAX_ALLOWLIST: usize = 4096;

/// Carries out a command; appends the answer only if it is more than a result.
pub(super) fn execute(
    security: &Security,
    session: &mut Session,
    message: &AdminMessage<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> Result<(), ResultCode> {
    let own = session.user.clone().ok_or(ResultCode::NOT_AUTHENTICATED)?;
    let user = text(message, field::USER)?;
    match message.header.command {
        command::CHANGE_PASSWORD => {
            // One's own, and the old one has to be known.
            let user = user.unwrap_or(&own);
            if user != own {
                return Err(ResultCode::ROLE_VIOLATION);
            }
            let old = message.field(field::OLD_PASSWORD).ok_or(ResultCode::INVALID_PASSWORD)?;
            security.check_credential(user, old).map_err(|_| ResultCode::INVALID_PASSWORD)?;
            let new = password(message)?;
            return security.change(|accounts| set_password(accounts, user, new));
        }
        // Everybody may look at himself.
        command::QUERY_USERS if user == Some(&own) => {}
        _ => super::allowed(security, session, Permission::UserAdmin, b"", b"")?,
    }
    let named = || user.ok_or(ResultCode::INVALID_USER);
    let role = || text(message, field::ROLE)?.ok_or(ResultCode::INVALID_ROLE);
    match message.header.command {
        command::CREATE_USER => {
            let (name, hash, roles) = (named()?, password(message)?, roles(message)?);
            security.change(|accounts| accounts.create_user(name, hash, &roles))
        }
        command::DROP_USER => {
            let name = named()?;
            security.change(|accounts| accounts.users.remove(name).map(drop).ok_or(ResultCode::INVALID_USER))
        }
        command::SET_PASSWORD => {
            let (name, hash) = (named()?, password(message)?);
            security.change(|accounts| set_password(accounts, name, hash))
        }
        command::GRANT_ROLES => {
            let (name, roles) = (named()?, some_roles(message)?);
            security.change(|accounts| {
                accounts.check_roles(&roles)?;
                accounts.user_mut(name)?.roles.extend(roles);
                Ok(())
            })
        }
        command::REVOKE_ROLES => {
            let (name, roles) = (named()?, some_roles(message)?);
            security.change(|accounts| {
                accounts.check_roles(&roles)?;
                let user = accounts.user_mut(name)?;
                user.roles.retain(|role| !roles.contains(role));
                Ok(())
            })
        }
        command::QUERY_USERS => security.look(|accounts| query_users(accounts, user, now, out)),
        command::CREATE_ROLE => {
            let (name, role) = (role()?, new_role(message)?);
            security.change(|accounts| accounts.create_role(name, role))
        }
        command::DROP_ROLE => {
            let name = role()?;
            security.change(|accounts| accounts.drop_role(name))
        }
        command::GRANT_PRIVILEGES => {
            let (name, privileges) = (role()?, privileges(message)?);
            security.change(|accounts| {
                let role = accounts.role_mut(name)?;
                for privilege in privileges {
                    if !role.privileges.contains(&privilege) {
                        role.privileges.push(privilege);
                    }
                }
                Ok(())
            })
        }
        command::REVOKE_PRIVILEGES => {
            let (name, privileges) = (role()?, privileges(message)?);
            security.change(|accounts| {
                accounts.role_mut(name)?.privileges.retain(|privilege| !privileges.contains(privilege));
                Ok(())
            })
        }
        command::SET_ALLOWLIST => {
            let (name, (text, networks)) = (role()?, allowlist(message)?);
            security.change(|accounts| {
                let role = accounts.role_mut(name)?;
                (role.allowlist, role.networks) = (text, networks);
                Ok(())
            })
        }
        command::SET_QUOTAS => {
            let (name, (reads, writes)) = (role()?, quotas(message)?);
            security.change(|accounts| {
                let role = accounts.role_mut(name)?;
                (role.read_quota, role.write_quota) =
                    (reads.unwrap_or(role.read_quota), writes.unwrap_or(role.write_quota));
                Ok(())
            })
        }
        command::QUERY_ROLES => {
            let name = text(message, field::ROLE)?;
            security.look(|accounts| query_roles(accounts, name, out))
        }
        _ => Err(ResultCode::INVALID_COMMAND),
    }
}

/// The text of a field, if it came.
fn text<'a>(message: &AdminMessage<'a>, kind: u8) -> Result<Option<&'a str>, ResultCode> {
    message.field(kind).map(std::str::from_utf8).transpose().map_err(|_| ResultCode::PARAMETER_ERROR)
}

fn password(message: &AdminMessage<'_>) -> Result<Vec<u8>, ResultCode> {
    let hash = message.field(field::PASSWORD).filter(|hash| !hash.is_empty() && hash.len() <= MAX_CREDENTIAL);
    hash.map(<[u8]>::to_vec).ok_or(ResultCode::INVALID_PASSWORD)
}

fn set_password(accounts: &mut Accounts, user: &str, hash: Vec<u8>) -> Result<(), ResultCode> {
    accounts.user_mut(user)?.set_hash(hash)
}

fn roles(message: &AdminMessage<'_>) -> Result<Vec<String>, ResultCode> {
    let Some(bytes) = message.field(field::ROLES) else { return Ok(Vec::new()) };
    let (count, mut rest) = bytes.split_first().ok_or(ResultCode::INVALID_ROLE)?;
    let mut roles = Vec::new();
    for _ in 0..*count {
        let (name, tail) = name_of(rest).ok_or(ResultCode::INVALID_ROLE)?;
        roles.push(std::str::from_utf8(name).map_err(|_| ResultCode::INVALID_ROLE)?.to_owned());
        rest = tail;
    }
    Ok(roles)
}

fn some_roles(message: &AdminMessage<'_>) -> Result<Vec<String>, ResultCode> {
    roles(message).and_then(|roles| if roles.is_empty() { Err(ResultCode::INVALID_ROLE) } else { Ok(roles) })
}

fn privileges(message: &AdminMessage<'_>) -> Result<Vec<super::privilege::Privilege>, ResultCode> {
    let list = message.field(field::PRIVILEGES).and_then(decode_list).filter(|list| !list.is_empty());
    list.ok_or(ResultCode::INVALID_PRIVILEGE)
}

/// A list of addresses, as it came and taken apart. None, or an empty one: from everywhere.
fn allowlist(message: &AdminMessage<'_>) -> Result<(String, Vec<Network>), ResultCode> {
    let bad = ResultCode::INVALID_ALLOWLIST;
    let text = text(message, field::ALLOWLIST).map_err(|_| bad)?.unwrap_or_default();
    if text.len() > MAX_ALLOWLIST {
        return Err(bad);
    }
    let parts = text.split(',').filter(|part| !part.is_empty());
    let networks = parts.map(Network::parse).collect::<Option<Vec<_>>>().ok_or(bad)?;
    Ok((text.to_owned(), networks))
}

fn quotas(message: &AdminMessage<'_>) -> Result<(Option<u32>, Option<u32>), ResultCode> {
    let quota = |kind: u8| match message.field(kind).map(<[u8; 4]>::try_from) {
        None => Ok(None),
        Some(Ok(bytes)) => Ok(Some(u32::from_be_bytes(bytes))),
        Some(Err(_)) => Err(ResultCode::INVALID_QUOTA),
    };
    Ok((quota(field::READ_QUOTA)?, quota(field::WRITE_QUOTA)?))
}

fn new_role(message: &AdminMessage<'_>) -> Result<Role, ResultCode> {
    let privileges = match message.field(field::PRIVILEGES) {
        None => Vec::new(),
        Some(_) => privileges(message)?,
    };
    let (allowlist, networks) = allowlist(message)?;
    let (reads, writes) = quotas(message)?;
    Ok(Role { privileges, allowlist, networks, read_quota: reads.unwrap_or(0), write_quota: writes.unwrap_or(0) })
}

/// Appends one user, or all, and the end of the list.
fn query_users(accounts: &Accounts, name: Option<&str>, now: Now, out: &mut Vec<u8>) -> Result<(), ResultCode> {
    let one = match name {
        Some(name) => Some((name, accounts.users.get(name).ok_or(ResultCode::INVALID_USER)?)),
        None => None,
    };
    let all = accounts.users.iter().map(|(name, user)| (&**name, user)).filter(|_| one.is_none());
    list(out, one.into_iter().chain(all), |(name, user), out| user_block(accounts, (name, user), now, out))
}

fn user_block(accounts: &Accounts, (name, user): (&str, &User), now: Now, out: &mut Vec<u8>) {
    let mut roles = vec![user.roles.len().min(255) as u8];
    for role in user.roles.iter().take(255) {
        roles.push(role.len() as u8);
        roles.extend_from_slice(role.as_bytes());
    }
    // The quota, and the rates of single records, of limited queries, and the number of unlimited ones.
    let (read_quota, write_quota) = accounts.quotas(user);
    let (reads, writes) = user.usage.rates(now);
    let info = |quota: u32, rate: u32| {
        let mut info = vec![4];
        info.extend([quota, rate, 0, 0].into_iter().flat_map(u32::to_be_bytes));
        info
    };
    let (read_info, write_info) = (info(read_quota, reads), info(write_quota, writes));
    // The account itself holds one, each connection of the user another.
    let connections = (std::sync::Arc::strong_count(&user.usage) as u32 - 1).to_be_bytes();
    let fields = [
        Field { kind: field::USER, value: name.as_bytes() },
        Field { kind: field::ROLES, value: &roles },
        Field { kind: field::READ_INFO, value: &read_info },
        Field { kind: field::WRITE_INFO, value: &write_info },
        Field { kind: field::CONNECTIONS, value: &connections },
    ];
    let written = encode_block(out, AdminHeader::default(), fields);
    debug_assert!(written.is_ok(), "five fields always fit");
}

/// Appends one role, or all, and the end of the list.
fn query_roles(accounts: &Accounts, name: Option<&str>, out: &mut Vec<u8>) -> Result<(), ResultCode> {
    let one = match name {
        Some(name) => Some((name, accounts.role(name).ok_or(ResultCode::INVALID_ROLE)?)),
        None => None,
    };
    let all = accounts.roles().map(|(name, role)| (&**name, role)).filter(|_| one.is_none());
    list(out, one.into_iter().chain(all), |(name, role), out| role_block(name, role, out))
}

fn role_block(name: &str, role: &Role, out: &mut Vec<u8>) {
    let mut privileges = vec![role.privileges.len().min(255) as u8];
    role.privileges.iter().take(255).for_each(|privilege| privilege.encode(&mut privileges));
    let quotas = [role.read_quota.to_be_bytes(), role.write_quota.to_be_bytes()];
    let mut fields = vec![
        Field { kind: field::ROLE, value: name.as_bytes() },
        Field { kind: field::PRIVILEGES, value: &privileges },
    ];
    if !role.allowlist.is_empty() {
        fields.push(Field { kind: field::ALLOWLIST, value: role.allowlist.as_bytes() });
    }
    fields.push(Field { kind: field::READ_QUOTA, value: &quotas[0] });
    fields.push(Field { kind: field::WRITE_QUOTA, value: &quotas[1] });
    let written = encode_block(out, AdminHeader::default(), fields);
    debug_assert!(written.is_ok(), "five fields always fit");
}

/// Blocks share a frame up to this size.
const FRAME_BYTES: usize = 64 * 1024;

fn list<T>(
    out: &mut Vec<u8>,
    rows: impl Iterator<Item = T>,
    mut append: impl FnMut(T, &mut Vec<u8>),
) -> Result<(), ResultCode> {
    let begin = out.len();
    let mut start = begin_frame(out, FrameType::Admin);
    for row in rows {
        append(row, out);
        if out.len() - start > FRAME_BYTES {
            end_frame(out, start).map_err(|_| ResultCode::SERVER_ERROR)?;
            start = begin_frame(out, FrameType::Admin);
        }
    }
    let header = AdminHeader { result_code: ResultCode::QUERY_END, ..AdminHeader::default() };
    let ended = encode_block(out, header, []).and_then(|()| end_frame(out, start));
    ended.map_err(|_| {
        out.truncate(begin);
        ResultCode::SERVER_ERROR
    })
}
