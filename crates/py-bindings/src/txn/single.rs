//! Calls about one record that belong to a transaction: through aerospike-core.
//!
//! What the call would send is encoded as always, so that arguments are checked as always; then the request is taken
//! apart for aerospike-core. Its result becomes an answer of the server again, for what makes Python objects of one.

use std::sync::Arc;

use aerolane::command::compress::with_plain_body;
use aerolane::command::value;
use aerolane::operations::{self as ops, Operation};
use aerolane::{Client, Error};
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageHeader, MessageWriter, Op, info1, op};
use aerospike_core::{Bin, Bins, Key as CoreKey, Record, ResultCode, Value};
use pyo3::prelude::*;

use crate::call::{Becomes, Call, PolicyRef};
use crate::client::twin::{Control, Twin};
use crate::core::ClientCore;
use crate::errors;
use crate::key::{Key, UserKey};

/// What a call asks of aerospike-core.
#[derive(Debug)]
enum Asks {
    Get(Bins),
    Exists,
    /// Generation and expiration, if there is such a record.
    Metadata,
    Put(Vec<Bin>),
    Add(Vec<Bin>),
    Append(Vec<Bin>),
    Prepend(Vec<Bin>),
    Delete,
    Touch,
    Operate(Vec<Operation>),
}

/// The call, to be carried out by aerospike-core.
#[cold]
pub(crate) fn through_core<E: FnOnce(&mut Vec<u8>) -> PyResult<()>>(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    call: Call,
    encode: E,
) -> PyResult<impl Twin + use<E>> {
    let mut request = Vec::new();
    encode(&mut request)?;
    let asks = with_plain_body(&request, |body| asks(body, &call)).map_err(|e| errors::to_py(py, &e))?;
    let (client, key, policy) = (core.raw.asynchronous(), core_key(call.key.get()), call.policy.clone());
    Ok(Control {
        future: async move { carry_out(&client, &policy, &key, asks).await },
        convert: move |py: Python<'_>, answer: Vec<u8>| call.result(py, &answer),
    })
}

/// A key for aerospike-core.
fn core_key(key: &Key) -> CoreKey {
    let user_key = match key.user_key() {
        UserKey::Int(v) => Some(Value::Int(v)),
        UserKey::Str(v) => Some(Value::String(v.to_owned())),
        UserKey::Blob(v) => Some(Value::Blob(v.to_vec())),
        UserKey::None => None,
    };
    CoreKey::with_digest(key.namespace(), key.set(), user_key, *key.digest())
}

/// What the request in `body` asks for.
fn asks(body: &[u8], call: &Call) -> aerolane::Result<Asks> {
    let request = Message::decode(body)?;
    let bins = || request.ops().map(|op| bin(&op)).collect::<aerolane::Result<Vec<_>>>();
    Ok(match (&call.policy, call.becomes) {
        (PolicyRef::Read(_), Becomes::Exists) => Asks::Exists,
        (PolicyRef::Read(_), Becomes::Metadata) => Asks::Metadata,
        (PolicyRef::Read(_), _) => Asks::Get(if request.header.info1 & info1::GET_ALL != 0 {
            Bins::All
        } else if request.header.info1 & info1::NO_BIN_DATA != 0 {
            Bins::None
        } else {
            Bins::Some(request.ops().map(|op| name(&op)).collect::<aerolane::Result<Vec<_>>>()?)
        }),
        (PolicyRef::Write(_), Becomes::Exists) => Asks::Delete,
        (PolicyRef::Write(_), Becomes::Results) => {
            let all = request.header.info1 & info1::GET_ALL != 0;
            Asks::Operate(request.ops().map(|op| operation(&op, all)).collect::<aerolane::Result<Vec<_>>>()?)
        }
        (PolicyRef::Write(_), _) => match request.ops().next().map(|op| op.kind) {
            Some(op::TOUCH) => Asks::Touch,
            Some(op::WRITE) => Asks::Put(bins()?),
            Some(op::INCR) => Asks::Add(bins()?),
            Some(op::APPEND) => Asks::Append(bins()?),
            Some(op::PREPEND) => Asks::Prepend(bins()?),
            _ => return Err(Error::invalid_argument("this call cannot belong to a transaction")),
        },
    })
}

