//! Bytes that wait to be sent.

use std::io::{self, ErrorKind};

/// Capacity that an empty outbox may keep.
const KEEP_CAPACITY: usize = 256 * 1024;

/// Bytes that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Number of unsent bytes.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer to append to; never touch what is in it.
    #[inline]
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Sends as much as `write` takes; `false` if it would block.
    pub(super) fn send(&mut self, write: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<bool> {
        self.send_first(usize::MAX, write)
    }

    /// The same with the first `limit` bytes only.
    pub(super) fn send_first(
        &mut self,
        mut limit: usize,
        mut write: impl FnMut(&[u8]) -> io::Result<usize>,
    ) -> io::Result<bool> {
        while !self.is_empty() {
            let length = self.len().min(limit);
            if length == 0 {
                self.compact();
                return Ok(true);
            }
            match write(&self.bytes[self.sent..self.sent + length]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => (self.sent, limit) = (self.sent + n, limit - n),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => {
                        self.compact();
                        return Ok(false);
                    }
                    ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
        self.bytes.clear();
        self.sent = 0;
        self.bytes.shrink_to(KEEP_CAPACITY);
        Ok(true)
    }

    /// Drops the sent part once it is the larger one, so that a slow reader costs no memory for what it has.
    fn compact(&mut self) {
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_leaves_once_and_in_order() {
        let mut outbox = Outbox::default();
        let mut sent = vec![];
        let mut expected = vec![];
        for round in 0..50_u8 {
            outbox.bytes().extend_from_slice(&[round; 7]);
            expected.extend_from_slice(&[round; 7]);
            let mut room = usize::from(round % 11);
            let all = outbox.send(|bytes| {
                let n = bytes.len().min(room);
                if n == 0 {
                    return Err(ErrorKind::WouldBlock.into());
                }
                room -= n;
                sent.extend_from_slice(&bytes[..n]);
                Ok(n)
            });
            assert_eq!(all.unwrap(), outbox.is_empty());
        }
        assert!(
            outbox
                .send(|bytes| {
                    sent.extend_from_slice(bytes);
                    Ok(bytes.len())
                })
                .unwrap()
        );
        assert_eq!(sent, expected);
        assert!(outbox.send(|_| Ok(0)).unwrap(), "nothing to send is no error");
    }
}
