//! The comparison rules of the golden exchanges (`tests/golden/README.md`).

use super::line::{End, Line};
use crate::shown::shown_header;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message};
use aerolane_wire::proto::{Frame, FrameType, MAX_BODY_SIZE, split_frame};

/// How many seconds a remaining TTL may differ.
const TTL_SLACK: i64 = 3;

/// Compares an answer with the recorded one; `now` is the time of the answer, seconds since 2010.
pub(crate) fn compare(line: &Line, answer: &[u8], now: i64) -> Result<(), String> {
    let clock = Clock { recorded: line.now, now };
    let (want, got) = (frames(&line.response)?, frames(answer)?);
    match line.compare.as_str() {
        "exact" | "ignore-ttl" => same_frames(&want, &got, clock),
        "unordered-records" => unordered(&messages(&want)?, &messages(&got)?, clock),
        "shape" => shape(line, &want, &got),
        other => Err(format!("unknown comparison {other}")),
    }
}

#[derive(Clone, Copy)]
struct Clock {
    recorded: i64,
    now: i64,
}

impl Clock {
    fn same(self, want: u32, got: u32) -> bool {
        match (want, got) {
            (0, 0) => true,
            (0, _) | (_, 0) => false,
            (want, got) => ((i64::from(want) - self.recorded) - (i64::from(got) - self.now)).abs() <= TTL_SLACK,
        }
    }
}

fn frames(mut bytes: &[u8]) -> Result<Vec<Frame<'_>>, String> {
    let mut frames = Vec::new();
    while let Some((frame, size)) = split_frame(bytes, MAX_BODY_SIZE).map_err(|e| e.to_string())? {
        frames.push(frame);
        bytes = &bytes[size..];
    }
    if bytes.is_empty() { Ok(frames) } else { Err("half a frame".into()) }
}

/// A message and its bytes.
struct Row<'a> {
    message: Message<'a>,
    bytes: &'a [u8],
}

impl Row<'_> {
    /// Equal but for the void time, which has to mean the same.
    fn same(&self, other: &Row<'_>, clock: Clock) -> bool {
        let without = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[10..14].fill(0);
            bytes
        };
        without(self.bytes) == without(other.bytes)
            && clock.same(self.message.header.record_ttl, other.message.header.record_ttl)
    }

    fn show(&self) -> String {
        let shown = &self.bytes[MESSAGE_HEADER_SIZE..self.bytes.len().min(MESSAGE_HEADER_SIZE + 120)];
        format!("{} {shown:02x?}", shown_header(&self.message.header))
    }
}

fn rows<'a>(frame: &Frame<'a>) -> Result<Vec<Row<'a>>, String> {
    let mut rows = Vec::new();
    let mut body = frame.body;
    while !body.is_empty() {
        let (message, size) = Message::decode_prefix(body).map_err(|e| e.to_string())?;
        rows.push(Row { message, bytes: &body[..size] });
        body = &body[size..];
    }
    Ok(rows)
}

fn messages<'a>(frames: &[Frame<'a>]) -> Result<Vec<Row<'a>>, String> {
    let mut all = Vec::new();
    for frame in frames {
        if frame.header.frame_type != FrameType::Message {
            return Err("not a message".into());
        }
        all.extend(rows(frame)?);
    }
    Ok(all)
}

fn same_frames(want: &[Frame<'_>], got: &[Frame<'_>], clock: Clock) -> Result<(), String> {
    if want.len() != got.len() {
        return Err(format!("{} frames instead of {}", got.len(), want.len()));
    }
    for (want, got) in want.iter().zip(got) {
        if want.header.frame_type != got.header.frame_type {
            return Err("another type of frame".into());
        }
        if want.header.frame_type == FrameType::Message {
            let (want, got) = (rows(want)?, rows(got)?);
            if want.len() != got.len() || !want.iter().zip(&got).all(|(a, b)| a.same(b, clock)) {
                return Err(differing(&want, &got));
            }
        } else if want.body != got.body {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(2000).collect::<String>();
            return Err(format!("want {:?}\n      got  {:?}", text(want.body), text(got.body)));
        }
    }
    Ok(())
}

