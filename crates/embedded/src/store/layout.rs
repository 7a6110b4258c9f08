//! How a record lies in memory: one allocation.
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 20 | digest |
//! | 20 | 2 | generation |
//! | 22 | 2 | set id |
//! | 24 | 4 | void time, seconds since 2010, 0 = never |
//! | 28 | 8 | last update, milliseconds since 2010 |
//! | 36 | 2 | number of bins |
//! | 38 | 4 | size of the stored key, 0 = none |
//! | 42 | | stored key: particle type, value |
//! | | | bins, in creation order, each as the operation that a read answers with |
//!
//! Words of ours are little-endian. A bin is kept exactly as it is sent (size, operation READ, particle type, 0, name
//! length, name, value), so that reading all bins copies one slice.

use super::SetId;
use super::fetch::fetch;
use std::ops::Range;

/// Size of the fixed part.
const HEADER: usize = 42;
/// Size of the fixed part of a bin: 4-byte size, operation, particle type, version, name length.
pub(crate) const BIN_HEADER: usize = 8;

/// Sets void time and last update at the front of `bytes`.
#[inline]
fn set_times(bytes: &mut [u8], void_time: u32, last_update_ms: u64) {
    let ([v0, v1, v2, v3], [u0, u1, u2, u3, u4, u5, u6, u7]) = (void_time.to_le_bytes(), last_update_ms.to_le_bytes());
    if let Some(place) = bytes.first_chunk_mut() {
        *place = [v0, v1, v2, v3, u0, u1, u2, u3, u4, u5, u6, u7];
    }
}

/// One record.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    bytes: Box<[u8]>,
}

/// What a record is built from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordParts<'a> {
    /// Digest.
    pub(crate) digest: &'a [u8; 20],
    /// Generation, never 0.
    pub(crate) generation: u16,
    /// Set.
    pub(crate) set_id: SetId,
    /// Void time, 0 = never.
    pub(crate) void_time: u32,
    /// Last update.
    pub(crate) last_update_ms: u64,
    /// Key with its type byte in front; empty = not stored.
    pub(crate) key: &'a [u8],
    /// Number of bins.
    pub(crate) n_bins: u16,
}

impl Record {
    /// Appends everything but the bins; they follow as they are sent.
    pub(crate) fn encode(parts: &RecordParts<'_>, bytes: &mut Vec<u8>) {
        let ([g0, g1], [s0, s1]) = (parts.generation.to_le_bytes(), parts.set_id.0.to_le_bytes());
        let [v0, v1, v2, v3] = parts.void_time.to_le_bytes();
        let ([n0, n1], [k0, k1, k2, k3]) = (parts.n_bins.to_le_bytes(), (parts.key.len() as u32).to_le_bytes());
        bytes.extend_from_slice(parts.digest);
        bytes.extend_from_slice(&[g0, g1, s0, s1, v0, v1, v2, v3]);
        bytes.extend_from_slice(&parts.last_update_ms.to_le_bytes());
        bytes.extend_from_slice(&[n0, n1, k0, k1, k2, k3]);
        bytes.extend_from_slice(parts.key);
    }

