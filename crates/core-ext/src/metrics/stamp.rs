//! What a request carries along so that its answer can be measured.

use aerospike_core::metrics::CommandType;

/// What a call is counted as: its kind and its namespace; none if it is not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MetricKey(u16);

const KIND_BITS: u32 = 4;
const METRIC_KEY_BITS: u32 = 12;

impl MetricKey {
    pub(crate) const NONE: Self = Self(0);

    /// `CommandType::None` gives none.
    #[inline]
    pub(super) const fn new(kind: CommandType, namespace: u8) -> Self {
        match kind {
            CommandType::None => Self::NONE,
            kind => Self(kind as u16 | (namespace as u16) << KIND_BITS),
        }
    }

    #[inline]
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) const fn kind(self) -> usize {
        self.0 as usize & ((1 << KIND_BITS) - 1)
    }

    #[inline]
    pub(super) const fn namespace(self) -> usize {
        self.0 as usize >> KIND_BITS
    }

    /// The mark of a read, which asks only for the header of a record if `request` (one whole frame) says so.
    pub(crate) fn of_read(self, request: &[u8]) -> Self {
        use aerolane_wire::message::info1;
        use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE};
        const INFO1: usize = PROTO_HEADER_SIZE + 1;
        let plain = request.get(1) == Some(&(FrameType::Message as u8));
        if self.kind() == CommandType::Get as usize
            && plain
            && request.get(INFO1).is_some_and(|bits| bits & info1::NO_BIN_DATA != 0)
        {
            return Self(self.0 - CommandType::Get as u16 + CommandType::GetHeader as u16);
        }
        self
    }
}

/// When a measured request began, and what it is counted as; none for a request that is not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp(u64);

impl Stamp {
    /// Of a request that is not measured.
    pub const NONE: Self = Self(0);

    /// `micros`: when it began, since the client was made. Enough bits for a century.
    #[inline]
    pub(super) const fn new(metric_key: MetricKey, micros: u64) -> Self {
        if metric_key.is_none() { Self::NONE } else { Self(micros << METRIC_KEY_BITS | metric_key.0 as u64) }
    }

    /// Whether the request is not measured.
    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// When it began, in microseconds since the client was made.
    #[inline]
    pub(super) const fn began(self) -> u64 {
        self.0 >> METRIC_KEY_BITS
    }

    /// What it is counted as.
    #[inline]
    pub(super) const fn metric_key(self) -> MetricKey {
        MetricKey(self.0 as u16 & ((1 << METRIC_KEY_BITS) - 1))
    }

    /// The stamp of a read, which asks only for the header of a record if `request` (one whole frame) says so.
    #[must_use]
    pub fn of_read(self, request: &[u8]) -> Self {
        let metric_key = self.metric_key();
        Self(self.0 - u64::from(metric_key.0) + u64::from(metric_key.of_read(request).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_out_as_they_went_in() {
        let stamp = Stamp::new(MetricKey::new(CommandType::BatchWrite, 33), 1 << 50);
        assert_eq!((stamp.metric_key().kind(), stamp.metric_key().namespace(), stamp.began()), (11, 33, 1 << 50));
        assert!(!Stamp::new(MetricKey::new(CommandType::Get, 0), 0).is_none());
        assert!(Stamp::new(MetricKey::new(CommandType::None, 3), 9).is_none());
        assert!(Stamp::new(MetricKey::NONE, 9).is_none());
    }

    #[test]
    fn reads_without_bins_are_told_from_others() {
        let get = Stamp::new(MetricKey::new(CommandType::Get, 2), 77);
        let frame = |info1| [2, 3, 0, 0, 0, 0, 0, 22, 22, info1];
        let header = get.of_read(&frame(0x21));
        let metric_key = header.metric_key();
        assert_eq!(
            (metric_key.kind(), metric_key.namespace(), header.began()),
            (CommandType::GetHeader as usize, 2, 77)
        );
        assert_eq!(get.of_read(&frame(3)), get);
        let compressed = [2, 4, 0, 0, 0, 0, 0, 22, 22, 0x21];
        assert_eq!((get.of_read(&compressed), get.of_read(&[])), (get, get));
        let exists = Stamp::new(MetricKey::new(CommandType::Exists, 2), 77);
        assert_eq!(exists.of_read(&frame(0x21)), exists);
        assert!(Stamp::NONE.of_read(&frame(0x21)).is_none());
    }
}
