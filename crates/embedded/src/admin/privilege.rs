//! Privileges, and what they permit.

use std::net::IpAddr;

/// Number of a privilege from which on it may be limited to a namespace and a set.
const FIRST_SCOPED: u8 = 10;

/// Numbers of privileges, as clients send them.
pub(super) mod code {
    pub(crate) const USER_ADMIN: u8 = 0;
    pub(crate) const SYS_ADMIN: u8 = 1;
    pub(crate) const DATA_ADMIN: u8 = 2;
    pub(crate) const UDF_ADMIN: u8 = 3;
    pub(crate) const SINDEX_ADMIN: u8 = 4;
    pub(crate) const READ: u8 = 10;
    pub(crate) const READ_WRITE: u8 = 11;
    pub(crate) const READ_WRITE_UDF: u8 = 12;
    pub(crate) const WRITE: u8 = 13;
    pub(crate) const TRUNCATE: u8 = 14;
}

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    Read,
    Write,
    /// Calling functions.
    Udf,
    Truncate,
    /// Creating and deleting indexes.
    IndexAdmin,
    /// Putting and removing modules.
    UdfAdmin,
    /// Aborting queries.
    QueryAdmin,
    /// Settings, faults.
    SysAdmin,
    UserAdmin,
}

/// A privilege, for everything or for a part of the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Privilege {
    pub(super) code: u8,
    /// Empty: all namespaces.
    pub(super) namespace: Vec<u8>,
    /// Empty: all sets.
    pub(super) set: Vec<u8>,
}

impl Privilege {
    pub(super) const fn global(code: u8) -> Self {
        Self { code, namespace: Vec::new(), set: Vec::new() }
    }

    pub(super) fn permits(&self, permission: Permission, namespace: &[u8], set: &[u8]) -> bool {
        use code as c;
        let fits = match permission {
            Permission::Read => matches!(self.code, c::READ | c::READ_WRITE | c::READ_WRITE_UDF),
            Permission::Write => matches!(self.code, c::READ_WRITE | c::READ_WRITE_UDF | c::WRITE),
            Permission::Udf => self.code == c::READ_WRITE_UDF,
            Permission::Truncate => matches!(self.code, c::TRUNCATE | c::DATA_ADMIN | c::SYS_ADMIN),
            Permission::IndexAdmin => matches!(self.code, c::SINDEX_ADMIN | c::DATA_ADMIN | c::SYS_ADMIN),
            Permission::UdfAdmin => matches!(self.code, c::UDF_ADMIN | c::DATA_ADMIN | c::SYS_ADMIN),
            Permission::QueryAdmin => matches!(self.code, c::DATA_ADMIN | c::SYS_ADMIN),
            Permission::SysAdmin => self.code == c::SYS_ADMIN,
            Permission::UserAdmin => self.code == c::USER_ADMIN,
        };
        fits && (self.namespace.is_empty() || self.namespace == namespace) && (self.set.is_empty() || self.set == set)
    }

    fn is_known(&self) -> bool {
        matches!(self.code, code::USER_ADMIN..=code::SINDEX_ADMIN | code::READ..=code::TRUNCATE)
    }

    /// Appends it as clients read it.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.code);
        if self.code >= FIRST_SCOPED {
            for name in [&self.namespace, &self.set] {
                out.push(name.len() as u8);
                out.extend_from_slice(name);
            }
        }
    }
}

/// A list of privileges: their number, then each; `None` if it is malformed, or has one that there is not.
pub(super) fn decode_list(bytes: &[u8]) -> Option<Vec<Privilege>> {
    let (count, mut rest) = bytes.split_first()?;
    let mut list = Vec::new();
    for _ in 0..*count {
        let (code, tail) = rest.split_first()?;
        let mut privilege = Privilege::global(*code);
        rest = tail;
        if *code >= FIRST_SCOPED {
            for name in [&mut privilege.namespace, &mut privilege.set] {
                let (found, tail) = name_of(rest)?;
                *name = found.to_vec();
                rest = tail;
            }
        }
        let set_alone = privilege.namespace.is_empty() && !privilege.set.is_empty();
        if !privilege.is_known() || set_alone {
            return None;
        }
        list.push(privilege);
    }
    rest.is_empty().then_some(list)
}

/// A name behind its length, and what follows.
pub(super) fn name_of(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*len))
}

/// Addresses that share their first bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// An address, or one with a number of bits: `10.1.2.0/24`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.trim().parse().ok()?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(all), |bits| bits.trim().parse().ok().filter(|bits| *bits <= all))?;
        Some(Self { address, bits })
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let same = |a: u128, b: u128, width: u32| {
            let unused = width - u32::from(self.bits);
            a.checked_shr(unused).unwrap_or(0) == b.checked_shr(unused).unwrap_or(0)
        };
        match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privileges_permit_within_their_scope() {
        let privilege = Privilege { code: code::READ_WRITE, namespace: b"test".to_vec(), set: b"a".to_vec() };
        assert!(
            privilege.permits(Permission::Read, b"test", b"a") && privilege.permits(Permission::Write, b"test", b"a")
        );
        assert!(
            !privilege.permits(Permission::Read, b"test", b"b") && !privilege.permits(Permission::Read, b"bar", b"a")
        );
        assert!(!privilege.permits(Permission::Udf, b"test", b"a"));
        let admin = Privilege::global(code::DATA_ADMIN);
        assert!(admin.permits(Permission::IndexAdmin, b"", b"") && !admin.permits(Permission::Read, b"test", b""));
    }

    #[test]
    fn lists_come_back_as_they_were_sent() {
        let list = vec![
            Privilege::global(code::USER_ADMIN),
            Privilege { code: code::WRITE, namespace: b"test".to_vec(), set: Vec::new() },
        ];
        let mut bytes = vec![list.len() as u8];
        for privilege in &list {
            privilege.encode(&mut bytes);
        }
        assert_eq!(decode_list(&bytes), Some(list));
        for cut in 0..bytes.len() {
            assert_eq!(decode_list(&bytes[..cut]), None);
        }
        assert_eq!(decode_list(&[1, 9]), None, "no such privilege");
        assert_eq!(decode_list(&[1, 10, 0, 1, b's']), None, "a set of no namespace");
    }

    #[test]
    fn networks_contain_addresses() {
        let contains =
            |network: &str, address: &str| Network::parse(network).unwrap().contains(address.parse().unwrap());
        assert!(contains("10.1.2.0/24", "10.1.2.77") && !contains("10.1.2.0/24", "10.1.3.1"));
        assert!(contains("127.0.0.1", "127.0.0.1") && !contains("127.0.0.1", "127.0.0.2"));
        assert!(contains("0.0.0.0/0", "1.2.3.4") && contains("::/0", "fe80::1") && !contains("::/0", "1.2.3.4"));
        for bad in ["", "x", "10.0.0.1/33", "10.0.0.1/", "::1/129"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }
}
