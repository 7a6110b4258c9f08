//! Rows that a writer sends: each with a shape of its own, and with the node that answered.

use std::sync::Arc;
use std::time::Instant;

use aerolane_wire::digest::partition_id;
use aerospike_core::{BatchPolicy, CommandType};

use super::on_lane::run_by;
use super::raw_rows::{RawBatch, RawOutcome};
use super::raw_shape::{RawKey, RawShape};
use super::rows::{Rows, Target, left_to_rows};
use crate::batch::{RowAnswer, RowPatches};
use crate::client::asynchronous::Shared;
use crate::client::attempts::{Attempt, Attempts, Subject};
use crate::client::buffers::with_buffers;
use crate::client::execute;
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::with_plain_body;
use crate::command::decode;
use crate::driver::blocking::{Interrupt, Job};
use crate::driver::lane_ref::LaneRef;
use crate::error::{Error, Result};
use crate::topology::NodeInfo;

/// The rows of one request of a writer.
pub(crate) struct WrittenRows<K> {
    rows: RawBatch<K>,
    /// Who answered each row.
    nodes: Vec<Option<Arc<str>>>,
    /// What the rows take in a request, about.
    bytes: usize,
}

impl<K: RawKey> WrittenRows<K> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let mut batch = RawBatch::with_capacity(rows);
        batch.reserve_shapes();
        Self { rows: batch, nodes: Vec::with_capacity(rows), bytes: 0 }
    }

    pub(crate) fn push(&mut self, key: K, shape: RawShape) {
        self.bytes += shape.row_size(&key);
        self.rows.shape(shape);
        self.rows.push(key);
        self.nodes.push(None);
    }

    /// Carries the rows out on the calling task's lane, by exactly this policy.
    pub(crate) async fn write(&mut self, shared: &Shared, policy: &BatchPolicy) -> Result<()>
    where
        K: Send + Sync,
    {
        let lane = shared.lanes.caller_lane()?;
        let nobody = None::<fn(usize, &Self) -> std::future::Ready<bool>>;
        run_by(&shared.cluster, LaneRef::Tasks(&lane), policy, self, nobody).await
    }

    /// Carries the only row out over a lane, as a plain command and by exactly this policy. Gives what `take` makes of the
    /// message that confirms it, and who has sent that.
    pub(crate) async fn write_single_over<R>(
        &self,
        lane: LaneRef<'_>,
        shared: &Shared,
        policy: &BatchPolicy,
        take: impl Fn(&[u8]) -> Result<R>,
    ) -> Result<(R, Arc<str>)> {
        let (now, cluster) = (clock::now(), &*shared.cluster);
        let (mut attempts, partition) = self.single(cluster, policy, now)?;
        let (patches, timeout_ms) = (cluster.overlay().rows(), attempts.server_timeout_ms());
        let encode = |out: &mut Vec<u8>| self.rows.encode_single((policy, patches), 0, timeout_ms, out);
        let decode = |answer: &[u8], node: &NodeInfo| taken(answer, node, &take);
        execute::on_lane(cluster, lane, &mut attempts, (partition, now), encode, decode).await
    }

    /// [`write_single_over`](Self::write_single_over) by the calling thread.
    pub(crate) fn write_single_here<R>(
        &self,
        shared: &Shared,
        policy: &BatchPolicy,
        interrupted: Option<&dyn Fn() -> bool>,
        take: impl Fn(&[u8]) -> Result<R>,
    ) -> Result<(R, Arc<str>)> {
        let (now, cluster) = (clock::now(), &*shared.cluster);
        let interrupt = interrupted.map_or_else(Interrupt::default, Interrupt::by);
        let (attempts, partition) = self.single(cluster, policy, now)?;
        let patches = cluster.overlay().rows();
        with_buffers(|request, _| {
            self.rows.encode_single((policy, patches), 0, attempts.server_timeout_ms(), request)?;
            execute::on_thread(
                cluster,
                attempts,
                (partition, now),
                interrupt,
                |Attempt { node, deadline, metric_key }, now| {
                    let job = Job { request, now, deadline, reads: false, metric_key, interrupt };
                    shared.pools.exchange(node, job, |answer| taken(answer, node, &take))
                },
            )
        })
    }

    /// The attempts of the only row, and its partition.
    fn single<'a>(
        &'a self,
        cluster: &'a Cluster,
        policy: &'a BatchPolicy,
        now: Instant,
    ) -> Result<(Attempts<'a>, u16)> {
        let key = self.rows.keys().next().ok_or_else(|| Error::invalid_argument("no record"))?;
        let subject = Subject { namespace: key.namespace(), set: "" };
        // It counts as what it would be among others.
        let what = (CommandType::BatchWrite, true);
        let mut attempts = Attempts::new(cluster, &policy.base_policy, subject, what, now);
        attempts.set_paced(self.are_paced());
        Ok((attempts, partition_id(key.digest())))
    }

    /// The keys, what their rows do, their outcomes, and who answered, in order.
    pub(crate) fn into_parts(self, mut each: impl FnMut(K, RawShape, RawOutcome<'_>, Option<Arc<str>>)) {
        let mut nodes = self.nodes.into_iter();
        self.rows.into_parts(|key, shape, outcome| each(key, shape, outcome, nodes.next().flatten()));
    }
}

/// What `take` makes of the message that confirms a row.
fn taken<R>(answer: &[u8], node: &NodeInfo, take: impl Fn(&[u8]) -> Result<R>) -> Result<(R, Arc<str>)> {
    with_plain_body(answer, |body| {
        decode::found(body, true, || Ok(Arc::clone(node.label())))?;
        Ok((take(body)?, Arc::clone(node.label())))
    })
}

impl<K: RawKey> Rows for WrittenRows<K> {
    left_to_rows!();

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        self.rows.stamp_unanswered(row, cause);
    }

    fn encode(&self, how: (&BatchPolicy, RowPatches), rows: &[u32], timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        // In one go: a request of a full batch would be moved a dozen times while it grows.
        if rows.len() == self.nodes.len() {
            out.reserve(self.bytes);
        }
        self.rows.encode(how, rows, timeout_ms, out)
    }

    fn answer(&mut self, policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        self.nodes[row as usize] = Some(Arc::clone(answer.node()));
        self.rows.answer(policy, row, answer, sent)
    }

    fn are_paced(&self) -> bool {
        true
    }

    fn fits_single(&self, row: u32) -> bool {
        self.rows.fits_single(row)
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.rows.encode_single(how, row, timeout_ms, out)
    }

    fn answer_single(&mut self, policy: &BatchPolicy, row: u32, body: &[u8], node: &Arc<str>) -> Result<Option<Error>> {
        self.nodes[row as usize] = Some(Arc::clone(node));
        self.rows.answer_single(policy, row, body, node)
    }
}
