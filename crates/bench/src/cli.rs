//! The command line. Every option that the vendor's Rust harness takes from the environment is taken from there as well.

use std::num::NonZeroU8;

use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use clap::error::ErrorKind;

use crate::background::BackgroundLarge;
use crate::client_kind::{ClientKind, Mode};
use crate::conditions::Conditions;
use crate::embedded::Target;
use crate::schedule::{ArrivalProcess, OpenLoop};
use crate::spec::{ClientSettings, RunSpec, RuntimeKind};
use crate::workload::{KeyKind, KeySpace, Workload};

/// Workers of a closed loop.
const CLOSED_TASKS: usize = 32;
/// Tasks of an open loop: enough that operations hardly ever wait for one.
const OPEN_TASKS: usize = 1024;

/// Aerospike clients side by side: the same workload on aerospike-core and on Aerolane, each in a process of its own.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "aerolane-bench", version, max_term_width = 120, args_override_self = true)]
pub struct Cli {
    /// Clients to measure, one after the other (repeat the option or separate by commas).
    /// Default: all clients of the mode.
    #[arg(long = "client", value_enum, value_delimiter = ',')]
    pub clients: Vec<ClientKind>,

    /// Which clients run when none is named.
    #[arg(long, env = "MODE", value_enum, default_value = "async", ignore_case = true)]
    pub mode: Mode,

    /// Seeds, host:port (repeat or separate by commas). Without any, an embedded cluster is started in a process of
    /// its own.
    #[arg(long = "host", short = 'H', env = "AEROSPIKE_HOST", value_delimiter = ',')]
    pub hosts: Vec<String>,

    /// Nodes of the embedded cluster.
    #[arg(long, default_value_t = 3, value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub nodes: usize,

    /// How long a request occupies its connection at the embedded cluster, by kind, as read=80us,write=300us. This option
    /// and the next two are passed on to `aerolane-embedded`, whose --help describes them.
    #[arg(long, value_name = "TIMES")]
    pub service_time: Option<String>,

    /// Most requests that the embedded cluster has in service at a time.
    #[arg(long, value_name = "N")]
    pub in_service: Option<String>,

    /// Network latency between clients and the embedded cluster, as 150us.
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,

    /// Start the embedded cluster with TLS and connect all clients over TLS.
    #[arg(long)]
    pub tls: bool,

    /// Open loop: so many calls per second become due on a schedule that does not wait for answers, and latency counts
    /// from when a call was due. 0: closed loop, each task or thread makes its next call when the last one has ended.
    #[arg(long, default_value_t = 0.0, value_parser = rate)]
    pub rate: f64,

    /// Gaps between the arrivals of --rate: random as those of independent callers, or all equal.
    #[arg(long, value_enum, default_value = "poisson")]
    pub arrivals: ArrivalProcess,

    /// Extra tasks of the asynchronous clients that read large records all the time, as TASKS:BYTES (4:900000). Latencies
    /// and ops/s are those of the other tasks; the large reads are reported apart.
    #[arg(long, value_name = "TASKS:BYTES")]
    pub background_large: Option<BackgroundLarge>,

    /// I (insert), RU,<read %> (read/update) or RR,<read %> (read/replace); also RU,<read %>/<write %>. LG: `operate` with
    /// one list operation (the first item of a list).
    #[arg(long, short = 'w')]
    pub workload: Option<Workload>,

    /// Share of reads when no workload is given.
    #[arg(long, env = "READ_PCT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub read_pct: u8,

    /// Busy tasks of the asynchronous clients. With --rate: most calls in flight; arrivals beyond that wait, and the wait
    /// is part of their latency [default: 32; with --rate 1024].
    #[arg(long, short = 'z', env = "TASKS",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub tasks: Option<usize>,

    /// Threads of the blocking clients. With --rate: most calls in flight, as --tasks.
    #[arg(long, env = "THREADS", default_value_t = 32,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub threads: usize,

