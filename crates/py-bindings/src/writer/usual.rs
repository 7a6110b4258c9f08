//! Puts of Python programs: most of a writer's are of one set and by one policy, and can go as rows of blocks.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use aerolane::raw::{RawOps, RawShape};
use aerolane::writer::{MakeKey, NewOutcome, PutQueue, PutShapes, RawWriter, shape};
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
        // Encoding may run code of the program, which may put other records.
        let mut ops = RawOps::in_kept_buffer();
        add_bins_to_write(bins, &|| "bins".to_owned(), &mut ops)?;
        let template = self.template(py, writer, policy)?;
        let handed = self.shapes.put(writer, &template, key, ops, || make_key(key.namespace(), key.set()));
        handed.map_err(|error| errors::to_py(py, &error))
    }

    /// Hands the puts of a queue over, as [`PutShapes::put_all`].
    pub(super) fn put_all(
        &self,
        py: Python<'_>,
        writer: &RawWriter<WrittenKey>,
        queue: &mut PutQueue<WrittenKey>,
        policy: &Arc<CoreWrite>,
        made: &mut impl FnMut(NewOutcome<'_, WrittenKey>),
    ) -> PyResult<Option<(WrittenKey, RawShape)>> {
        let template = self.template(py, writer, policy)?;
        let make_key = |key: &WrittenKey| {
            let (namespace, set) = key.set();
            make_key(namespace, set)
        };
        let full = self.shapes.put_all(writer, &template, queue, make_key, made);
        full.map_err(|error| errors::to_py(py, &error))
    }

    /// What puts by a policy do, without operations.
    fn template<'a>(
        &'a self,
        py: Python<'_>,
        writer: &RawWriter<WrittenKey>,
        policy: &Arc<CoreWrite>,
    ) -> PyResult<Cow<'a, RawShape>> {
        if let Some((usual, template)) = self.policy.get()
            && Arc::ptr_eq(usual, policy)
        {
            return Ok(Cow::Borrowed(template));
        }
        let made = shape::write(writer.batch_policy(), policy, 0, RawOps::default());
        let made = made.map_err(|error| errors::to_py(py, &error))?;
        self.policy.get_or_init(|| (Arc::clone(policy), made.clone()));
        Ok(Cow::Owned(made))
    }
}

fn make_key(namespace: &str, set: &str) -> MakeKey<WrittenKey> {
    let names = Names::new(namespace, set);
    Box::new(move |digest, user_key| WrittenKey::Row(TableKey::new(&names, 0, digest, user_key)))
}
