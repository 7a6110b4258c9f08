//! Schedules: what is to happen to a cluster after so many requests, or so much time.
//!
//! ```
//! use aerolane_embedded::EmbeddedCluster;
//! use aerolane_embedded::faults::RequestKind;
//! use aerolane_embedded::schedule::{Schedule, Trigger};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! let cluster = Arc::new(EmbeddedCluster::builder().nodes(3).start()?);
//! let node = cluster.nodes()[1].id;
//! // After 200 writes, a node is away for three seconds.
//! let schedule = Schedule::new()
//!     .then(Trigger::requests(200).on(RequestKind::Write), move |cluster| cluster.stop_node(node))
//!     .then(Trigger::time(Duration::from_secs(3)), move |cluster| cluster.start_node(node));
//! let running = cluster.run(schedule)?;
//! assert!(!running.is_over());
//! # Ok::<(), aerolane_embedded::ClusterError>(())
//! ```
//!
//! Steps happen one after the other, on a thread of the schedule. A step that waits for requests counts those that were answered since
//! the step before. The answer to the last of them is sent; then its connection waits until the step is done, so that a client which
//! sends one request after the other sees the same each time. What other connections carry out meanwhile is up to chance.

use crate::cluster::Node;
use crate::faults::{RequestKind, Watch};
use crate::{ClusterError, EmbeddedCluster, NodeId};
use parking_lot::{Condvar, Mutex};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How often a schedule looks whether its cluster is gone.
const LOOK: Duration = Duration::from_millis(20);

/// Stands for times that clocks do not have.
const FAR: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

type StepError = Box<dyn Error + Send + Sync>;
type Action = Box<dyn FnOnce(&EmbeddedCluster) -> Result<(), StepError> + Send>;

/// What a step waits for, from the step before on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Trigger(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Requests { requests: u64, kinds: Vec<RequestKind>, node: Option<NodeId> },
    Time(Duration),
}

impl Trigger {
    /// Waits for so many requests, of all nodes together. A batch is one request. 0: for none.
    pub const fn requests(requests: u64) -> Self {
        Self(Kind::Requests { requests, kinds: Vec::new(), node: None })
    }

    /// Waits for so long.
    pub const fn time(time: Duration) -> Self {
        Self(Kind::Time(time))
    }

    /// Counts requests of this kind only; more calls add more kinds. Of no effect on a time.
    pub fn on(mut self, kind: RequestKind) -> Self {
        if let Kind::Requests { kinds, .. } = &mut self.0 {
            kinds.push(kind);
        }
        self
    }

    /// Counts requests to this node only. Of no effect on a time.
    pub fn node(mut self, id: NodeId) -> Self {
        if let Kind::Requests { node, .. } = &mut self.0 {
            *node = Some(id);
        }
        self
    }
}

/// Steps, to be run by [`EmbeddedCluster::run`].
#[derive(Default)]
#[must_use = "nothing happens before `run`"]
pub struct Schedule {
    steps: Vec<(Trigger, Action)>,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.steps.iter().map(|(trigger, _)| trigger)).finish()
    }
}

impl Schedule {
    /// One without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step: what is to be done when the steps before are done and this has come. If it fails, the schedule ends.
    pub fn then<E>(
        mut self,
        trigger: Trigger,
        action: impl FnOnce(&EmbeddedCluster) -> Result<(), E> + Send + 'static,
    ) -> Self
    where
        E: Into<StepError>,
    {
        self.steps.push((trigger, Box::new(move |cluster| action(cluster).map_err(Into::into))));
        self
    }
}

/// A schedule that runs. It goes on when this is dropped, until the cluster is.
#[derive(Debug, Clone)]
pub struct RunningSchedule(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    steps_done: usize,
    over: bool,
    cancelled: bool,
    error: Option<String>,
}

impl RunningSchedule {
    /// How many steps are done.
    #[must_use]
    pub fn steps_done(&self) -> usize {
        self.0.state.lock().steps_done
    }

    /// Whether nothing more happens: all steps are done, one has failed, it was cancelled, or the cluster is gone.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.state.lock().over
    }

    /// Why a step has failed, which ends a schedule; `None`: none has.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        self.0.state.lock().error.clone()
    }

    /// Waits for its end; `false`: that was too long.
    #[must_use]
    pub fn wait(&self, at_most: Duration) -> bool {
        let mut state = self.0.state.lock();
        self.0.changed.wait_while_for(&mut state, |state| !state.over, at_most);
        state.over
    }

    /// Ends it before its next step.
    pub fn cancel(&self) {
        self.0.state.lock().cancelled = true;
        self.0.changed.notify_all();
    }
}