    /// Tasks that do one read and then hold their client, idle, until the end (asynchronous clients).
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=1_000_000))]
    pub idle_tasks: usize,

    /// Records per call; more than 1 uses batch calls, and all figures per operation are per record.
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub batch_size: usize,

    /// Measured time in seconds.
    #[arg(long, short = 'd', env = "DURATION", default_value = "10", value_parser = seconds)]
    pub duration: u64,

    /// Time before the measured phase in seconds.
    #[arg(long, env = "WARMUP", default_value = "3", value_parser = seconds)]
    pub warmup: u64,

    /// Rounds over all clients, their order reversed every other round. Percentiles are those of the samples of all rounds
    /// together, other figures are medians; --json has each round.
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub rounds: usize,

    /// Number of keys.
    #[arg(long, short = 'k', env = "KEYS", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub keys: u64,

    /// Type of the user keys.
    #[arg(long, value_enum, default_value = "int")]
    pub key_kind: KeyKind,

    /// Build all keys before the run, and for batches the rows that own them (16 batches per worker, used in turn).
    /// Takes the harness's own work out of the figures of all clients alike, and adds the keys to their memory.
    #[arg(long)]
    pub prebuilt_keys: bool,

    /// Namespace of the records.
    #[arg(long, short = 'n', env = "NAMESPACE", default_value = "test")]
    pub namespace: String,

    /// Set of the records.
    #[arg(long, short = 's', env = "SET", default_value = "test")]
    pub set: String,

    /// Time one call in this many (1: all) [default: 100; with --rate 1].
    #[arg(long, env = "LAT_SAMPLE_EVERY", value_parser = clap::value_parser!(u64).range(1..))]
    pub lat_sample_every: Option<u64>,

    /// Upper limit of connections to one node [default: the client's own].
    #[arg(long, env = "MAX_CONNS_PER_NODE",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub max_conns_per_node: Option<usize>,

    /// Connection pools per node [default: the client's own].
    #[arg(long, env = "CONN_POOLS_PER_NODE")]
    pub conn_pools_per_node: Option<NonZeroU8>,

    /// Use the alternate addresses that the nodes announce.
    #[arg(long, env = "AEROSPIKE_USE_SERVICES_ALTERNATE", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub services_alternate: bool,

    /// Total timeout of an operation in milliseconds [default: the client's own].
    #[arg(long)]
    pub timeout_ms: Option<u32>,

    /// The tokio runtime under the asynchronous clients.
    #[arg(long, value_enum, default_value = "multi")]
    pub runtime: RuntimeKind,

    /// Threads of the multi-thread runtime under the asynchronous clients, and of the `LaneRuntime` of aerolane-local; 0 means
    /// one per core. It does not change Aerolane's lanes.
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=4096))]
    pub workers: usize,

    /// Lanes of Aerolane's clients; 0 means as many as they have by default.
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=4096))]
    pub lanes: usize,

    /// Write the records first (the default, but for the insert workload and with --truncate).
    #[arg(long, overrides_with = "no_load")]
    pub load: bool,

    /// Do not write the records first.
    #[arg(long)]
    pub no_load: bool,

    /// Empty the set first.
    #[arg(long)]
    pub truncate: bool,

    /// Empty the set at the end.
    #[arg(long)]
    pub truncate_after: bool,

    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Print one JSON object per client instead of the table.
    #[arg(long)]
    pub json: bool,

    /// No line per second on stderr.
    #[arg(long, short = 'q')]
    pub quiet: bool,

    /// What a child process is to do; how this program starts itself.
    #[arg(long, hide = true)]
    pub child: Option<String>,
}

/// Seconds, fractions allowed, to milliseconds; at most a week.
fn seconds(text: &str) -> Result<u64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=604_800.0).contains(&value) => Ok((value * 1000.0).round() as u64),
        _ => Err("expected a number of seconds from 0 to 604800".to_owned()),
    }
}

/// Calls per second.
fn rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value == 0.0 || (0.001..=1e8).contains(&value) => Ok(value),
        _ => Err("expected a number of calls per second from 0.001 to 100000000, or 0".to_owned()),
    }
}

fn conflict(message: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}

impl Cli {
    /// Whether the options go together.
    ///
    /// # Errors
    /// They do not; the message says which.
    pub fn check(&self) -> Result<(), clap::Error> {
        if self.workload() == Workload::ListGet && self.batch_size > 1 {
            return Err(conflict("the workload LG makes no batches: it does not go with --batch-size"));
        }
        if let Some(seeds) = self.seeds() {
            let mut own = self.conditions().names();
            own.extend(self.tls.then_some("--tls"));
            if !own.is_empty() {
                let message = format!(
                    "{} describes the embedded cluster that this program starts, but --host (or AEROSPIKE_HOST) names \
                     another one: {seeds}",
                    own.join(", "),
                );
                return Err(conflict(&message));
            }
        }
        if self.background_large.is_some()
            && let Some(client) = self.clients().iter().find(|client| client.mode() == Mode::Sync)
        {
            return Err(conflict(&format!("--background-large needs tasks, and {client} has none")));
        }
        Ok(())
    }

