//! Columns of rows that are in memory.

use std::sync::Arc;

use super::chunk::{Builder, Chunk, Identity, Unfit};
use super::infer::Inference;
use super::schema::Schema;
use super::wanted::Wanted;

/// The columns, and all rows in chunks of `batch_rows` at most. `rows`: whose record each is, and the message with it; `None`: there
/// is no record. `sample`: how many rows settle the types; `None`: all.
///
/// # Errors
/// Those of [`Wanted::settle`] and [`Builder::push`].
pub(crate) fn gather<'a, R: Iterator<Item = (Identity<'a>, Option<&'a [u8]>)>>(
    wanted: &Wanted,
    batch_rows: usize,
    sample: Option<u64>,
    rows: impl Fn() -> R,
) -> Result<(Arc<Schema>, Vec<Arc<Chunk>>), Unfit> {
    let schema = if let Some(schema) = wanted.known() {
        schema
    } else {
        let mut seen = Inference::default();
        let sample = sample.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX);
        for (identity, message) in rows().take(sample) {
            match message {
                Some(message) => seen.look(message, Some(identity))?,
                None => seen.look_at_missing(identity)?,
            }
        }
        wanted.settle(&seen).map_err(Unfit::Misfit)?
    };
    let schema = Arc::new(schema);
    let (mut builder, mut chunks) = (Builder::new(Arc::clone(&schema), batch_rows), Vec::new());
    for (identity, message) in rows() {
        match message {
            Some(message) => builder.push(message, Some(identity))?,
            None => builder.push_missing(identity)?,
        }
        if builder.is_full() {
            chunks.extend(builder.take());
        }
    }
    chunks.extend(builder.take());
    Ok((schema, chunks))
}
