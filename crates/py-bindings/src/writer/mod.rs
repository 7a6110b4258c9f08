//! Writers: many records, with the outcome of each one known.
//!
//! A record is encoded when it is handed over; from there on no Python code runs for it until somebody asks for its outcome.
//! The requests are sent on the client's control thread, of which there is one per process.

mod export;
mod key;
mod metrics;
mod options;
mod outcome;
mod outcome_list;
mod put_many;
mod stream;
mod table;
mod usual;
mod write_table;
#[allow(clippy::module_inception)] // a writer is what it defines
mod writer;

use pyo3::prelude::*;

pub(crate) use write_table::TableArguments;
pub(crate) use writer::{SyncWriter, Writer};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Writer>()?;
    module.add("SyncWriter", py.get_type::<SyncWriter>())?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<outcome_list::OutcomeList>()?;
    module.add_class::<outcome::Written>()?;
    module.add_class::<outcome::WriteAttempt>()?;
    module.add_class::<stream::Outcomes>()?;
    table::register(module)?;
    module.add("WriterProgress", metrics::progress_class(py)?)?;
    module.add_function(wrap_pyfunction!(metrics::writer_figures, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::writer_retry_classes, module)?)?;
    Ok(())
}