fn name(op: &Op<'_>) -> aerolane::Result<String> {
    Ok(std::str::from_utf8(op.name)?.to_owned())
}

fn bin(op: &Op<'_>) -> aerolane::Result<Bin> {
    Ok(Bin::new(name(op)?, value::decode(op.particle_type, op.value)?))
}

/// An operation of `operate`; `all`: one without a bin that reads, reads all bins.
fn operation(op: &Op<'_>, all: bool) -> aerolane::Result<Operation> {
    Ok(match op.kind {
        op::READ if !op.name.is_empty() => ops::get_bin(name(op)?),
        op::READ if all => ops::get(),
        op::READ => ops::get_header(),
        op::WRITE => ops::put(&bin(op)?),
        op::INCR => ops::add(&bin(op)?),
        op::APPEND => ops::append(&bin(op)?),
        op::PREPEND => ops::prepend(&bin(op)?),
        op::TOUCH => ops::touch(),
        op::DELETE => ops::delete(),
        _ => {
            let text = format!(
                "the operation on bin '{}' cannot belong to a transaction in this version: only those on whole bins and \
                 records can",
                name(op)?
            );
            return Err(Error::invalid_argument(text));
        }
    })
}

/// Calls aerospike-core; the result is the message that its result would have come with.
async fn carry_out(client: &Client, policy: &PolicyRef, key: &CoreKey, asks: Asks) -> aerolane::Result<Vec<u8>> {
    match policy {
        PolicyRef::Read(policy) => match asks {
            Asks::Exists => Ok(found(client.exists(policy, key).await?)),
            Asks::Metadata => match client.get(policy, key, Bins::None).await {
                Ok(record) => answer(&record),
                Err(error) if error.matches(&[ResultCode::KeyNotFoundError]) => Ok(found(false)),
                Err(error) => Err(error),
            },
            Asks::Get(bins) => answer(&client.get(policy, key, bins).await?),
            asks => Err(Error::client_error(format!("a read policy came with {asks:?}"))),
        },
        PolicyRef::Write(policy) => match asks {
            Asks::Put(bins) => client.put(policy, key, &bins).await.map(|()| found(true)),
            Asks::Add(bins) => client.add(policy, key, &bins).await.map(|()| found(true)),
            Asks::Append(bins) => client.append(policy, key, &bins).await.map(|()| found(true)),
            Asks::Prepend(bins) => client.prepend(policy, key, &bins).await.map(|()| found(true)),
            Asks::Touch => client.touch(policy, key).await.map(|()| found(true)),
            Asks::Delete => client.delete(policy, key).await.map(found),
            Asks::Operate(operations) => answer(&client.operate(policy, key, &operations).await?),
            asks => Err(Error::client_error(format!("a write policy came with {asks:?}"))),
        },
    }
}

/// A message that says whether there is such a record.
fn found(found: bool) -> Vec<u8> {
    let result_code = if found { 0 } else { u8::from(ResultCode::KeyNotFoundError) };
    MessageHeader { result_code, ..MessageHeader::default() }.encode().to_vec()
}

/// A message with this record.
fn answer(record: &Record) -> aerolane::Result<Vec<u8>> {
    let header =
        MessageHeader { generation: record.generation, record_ttl: record.expiration(), ..MessageHeader::default() };
    let mut out = Vec::with_capacity(MESSAGE_HEADER_SIZE);
    let mut writer = MessageWriter::bare(&mut out, &header);
    for (name, value) in &record.bins {
        let values = match value {
            // Several results of one bin.
            Value::MultiResult(values) => &values[..],
            value => std::slice::from_ref(value),
        };
        for value in values {
            let written = value::particle_type_of(value)
                .and_then(|kind| writer.op_with(op::READ, kind, name.as_bytes(), |out| value::encode(value, out)));
            written.map_err(|e| Error::bad_response(format!("the value of bin '{name}': {e}")))?;
        }
    }
    writer.finish()?;
    Ok(out)
}
