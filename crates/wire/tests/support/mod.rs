//! Reads the golden exchanges, for the tests of this crate and of the client.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod damage;

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One recorded exchange.
pub(crate) struct Exchange {
    /// Group and scenario.
    pub(crate) scenario: String,
    pub(crate) step: u64,
    pub(crate) note: String,
    /// Who made the request: `c-client`, `rust-client`, or `raw` (by hand).
    pub(crate) driver: String,
    /// How the answer ends.
    pub(crate) end: String,
    /// Whether the server closed the connection after its answer.
    pub(crate) closed_after: bool,
    pub(crate) request: Vec<u8>,
    pub(crate) response: Vec<u8>,
    /// The recorder's own reading of both, a list with an entry per frame.
    pub(crate) decoded_request: Value,
    pub(crate) decoded_response: Value,
}

impl Exchange {
    /// How to find it in the files.
    pub(crate) fn place(&self) -> String {
        format!("{} step {} ({})", self.scenario, self.step, self.note)
    }
}

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// All exchanges, in the order of the files' names.
pub(crate) fn exchanges() -> Vec<Exchange> {
    let mut files: Vec<_> = std::fs::read_dir(directory())
        .expect("tests/golden is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".jsonl"))
        .collect();
    files.sort();
    assert!(files.len() >= 19, "golden files are missing: {files:?}");
    files.iter().flat_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<Exchange> {
    let mut text = String::new();
    let file = BufReader::new(File::open(path).unwrap());
    if path.extension().is_some_and(|ext| ext == "gz") {
        flate2::bufread::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        { file }.read_to_string(&mut text).unwrap();
    }
    text.lines().map(|line| exchange(serde_json::from_str(line).unwrap())).collect()
}

fn exchange(mut line: Value) -> Exchange {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    Exchange {
        scenario: text("scenario"),
        step: line["step"].as_u64().unwrap(),
        note: text("note"),
        driver: text("driver"),
        end: text("end"),
        closed_after: line["closed_after"].as_bool().unwrap_or_default(),
        request: bytes(&text("request")),
        response: bytes(&text("response")),
        decoded_request: line["decoded_request"].take(),
        decoded_response: line["decoded_response"].take(),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).unwrap() as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
