//! Whether two answers say the same, and answers for people.

use super::nodes::{Ends, Outcome};
use crate::shown::shown_header;
use aerolane_wire::message::Message;
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, split_frame};
use std::fmt::Write as _;

/// Seconds that the times at which records expire may differ: the two clusters are asked one after the other.
const TIME_SLACK: u32 = 2;
/// Where these times stand in a message.
const VOID_TIME: std::ops::Range<usize> = 10..14;

/// The messages of an answer.
pub(crate) fn messages(mut answer: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Ok(Some((frame, size))) = split_frame(answer, MAX_BODY_SIZE) {
        let mut body = frame.body;
        while frame.header.frame_type == FrameType::Message
            && let Ok((_, used)) = Message::decode_prefix(body)
        {
            all.push(&body[..used]);
            body = &body[used..];
        }
        answer = &answer[size..];
    }
    all
}

/// Whether two outcomes say the same. Records of queries and rows of batches may come in any order.
pub(crate) fn same(end: Ends, one: &Outcome, other: &Outcome) -> bool {
    let (Outcome::Answer(one), Outcome::Answer(other)) = (one, other) else { return one == other };
    if one == other {
        return true;
    }
    if let (Some(one), Some(other)) = (script_error(one), script_error(other)) {
        return one == other;
    }
    let (mut one, mut other) = (timeless(one), timeless(other));
    if end != Ends::Frame {
        one.sort_unstable();
        other.sort_unstable();
    }
    let close = |(a, b): (&Timeless, &Timeless)| {
        a.rest == b.rest && (a.time == b.time || a.time != 0 && b.time != 0 && a.time.abs_diff(b.time) <= TIME_SLACK)
    };
    !one.is_empty() && one.len() == other.len() && one.iter().zip(&other).all(close)
}

/// A message, and apart from it the time at which its record expires.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Timeless {
    rest: Vec<u8>,
    time: u32,
}

fn timeless(answer: &[u8]) -> Vec<Timeless> {
    let apart = |message: &&[u8]| {
        let mut rest = message.to_vec();
        let time = u32::from_be_bytes(message[VOID_TIME].try_into().unwrap());
        rest[VOID_TIME].fill(0);
        Timeless { rest, time }
    };
    messages(answer).iter().map(apart).collect()
}

/// What stands behind the directory of scripts in an answer, if it names one: errors of scripts do, and each server has its
/// own.
pub(crate) fn behind_directory(answer: &[u8]) -> Option<&[u8]> {
    const SCRIPT: &[u8] = b".lua:";
    let script = answer.windows(SCRIPT.len()).position(|part| part == SCRIPT)?;
    let directory = answer[..script].iter().rposition(|byte| *byte == b'/')?;
    Some(&answer[directory + 1..])
}

/// The error of a script, without the name of a function that was called through a variable: Lua 5.4 knows it, and the server's
/// Lua does not.
fn script_error(answer: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(behind_directory(answer)?).into_owned();
    let Some((before, (_, after))) =
        text.split_once(" to '").and_then(|(before, rest)| Some((before, rest.split_once('\'')?)))
    else {
        return Some(text);
    };
    Some(format!("{before}{after}"))
}

/// An outcome whose maps do not say that they are stored with an index (`src/cdt` of the crate has more about these).
pub(crate) fn without_index(outcome: &Outcome) -> Outcome {
    let Outcome::Answer(answer) = outcome else { return outcome.clone() };
    let mut answer = answer.clone();
    for at in 2..answer.len() {
        // The first element of an ordered map: an extension without contents, whose type has the flags.
        if answer[at - 2..at] == [0xc7, 0] {
            answer[at] &= !0x10;
        }
    }
    Outcome::Answer(answer)
}

/// An outcome for people.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let Outcome::Answer(answer) = outcome else { return format!("{outcome:?}") };
    let mut text = String::new();
    for message in messages(answer).iter().take(8) {
        let Ok((decoded, _)) = Message::decode_prefix(message) else { continue };
        write!(text, "[{}", shown_header(&decoded.header)).unwrap();
        for op in decoded.ops() {
            let value = if op.particle_type == 3 || op.name == b"FAILURE" {
                format!("{:?}", String::from_utf8_lossy(op.value))
            } else {
                format!("{:02x?}", &op.value[..op.value.len().min(160)])
            };
            write!(text, " {} {}:{}={value}", op.kind, String::from_utf8_lossy(op.name), op.particle_type).unwrap();
        }
        text.push(']');
    }
    if text.is_empty() { String::from_utf8_lossy(answer).into_owned() } else { text }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
