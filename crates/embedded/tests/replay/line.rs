//! One line of a golden file.

use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// After that many frames.
    Frames(usize),
    /// With the message that has the "last" bit.
    Last,
    /// The server closes the connection.
    Closed,
    /// There is no answer.
    None,
    /// Nothing is read here; a later line holds the answer.
    Later,
}

/// One exchange.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) scenario: String,
    pub(crate) step: u64,
    pub(crate) note: String,
    pub(crate) conn: u64,
    pub(crate) delay_ms: u64,
    pub(crate) end: End,
    pub(crate) closed_after: bool,
    pub(crate) compare: String,
    /// When the answer came, seconds since 2010; 0 if it has no void time.
    pub(crate) now: i64,
    pub(crate) request: Vec<u8>,
    pub(crate) response: Vec<u8>,
}

/// Where the golden files are.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// All exchanges of a group.
pub(crate) fn read_group(group: &str) -> Vec<Line> {
    let plain = directory().join(format!("{group}.jsonl"));
    let mut text = String::new();
    if plain.exists() {
        File::open(&plain).unwrap().read_to_string(&mut text).unwrap();
    } else {
        let packed = directory().join(format!("{group}.jsonl.gz"));
        let file = File::open(&packed).unwrap_or_else(|e| panic!("{}: {e}", packed.display()));
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    }
    text.lines().map(|line| Line::parse(&serde_json::from_str(line).unwrap())).collect()
}

impl Line {
    /// A line of a golden file.
    pub(crate) fn parse(json: &Value) -> Self {
        parse(json)
    }
}

fn parse(json: &Value) -> Line {
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| json[key].as_u64().unwrap_or_default();
    Line {
        scenario: text("scenario"),
        step: number("step"),
        note: text("note"),
        conn: number("conn"),
        delay_ms: number("delay_before_ms"),
        end: match json["end"].as_str().unwrap() {
            "frame" => End::Frames(1),
            "frames" => End::Frames(number("frames") as usize),
            "last" => End::Last,
            "closed" => End::Closed,
            "none" => End::None,
            "later" => End::Later,
            other => panic!("unknown end {other}"),
        },
        closed_after: json["closed_after"].as_bool().unwrap_or_default(),
        compare: text("compare"),
        now: json["now"].as_i64().unwrap_or_default(),
        request: bytes(&text("request")),
        response: bytes(&text("response")),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
