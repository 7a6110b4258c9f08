//! Writes that put values in place of others of the same type and size, as most do: the new version of the record is a copy of the
//! old one with other bytes in some places, and needs not be put together bin by bin.

use super::{ttl, write};
use crate::clock;
use crate::particle;
use crate::request::{RecordOutcome, RecordRequest};
use crate::store::{Namespace, Record};
use aerolane_wire::message::{info2, info3, op};
use aerolane_wire::particle::particle_type as t;

/// With more pairs of operation and bin than this, bins are better found by an index.
const MOST_PAIRS: usize = 256;

/// Makes `bytes` those of the record after the request, if that is of this kind, and says what is to be answered; otherwise
/// they are of no meaning. The request has passed all checks that do not look at its operations' values.
pub(super) fn prepare(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    record: &Record,
    (now_ms, max_size): (u64, usize),
    bytes: &mut Vec<u8>,
) -> Option<RecordOutcome> {
    let replaces = request.info3 & (info3::CREATE_OR_REPLACE | info3::REPLACE_ONLY) != 0;
    let answers = request.info2 & info2::RESPOND_ALL_OPS != 0;
    let takes_key = request.key.is_some() && record.key().is_none();
    let pairs = usize::from(request.n_ops) * usize::from(record.n_bins());
    if replaces || answers || takes_key || record.size() > max_size || pairs > MOST_PAIRS {
        return None;
    }
    // Not before it is of use: a record can be large.
    let mut is_copied = false;
    for op in request.ops.clone() {
        // Those that are stored as they come, and of which nothing has to be noted.
        let is_plain = matches!(op.particle_type, t::INTEGER | t::FLOAT | t::STRING | t::BLOB | t::BOOL);
        if op.kind != op::WRITE || !is_plain || particle::checked(op.particle_type, op.value).is_err() {
            return None;
        }
        let place = record.place_of(op.name, op.particle_type, op.value.len())?;
        if !is_copied {
            record.copy_to(bytes);
            is_copied = true;
        }
        bytes.get_mut(place)?.copy_from_slice(op.value);
    }
    if !is_copied {
        return None;
    }
    let now = clock::seconds(now_ms);
    let generation = write::next_generation(record.generation());
    let void_time = ttl::void_time(&namespace.config, request.record_ttl, now, Some(record.void_time()));
    Record::renew(bytes, generation, void_time, write::next_update(record, now_ms));
    Some(RecordOutcome { generation: generation.into(), void_time, ..RecordOutcome::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Now;
    use crate::request::RecordFields;
    use crate::store::{Purpose, Slot};
    use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field};
    use aerolane_wire::particle::Particle;
    use proptest::prelude::*;

    const DIGEST: [u8; 20] = [7; 20];

    /// Does a write; says its result code, and what the record is then.
    fn write(namespace: &Namespace, header: &MessageHeader, key: bool, ops: &[(u8, Particle<'_>)]) -> (u8, Vec<u8>) {
        let mut body = Vec::new();
        let mut message = MessageWriter::bare(&mut body, header);
        message.field(field::NAMESPACE, b"test");
        message.field(field::DIGEST, &DIGEST);
        if key {
            message.field(field::KEY, &[1, 0, 0, 0, 0, 0, 0, 0, 9]);
        }
        for (name, value) in ops {
            message.op(op::WRITE, &[b'a' + name], *value).unwrap();
        }
        message.finish().unwrap();
        let message = Message::decode(&body).unwrap();
        let request = RecordRequest::from_message(&message, &RecordFields::of(&message), false).unwrap();
        let now = Now { ms: 1_000_000, ..Now::read() };
        let outcome = super::super::execute(Slot(0), namespace, &request, now, &mut Vec::new());
        let site = namespace.site(Slot(0), &DIGEST, Purpose::Read, false, now.instant).unwrap();
        let mut bytes = Vec::new();
        if let Some(record) = site.find(&DIGEST) {
            record.copy_to(&mut bytes);
        }
        (outcome.code, bytes)
    }

    fn value() -> impl Strategy<Value = Particle<'static>> {
        prop_oneof![
            any::<i64>().prop_map(Particle::Integer),
            any::<f64>().prop_map(Particle::Float),
            prop::sample::select(vec![&b""[..], b"x", b"y", b"long"]).prop_map(Particle::String),
            any::<bool>().prop_map(Particle::Bool),
            Just(Particle::Nil),
        ]
    }

    proptest! {
        /// A record is the same whether bytes were written over or it was put together. The flag that every operation has to
        /// answer keeps a request from the former.
        #[test]
        fn a_record_is_what_it_is_when_it_is_put_together(
            writes in prop::collection::vec(
                (prop::collection::vec((0..4_u8, value()), 1..4), 0..3_u32, any::<bool>(), 0..8_u8),
                1..12,
            ),
        ) {
            let (over, anew) = (Namespace::on_one_node("test"), Namespace::on_one_node("test"));
            for (ops, record_ttl, key, way) in writes {
                let info3 = if way == 0 { info3::CREATE_OR_REPLACE } else { 0 };
                let info2 = info2::WRITE;
                let header = MessageHeader { info2, info3, record_ttl, ..MessageHeader::default() };
                let with_answers = MessageHeader { info2: info2 | info2::RESPOND_ALL_OPS, ..header };
                prop_assert_eq!(write(&over, &header, key, &ops), write(&anew, &with_answers, key, &ops));
            }
        }
    }
}
