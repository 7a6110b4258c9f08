//! Commands on single records beside operations on their values: what is read, TTLs, generations, touches, deletes.

use super::requests::{Request, Scenario, encoded};
use super::{Random, values};
use crate::live::nodes::Ends;
use aerolane_wire::message::{MessageHeader, field, info1, info2, info3, op};
use aerolane_wire::particle::particle_type;

/// What a write may say of the time that a record has left: the namespace's, none, as it is, seconds, too many seconds.
const TTLS: [u32; 7] = [0, u32::MAX, u32::MAX - 1, 600, 86_400, 315_360_000, 315_360_001];
/// What a read may say of it: nothing, no change, from which percentage on it begins anew, more than there is.
const TOUCHES: [u32; 6] = [0, u32::MAX, 1, 80, 100, 101];
const NAMES: [&str; 6] = ["i", "s", "l", "m", "f", "none"];

impl Scenario {
    /// One of these commands.
    pub(super) fn single(&mut self, digest: [u8; 20]) -> Request {
        let expires = self.random.expires;
        let random = &mut self.random;
        let (header, ops, note) = match random.below(10) {
            0 | 1 => {
                let touch = if expires { *random.pick(&TOUCHES) } else { 0 };
                (read(random, touch), Vec::new(), "read")
            }
            2 | 3 => {
                let touch = if expires { *random.pick(&TOUCHES) } else { 0 };
                let n = 1 + random.below(3);
                let ops = (0..n).map(|_| (op::READ, particle_type::NIL, *random.pick(&NAMES), Vec::new())).collect();
                (MessageHeader { info1: info1::READ, record_ttl: touch, ..MessageHeader::default() }, ops, "read bins")
            }
            4 => (write(random, expires), vec![(op::TOUCH, particle_type::NIL, "", Vec::new())], "touch"),
            5 if random.once_in(3) => {
                let mut header = write(random, expires);
                header.info2 |= info2::DELETE | if random.once_in(4) { info2::DURABLE_DELETE } else { 0 };
                (header, Vec::new(), "delete")
            }
            5 => (write(random, expires), several(random), "several"),
            _ => {
                let n = 1 + random.below(2);
                let ops = (0..n).map(|_| plain(random)).collect();
                (write(random, expires), ops, "write")
            }
        };
        let key = self.random.once_in(12);
        let bytes = self.message(header, &digest, |message| {
            if key {
                message.field(field::KEY, b"\x03key");
            }
            let ops_bytes =
                encoded(ops.iter().map(|(kind, particle, name, value)| (*kind, *particle, *name, &value[..])));
            message.encoded_ops(&ops_bytes, ops.len() as u32);
        });
        let note = format!(
            "{note} infos {:02x}/{:02x}/{:02x} generation {} ttl {} {ops:02x?}",
            header.info1, header.info2, header.info3, header.generation, header.record_ttl
        );
        Request { digests: vec![digest], ..Request::new(bytes, Ends::Frame, note) }
    }
}

fn read(random: &mut Random, touch: u32) -> MessageHeader {
    let how =
        *random.pick(&[info1::GET_ALL, info1::GET_ALL, info1::NO_BIN_DATA, info1::GET_ALL | info1::READ_MODE_AP_ALL]);
    MessageHeader { info1: info1::READ | how, record_ttl: touch, ..MessageHeader::default() }
}

/// The header of a write, with what it expects of the record.
fn write(random: &mut Random, expires: bool) -> MessageHeader {
    let (generation, policy) = match random.below(6) {
        0 => (random.below(6) as u32, info2::GENERATION),
        1 => (random.below(6) as u32, info2::GENERATION_GT),
        _ => (0, 0),
    };
    let exists = if random.once_in(8) {
        *random.pick(&[info3::CREATE_OR_REPLACE, info3::REPLACE_ONLY, info3::UPDATE_ONLY, info3::COMMIT_MASTER])
    } else {
        0
    };
    let create = if random.once_in(15) { info2::CREATE_ONLY } else { 0 };
    let record_ttl = if expires { *random.pick(&TTLS) } else { 0 };
    MessageHeader {
        info2: info2::WRITE | policy | create,
        info3: exists,
        generation,
        record_ttl,
        ..MessageHeader::default()
    }
}

type Op = (u8, u8, &'static str, Vec<u8>);

/// A change of one bin.
fn plain(random: &mut Random) -> Op {
    let name = *random.pick(&NAMES);
    match random.below(8) {
        0..=2 => (op::WRITE, particle_type::INTEGER, name, values::int(random).to_be_bytes().to_vec()),
        3 => (op::WRITE, particle_type::NIL, name, Vec::new()),
        4 => (op::INCR, particle_type::INTEGER, name, values::int(random).to_be_bytes().to_vec()),
        5 => (op::INCR, particle_type::FLOAT, name, values::float(random).to_be_bytes().to_vec()),
        6 => (op::APPEND, particle_type::BLOB, name, values::blob(random)),
        _ => (op::PREPEND, particle_type::STRING, name, values::text(random).to_vec()),
    }
}

/// Several changes, with the deletion of the record or a touch among them.
fn several(random: &mut Random) -> Vec<Op> {
    let mut ops = vec![plain(random)];
    ops.push((*random.pick(&[op::DELETE, op::TOUCH]), particle_type::NIL, "", Vec::new()));
    if random.once_in(2) {
        ops.push(plain(random));
    }
    if random.once_in(2) {
        ops.swap(0, 1);
    }
    ops
}
