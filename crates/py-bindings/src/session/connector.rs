//! What a `ClusterDefinition` has said, ready to connect.

use std::sync::Arc;

use aerolane_config::System;
use pyo3::prelude::*;

use super::seeds::Seeds;
use crate::client::connect_blocking;
use crate::configuration::{AtConnect, Follow, take_over};
use crate::core::{ClientCore, Origin};
use crate::metrics;
use crate::policy::ClientSettings;

/// Where a cluster is and how to talk to it. May connect any number of times.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) policy: Arc<ClientSettings>,
    pub(super) seeds: Seeds,
    /// What is said of transactions and metrics; the rest is part of the policy.
    pub(super) program: System,
    /// What is wrong with the configuration file makes connecting fail.
    pub(super) strict: bool,
}

impl Connector {
    /// To be made while the caller's frame runs.
    pub(super) fn origin(&self, py: Python<'_>) -> PyResult<Origin> {
        Origin::here(py, &self.seeds.to_string())
    }

    /// Connects, on this thread. Gives up the GIL meanwhile. What a configuration file says goes before what the program
    /// has said.
    pub(super) fn connect(&self, py: Python<'_>, origin: Origin) -> PyResult<Arc<ClientCore>> {
        let Some(file) = AtConnect::load(py, self.strict)? else {
            let core = connect_blocking(py, &self.policy.config_with(py, &System::default())?, &self.seeds, origin)?;
            take_over(&core, &self.program);
            metrics::apply(py, &core, &self.program.metrics);
            return Ok(core);
        };
        let declared = self.policy.cluster_name();
        let of_file = file.system(declared);
        let config = match self.policy.config_with(py, &of_file) {
            Ok(config) => config,
            Err(error) => {
                file.refused(py, &error, self.strict)?;
                self.policy.config_with(py, &System::default())?
            }
        };
        let core = connect_blocking(py, &config, &self.seeds, origin)?;
        let name = declared.map(str::to_owned).or_else(|| {
            let reported = core.raw.asynchronous().server_cluster_name();
            reported.filter(|name| file.names(name)).inspect(|name| file.warn_late(name, &of_file))
        });
        Follow::start(py, &core, &file, name, self.program.clone());
        Ok(core)
    }
}
