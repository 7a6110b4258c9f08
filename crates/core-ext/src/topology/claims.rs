//! The answer to the info command `replicas`: which partitions a node claims to own.
//!
//! `name:regime,replicas,bitmap,bitmap,...;name:...` with one base64 bitmap of 4096 bits per replica
//! (partition 0 is the highest bit of the first byte). The regime is 0 unless the namespace is strongly consistent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::PARTITIONS;
use crate::error::{Error, Result};

/// Bytes of a bitmap.
const BITMAP: usize = PARTITIONS / 8;
/// Base64 characters of a bitmap, with padding.
const BITMAP_TEXT: usize = BITMAP.div_ceil(3) * 4;
/// The server has at most 32 namespaces; this leaves room.
const MAX_NAMESPACES: usize = 256;
/// A cluster has at most 256 nodes, so no more copies either.
const MAX_REPLICAS: usize = 256;
/// Namespace names have at most 31 bytes.
const MAX_NAME: usize = 31;

/// What one node claims for one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceClaim {
    /// The namespace.
    pub name: Box<str>,
    /// 0, or the regime of a strongly consistent namespace.
    pub regime: u32,
    /// One bitmap per replica.
    bitmaps: Vec<[u8; BITMAP]>,
}

impl NamespaceClaim {
    /// Copies of each record.
    #[must_use]
    pub fn replication_factor(&self) -> usize {
        self.bitmaps.len()
    }

    /// Whether the node claims this partition as this replica.
    #[must_use]
    pub fn owns(&self, replica: usize, partition: usize) -> bool {
        partition < PARTITIONS
            && self.bitmaps.get(replica).is_some_and(|map| map[partition / 8] & (0x80 >> (partition % 8)) != 0)
    }
}

/// Parses the answer to `replicas`.
///
/// # Errors
/// `BadResponse`, naming the namespace and what is wrong; nothing is taken from a malformed answer.
pub fn parse_replicas(text: &str) -> Result<Vec<NamespaceClaim>> {
    let mut claims: Vec<NamespaceClaim> = Vec::new();
    for part in text.trim_ascii().split(';').filter(|part| !part.is_empty()) {
        if claims.len() == MAX_NAMESPACES {
            return Err(bad(format_args!("more than {MAX_NAMESPACES} namespaces")));
        }
        let claim = parse_namespace(part)?;
        if claims.iter().any(|earlier| earlier.name == claim.name) {
            return Err(bad(format_args!("namespace {:?} is listed twice", claim.name)));
        }
        claims.push(claim);
    }
    Ok(claims)
}

fn parse_namespace(part: &str) -> Result<NamespaceClaim> {
    let Some((name, rest)) = part.split_once(':') else {
        return Err(bad(format_args!("no ':' in {:?}", excerpt(part))));
    };
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(bad(format_args!("a namespace name of {} bytes", name.len())));
    }
    let mut fields = rest.split(',');
    let regime = number(name, "regime", fields.next())?;
    let replicas = number(name, "replica count", fields.next())? as usize;
    if replicas == 0 || replicas > MAX_REPLICAS {
        return Err(bad(format_args!("namespace {name}: {replicas} replicas")));
    }
    // The count comes from outside: grow with what is really there.
    let mut bitmaps = Vec::new();
    for field in fields {
        if bitmaps.len() == replicas {
            return Err(bad(format_args!("namespace {name}: more bitmaps than the {replicas} announced")));
        }
        bitmaps.push(bitmap(name, field)?);
    }
    if bitmaps.len() < replicas {
        return Err(bad(format_args!("namespace {name}: {} bitmaps, {replicas} announced", bitmaps.len())));
    }
    Ok(NamespaceClaim { name: name.into(), regime, bitmaps })
}

fn number(name: &str, what: &str, field: Option<&str>) -> Result<u32> {
    let field = field.unwrap_or_default();
    field.parse().map_err(|_| bad(format_args!("namespace {name}: {what} is {:?}", excerpt(field))))
}

fn bitmap(name: &str, field: &str) -> Result<[u8; BITMAP]> {
    // Base64 decodes in blocks of three, so the buffer is a little longer than the bitmap.
    let mut bytes = [0; BITMAP.div_ceil(3) * 3];
    let decoded = if field.len() == BITMAP_TEXT { STANDARD.decode_slice(field, &mut bytes).ok() } else { None };
    match (decoded, bytes.first_chunk::<BITMAP>()) {
        (Some(BITMAP), Some(bitmap)) => Ok(*bitmap),
        _ => Err(bad(format_args!("namespace {name}: a bitmap of {} characters is not {BITMAP} bytes", field.len()))),
    }
}

fn bad(text: impl std::fmt::Display) -> Error {
    Error::bad_response(format!("the node's answer to `replicas` cannot be used: {text}"))
}

