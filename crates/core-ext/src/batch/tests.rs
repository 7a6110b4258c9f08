use std::sync::Arc;

use aerolane_wire::batch::BatchRows;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info2, op};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto;
use aerospike_core::{
    BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, Bin, Bins, GenerationPolicy,
    Key, ResultCode, Value, as_bin, as_key,
};

use super::*;
use crate::command::decode::Want;
use crate::error::{Error, ErrorKind, Result};
use crate::operations::{self, Operation, lists};

fn node() -> Arc<str> {
    "A1: 10.0.0.1:3000".into()
}

fn key(i: i64) -> Key {
    as_key!("test", "s", i)
}

fn read(i: i64) -> BatchOperation {
    BatchOperation::read(&BatchReadPolicy::default(), key(i), Bins::All)
}

fn put(i: i64, bin: &Bin) -> BatchOperation {
    BatchOperation::write(&BatchWritePolicy::default(), key(i), [operations::put(bin)])
}

fn encoded(operations: &[BatchOperation], rows: &[u32]) -> Result<Vec<u8>> {
    let mut out = b"before".to_vec();
    let result = encode(&BatchPolicy::default(), operations, rows, 1000, &mut out);
    assert!(result.is_ok() || out == b"before", "an error leaves the buffer alone");
    result.map(|()| out.split_off(6))
}

/// Index, repeat flag and digest of the rows of a request.
fn rows_of(out: &[u8]) -> Vec<(u32, bool, [u8; 20])> {
    let (frame, _) = proto::split_frame(out, proto::MAX_BODY_SIZE).unwrap().unwrap();
    let message = Message::decode(frame.body).unwrap();
    let rows = BatchRows::decode(message.field(field::BATCH).unwrap()).unwrap();
    rows.map(|row| row.map(|row| (row.index, row.repeat, *row.digest)).unwrap()).collect()
}

#[test]
fn rows_are_numbered_per_request_and_repeat_what_is_alike() {
    let bin = as_bin!("a", 1);
    let operations = [read(0), read(1), put(2, &bin), read(3), put(4, &bin), put(5, &as_bin!("a", 2)), read(6)];
    let rows = rows_of(&encoded(&operations, &[6, 3, 0, 2, 4, 5]).unwrap());
    let expected = [(6, false), (3, true), (0, true), (2, false), (4, true), (5, false)];
    for (place, (row, (key_of, repeat))) in rows.iter().zip(expected).enumerate() {
        assert_eq!(*row, (place as u32, repeat, key(key_of).digest()));
    }
}

#[test]
fn values_that_are_equal_but_written_differently_are_no_repetition() {
    let pair = [(Value::from("k"), Value::from(1))];
    let sorted = Bin::new("m", Value::SortedMap(pair.clone().into_iter().collect()));
    let unsorted = Bin::new("m", Value::OrderedMap(pair.into_iter().collect()));
    assert_eq!(sorted, unsorted);
    let rows = rows_of(&encoded(&[put(1, &sorted), put(2, &unsorted)], &[0, 1]).unwrap());
    assert!(!rows[1].1);
}

#[test]
fn rows_of_operations_ask_for_an_answer_to_each_alone_and_in_company() {
    let reads = BatchReadPolicy::default();
    let get = || operations::get_bin("a");
    for (row, asks) in [
        (BatchOperation::read_ops(&reads, key(1), [get()]), true),
        (BatchOperation::read_ops(&reads, key(1), [get(), operations::get_header()]), true),
        (BatchOperation::read_ops(&reads, key(1), [lists::size("l")]), true),
        // The server takes no read of all bins with that.
        (BatchOperation::read_ops(&reads, key(1), [operations::get()]), false),
        (BatchOperation::write(&BatchWritePolicy::default(), key(1), [get(), operations::touch()]), true),
        (BatchOperation::read(&reads, key(1), Bins::from(["a"])), false),
        (read(1), false),
    ] {
        let (mut alone, rows) = (vec![], [read(0), row]);
        encode_single(&BatchPolicy::default(), &rows[1], 1000, &mut alone).unwrap();
        let alone = Message::decode(&alone[proto::PROTO_HEADER_SIZE..]).unwrap().header.info2;
        let company = encoded(&rows, &[0, 1]).unwrap();
        let message = Message::decode(&company[proto::PROTO_HEADER_SIZE..]).unwrap();
        let company = BatchRows::decode(message.field(field::BATCH).unwrap()).unwrap().last().unwrap().unwrap();
        assert_eq!(company.header.info2, alone, "{:?}", rows[1]);
        assert_eq!(alone & info2::RESPOND_ALL_OPS != 0, asks, "{:?}", rows[1]);
    }
}

