//! Looking ahead in what a connection has received: the records that its requests ask for come into the caches while the requests
//! before them are answered.

use crate::cluster::Node;
use crate::store::Expected;
use aerolane_wire::message::{Field, MessageReader, field, info1, info2};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, split_frame};
use smallvec::SmallVec;

/// How many requests are looked at together: enough that their waits overlap, and so few that what is fetched for the last
/// is still there when its turn comes.
const TOGETHER: usize = 8;

/// Fetches the records that the requests at the front of `bytes` ask for. Says how many bytes those have.
pub(super) fn fetch_records(node: &Node, bytes: &[u8]) -> usize {
    let (mut expected, mut at) = (SmallVec::<[Expected<'_>; TOGETHER]>::new(), 0);
    for _ in 0..TOGETHER {
        let Ok(Some((frame, size))) = split_frame(&bytes[at..], MAX_BODY_SIZE) else { break };
        at += size;
        // One alone has nobody to overlap with.
        if size == bytes.len() {
            break;
        }
        if frame.header.frame_type == FrameType::Message {
            expected.extend(record(node, frame.body));
        }
    }
    if expected.len() > 1 {
        expected.iter().for_each(Expected::fetch_partition);
        expected.iter().for_each(Expected::fetch_slots);
        expected.iter().for_each(Expected::fetch_records);
    }
    at
}

/// The record that a single-record message asks for. What is malformed is left to those who answer it.
fn record<'n>(node: &'n Node, body: &[u8]) -> Option<Expected<'n>> {
    let mut reader = MessageReader::new(body).ok()?;
    let header = reader.header();
    if header.info1 & info1::BATCH != 0 {
        return None;
    }
    let mut namespace = None;
    while let Some(Field { kind, value }) = reader.next_field().ok()? {
        match kind {
            field::NAMESPACE => namespace = node.cluster.namespace(value),
            field::DIGEST => {
                let digest = value.try_into().ok()?;
                return Some(Expected::new(namespace?, node.slot, digest, header.info2 & info2::WRITE != 0));
            }
            _ => {}
        }
    }
    None
}
