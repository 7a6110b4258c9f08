//! Batch fields: what is read can be written, and is then read alike.
#![no_main]

use aerolane_wire::batch::{BatchRow, BatchRows, BatchWriter};
use aerolane_wire::{WireError, WireResult};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    let Ok(rows) = BatchRows::decode(value) else { return };
    let flags = rows.flags;
    assert!(rows.count as usize <= value.len());
    let Ok(rows) = rows.collect::<WireResult<Vec<BatchRow<'_>>>>() else { return };
    let mut out = vec![];
    let mut writer = BatchWriter::begin(&mut out, flags);
    for row in &rows {
        writer
            .row(row.index, row.digest, &row.header, |out| {
                row.fields().for_each(|field| out.field(field.kind, field.value));
                row.ops().try_for_each(|op| out.raw_op(&op))?;
                Ok::<_, WireError>(())
            })
            .expect("what was read can be written");
    }
    writer.finish();
    assert!(out.len() <= value.len());
    let again = BatchRows::decode(&out).expect("what was written can be read");
    let mut n = 0;
    for (row, again) in rows.iter().zip(again) {
        let again = again.expect("what was written can be read");
        assert!(!row.repeat || again.repeat);
        assert_eq!(
            (row.index, row.digest, row.header, row.n_ops()),
            (again.index, again.digest, again.header, again.n_ops())
        );
        assert!(row.fields().eq(again.fields()) && row.ops().eq(again.ops()));
        n += 1;
    }
    assert_eq!(n, rows.len());
});
