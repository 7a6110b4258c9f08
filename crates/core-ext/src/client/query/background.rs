//! Operations and functions on all records that a query finds, carried out by the servers in the background.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use aerolane_wire::message::{Message, MessageWriter, info2};
use aerolane_wire::proto::{Frame, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};
use aerospike_core::{ResultCode, WritePolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::asynchronous::Shared;
use super::super::raw::RawClient;
use super::request::RawQuery;
use crate::clock;
use crate::command::compress::message_body;
use crate::command::decode::{bad, failure};
use crate::command::encode::{frame, too_big, write_header};
use crate::command::policy;
use crate::error::{Error, Phase, Result};
use crate::metrics::{Answered, Stamp};
use crate::topology::NodeInfo;

impl RawClient {
    /// Starts operations, or a function, on all records that `query` selects, on the servers, in the background; gives
    /// the number by which they know it (`query-show`). `query` has operations that write, or the fields of a function.
    /// The future is for the control plane's runtime, or [`Cluster::block_on`](crate::cluster::Cluster::block_on).
    ///
    /// # Errors
    /// That of the first node that has not taken it. In doubt if others have, or if this one was sent it and gave no
    /// definite answer: its records may be worked on then.
    pub fn query_background(
        &self,
        policy: Arc<WritePolicy>,
        query: RawQuery,
    ) -> impl Future<Output = Result<u64>> + Send + use<> {
        start(Arc::clone(&self.shared), policy, query)
    }
}

async fn start(shared: Arc<Shared>, policy: Arc<WritePolicy>, query: RawQuery) -> Result<u64> {
    shared.check_open()?;
    let topology = shared.cluster.topology();
    topology.namespace(query.namespace())?;
    // Not met by another query of the same moment; nothing secret.
    let id = RandomState::new().hash_one(std::process::id());
    let mut request = Vec::new();
    query.encode_background(&policy, id, &mut request)?;
    let base = &policy.base_policy;
    let begun = clock::now();
    let deadline = policy::deadline(base, begun);
    let metrics = shared.cluster.metrics();
    let metric_key = metrics.metric_key(query.kind(), query.namespace());
    let mut taken_by = 0;
    for node in topology.active_nodes() {
        let now = clock::now();
        let by_socket = policy::socket_timeout(base).map(|timeout| now + timeout);
        let mut phase = Phase::Connecting;
        let taken = ask(&shared, node, (&request, metrics.stamp(metric_key, now)), &mut phase);
        let taken = match [by_socket, deadline].into_iter().flatten().min() {
            None => Ok(taken.await),
            Some(until) => tokio::time::timeout_at(until.into(), taken).await,
        };
        let taken = taken.unwrap_or_else(|_| Err(Error::deadline(phase, begun.elapsed())));
        if let Err(error) = taken {
            let was_sent = matches!(phase, Phase::Sent | Phase::Receiving);
            let error = if was_sent { error.with_phase(phase) } else { error };
            let error = error.with_node(Arc::clone(node.label())).with_attempts(1).with_elapsed(begun.elapsed());
            let error = error.set_in_doubt(true, u32::from(was_sent));
            // What others have taken is under way, whatever became of this one.
            return Err(if taken_by > 0 { error.force_in_doubt(true) } else { error });
        }
        taken_by += 1;
    }
    if taken_by > 0 { Ok(id) } else { Err(Error::invalid_node("the cluster has no active node")) }
}

/// On a connection of its own: what writes is not sent again because an idle one may have died. `phase`: how far it has
/// come; from [`Phase::Sent`] on the node may have the whole request.
async fn ask(shared: &Shared, node: &Arc<NodeInfo>, (request, stamp): (&[u8], Stamp), phase: &mut Phase) -> Result<()> {
    let mut stream = shared.cluster.open(node).await?;
    *phase = Phase::Queued;
    stream.write_all(request).await.map_err(lost("send a background query"))?;
    *phase = Phase::Sent;
    stream.flush().await.map_err(lost("send a background query"))?;
    let mut head = [0; PROTO_HEADER_SIZE];
    stream.read_exact(&mut head).await.map_err(lost("read the answer to a background query"))?;
    *phase = Phase::Receiving;
    let header = ProtoHeader::decode(&head, MAX_BODY_SIZE)?;
    let mut body = Vec::new();
    let mut rest = (&mut stream).take(header.body_size as u64);
    rest.read_to_end(&mut body).await.map_err(lost("read the answer to a background query"))?;
    if body.len() < header.body_size {
        return Err(Error::connection("the server closed the connection within a frame"));
    }
    let mut inflated = Vec::new();
    let body = message_body(&Frame { header, body: &body }, &mut inflated)?;
    let (message, _) = Message::decode_prefix(body)
        .map_err(|e| bad(format!("the answer to a background query is malformed: {e}"), node.label()))?;
    let result_code = Some(message.header.result_code);
    let (sent, received) = (request.len() as u64, (PROTO_HEADER_SIZE + header.body_size) as u64);
    shared.cluster.metrics().answered(node.id().index() as u16, stamp, Answered { sent, received, result_code });
    // A node that never had a record of the set says so before it looks at anything else: it has nothing to do.
    if !matches!(ResultCode::from(message.header.result_code), ResultCode::Ok | ResultCode::KeyNotFoundError) {
        return Err(failure(&message, node.label()));
    }
    shared.queries.keep(node.id(), stream);
    Ok(())
}

fn lost(doing: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::connection_io(doing, error)
}

impl RawQuery {
    /// Appends the request of a background query, for all that a node is master of.
    fn encode_background(&self, policy: &WritePolicy, id: u64, out: &mut Vec<u8>) -> Result<()> {
        let base = &policy.base_policy;
        frame(out, base, |out| {
            let header = write_header(policy, 0, info2::WRITE, false, policy::server_timeout_ms(base));
            let mut writer = MessageWriter::frame(out, &header);
            self.common_fields(&mut writer, base, policy.records_per_second, id)?;
            self.common_ops(&mut writer);
            writer.finish().map_err(too_big)
        })
    }
}