#[test]
fn rows_that_cannot_be_sent_are_named() {
    let bin = as_bin!("a", 1);
    let write = BatchWritePolicy::default();
    let reads = BatchReadPolicy::default();
    for bad in [
        BatchOperation::write(&write, key(1), [operations::get()]),
        BatchOperation::write(&write, key(1), []),
        BatchOperation::read_ops(&reads, key(1), [operations::get(), operations::put(&bin)]),
        BatchOperation::read_ops(&reads, key(1), [lists::clear("l")]),
        BatchOperation::write(&write, key(1), [lists::size("l")]),
        BatchOperation::write(&write, key(1), [lists::set("l", 0, Value::Nil)]),
        BatchOperation::read(&reads, key(1), Bins::from(["a_name_of_16_chr"])),
        put(1, &as_bin!("a_name_of_16_chr", 1)),
        put(1, &Bin::new("a", Value::Infinity)),
        BatchOperation::read(&reads, as_key!("", "s", 1), Bins::All),
        BatchOperation::udf(&BatchUdfPolicy::default(), key(1), "m", "f", [Value::MultiResult(vec![])]),
    ] {
        let error = encoded(&[read(0), bad], &[0, 1]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        assert!(error.to_string().contains("batch row 1: "), "{error}");
    }
    assert!(encoded(&[read(0)], &[1]).is_err(), "no such row");
    let theirs = aerospike_core::operations::lists::size("l");
    let wrapped = BatchOperation::read_ops(&reads, key(1), [Operation::from(theirs)]);
    let ours = BatchOperation::read_ops(&reads, key(1), [lists::size("l")]);
    assert!(wrapped.needs_core() && !ours.needs_core() && !put(1, &bin).needs_core());
    assert!(encoded(&[wrapped], &[0]).is_err());
}

#[test]
fn the_monitor_flag_is_sent_where_aerospike_core_would_panic() {
    let policy = BatchWritePolicy { on_locking_only: true, ..BatchWritePolicy::default() };
    let row = BatchOperation::write(&policy, key(1), [operations::touch()]);
    let out = encoded(&[row], &[0]).unwrap();
    let (frame, _) = proto::split_frame(&out, proto::MAX_BODY_SIZE).unwrap().unwrap();
    let message = Message::decode(frame.body).unwrap();
    let mut rows = BatchRows::decode(message.field(field::BATCH).unwrap()).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().header.info4, 0x10);
}

/// One message of an answer.
fn row(place: u32, result_code: u8, info3: u8, value: i64) -> Vec<u8> {
    let header = MessageHeader { result_code, info3, transaction_ttl: place, ..MessageHeader::default() };
    let mut out = vec![];
    let mut writer = MessageWriter::bare(&mut out, &header);
    if result_code == 0 && info3 == 0 {
        writer.op(op::READ, b"a", Particle::Integer(value)).unwrap();
    }
    writer.finish().unwrap();
    out
}

fn take(answers: &mut Answers, body: &[u8], rows: &mut [BatchOperation]) -> Result<Progress> {
    answers.frame(body, &node(), |place, answer| rows[place as usize].answer(answer, true, 1))
}

#[test]
fn answers_find_their_rows_in_any_order() {
    let mut rows: Vec<_> = (0..4).map(read).collect();
    let mut answers = Answers::new(4);
    let first = [row(3, 0, 0, 30), row(1, 2, 0, 0)].concat();
    assert!(matches!(take(&mut answers, &first, &mut rows).unwrap(), Progress::More));
    let second = [row(0, 0, 0, 0), row(2, 12, 0, 0)].concat();
    assert!(matches!(take(&mut answers, &second, &mut rows).unwrap(), Progress::More));
    let last = row(0, 0, 1, 0);
    assert!(matches!(take(&mut answers, &last, &mut rows).unwrap(), Progress::Done(None)));
    assert_eq!(answers.left(), 0);
    let codes: Vec<_> = rows.iter().map(|row| row.result_code().unwrap()).collect();
    let expected = [ResultCode::Ok, ResultCode::KeyNotFoundError, ResultCode::BinTypeError, ResultCode::Ok];
    assert_eq!(codes, expected);
    assert_eq!(rows[3].record().unwrap().bins["a"], Value::Int(30));
    assert_eq!(rows[1].node(), Some("A1: 10.0.0.1:3000"));
    assert!(rows[1].error().unwrap().is_not_found());
    assert_eq!(rows[3].take_record().unwrap().results, Some(vec![Value::Int(30)]));
}

