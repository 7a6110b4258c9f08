//! Users and roles: who there is, and what each may do.

use super::privilege::{Network, Permission, Privilege, code};
use crate::clock::Now;
use aerolane_wire::ResultCode;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Longest name of a user or role.
pub(super) const MAX_NAME: usize = 63;
/// Most users, and most roles.
const MAX_ACCOUNTS: usize = 10_000;

/// The roles that are always there, each with its one privilege; they cannot be changed.
const PREDEFINED: [(&str, u8); 10] = [
    ("user-admin", code::USER_ADMIN),
    ("sys-admin", code::SYS_ADMIN),
    ("data-admin", code::DATA_ADMIN),
    ("udf-admin", code::UDF_ADMIN),
    ("sindex-admin", code::SINDEX_ADMIN),
    ("read", code::READ),
    ("read-write", code::READ_WRITE),
    ("read-write-udf", code::READ_WRITE_UDF),
    ("write", code::WRITE),
    ("truncate", code::TRUNCATE),
];

/// The roles of a user that may do everything.
pub(super) const ALL_ROLES: [&str; 3] = ["user-admin", "sys-admin", "read-write-udf"];

/// What `create_pki_user` of the clients sends instead of a password's hash: that of the word `nopassword`. The user logs in
/// with a certificate alone, and can be given no password any more (servers from 8.1 on:
/// <https://aerospike.com/docs/server/guide/security/access-control> on disabling authentication by password permanently;
/// what is sent: `Client::create_pki_user` of aerospike-core 3.0.0; `FORBIDDEN_PASSWORD`: what a public test in Python
/// expects of a server).
const NO_PASSWORD: &[u8] = b"$2a$10$7EqJtq98hPqEX7fNZaFWoOePA2sZy..tlOF99W2N0g5KZ3dLaw8WO";

/// A user.
#[derive(Debug)]
pub(super) struct User {
    /// Hash of the password; `None`: there is none, and never will be ([`NO_PASSWORD`]).
    hash: Option<Vec<u8>>,
    pub(super) roles: BTreeSet<String>,
    pub(super) usage: Arc<Usage>,
}

impl User {
    fn new(hash: Vec<u8>, roles: BTreeSet<String>) -> Self {
        Self { hash: Some(hash).filter(|hash| hash != NO_PASSWORD), roles, usage: Arc::default() }
    }

    /// Whether a password's hash is this user's.
    pub(super) fn has_hash(&self, hash: &[u8]) -> bool {
        self.hash.as_deref() == Some(hash)
    }

    /// Sets the password, or ends that there is one.
    pub(super) fn set_hash(&mut self, hash: Vec<u8>) -> Result<(), ResultCode> {
        let own = self.hash.as_mut().ok_or(ResultCode::FORBIDDEN_PASSWORD)?;
        *own = hash;
        self.hash.take_if(|hash| hash == NO_PASSWORD);
        Ok(())
    }
}

/// What a user has done in the present second.
#[derive(Debug, Default)]
pub(super) struct Usage {
    second: AtomicU64,
    reads: AtomicU32,
    writes: AtomicU32,
}

impl Usage {
    /// Counts a read or write; gives how many there were in this second, that one included.
    fn count(&self, now: Now, write: bool) -> u32 {
        // Nodes share the quota, whatever their clocks say.
        let second = now.system_ms / 1000;
        // Another thread may have been told of the next one already.
        let known = self.second.load(Ordering::Relaxed);
        if known != second && known != second + 1 && self.second.swap(second, Ordering::Relaxed) != second {
            self.reads.store(0, Ordering::Relaxed);
            self.writes.store(0, Ordering::Relaxed);
        }
        let counter = if write { &self.writes } else { &self.reads };
        counter.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Reads and writes of the present second so far.
    pub(super) fn rates(&self, now: Now) -> (u32, u32) {
        if self.second.load(Ordering::Relaxed) == now.system_ms / 1000 {
            (self.reads.load(Ordering::Relaxed), self.writes.load(Ordering::Relaxed))
        } else {
            (0, 0)
        }
    }
}

/// A role.
#[derive(Debug, Clone, Default)]
pub(super) struct Role {
    pub(super) privileges: Vec<Privilege>,
    /// As it came: addresses separated by commas.
    pub(super) allowlist: String,
    pub(super) networks: Vec<Network>,
    pub(super) read_quota: u32,
    pub(super) write_quota: u32,
}

/// What a user may do, put together from the roles. Connections keep it until something changes.
#[derive(Debug)]
pub(crate) struct Grants {
    /// Of the accounts that it was made from.
    pub(super) version: u64,
    privileges: Vec<Privilege>,
    /// `None`: from everywhere.
    networks: Option<Vec<Network>>,
    pub(super) read_quota: u32,
    pub(super) write_quota: u32,
    usage: Arc<Usage>,
}

impl Grants {
    /// Whether this is permitted.
    pub(crate) fn check(&self, permission: Permission, namespace: &[u8], set: &[u8]) -> Result<(), ResultCode> {
        let permits = self.privileges.iter().any(|p| p.permits(permission, namespace, set));
        if permits { Ok(()) } else { Err(ResultCode::ROLE_VIOLATION) }
    }

    /// Counts a read or a write against the quota.
    pub(crate) fn spend(&self, write: bool, now: Now) -> Result<(), ResultCode> {
        let quota = if write { self.write_quota } else { self.read_quota };
        let used = self.usage.count(now, write);
        if quota > 0 && used > quota { Err(ResultCode::QUOTA_EXCEEDED) } else { Ok(()) }
    }

