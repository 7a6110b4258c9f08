//! Puts of Python programs: most of a writer's are of one set and by one policy, and can go as rows of blocks.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use aerolane::raw::{BlockShape, RawOps, RawShape};
use aerolane::writer::{PutShape, PutShapes, RawPut, RawWriter, shape};
use aerospike_core::WritePolicy as CoreWrite;
use pyo3::prelude::*;

use super::key::{Names, TableKey, WrittenKey};
use crate::batch::shape::add_bins_to_write;
use crate::errors;
use crate::key::Key;

/// What puts have in common.
#[derive(Default)]
pub(super) struct UsualPuts {
    /// What they do by the policy that the first of them had, without operations: most have the same.
    policy: OnceLock<(Arc<CoreWrite>, RawShape)>,
    shapes: PutShapes<WrittenKey>,
}

thread_local! {
    /// Where bins are encoded.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The largest buffer that a thread keeps.
const MOST_KEPT: usize = 1 << 16;

impl UsualPuts {
    /// Hands a put over as a row. `Err`: it is to be handed over as a record that does this.
    pub(super) fn put(
        &self,
        writer: &RawWriter<WrittenKey>,
        key: &Key,
        bins: &Bound<'_, PyAny>,
        policy: &Arc<CoreWrite>,
    ) -> PyResult<Result<aerolane::Outcome<WrittenKey>, RawShape>> {
        let py = bins.py();
        let raised = |error: aerolane::Error| errors::to_py(py, &error);
        // Encoding may run code of the program, which may put other records.
        let mut ops = RawOps::in_buffer(BUFFER.take());
        add_bins_to_write(bins, &|| "bins".to_owned(), &mut ops)?;
        let made;
        let template = match self.policy.get() {
            Some((usual, template)) if Arc::ptr_eq(usual, policy) => template,
            _ => {
                made = shape::write(writer.batch_policy(), policy, 0, RawOps::default()).map_err(raised)?;
                self.policy.get_or_init(|| (Arc::clone(policy), made.clone()));
                &made
            }
        };
        let row = match self.shapes.find(template, key.names(), || make(template, key)) {
            Some(shape) => {
                let put = RawPut { digest: key.digest(), user_key: key.user_key_field(), ops: &ops };
                writer.try_put(shape, put).map_err(raised)?
            }
            None => None,
        };
        let handed = row.ok_or_else(|| template.with_ops(ops.clone()));
        let buffer = ops.into_buffer();
        if buffer.capacity() <= MOST_KEPT {
            BUFFER.set(buffer);
        }
        Ok(handed)
    }
}

fn make(template: &RawShape, key: &Key) -> PutShape<WrittenKey> {
    let names = Names::new(key.namespace(), key.set());
    let block = BlockShape::new(template.clone(), names.namespace(), names.fields());
    PutShape::new(block, move |digest, user_key| WrittenKey::Row(TableKey::new(&names, 0, digest, user_key)))
}
