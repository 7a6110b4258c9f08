//! Puts of Python programs: most of a writer's are of one set and by one policy, and can go as rows of blocks.

use std::sync::{Arc, OnceLock};

use aerolane::raw::{RawKey, RawOps, RawShape};
use aerolane::writer::{MakeKey, PutShapes, RawWriter, shape};
use aerospike_core::WritePolicy as CoreWrite;
use pyo3::prelude::*;

use super::key::{Names, TableKey, WrittenKey};
use crate::batch::shape::add_bins_to_write;
use crate::errors;

/// What puts have in common.
#[derive(Default)]
pub(super) struct UsualPuts {
    /// What they do by the policy that the first of them had, without operations: most have the same.
    policy: OnceLock<(Arc<CoreWrite>, RawShape)>,
    shapes: PutShapes<WrittenKey>,
}

impl UsualPuts {
    /// Hands a put over as a row. `what`: how messages call the bins; `names`: of the key. `Err`: it is to be handed over as a record that does this.
    pub(super) fn put(
        &self,
        writer: &RawWriter<WrittenKey>,
        key: &impl RawKey,
        (bins, what): (&Bound<'_, PyAny>, &dyn Fn() -> String),
        policy: &Arc<CoreWrite>,
        names: impl Fn() -> Arc<Names>,
    ) -> PyResult<Result<aerolane::Outcome<WrittenKey>, RawShape>> {
        let py = bins.py();
        let raised = |error: aerolane::Error| errors::to_py(py, &error);
        // Encoding may run code of the program, which may put other records.
        let mut ops = RawOps::in_kept_buffer();
        add_bins_to_write(bins, what, &mut ops)?;
        let made;
        let template = match self.policy.get() {
            Some((usual, template)) if Arc::ptr_eq(usual, policy) => template,
            _ => {
                made = shape::write(writer.batch_policy(), policy, 0, RawOps::default()).map_err(raised)?;
                self.policy.get_or_init(|| (Arc::clone(policy), made.clone()));
                &made
            }
        };
        self.shapes.put(writer, template, key, ops, || make_key(names())).map_err(raised)
    }
}

fn make_key(names: Arc<Names>) -> MakeKey<WrittenKey> {
    Box::new(move |digest, user_key| WrittenKey::Row(TableKey::new(&names, 0, digest, user_key)))
}