    /// Whether the user may come from this address.
    pub(super) fn admits(&self, address: IpAddr) -> bool {
        self.networks.as_ref().is_none_or(|networks| networks.iter().any(|network| network.contains(address)))
    }
}

/// All users and roles.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) users: BTreeMap<String, User>,
    roles: BTreeMap<String, Role>,
}

impl Accounts {
    /// The users, their roles not checked, and the predefined roles.
    pub(super) fn new(users: BTreeMap<String, User>) -> Self {
        let role = |(name, code): (&str, u8)| {
            (name.to_owned(), Role { privileges: vec![Privilege::global(code)], ..Role::default() })
        };
        Self { users, roles: PREDEFINED.into_iter().map(role).collect() }
    }

    pub(super) fn roles(&self) -> impl Iterator<Item = (&String, &Role)> {
        self.roles.iter()
    }

    pub(super) fn role(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    /// A role that can be changed.
    pub(super) fn role_mut(&mut self, name: &str) -> Result<&mut Role, ResultCode> {
        if PREDEFINED.iter().any(|(predefined, _)| *predefined == name) {
            return Err(ResultCode::INVALID_ROLE);
        }
        self.roles.get_mut(name).ok_or(ResultCode::INVALID_ROLE)
    }

    pub(super) fn user_mut(&mut self, name: &str) -> Result<&mut User, ResultCode> {
        self.users.get_mut(name).ok_or(ResultCode::INVALID_USER)
    }

    pub(super) fn create_user(&mut self, name: &str, hash: Vec<u8>, roles: &[String]) -> Result<(), ResultCode> {
        check_name(name).ok_or(ResultCode::INVALID_USER)?;
        self.check_roles(roles)?;
        if self.users.contains_key(name) {
            return Err(ResultCode::USER_ALREADY_EXISTS);
        }
        if self.users.len() >= MAX_ACCOUNTS {
            return Err(ResultCode::SERVER_ERROR);
        }
        self.users.insert(name.to_owned(), User::new(hash, roles.iter().cloned().collect()));
        Ok(())
    }

    /// Whether all of these roles are there.
    pub(super) fn check_roles(&self, roles: &[String]) -> Result<(), ResultCode> {
        if roles.iter().all(|role| self.roles.contains_key(role)) { Ok(()) } else { Err(ResultCode::INVALID_ROLE) }
    }

    pub(super) fn create_role(&mut self, name: &str, role: Role) -> Result<(), ResultCode> {
        check_name(name).ok_or(ResultCode::INVALID_ROLE)?;
        if self.roles.contains_key(name) {
            return Err(ResultCode::ROLE_ALREADY_EXISTS);
        }
        if self.roles.len() >= MAX_ACCOUNTS {
            return Err(ResultCode::SERVER_ERROR);
        }
        self.roles.insert(name.to_owned(), role);
        Ok(())
    }

    /// Removes a role, from the users that have it, too.
    pub(super) fn drop_role(&mut self, name: &str) -> Result<(), ResultCode> {
        self.role_mut(name)?;
        self.roles.remove(name);
        for user in self.users.values_mut() {
            user.roles.remove(name);
        }
        Ok(())
    }

    /// Quotas of a user: the largest ones of the roles; 0 is no limit, but any role with a limit counts.
    pub(super) fn quotas(&self, user: &User) -> (u32, u32) {
        let roles = || user.roles.iter().filter_map(|name| self.roles.get(name));
        (
            roles().map(|role| role.read_quota).max().unwrap_or(0),
            roles().map(|role| role.write_quota).max().unwrap_or(0),
        )
    }

    /// What a user may do; `None` if there is no such user any more.
    pub(super) fn grants(&self, name: &str, version: u64) -> Option<Grants> {
        let user = self.users.get(name)?;
        let roles: Vec<&Role> = user.roles.iter().filter_map(|name| self.roles.get(name)).collect();
        let networks: Vec<Network> = roles.iter().flat_map(|role| role.networks.iter().cloned()).collect();
        let (read_quota, write_quota) = self.quotas(user);
        Some(Grants {
            version,
            privileges: roles.iter().flat_map(|role| role.privileges.iter().cloned()).collect(),
            networks: (!networks.is_empty()).then_some(networks),
            read_quota,
            write_quota,
            usage: Arc::clone(&user.usage),
        })
    }
}

/// 1 to 63 bytes that are neither control characters nor separators of info commands.
pub(super) fn check_name(name: &str) -> Option<()> {
    let odd = |c: char| c.is_control() || matches!(c, ':' | ';');
    (!name.is_empty() && name.len() <= MAX_NAME && !name.contains(odd)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_those_of_a_second_whatever_a_nodes_clock_says() {
        let mut accounts = Accounts::new(BTreeMap::new());
        accounts.create_role("slow", Role { read_quota: 2, ..Role::default() }).unwrap();
        accounts.create_user("a", b"hash".to_vec(), &["slow".to_owned()]).unwrap();
        let grants = accounts.grants("a", 1).unwrap();
        let at = |system_ms: u64| Now { system_ms, ..Now::read() }.shifted((system_ms % 2 * 90_000).cast_signed());
        assert_eq!([10_000, 10_001].map(|ms| grants.spend(false, at(ms))), [Ok(()), Ok(())]);
        assert_eq!(grants.spend(false, at(10_999)), Err(ResultCode::QUOTA_EXCEEDED));
        assert_eq!((grants.spend(true, at(10_999)), grants.usage.rates(at(10_998))), (Ok(()), (3, 1)));
        assert_eq!(grants.usage.rates(at(11_000)), (0, 0));
        assert_eq!([11_000, 10_999].map(|ms| grants.spend(false, at(ms))), [Ok(()), Ok(())]);
        assert_eq!(grants.spend(false, at(11_000)), Err(ResultCode::QUOTA_EXCEEDED));
    }
}