impl EmbeddedCluster {
    /// Runs a schedule beside everything else.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`] if a step counts requests of a node that does not exist; [`ClusterError::Setting`] if one counts
    /// rows of batches; [`ClusterError::Io`] if the system refuses a thread.
    pub fn run(self: &Arc<Self>, schedule: Schedule) -> Result<RunningSchedule, ClusterError> {
        for (Trigger(kind), _) in &schedule.steps {
            let Kind::Requests { node, kinds, .. } = kind else { continue };
            if kinds.contains(&RequestKind::BatchRow) {
                return Err(ClusterError::Setting("a schedule counts batches, not their rows".to_owned()));
            }
            self.counted_nodes(*node)?;
        }
        let shared = Arc::<Shared>::default();
        let running = RunningSchedule(Arc::clone(&shared));
        let mut steps = schedule.steps.into_iter();
        // The first one counts from here on, not from when the thread has begun.
        let Some((first, action)) = steps.next() else {
            shared.end(None);
            return Ok(running);
        };
        let first = Armed::new(first, self);
        let runner = Runner { cluster: Arc::downgrade(self), shared };
        std::thread::Builder::new()
            .name("embedded-schedule".to_owned())
            .spawn(move || runner.run(first, action, steps))
            .map_err(ClusterError::Io)?;
        Ok(running)
    }
}

impl Shared {
    fn end(&self, error: Option<String>) {
        let mut state = self.state.lock();
        (state.over, state.error) = (true, error);
        drop(state);
        self.changed.notify_all();
    }
}

/// A trigger that counts, or whose time runs.
enum Armed {
    Counting { watch: Arc<Watch>, nodes: Vec<Arc<Node>> },
    Until(Instant),
}

impl Armed {
    fn new(trigger: Trigger, cluster: &EmbeddedCluster) -> Self {
        match trigger.0 {
            Kind::Time(time) => {
                let now = Instant::now();
                Self::Until(now.checked_add(time).unwrap_or(now + FAR))
            }
            Kind::Requests { requests: 0, .. } => Self::Until(Instant::now()),
            Kind::Requests { requests, kinds, node } => {
                let watch = Arc::new(Watch::new(kinds, requests));
                // Nodes are never forgotten: the one that was asked for is still there.
                let nodes = cluster.counted_nodes(node).unwrap_or_default();
                for node in &nodes {
                    node.faults.watch(Arc::clone(&watch));
                }
                Self::Counting { watch, nodes }
            }
        }
    }

    /// Waits a little; `true`: what is waited for has come.
    fn wait(&self, shared: &Shared) -> bool {
        match self {
            Self::Counting { watch, .. } => watch.wait(LOOK),
            Self::Until(at) => {
                let left = at.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    let mut state = shared.state.lock();
                    shared.changed.wait_while_for(&mut state, |state| !state.cancelled, left.min(LOOK));
                }
                Instant::now() >= *at
            }
        }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Self::Counting { watch, nodes } = self {
            for node in nodes {
                node.faults.unwatch(watch);
            }
            watch.end();
        }
    }
}

struct Runner {
    cluster: Weak<EmbeddedCluster>,
    shared: Arc<Shared>,
}

impl Runner {
    fn run(self, first: Armed, action: Action, mut rest: impl Iterator<Item = (Trigger, Action)>) {
        let (mut armed, mut action) = (first, action);
        loop {
            while !armed.wait(&self.shared) {
                if self.shared.state.lock().cancelled || self.cluster.strong_count() == 0 {
                    return self.shared.end(None);
                }
            }
            let Some(cluster) = self.cluster.upgrade().filter(|_| !self.shared.state.lock().cancelled) else {
                return self.shared.end(None);
            };
            if let Err(error) = action(&cluster) {
                return self.shared.end(Some(error.to_string()));
            }
            self.shared.state.lock().steps_done += 1;
            let Some((trigger, next)) = rest.next() else { return self.shared.end(None) };
            // Before the connection that has waited goes on: what it sends next counts for the next step.
            let before = std::mem::replace(&mut armed, Armed::new(trigger, &cluster));
            drop(before);
            action = next;
        }
    }
}
