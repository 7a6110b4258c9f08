//! The secondary indexes of a cluster, as its nodes have listed them lately.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aerolane::ael::listed::{self, Listed};
use aerolane::raw::RawClient;
use aerolane::{Error, Result};
use aerospike_core::AdminPolicy;
use arc_swap::ArcSwapOption;

/// For so long a list is used before it is asked for again.
const FRESH: Duration = Duration::from_secs(2);
/// The same, while an index is being built.
const FRESH_WHILE_BUILDING: Duration = Duration::from_millis(200);
/// Of so many indexes is asked how selective they are.
const MOST_STATS: usize = 64;

/// A list of indexes that is asked for when it is needed and old.
#[derive(Default)]
pub(crate) struct Indexes {
    known: ArcSwapOption<Known>,
    /// Held by the one who asks; others wait for the answer.
    asking: tokio::sync::Mutex<()>,
    /// Counts what was created and dropped: what was asked for before does not count then.
    changes: AtomicU64,
}

struct Known {
    until: Instant,
    changes: u64,
    listed: Arc<[Listed]>,
}

impl Indexes {
    /// An index was created or dropped by this client: the list is asked for again.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// The list, unless it is too old.
    pub(crate) fn fresh(&self) -> Option<Arc<[Listed]>> {
        let known = self.known.load();
        let known = known.as_ref()?;
        let fresh = known.changes == self.changes.load(Ordering::Acquire) && Instant::now() < known.until;
        fresh.then(|| Arc::clone(&known.listed))
    }

    /// The list, asked for if it is too old. On the control plane's runtime, or in [`Cluster::block_on`].
    ///
    /// [`Cluster::block_on`]: aerolane::raw::cluster::Cluster::block_on
    pub(crate) async fn list(&self, raw: &RawClient) -> Result<Arc<[Listed]>> {
        if let Some(listed) = self.fresh() {
            return Ok(listed);
        }
        let _asking = self.asking.lock().await;
        if let Some(listed) = self.fresh() {
            return Ok(listed);
        }
        let changes = self.changes.load(Ordering::Acquire);
        let listed: Arc<[Listed]> = ask(raw).await?.into();
        let building = listed.iter().any(|index| !index.readable);
        let until = Instant::now() + if building { FRESH_WHILE_BUILDING } else { FRESH };
        self.known.store(Some(Arc::new(Known { until, changes, listed: Arc::clone(&listed) })));
        Ok(listed)
    }
}

/// Asks one node, or another one if that does not answer.
async fn ask(raw: &RawClient) -> Result<Vec<Listed>> {
    // Contexts as bytes: otherwise servers write them for people.
    const LIST: &str = "sindex-list:b64=true";
    let policy = AdminPolicy::default();
    let mut failed = None;
    for node in raw.asynchronous().nodes() {
        let mut listed = match raw.ask(&node, &policy, &[LIST]).await {
            Ok(answers) => answers.get(LIST).map(|answer| listed::read(answer)).unwrap_or_default(),
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        let asked = listed.iter().take(MOST_STATS).filter_map(|one| {
            let name = one.index.name.as_deref()?;
            Some(format!("sindex-stat:namespace={};indexname={name}", one.namespace))
        });
        let commands: Vec<String> = asked.collect();
        if !commands.is_empty() {
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            // Only makes the choice between two indexes better.
            if let Ok(answers) = raw.ask(&node, &policy, &commands).await {
                for one in &mut listed {
                    let Some(name) = one.index.name.as_deref() else { continue };
                    let command = format!("sindex-stat:namespace={};indexname={name}", one.namespace);
                    one.index.selectivity = answers.get(&command).and_then(|answer| listed::selectivity(answer));
                }
            }
        }
        return Ok(listed);
    }
    Err(failed.unwrap_or_else(|| Error::invalid_node("there is no active node to ask for the secondary indexes")))
}