#[test]
fn plain_reads_have_results_on_request_and_operations_always() {
    let ops = BatchOperation::read_ops(&BatchReadPolicy::default(), key(2), [operations::get_bin("a")]);
    for asked in [false, true] {
        let mut rows = [read(0), ops.clone()];
        let mut answers = Answers::new(2);
        let body = [row(0, 0, 0, 1), row(1, 0, 0, 2)].concat();
        let progress = answers.frame(&body, &node(), |place, answer| rows[place as usize].answer(answer, asked, 1));
        assert!(matches!(progress, Ok(Progress::More)));
        assert_eq!(rows[0].record().unwrap().results, asked.then(|| vec![Value::Int(1)]));
        assert_eq!(rows[1].record().unwrap().results, Some(vec![Value::Int(2)]));
        assert_eq!(rows[0].record().unwrap().bins.get("a"), Some(&Value::Int(1)));
    }
}

#[test]
fn a_row_that_cannot_be_understood_stays_pending() {
    let mut broken = row(1, 0, 0, 1);
    // The integer becomes a boolean of 8 bytes.
    broken[22 + 5] = 17;
    let mut rows = [read(0), read(1)];
    let error = take(&mut Answers::new(2), &[row(0, 0, 0, 1), broken].concat(), &mut rows).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadResponse), "{error}");
    assert_eq!((rows[0].result_code(), rows[1].is_pending()), (Some(ResultCode::Ok), true));
}

#[test]
fn an_error_of_the_whole_batch_goes_to_the_rows_left_unanswered() {
    let mut rows: Vec<_> = (0..2).map(|i| put(i, &as_bin!("a", i))).collect();
    let mut answers = Answers::new(2);
    let body = [row(0, 0, 0, 1), row(0, 4, 1, 0)].concat();
    let Progress::Done(Some(error)) = take(&mut answers, &body, &mut rows).unwrap() else { panic!() };
    assert_eq!((answers.left(), error.result_code()), (1, 4));
    for row in &mut rows {
        row.stamp_unanswered(&error);
    }
    assert_eq!(rows[0].result_code(), Some(ResultCode::Ok), "an answered row keeps its answer");
    assert_eq!(rows[1].result_code(), Some(ResultCode::ParameterError));
}

#[test]
fn a_refusal_of_a_compressed_request_is_that_of_all_rows() {
    let refusal = row(0, 25, 0, 0);
    let mut rows: Vec<_> = (0..2).map(|i| put(i, &as_bin!("a", i))).collect();
    let mut answers = Answers::new(2).to_compressed(true);
    let Progress::Done(Some(error)) = take(&mut answers, &refusal, &mut rows).unwrap() else { panic!() };
    assert_eq!((answers.left(), error.server_result_code()), (2, Some(ResultCode::EnterpriseOnly)));
    assert!(take(&mut answers, &row(1, 0, 0, 0), &mut rows).is_err(), "behind the end");
    // The same message is the outcome of the first row if the request was plain, if it says something else, or if it
    // does not stand alone at the front.
    let (first, other) = ([row(1, 0, 0, 0), refusal.clone()].concat(), row(0, 22, 0, 0));
    for (compressed, body) in [(false, &refusal), (true, &other), (true, &first)] {
        let mut rows: Vec<_> = (0..2).map(read).collect();
        let progress = take(&mut Answers::new(2).to_compressed(compressed), body, &mut rows);
        assert!(matches!(progress, Ok(Progress::More)), "{compressed} {body:?}");
        assert!(rows[0].error().is_some());
    }
}

