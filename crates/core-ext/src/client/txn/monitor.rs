//! Requests to the monitor of a transaction, and those that end it at its records.
//!
//! The monitor is a record: set [`SET`], the transaction's id as its key. In its bin `keyds` are the digests of all
//! records that the transaction may write; `fwd` says that it is committed. Its TTL is the time that the transaction has.

use std::sync::Arc;
use std::time::Duration;

use aerolane_wire::digest::{Digest, digest_integer};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, info4, op};
use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::{self, list};
use aerolane_wire::particle::{Particle, particle_type};
use aerospike_core::{BasePolicy, ReadPolicy};

use super::frame::TxnFields;
use super::ledger::Named;
use crate::command::decode::failure;
use crate::command::encode::too_big;
use crate::error::{Error, Result};
use crate::topology::NodeInfo;

/// The set of all monitors.
pub(super) const SET: &str = "<ERO~MRT";
const IDS: &[u8] = b"id";
const DIGESTS: &[u8] = b"keyds";
const FORWARD: &[u8] = b"fwd";
/// Of the list of digests: ordered.
const ORDERED: i64 = 1;
/// Its write flags: those that are there already are passed over (add-unique, no-fail, partial).
const ONCE_EACH: i64 = 1 | 4 | 8;

/// The digest of a transaction's monitor.
pub(super) fn digest_of(id: i64) -> Digest {
    digest_integer(SET.as_bytes(), id)
}

/// Timeouts and retries of a call for a request to the monitor that it needs.
pub(super) fn policy(call: &BasePolicy) -> BasePolicy {
    BasePolicy {
        socket_timeout: call.socket_timeout,
        total_timeout: call.total_timeout,
        timeout_delay: call.timeout_delay,
        max_retries: call.max_retries,
        sleep_between_retries: call.sleep_between_retries,
        sleep_multiplier: call.sleep_multiplier,
        ..ReadPolicy::default().base_policy
    }
}

fn write(
    namespace: &str,
    (set, digest): (&str, &Digest),
    header: &MessageHeader,
    rest: impl FnOnce(&mut MessageWriter<'_>) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(160);
    let mut writer = MessageWriter::frame(&mut out, header);
    writer.field(field::NAMESPACE, namespace.as_bytes());
    if !set.is_empty() {
        writer.field(field::SET, set.as_bytes());
    }
    writer.field(field::DIGEST, digest);
    rest(&mut writer)?;
    writer.finish().map_err(too_big)?;
    Ok(out)
}

fn to_monitor(
    namespace: &str,
    id: i64,
    header: &MessageHeader,
    rest: impl FnOnce(&mut MessageWriter<'_>) -> Result<()>,
) -> Result<Vec<u8>> {
    write(namespace, (SET, &digest_of(id)), header, rest)
}

/// Adds records that are to be written. `opens`: the first of these requests, with the transaction's timeout.
pub(super) fn add(
    namespace: &str,
    id: i64,
    opens: Option<Duration>,
    digests: &[Digest],
    timeout_ms: u32,
) -> Result<Vec<u8>> {
    let header = MessageHeader {
        info2: info2::WRITE | info2::RESPOND_ALL_OPS,
        record_ttl: opens.map_or(0, |timeout| timeout.as_secs() as u32),
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    };
    let mut value = Vec::with_capacity(24 * digests.len() + 16);
    let one = |digest: &Digest| {
        let digest = *digest;
        move |writer: &mut Writer<'_>| {
            writer.blob(&digest);
            Ok::<_, Error>(())
        }
    };
    let kind = if let [digest] = digests {
        list::append(&mut value, one(digest), Some(ORDERED), Some(ONCE_EACH))?
    } else {
        let all = |writer: &mut Writer<'_>| {
            writer.list(digests.len());
            digests.iter().try_for_each(|digest| one(digest)(writer))
        };
        list::append_items(&mut value, all, Some(ORDERED), Some(ONCE_EACH))?
    };
    to_monitor(namespace, id, &header, |writer| {
        if opens.is_some() {
            writer.op(op::WRITE, IDS, Particle::Integer(id))?;
        }
        writer.op_with(kind, operation::particle_type(kind), DIGESTS, |out| {
            out.extend_from_slice(&value);
            Ok::<_, Error>(())
        })
    })
}

/// Says that the transaction is committed.
pub(super) fn mark_forward(namespace: &str, id: i64, timeout_ms: u32) -> Result<Vec<u8>> {
    let header = MessageHeader { info2: info2::WRITE, transaction_ttl: timeout_ms, ..MessageHeader::default() };
    to_monitor(namespace, id, &header, |writer| {
        writer.op_with(op::WRITE, particle_type::BOOL, FORWARD, |out| {
            out.push(1);
            Ok::<_, Error>(())
        })
    })
}

/// Removes the monitor.
pub(super) fn delete(namespace: &str, id: i64, durable: bool, timeout_ms: u32) -> Result<Vec<u8>> {
    let durable = if durable { info2::DURABLE_DELETE } else { 0 };
    let header = MessageHeader {
        info2: info2::WRITE | info2::DELETE | durable,
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    };
    to_monitor(namespace, id, &header, |_| Ok(()))
}

/// Asks whether a record still has this version.
pub(super) fn verify(namespace: &str, record: &Named, version: u64, timeout_ms: u32) -> Result<Vec<u8>> {
    let header = MessageHeader {
        info1: info1::READ | info1::NO_BIN_DATA,
        info3: info3::SC_READ_TYPE,
        info4: info4::TXN_VERIFY_READ,
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    };
    write(namespace, (&record.set, &record.digest), &header, |writer| {
        TxnFields::with_version(version).write(writer);
        Ok(())
    })
}

/// Rolls what the transaction has written to a record forward or back.
pub(super) fn roll(namespace: &str, id: i64, record: &Named, forward: bool, timeout_ms: u32) -> Result<Vec<u8>> {
    let header = MessageHeader {
        info2: info2::WRITE | info2::DURABLE_DELETE,
        info4: if forward { info4::TXN_ROLL_FORWARD } else { info4::TXN_ROLL_BACK },
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    };
    write(namespace, (&record.set, &record.digest), &header, |writer| {
        TxnFields::with_id(id).write(writer);
        Ok(())
    })
}

/// The deadline in the answer to [`add`], in seconds since 2010. `None`: there is none.
pub(super) fn deadline_in(body: &[u8], node: &NodeInfo) -> Result<Option<u32>> {
    let message = Message::decode(body)?;
    if message.header.result_code != 0 {
        return Err(failure(&message, node.label()));
    }
    let deadline = message.field(field::MRT_DEADLINE).and_then(|value| value.try_into().ok()).map(u32::from_le_bytes);
    Ok(deadline.filter(|deadline| *deadline != 0))
}

/// The result code of an answer; the error that it stands for, unless it is one of `good`.
pub(super) fn accept(body: &[u8], node: &NodeInfo, good: &[u8]) -> Result<u8> {
    let message = Message::decode(body)?;
    let code = message.header.result_code;
    if good.contains(&code) { Ok(code) } else { Err(failure(&message, &Arc::clone(node.label()))) }
}
