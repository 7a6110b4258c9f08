//! Damage to recorded bytes, pseudo-random with fixed seeds: a failure comes again.

use std::time::{Duration, Instant};

use aerolane_wire::proto::PROTO_HEADER_SIZE;

/// How long a test goes on; slow machines see fewer mutations.
const TIME: Duration = Duration::from_secs(2);
/// Fewer than this, and a test would mean little.
const LEAST: u64 = 2000;

/// Runs a check on damaged copies of the corpus, for some time. Says how many copies those were, and the sum of what the
/// checks have given.
pub(crate) fn each_damaged(corpus: &[Vec<u8>], mut check: impl FnMut(&[u8], &mut Random) -> usize) -> (u64, usize) {
    let (start, mut mutations, mut items) = (Instant::now(), 0_u64, 0_usize);
    for round in 1_u64.. {
        for (index, bytes) in corpus.iter().enumerate() {
            let mut random = Random(round << 32 | (index as u64 + 1));
            let mut bytes = bytes.clone();
            damage(&mut bytes, &mut random);
            items += check(&bytes, &mut random);
            mutations += 1;
            if mutations >= LEAST && start.elapsed() > TIME {
                return (mutations, items);
            }
        }
        assert!(mutations > 0, "there is nothing to damage");
    }
    (mutations, items)
}

/// `xorshift64*`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Damages `bytes` behind the proto header (which has a type and size that let the rest be reached), or anywhere.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = if random.below(8) == 0 { 0 } else { PROTO_HEADER_SIZE.min(bytes.len()) };
    for _ in 0..=random.below(4) {
        let at = from + random.below(bytes.len() - from);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, 0xc7, 0xdd, 0xdf][random.below(8)],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.next() as u8),
            4 if at < bytes.len() => drop(bytes.remove(at)),
            5 => {
                let end = (at + random.below(32)).min(bytes.len());
                let copy = bytes[at.min(end)..end].to_vec();
                let to = from + random.below(bytes.len() - from);
                bytes.splice(to..to, copy);
            }
            _ => {}
        }
        if bytes.len() <= from {
            return;
        }
    }
    // Let the frame size follow what is there, most of the time.
    if bytes.len() >= PROTO_HEADER_SIZE && random.below(4) != 0 {
        let size = (bytes.len() - PROTO_HEADER_SIZE) as u64;
        bytes[2..PROTO_HEADER_SIZE].copy_from_slice(&size.to_be_bytes()[2..]);
    }
}