#[test]
fn answers_that_were_not_asked_for_are_refused() {
    let cases = [
        vec![row(2, 0, 0, 0)],
        vec![row(u32::MAX, 0, 0, 0)],
        vec![row(0, 0, 0, 0), row(0, 0, 0, 0)],
        vec![row(0, 0, 1, 0), row(1, 0, 0, 0)],
        vec![row(0, 0, 0, 0), vec![22, 0, 0]],
    ];
    for case in cases {
        let mut rows = [read(0), read(1)];
        let error = take(&mut Answers::new(2), &case.concat(), &mut rows).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadResponse), "{error}");
    }
    let mut answers = Answers::new(1);
    assert!(matches!(take(&mut answers, &row(0, 0, 1, 0), &mut [read(0)]).unwrap(), Progress::Done(None)));
    assert!(take(&mut answers, &row(0, 0, 0, 0), &mut [read(0)]).is_err(), "behind the end");
}

#[test]
fn many_rows_are_told_apart() {
    let n = 1000;
    let mut answers = Answers::new(n);
    let body: Vec<u8> = (0..n as u32).rev().flat_map(|i| row(i, 0, 0, i64::from(i))).collect();
    let mut seen = vec![false; n];
    let progress = answers.frame(&body, &node(), |place, answer| {
        let mut record = None;
        assert!(answer.decode(Want::OPERATE, &mut record)?.is_none());
        assert_eq!(record.unwrap().bins["a"], Value::Int(i64::from(place)));
        assert!(!std::mem::replace(&mut seen[place as usize], true));
        Ok(())
    });
    assert!(matches!(progress.unwrap(), Progress::More));
    assert!(answers.left() == 0 && seen.iter().all(|seen| *seen));
}

#[test]
fn only_writes_are_in_doubt() {
    let cause = Error::connection("reset").force_in_doubt(true);
    let mut rows = [read(0), put(1, &as_bin!("a", 1)), put(2, &as_bin!("a", 1))];
    rows[2].fail(Error::invalid_argument("x"));
    for row in &mut rows {
        row.stamp_unanswered(&cause);
    }
    assert_eq!(rows.each_ref().map(BatchOperation::in_doubt), [false, true, false]);
    rows[1].clear();
    assert!(rows[1].is_pending() && rows[1].result_code().is_none());
}

#[test]
fn rows_go_to_aerospike_core_and_bring_their_outcome_back() {
    let write = BatchWritePolicy { send_key: true, ..BatchWritePolicy::default() };
    let rows = [
        read(0),
        BatchOperation::read_ops(&BatchReadPolicy::default(), key(1), [operations::get_bin("a")]),
        BatchOperation::write(&write, key(2), [lists::append(&lists::ListPolicy::default(), "l", Value::from(1))]),
        BatchOperation::delete(&BatchDeletePolicy::default(), key(3)),
        BatchOperation::udf(&BatchUdfPolicy::default(), key(4), "m", "f", [Value::from(1)]),
    ];
    for (i, mut row) in rows.into_iter().enumerate() {
        let core = row.to_core(RowPatches::default()).unwrap();
        assert_eq!(core.batch_record().key, key(i as i64));
        assert_eq!(core.batch_record().has_write(), row.has_write());
        let text = format!("{core:?}");
        for word in [&["All"][..], &["Name(\"a\")"], &["CdtListOp", "send_key: true"], &["Delete"], &["\"f\""]][i] {
            assert!(text.contains(word), "{text}");
        }
        row.fail(Error::client_error("an old outcome"));
        row.absorb(core);
        assert!(row.is_pending() && row.into_batch_record().key == key(i as i64));
    }
}

#[test]
fn a_generation_beyond_16_bits_is_refused_and_not_cut_off() {
    let write = |generation, generation_policy| {
        let policy = BatchWritePolicy { generation, generation_policy, ..BatchWritePolicy::default() };
        encoded(&[BatchOperation::write(&policy, key(1), [operations::put(&as_bin!("a", 1))])], &[0])
    };
    let delete = |generation| {
        let generation_policy = GenerationPolicy::ExpectGenEqual;
        let policy = BatchDeletePolicy { generation, generation_policy, ..BatchDeletePolicy::default() };
        encoded(&[BatchOperation::delete(&policy, key(1))], &[0])
    };
    assert!(write(65_535, GenerationPolicy::ExpectGenEqual).is_ok() && delete(65_535).is_ok());
    assert!(write(65_536, GenerationPolicy::None).is_ok(), "nobody asks for it");
    for error in [write(65_541, GenerationPolicy::ExpectGenGreater).unwrap_err(), delete(65_536).unwrap_err()] {
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        assert!(error.to_string().contains("65535"), "{error}");
    }
}