/// The start of a text from outside, for messages.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    /// The text of a `replicas` answer for one namespace.
    pub(in crate::topology) fn text(name: &str, regime: u32, replicas: &[&dyn Fn(usize) -> bool]) -> String {
        use std::fmt::Write as _;
        let mut text = format!("{name}:{regime},{}", replicas.len());
        for owns in replicas {
            let mut map = [0_u8; BITMAP];
            for partition in (0..PARTITIONS).filter(|p| owns(*p)) {
                map[partition / 8] |= 0x80 >> (partition % 8);
            }
            write!(text, ",{}", STANDARD.encode(map)).unwrap();
        }
        text
    }

    fn refused(text: &str, part: &str) {
        let error = parse_replicas(text).expect_err(part);
        assert!(matches!(error.kind(), ErrorKind::BadResponse));
        assert!(error.to_string().contains(part), "{part:?} in {error}");
    }

    #[test]
    fn bits_are_partitions_from_the_highest_down() {
        let answer =
            format!("{};{};", text("test", 0, &[&|p| p == 0, &|p| p % 2 == 1]), text("sc", 7, &[&|p| p == 4095]));
        let claims = parse_replicas(&answer).unwrap();
        assert_eq!(claims.len(), 2);
        assert_eq!((&*claims[0].name, claims[0].regime, claims[0].replication_factor()), ("test", 0, 2));
        let owned = |replica| (0..PARTITIONS).filter(|p| claims[0].owns(replica, *p)).count();
        assert_eq!((owned(0), owned(1)), (1, 2048));
        assert!(claims[0].owns(0, 0));
        assert!(claims[0].owns(1, 4095) && !claims[0].owns(1, 4094));
        assert_eq!((&*claims[1].name, claims[1].regime), ("sc", 7));
        assert!(claims[1].owns(0, 4095));
        assert!(!claims[1].owns(1, 4095) && !claims[1].owns(0, 4096), "out of range is not owned");
    }

    #[test]
    fn answers_of_a_real_node_are_read() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/info.jsonl");
        let recorded = std::fs::read_to_string(path).unwrap();
        let mut seen = 0;
        for line in recorded.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            let Some(frame) = line["response"].as_str() else { continue };
            let bytes: Vec<u8> =
                (0..frame.len() / 2).filter_map(|i| u8::from_str_radix(&frame[2 * i..2 * i + 2], 16).ok()).collect();
            for answer in aerolane_wire::info::Answers::new(bytes.get(8..).unwrap_or_default()) {
                // `replicas-all` and `replicas-master` have other forms.
                if let (b"replicas", Some(text)) = (answer.command, answer.text) {
                    let claims = parse_replicas(std::str::from_utf8(text).unwrap()).unwrap();
                    assert_eq!((&*claims[0].name, claims[0].regime, claims[0].replication_factor()), ("test", 0, 1));
                    assert!((0..PARTITIONS).all(|partition| claims[0].owns(0, partition)));
                    seen += 1;
                }
            }
        }
        assert!(seen > 0);
    }

    #[test]
    fn an_empty_answer_claims_nothing() {
        assert_eq!(parse_replicas("").unwrap(), []);
        assert_eq!(parse_replicas("\n").unwrap(), []);
    }

    #[test]
    fn malformed_answers_are_refused() {
        let one = text("test", 0, &[&|_| true]);
        refused("ERROR", "no ':'");
        refused(&one.replace("test", ""), "0 bytes");
        refused(&one.replace("test", &"n".repeat(32)), "32 bytes");
        refused(&one.replace(":0,", ":x,"), "regime is \"x\"");
        refused(&one.replace(":0,", ":-1,"), "regime is \"-1\"");
        refused("test:0,0", "0 replicas");
        refused("test:0,257", "257 replicas");
        refused("test:0,18446744073709551616", "replica count");
        refused(&one.replace(",1,", ",2,"), "1 bitmaps, 2 announced");
        refused(&format!("{one},{}", "A".repeat(BITMAP_TEXT)), "more bitmaps");
        refused("test:0,1,AAAA", "a bitmap of 4 characters");
        refused(&format!("test:0,1,{}", "!".repeat(BITMAP_TEXT)), "a bitmap of");
        refused(&format!("{one};{one}"), "twice");
        let many: Vec<String> = (0..257).map(|i| one.replace("test", &format!("n{i}"))).collect();
        refused(&many.join(";"), "more than 256");
    }

    proptest! {
        #[test]
        fn any_claim_survives(regime in any::<u32>(), maps in prop::collection::vec(prop::array::uniform32(any::<u8>()), 1..4)) {
            let owns: Vec<_> = maps.iter().map(|map| move |p: usize| map[p % 32] as usize & (1 << (p % 8)) != 0).collect();
            let owns: Vec<&dyn Fn(usize) -> bool> = owns.iter().map(|f| f as _).collect();
            let claims = parse_replicas(&text("ns", regime, &owns)).unwrap();
            prop_assert_eq!(claims[0].regime, regime);
            for (replica, owns) in owns.iter().enumerate() {
                for p in 0..PARTITIONS {
                    prop_assert_eq!(claims[0].owns(replica, p), owns(p));
                }
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,200}") {
            let _ = parse_replicas(&text);
        }

        #[test]
        fn no_mutation_panics(at in any::<prop::sample::Index>(), with in "[ -~]", cut in any::<prop::sample::Index>()) {
            let mut answer = text("test", 3, &[&|p| p % 3 == 0, &|p| p % 3 == 1]);
            let at = at.index(answer.len());
            answer.replace_range(at..=at, &with);
            let _ = parse_replicas(&answer);
            let _ = parse_replicas(&answer[..cut.index(answer.len())]);
        }
    }
}
