//! A cluster that goes by a file: what it says when the client connects, and what it says later.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use aerolane_config::LatencyUnit as FileUnit;
use aerolane_config::client::{ClientFile, ClientPatch, LEAST_INTERVAL, MetricsPatch, VARIABLE, is_fixed, path};

use super::Overlay;
use super::file::{File, Found, listed};
use crate::cluster::{Cluster, every};
use crate::config::{ClientConfig, MAX_CONNECTIONS};
use crate::error::Result;
use crate::metrics::{Labels, LatencyUnit};

/// For those who look for what is said of configurations.
const LOG: &str = "aerolane::configuration";

/// The file that a client goes by.
#[derive(Debug)]
pub(crate) struct Followed(Option<Following>);

#[derive(Debug)]
struct Following {
    file: File,
    /// What it said last.
    said: ClientFile,
    /// What the program says.
    program: ClientConfig,
}

/// Called when the file has switched metrics on or off, or changed their policy.
pub(super) struct Switched(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Switched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Switched(..)")
    }
}

impl Overlay {
    /// Calls back, on a helper of the control thread, each time that the file has switched metrics on or off or changed their
    /// policy. The first caller stays.
    pub fn on_metrics(&self, callback: impl Fn() + Send + Sync + 'static) {
        let _ = self.switched.set(Switched(Box::new(callback)));
    }
}

/// The file that a configuration or the environment names.
fn named(config: &ClientConfig) -> Option<PathBuf> {
    if let Some(path) = &config.config_file {
        return Some(path.clone());
    }
    let value = std::env::var_os(VARIABLE)?;
    let named = value.to_str().ok_or_else(|| "it is not UTF-8".to_owned()).and_then(path);
    match named {
        Ok(path) => path.map(PathBuf::from),
        Err(reason) => {
            crate::logging::warn!(target: LOG, "{VARIABLE} names no file that can be used: {reason}");
            None
        }
    }
}

/// Whether a file is named, which [`at_connect`] reads.
pub(crate) fn follows(config: &ClientConfig) -> bool {
    config.config_file.is_some() || std::env::var_os(VARIABLE).is_some()
}

/// Reads the file that a configuration or the environment names. Gives the configuration with what the file says of
/// connecting. Blocks.
pub(crate) fn at_connect(config: ClientConfig) -> (ClientConfig, Followed) {
    let Some(path) = named(&config) else { return (config, Followed(None)) };
    let mut file = File::at(path);
    let said = match file.look() {
        Found::Changed(said) => *said,
        Found::Wrong(reason) => {
            crate::logging::warn!(target: LOG, "{} is not used until it can be: {reason}", describe(&file));
            ClientFile::default()
        }
        Found::Nothing => ClientFile::default(),
    };
    let mut changed = config.clone();
    apply(&said.client, &mut changed);
    let used = changed.validate();
    if !said.settings.is_empty() || !said.ignored.is_empty() {
        let text = format!("{} is used: {}", describe(&file), differences(None, &said));
        match &used {
            Err(error) => {
                crate::logging::warn!(target: LOG, "{text}; static.client and dynamic.client are not used: {error}");
            }
            Ok(()) if said.ignored.is_empty() => crate::logging::info!(target: LOG, "{text}"),
            Ok(()) => crate::logging::warn!(target: LOG, "{text}"),
        }
    }
    let now = if used.is_ok() { changed } else { config.clone() };
    (now, Followed(Some(Following { file, said, program: config })))
}

fn apply(said: &ClientPatch, config: &mut ClientConfig) {
    said.apply(&mut config.policy);
    // Without sizes of its own, a pool has those of the policy.
    if let Some(pool) = &mut config.pool {
        if let Some(max) = said.max_connections_per_node {
            pool.max = if max == 0 { MAX_CONNECTIONS } else { max };
            pool.batch_max = pool.batch_max.min(pool.max);
        }
        if let Some(min) = said.min_connections_per_node {
            pool.min = min.max(1);
        }
    }
}

fn describe(file: &File) -> String {
    format!("client configuration {}", file.path.display())
}

