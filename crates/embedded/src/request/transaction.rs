//! What a request says about a transaction.

use crate::code;
use aerolane_wire::message::field;

/// The id of a transaction; never 0.
pub(crate) type TxnId = u64;

/// What a request says about a transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TxnPart {
    /// The transaction that the request belongs to.
    pub(crate) id: Option<TxnId>,
    /// The version of the record that the client knows.
    pub(crate) version: Option<u64>,
    /// The deadline that the monitor's answer told, in seconds since 2010.
    pub(crate) deadline: Option<u32>,
    /// Bits of [`info4`].
    pub(crate) info4: u8,
}

/// Size of a record's version.
pub(crate) const VERSION_SIZE: usize = 7;
impl TxnPart {
    /// Takes a field in, if it is one about transactions. Of two fields of one type the first counts.
    ///
    /// # Errors
    /// The result code for a field of a wrong size.
    pub(crate) fn take(&mut self, kind: u8, value: &[u8]) -> Result<(), u8> {
        match kind {
            field::MRT_ID if self.id.is_none() => {
                let id = u64::from_le_bytes(value.try_into().map_err(|_| code::PARAMETER)?);
                self.id = Some(id).filter(|id| *id != 0);
                self.id.map(drop).ok_or(code::PARAMETER)
            }
            field::RECORD_VERSION if self.version.is_none() => {
                let mut bytes = [0; 8];
                let value: &[u8; VERSION_SIZE] = value.try_into().map_err(|_| code::PARAMETER)?;
                bytes[..VERSION_SIZE].copy_from_slice(value);
                self.version = Some(u64::from_le_bytes(bytes));
                Ok(())
            }
            field::MRT_DEADLINE if self.deadline.is_none() => {
                self.deadline = Some(u32::from_le_bytes(value.try_into().map_err(|_| code::PARAMETER)?));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