fn differing(want: &[Row<'_>], got: &[Row<'_>]) -> String {
    let show = |rows: &[Row<'_>]| rows.iter().take(6).map(Row::show).collect::<Vec<_>>().join("\n           ");
    format!("want {}\n      got  {}", show(want), show(got))
}

fn unordered(want: &[Row<'_>], got: &[Row<'_>], clock: Clock) -> Result<(), String> {
    let (Some((last_want, want_rest)), Some((last_got, got_rest))) = (want.split_last(), got.split_last()) else {
        return Err("no messages".into());
    };
    let mut left: Vec<_> = got_rest.iter().collect();
    let all_found = want_rest.iter().all(|row| {
        let at = left.iter().position(|other| row.same(other, clock));
        at.map(|at| left.swap_remove(at)).is_some()
    });
    if all_found && left.is_empty() && last_want.same(last_got, clock) { Ok(()) } else { Err(differing(want, got)) }
}

fn shape(line: &Line, want: &[Frame<'_>], got: &[Frame<'_>]) -> Result<(), String> {
    let (Some(first_want), Some(first_got)) = (want.first(), got.first()) else {
        return if want.len() == got.len() { Ok(()) } else { Err("no answer".into()) };
    };
    if first_want.header.frame_type != first_got.header.frame_type {
        return Err("another type of frame".into());
    }
    if first_want.header.frame_type == FrameType::Info {
        return info_shape(first_want.body, first_got.body);
    }
    let (want, got) = (messages(want)?, messages(got)?);
    let (Some(want_last), Some(got_last)) = (want.last(), got.last()) else { return Err("no messages".into()) };
    if want_last.message.header.result_code != got_last.message.header.result_code {
        return Err(differing(&want, &got));
    }
    if want_last.message.header.result_code != 0 {
        return Ok(());
    }
    let same = if line.end == End::Last {
        want.len() == got.len()
    } else {
        let outline = |row: &Row<'_>| {
            let bins: Vec<_> = row.message.ops().map(|op| (op.name.to_vec(), op.particle_type)).collect();
            (bins, row.message.fields().map(|field| field.kind).collect::<Vec<_>>())
        };
        outline(want_last) == outline(got_last)
    };
    if same { Ok(()) } else { Err(differing(&want, &got)) }
}

/// The same commands in order, errors with the same numbers, and all recorded `name=` keys.
fn info_shape(want: &[u8], got: &[u8]) -> Result<(), String> {
    let (want, got) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
    let split = |text: &str| -> Vec<(String, String)> {
        text.lines()
            .map(|line| line.split_once('\t').unwrap_or((line, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let (want, got) = (split(&want), split(&got));
    if want.len() != got.len() {
        return Err(format!("{} answers instead of {}", got.len(), want.len()));
    }
    for ((name, want), (got_name, got)) in want.iter().zip(&got) {
        if name != got_name {
            return Err(format!("answer to {got_name:?} instead of {name:?}"));
        }
        if error_number(want) != error_number(got) {
            return Err(format!("{name}: want {want:.200?} got {got:.200?}"));
        }
        if error_number(want).is_none() {
            let have = keys(got);
            let missing: Vec<_> = keys(want).into_iter().filter(|key| !have.contains(key)).collect();
            if !missing.is_empty() {
                return Err(format!("{name}: missing {missing:.600?}"));
            }
        }
    }
    Ok(())
}

fn error_number(answer: &str) -> Option<&str> {
    answer.strip_prefix("ERROR:").or_else(|| answer.strip_prefix("FAIL:")).map(|rest| rest.split(':').next().unwrap())
}

fn keys(answer: &str) -> std::collections::BTreeSet<&str> {
    answer.split([';', ':']).filter_map(|pair| pair.split_once('=')).map(|(key, _)| key).collect()
}