/// What a file says otherwise than before (`None`: before connecting), and what of it is ignored, in one line.
fn differences(before: Option<&ClientFile>, now: &ClientFile) -> String {
    let nothing = BTreeMap::new();
    let (connecting, before) = (before.is_none(), before.map_or(&nothing, |before| &before.settings));
    let new = now.settings.iter().filter(|(place, text)| before.get(*place) != Some(*text)).map(|(place, text)| {
        let late = if !connecting && is_fixed(place) { " (used when connecting only)" } else { "" };
        match before.get(place) {
            Some(before) => format!("{place} {before} -> {text}{late}"),
            None => format!("{place} {text}{late}"),
        }
    });
    let gone = before.keys().filter(|place| !now.settings.contains_key(*place)).map(|place| format!("{place} is gone"));
    let changes: Vec<_> = new.chain(gone).collect();
    let text = if changes.is_empty() { "nothing that is used has changed".into() } else { listed(changes.into_iter()) };
    if now.ignored.is_empty() {
        return text;
    }
    format!("{text}; ignored: {}", listed(now.ignored.iter()))
}

/// Has a cluster go by a file until it is closed. The control thread looks at the time, one of its helpers at the file.
pub(crate) fn follow(cluster: &Arc<Cluster>, followed: Followed) {
    let Followed(Some(following)) = followed else { return };
    let said = &following.said;
    cluster.overlay().replace(said.dynamic.clone());
    if !said.dynamic.metrics.is_empty() {
        switch_metrics(cluster, &said.dynamic.metrics);
    }
    let interval = said.client.config_interval.unwrap_or(LEAST_INTERVAL);
    let weak = Arc::downgrade(cluster);
    drop(cluster.spawn(async move {
        let mut looks = every(interval);
        let mut state = following;
        loop {
            looks.tick().await;
            let cluster = Weak::clone(&weak);
            // The file may be on a disk that is slow.
            let looked = tokio::task::spawn_blocking(move || {
                look(&cluster, &mut state);
                state
            });
            let Ok(looked) = looked.await else { return };
            state = looked;
        }
    }));
}

/// Looks at the file, and takes over what has changed. Blocks.
fn look(cluster: &Weak<Cluster>, Following { file, said, program }: &mut Following) {
    let now = match file.look() {
        Found::Nothing => return,
        Found::Wrong(reason) => {
            let name = describe(file);
            return crate::logging::warn!(target: LOG, "{name} is not used, what was read before stays in force: {reason}");
        }
        Found::Changed(now) => *now,
    };
    let Some(cluster) = cluster.upgrade() else { return };
    let before = std::mem::replace(said, now);
    cluster.overlay().replace(said.dynamic.clone());
    let text = format!("{} has changed: {}", describe(file), differences(Some(&before), said));
    match tune(&cluster, said, program) {
        Err(error) => crate::logging::warn!(target: LOG, "{text}; dynamic.client is not used: {error}"),
        Ok(()) if said.ignored.is_empty() => crate::logging::info!(target: LOG, "{text}"),
        Ok(()) => crate::logging::warn!(target: LOG, "{text}"),
    }
    // What the program has switched meanwhile stays, unless the file says something else than before.
    if said.dynamic.metrics != before.dynamic.metrics {
        switch_metrics(&cluster, &said.dynamic.metrics);
        if let Some(Switched(callback)) = cluster.overlay().switched.get() {
            callback();
        }
    }
}

/// Has the cluster go by what the file says of the client, over what the program says.
///
/// # Errors
/// They do not go together: the cluster stays as it is.
fn tune(cluster: &Cluster, said: &ClientFile, program: &ClientConfig) -> Result<()> {
    let mut config = program.clone();
    said.client.apply_later(&mut config.policy);
    config.validate()?;
    cluster.tune(&config.policy);
    Ok(())
}

fn switch_metrics(cluster: &Cluster, said: &MetricsPatch) {
    let (metrics, core) = (cluster.metrics(), cluster.core());
    if !said.enabled.unwrap_or_else(|| metrics.is_enabled()) {
        metrics.disable();
        core.disable_metrics();
        return;
    }
    let mut policy = metrics.policy();
    if let Some(operational) = said.operational {
        policy.operational = operational;
    }
    if let Some(unit) = said.latency_unit {
        policy.latency_unit = match unit {
            FileUnit::Milliseconds => LatencyUnit::Milliseconds,
            FileUnit::Microseconds => LatencyUnit::Microseconds,
        };
    }
    if let Some(columns) = said.latency_columns {
        policy.latency_columns = columns as usize;
    }
    if let Some(shift) = said.latency_shift {
        policy.latency_shift = shift;
    }
    if let Some(labels) = &said.labels {
        policy.labels = Labels::with_pairs(vec![labels.iter().cloned().collect()]);
    }
    core.enable_metrics(policy.clone());
    metrics.enable(policy);
}
