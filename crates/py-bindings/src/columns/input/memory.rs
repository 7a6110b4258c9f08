//! Memory of others, read within its bounds.

/// Some bytes that somebody else keeps in place, and does not write to.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    start: *const u8,
    len: usize,
}

// SAFETY: nobody writes to the bytes while a table is read; whoever holds a `Bytes` holds their owner, too.
unsafe impl Send for Bytes {}

impl Bytes {
    /// `None`: there is no memory, though there ought to be.
    ///
    /// # Safety
    /// So many bytes are there if `start` is not null, for as long as this is used, and nobody writes to them.
    pub(super) unsafe fn new(start: *const u8, len: usize) -> Option<Self> {
        match len {
            0 => Some(Self { start, len: 0 }),
            _ if start.is_null() || len > isize::MAX as usize => None,
            _ => Some(Self { start, len }),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The bytes from `at` on; `None`: they are not all there.
    #[inline]
    pub(super) fn get(&self, at: usize, len: usize) -> Option<&[u8]> {
        if at.checked_add(len)? > self.len {
            return None;
        }
        if len == 0 {
            return Some(&[]);
        }
        // SAFETY: within the bytes of `new`, which lie behind a pointer that is not null, as there are some.
        Some(unsafe { std::slice::from_raw_parts(self.start.add(at), len) })
    }

    /// The bit of a row, the lowest first.
    #[inline]
    pub(super) fn bit(&self, row: usize) -> Option<bool> {
        self.get(row / 8, 1).map(|byte| byte[0] >> (row % 8) & 1 == 1)
    }

    /// The 32-bit or, if `wide`, 64-bit number at a place; `None`: it is not there, or negative.
    #[inline]
    pub(super) fn offset(&self, place: usize, wide: bool) -> Option<usize> {
        if wide {
            let bytes = self.get(place.checked_mul(8)?, 8)?.try_into().ok()?;
            usize::try_from(i64::from_ne_bytes(bytes)).ok()
        } else {
            let bytes = self.get(place.checked_mul(4)?, 4)?.try_into().ok()?;
            usize::try_from(i32::from_ne_bytes(bytes)).ok()
        }
    }
}

/// Cells of one size, at equal distances, which may be negative: numpy's strides.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    start: *const u8,
    stride: isize,
    size: usize,
    count: usize,
}

// SAFETY: as of `Bytes`.
unsafe impl Send for Cells {}

impl Cells {
    /// Cells one behind the other.
    pub(super) fn dense(bytes: Bytes, size: usize) -> Self {
        let count = bytes.len().checked_div(size).unwrap_or(0);
        Self { start: bytes.start, stride: size as isize, size, count }
    }

    /// `None`: there is no memory, though there ought to be.
    ///
    /// # Safety
    /// As of [`Bytes::new`], for each of the cells.
    pub(super) unsafe fn strided(start: *const u8, stride: isize, size: usize, count: usize) -> Option<Self> {
        let far = stride.checked_mul(isize::try_from(count).ok()?);
        (count == 0 || !start.is_null() && far.is_some()).then_some(Self { start, stride, size, count })
    }

    /// A cell; `None`: there is none.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        if row >= self.count {
            return None;
        }
        // SAFETY: one of the cells of `dense` or `strided`; the distance of the last one does not overflow.
        Some(unsafe { std::slice::from_raw_parts(self.start.offset(self.stride * row as isize), self.size) })
    }
}
