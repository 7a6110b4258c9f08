//! Long batches: answered in parts, and complete.

use crate::common::{Raw, batch_with, digest};
use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::WireError;
use aerolane_wire::batch::{BatchWriter, RowHeader, flags};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::Particle;
use std::collections::BTreeSet;

const ROWS: u32 = 20_000;

/// A batch over `ROWS` records: row `n` is executed by `row`.
fn batch(parent_flags: u8, row: impl Fn(&mut BatchWriter<'_>, u32) -> Result<(), WireError>) -> Vec<u8> {
    batch_with(parent_flags, ROWS, MessageHeader::default(), row)
}

fn key(n: u32) -> [u8; 20] {
    let mut digest = digest((n % 4096) as u16, 0);
    digest[4..8].copy_from_slice(&n.to_le_bytes());
    digest
}

fn write(rows: &mut BatchWriter<'_>, n: u32, bin: &[u8], value: Particle<'_>, operation: u8) -> Result<(), WireError> {
    let header = RowHeader::write(0, info2::WRITE, 0, 0, 0);
    rows.row(n, &key(n), &header, |row| {
        row.field(field::NAMESPACE, b"test");
        row.field(field::SET, b"s");
        row.op(operation, bin, value)
    })
}

#[test]
fn twenty_thousand_rows_come_back_each_once() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    raw.send(&batch(flags::RESPOND_ALL_KEYS, |rows, n| write(rows, n, b"i", Particle::Integer(n.into()), op::WRITE)));
    let answers = raw.until_last();
    assert_eq!(answers.len(), ROWS as usize + 1);
    assert!(answers.iter().all(|a| a.code == 0));
    assert_eq!(cluster.record_count("test"), Some(ROWS.into()));

    raw.send(&batch(flags::RESPOND_ALL_KEYS, |rows, n| {
        rows.row(n, &key(n), &RowHeader::read(info1::READ | info1::GET_ALL, 0, 0), |row| {
            row.field(field::NAMESPACE, b"test");
            Ok::<_, WireError>(())
        })
    }));
    let answers = raw.until_last();
    let values: BTreeSet<_> = answers.iter().filter_map(|a| a.bins.first().map(|(_, v)| v.clone())).collect();
    assert_eq!(values.len(), ROWS as usize);
    // The connection goes on behind it.
    assert_eq!(raw.get(key(7)).unwrap().bins[0].1, 7_i64.to_be_bytes());
}

#[test]
fn an_error_ends_the_answer_unless_all_rows_are_asked_for() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    // Row 10,000 appends a string to an integer.
    raw.put(key(10_000), 1).unwrap();
    let request = |parent_flags| {
        batch(parent_flags, |rows, n| match n {
            10_000 => write(rows, n, b"i", Particle::String(b"x"), op::APPEND),
            _ => write(rows, n, b"i", Particle::Integer(1), op::WRITE),
        })
    };
    raw.send(&request(0));
    let answers = raw.until_last();
    let last = answers.last().unwrap();
    assert_eq!(last.code, 12);
    assert!(answers.len() < ROWS as usize && answers[..answers.len() - 1].iter().all(|a| a.code == 0));

    raw.send(&request(flags::RESPOND_ALL_KEYS));
    let answers = raw.until_last();
    assert_eq!(answers.len(), ROWS as usize + 1);
    assert_eq!(answers.iter().filter(|a| a.code == 12).count(), 1);
    assert_eq!(answers.last().map(|a| a.code), Some(0));

    raw.send(&request(flags::REPORT_ERROR_RECORDS));
    let answers = raw.until_last();
    assert_eq!((answers.len(), answers.last().map(|a| a.code)), (ROWS as usize + 1, Some(12)));
}

#[test]
fn big_records_share_frames_of_at_most_128_kilobytes() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    let big = vec![b'x'; 50_000];
    let mut out = Vec::new();
    let header = MessageHeader { info1: info1::BATCH, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message
        .field_with(field::BATCH, |out| {
            let mut rows = BatchWriter::begin(out, flags::RESPOND_ALL_KEYS);
            for n in 0..40 {
                write(&mut rows, n, b"b", Particle::Blob(&big), op::WRITE)?;
            }
            for n in 0..40 {
                rows.row(n, &key(n), &RowHeader::read(info1::READ | info1::GET_ALL, 0, 0), |row| {
                    row.field(field::NAMESPACE, b"test");
                    Ok::<_, WireError>(())
                })?;
            }
            rows.finish();
            Ok::<_, WireError>(())
        })
        .unwrap();
    message.finish().unwrap();
    raw.send(&out);
    let mut bytes = 0;
    loop {
        let (_, body) = raw.frame().unwrap();
        assert!(body.len() <= 128 * 1024);
        bytes += body.len();
        if body.len() == 22 {
            break;
        }
    }
    assert!(bytes > 40 * 50_000);
}