    /// The record with these bytes ([`Record::encode`] and the bins).
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        debug_assert!(bytes.len() >= HEADER, "records are written by `encode`");
        Self { bytes: bytes.into() }
    }

    /// The void time in the bytes of a record.
    #[inline]
    pub(super) fn void_time_of(bytes: &[u8]) -> u32 {
        bytes.get(24..28).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// Takes the bytes of another version over; `false` if they do not fit in place.
    #[inline]
    pub(super) fn overwrite(&mut self, bytes: &[u8]) -> bool {
        let fits = self.bytes.len() == bytes.len();
        if fits {
            self.bytes.copy_from_slice(bytes);
        }
        fits
    }

    /// Size of a record with this key and bins of that many bytes.
    pub(crate) const fn size_of(key: &[u8], bins: usize) -> usize {
        HEADER + key.len() + bins
    }

    #[inline]
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }

    #[inline]
    fn key_len(&self) -> usize {
        u32::from_le_bytes(self.array(38)) as usize
    }

    /// Digest.
    #[inline]
    pub(crate) fn digest(&self) -> &[u8; 20] {
        self.bytes.first_chunk().unwrap_or(&[0; 20])
    }

    /// Generation, 1 to 65535.
    #[inline]
    pub(crate) fn generation(&self) -> u16 {
        u16::from_le_bytes(self.array(20))
    }

    /// Set.
    #[inline]
    pub(crate) fn set_id(&self) -> SetId {
        SetId(u16::from_le_bytes(self.array(22)))
    }

    /// Void time in seconds since 2010, 0 = never expires.
    #[inline]
    pub(crate) fn void_time(&self) -> u32 {
        u32::from_le_bytes(self.array(24))
    }

    /// Last update in milliseconds since 2010.
    #[inline]
    pub(crate) fn last_update_ms(&self) -> u64 {
        u64::from_le_bytes(self.array(28))
    }

    /// Number of bins.
    #[inline]
    pub(crate) fn n_bins(&self) -> u16 {
        u16::from_le_bytes(self.array(36))
    }

    /// Stored key with its type byte in front, as in a key field.
    #[inline]
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match self.key_len() {
            0 => None,
            len => Some(&self.bytes[HEADER..HEADER + len]),
        }
    }

    /// All bins, ready to be sent.
    #[inline]
    pub(crate) fn raw_bins(&self) -> &[u8] {
        &self.bytes[HEADER + self.key_len()..]
    }

    /// The bins in creation order.
    #[inline]
    pub(crate) fn bins(&self) -> Bins<'_> {
        Bins { rest: self.raw_bins() }
    }

    /// The bin with this name.
    #[inline]
    pub(crate) fn bin(&self, name: &[u8]) -> Option<Bin<'_>> {
        self.bins().find(|bin| bin.name == name)
    }

    /// Where in the record's bytes the value of a bin lies, if the bin has one of this type and size.
    #[inline]
    pub(crate) fn place_of(&self, name: &[u8], kind: u8, size: usize) -> Option<Range<usize>> {
        let mut bins = self.bins();
        let bin = bins.find(|bin| bin.name == name)?;
        let end = self.bytes.len() - bins.rest.len();
        (bin.kind == kind && bin.value.len() == size).then(|| end - size..end)
    }

    /// Makes `bytes` those of the record.
    #[inline]
    pub(crate) fn copy_to(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(&self.bytes);
    }

    /// Makes the bytes of a record those of a later version, with the same set and key.
    #[inline]
    pub(crate) fn renew(bytes: &mut [u8], generation: u16, void_time: u32, last_update_ms: u64) {
        let [g0, g1] = generation.to_le_bytes();
        if let Some([place0, place1, _, _, rest @ ..]) = bytes.get_mut(20..) {
            (*place0, *place1) = (g0, g1);
            set_times(rest, void_time, last_update_ms);
        }
    }

    /// Whether the record has expired and only waits to be swept away.
    #[inline]
    pub(crate) fn is_expired(&self, now_seconds: u32) -> bool {
        let void_time = self.void_time();
        void_time != 0 && now_seconds > void_time
    }

    /// Everything, as [`Record::encode`] and the bins are laid out.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Size of the allocation.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Fetches the record into the cache: all of a small one.
    #[inline]
    pub(super) fn fetch(&self) {
        let ends = [self.bytes.first(), self.bytes.last()];
        ends.into_iter().flatten().for_each(fetch);
    }

    /// Sets a new void time (a read that touches); the generation stays.
    pub(crate) fn touch(&mut self, void_time: u32, now_ms: u64) {
        let last_update_ms = now_ms.max(self.last_update_ms());
        set_times(&mut self.bytes[24..], void_time, last_update_ms);
    }
}

/// One bin of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bin<'a> {
    /// Name.
    pub(crate) name: &'a [u8],
    /// Particle type.
    pub(crate) kind: u8,
    /// Value as on the wire.
    pub(crate) value: &'a [u8],
    /// The whole operation as it is sent.
    pub(crate) raw: &'a [u8],
}

/// Iterator over the bins of a record.
#[derive(Debug, Clone)]
pub(crate) struct Bins<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Bins<'a> {
    type Item = Bin<'a>;

    #[inline]
    fn next(&mut self) -> Option<Bin<'a>> {
        let head = self.rest.first_chunk::<BIN_HEADER>()?;
        let size = 4 + u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let (raw, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        let (name, value) = raw[BIN_HEADER..].split_at_checked(usize::from(head[7]))?;
        Some(Bin { name, kind: head[5], value, raw })
    }
}