    /// How slow the embedded cluster is to be.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        Conditions {
            service_time: self.service_time.clone(),
            in_service: self.in_service.clone(),
            latency: self.latency.clone(),
        }
    }

    /// When operations are due; `None` for a closed loop.
    #[must_use]
    pub fn open_loop(&self) -> Option<OpenLoop> {
        (self.rate > 0.0).then_some(OpenLoop { rate: self.rate, arrivals: self.arrivals })
    }

    /// The clients to measure, each once, in the order asked for.
    #[must_use]
    pub fn clients(&self) -> Vec<ClientKind> {
        let mut clients = Vec::new();
        let asked = if self.clients.is_empty() { ClientKind::defaults(self.mode) } else { self.clients.clone() };
        for client in asked {
            if !clients.contains(&client) {
                clients.push(client);
            }
        }
        clients
    }

    /// The mix of operations.
    #[must_use]
    pub fn workload(&self) -> Workload {
        self.workload.unwrap_or(Workload::ReadUpdate { read_pct: self.read_pct })
    }

    /// The seeds as one list; `None` when the embedded cluster is to be started.
    #[must_use]
    pub fn seeds(&self) -> Option<String> {
        let seeds: Vec<_> = self.hosts.iter().map(|host| host.trim()).filter(|host| !host.is_empty()).collect();
        if seeds.is_empty() { None } else { Some(seeds.join(",")) }
    }

    /// Whether the records are written before the first run.
    #[must_use]
    pub fn loads(&self) -> bool {
        self.load || (!self.no_load && !self.truncate && self.workload() != Workload::Insert)
    }

    /// The run of one client.
    #[must_use]
    pub fn spec(&self, client: ClientKind, target: &Target) -> RunSpec {
        let Target { seeds, certificate } = if client.needs_cluster() { target.clone() } else { Target::default() };
        let open_loop = self.open_loop();
        RunSpec {
            client,
            seeds,
            tls_certificate: certificate,
            conditions: self.conditions(),
            open_loop,
            background: self.background_large,
            workload: self.workload(),
            space: KeySpace {
                namespace: self.namespace.clone(),
                set: self.set.clone(),
                keys: self.keys,
                kind: self.key_kind,
            },
            prebuilt_keys: self.prebuilt_keys,
            batch: self.batch_size,
            tasks: self.tasks.unwrap_or(if open_loop.is_some() { OPEN_TASKS } else { CLOSED_TASKS }),
            threads: self.threads,
            idle_tasks: if client.mode() == Mode::Async { self.idle_tasks } else { 0 },
            warmup_ms: self.warmup,
            // A run without a measured phase has no figures.
            duration_ms: self.duration.max(1),
            lat_sample_every: self.lat_sample_every.unwrap_or(if open_loop.is_some() { 1 } else { 100 }),
            runtime: self.runtime,
            workers: self.workers,
            lanes: self.lanes,
            settings: ClientSettings {
                max_conns_per_node: self.max_conns_per_node,
                conn_pools_per_node: self.conn_pools_per_node.map(NonZeroU8::get),
                use_services_alternate: self.services_alternate,
                timeout_ms: self.timeout_ms,
                tend_interval_ms: None,
            },
            seed: self.seed,
            ticker: !self.quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    fn parse(args: &[&str]) -> Cli {
        Cli::try_parse_from([&["aerolane-bench"], args].concat()).unwrap()
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn environment_names_are_those_of_the_vendors_harness() {
        let command = Cli::command();
        let names: Vec<_> = command.get_arguments().filter_map(|arg| arg.get_env()?.to_str()).collect();
        for name in [
            "MODE",
            "TASKS",
            "THREADS",
            "DURATION",
            "WARMUP",
            "READ_PCT",
            "KEYS",
            "AEROSPIKE_HOST",
            "NAMESPACE",
            "SET",
            "LAT_SAMPLE_EVERY",
            "MAX_CONNS_PER_NODE",
            "CONN_POOLS_PER_NODE",
            "AEROSPIKE_USE_SERVICES_ALTERNATE",
        ] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
    }

    #[test]
    fn clients_by_list_by_repetition_and_by_mode() {
        use ClientKind::{AerolaneAsync, AerolaneSync, CoreAsync, CoreSync, FloorAsync};
        assert_eq!(parse(&["--client", "core-async,aerolane-async"]).clients(), [CoreAsync, AerolaneAsync]);
        assert_eq!(parse(&["--client", "core-sync", "--client", "floor,core-sync"]).clients(), [CoreSync, FloorAsync]);
        assert_eq!(parse(&["--mode", "sync"]).clients(), [CoreSync, AerolaneSync]);
        assert_eq!(parse(&["--mode", "ASYNC"]).clients()[0], CoreAsync);
    }

    #[test]
    fn workload_wins_over_read_pct() {
        assert_eq!(parse(&["--read-pct", "70"]).workload(), Workload::ReadUpdate { read_pct: 70 });
        assert_eq!(parse(&["--read-pct", "70", "-w", "RR,20"]).workload(), Workload::ReadReplace { read_pct: 20 });
    }

    #[test]
    fn seeds_are_joined_and_blanks_mean_embedded() {
        assert_eq!(parse(&["--host", "a:1,b:2", "--host", " c "]).seeds().as_deref(), Some("a:1,b:2,c"));
        assert_eq!(parse(&["--host", ""]).seeds(), None);
    }

    #[test]
    fn loading_can_be_switched() {
        assert!(parse(&[]).loads());
        assert!(!parse(&["--no-load"]).loads());
        assert!(!parse(&["-w", "I"]).loads());
        assert!(parse(&["-w", "I", "--load"]).loads());
        // Reads of an empty set are what it is for.
        assert!(!parse(&["--truncate"]).loads());
        assert!(parse(&["--truncate", "--load"]).loads());
        assert!(parse(&["--no-load", "--load"]).loads());
    }

    #[test]
    fn workers_do_not_change_the_lanes() {
        let spec = |args| parse(args).spec(ClientKind::AerolaneLocal, &Target::default());
        assert_eq!((spec(&["--workers", "3"]).workers, spec(&["--workers", "3"]).lanes), (3, 0));
        assert_eq!((spec(&["--lanes", "3"]).workers, spec(&["--lanes", "3"]).lanes), (0, 3));
    }

    #[test]
    fn seconds_may_have_fractions() {
        let cli = parse(&["--duration", "0.25", "--warmup", "0"]);
        assert_eq!((cli.duration, cli.warmup), (250, 0));
    }

    #[test]
    fn bad_values_are_refused() {
        for args in [
            ["--tasks", "0"],
            ["--tasks", "2000000"],
            ["--duration", "-1"],
            ["--duration", "NaN"],
            ["--read-pct", "101"],
            ["--workload", "XX,1"],
            ["--client", "redis"],
            ["--batch-size", "0"],
            ["--keys", "0"],
            ["--lat-sample-every", "0"],
            ["--conn-pools-per-node", "0"],
            ["--nodes", "65"],
            ["--rate", "-1"],
            ["--rate", "NaN"],
            ["--arrivals", "pareto"],
            ["--background-large", "4"],
        ] {
            assert!(Cli::try_parse_from([&["aerolane-bench"], &args[..]].concat()).is_err(), "{args:?}");
        }
    }

    #[test]
    fn spec_carries_the_settings() {
        let cli =
            parse(&["--max-conns-per-node", "512", "--services-alternate", "--batch-size", "128", "--idle-tasks=9"]);
        let target = Target { seeds: "h:1".to_owned(), certificate: Some("pem".to_owned()) };
        let spec = cli.spec(ClientKind::CoreAsync, &target);
        assert_eq!(spec.settings.max_conns_per_node, Some(512));
        assert!(spec.settings.use_services_alternate);
        assert_eq!((spec.batch, spec.idle_tasks, spec.seeds.as_str()), (128, 9, "h:1"));
        assert_eq!((spec.tasks, spec.lat_sample_every, spec.open_loop), (32, 100, None));
        assert!(spec.tls_certificate.is_some());
        let spec = cli.spec(ClientKind::FloorSync, &target);
        assert_eq!((spec.idle_tasks, spec.seeds.as_str(), spec.tls_certificate), (0, "", None));
        let cli = parse(&["--rate", "2500.5", "--arrivals", "constant", "--background-large", "4:900000"]);
        let spec = cli.spec(ClientKind::CoreAsync, &target);
        assert_eq!(spec.open_loop, Some(OpenLoop { rate: 2500.5, arrivals: ArrivalProcess::Constant }));
        assert_eq!((spec.tasks, spec.lat_sample_every), (1024, 1));
        assert_eq!(spec.background, Some(BackgroundLarge { tasks: 4, bytes: 900_000 }));
    }

    #[test]
    fn the_conditions_of_another_cluster_are_not_ours_to_set() {
        for args in [&["--service-time", "read=80us"][..], &["--in-service", "64"], &["--latency", "150us"], &["--tls"]]
        {
            let own = parse(args);
            assert!(own.check().is_ok() || own.seeds().is_some(), "AEROSPIKE_HOST names a cluster, too");
            let error = parse(&[args, &["--host", "h:1"]].concat()).check().unwrap_err().to_string();
            assert!(error.contains(args[0]) && error.contains("h:1"), "{error}");
        }
        assert!(parse(&["--background-large", "4:9", "--mode", "sync"]).check().is_err());
        assert!(parse(&["--background-large", "4:9"]).check().is_ok());
    }
}
