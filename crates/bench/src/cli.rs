//! The command line. Every option that the vendor's Rust harness takes from the environment is taken from there as well.

use std::num::NonZeroU8;

use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use clap::error::ErrorKind;

use crate::client_kind::{ClientKind, Mode};
use crate::spec::{ClientSettings, RunSpec, RuntimeKind};
use crate::workload::{KeyKind, KeySpace, Workload};

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

    /// I (insert), RU,<read %> (read/update) or RR,<read %> (read/replace); also RU,<read %>/<write %>. LG: `operate` with
    /// one list operation (the first item of a list).
    #[arg(long, short = 'w')]
    pub workload: Option<Workload>,

    /// Share of reads when no workload is given.
    #[arg(long, env = "READ_PCT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub read_pct: u8,

    /// Busy tasks of the asynchronous clients.
    #[arg(long, short = 'z', env = "TASKS", default_value_t = 32,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub tasks: usize,

    /// Threads of the blocking clients.
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

    /// Rounds over all clients, their order reversed every other round; the medians are reported.
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

    /// Time one call in this many (1: all).
    #[arg(long, env = "LAT_SAMPLE_EVERY", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub lat_sample_every: u64,

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

    /// Threads of the multi-thread runtime and of Aerolane's own runtimes; 0 means one per core.
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=4096))]
    pub workers: usize,

    /// Write the records first (the default, but for the insert workload).
    #[arg(long, overrides_with = "no_load")]
    pub load: bool,

    /// Do not write the records first.
    #[arg(long)]
    pub no_load: bool,

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

impl Cli {
    /// Whether the options go together.
    ///
    /// # Errors
    /// They do not; the message says which.
    pub fn check(&self) -> Result<(), clap::Error> {
        if self.workload() == Workload::ListGet && self.batch_size > 1 {
            let message = "the workload LG makes no batches: it does not go with --batch-size\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        Ok(())
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
        self.load || (!self.no_load && self.workload() != Workload::Insert)
    }

    /// The run of one client.
    #[must_use]
    pub fn spec(&self, client: ClientKind, seeds: &str) -> RunSpec {
        RunSpec {
            client,
            seeds: if client.needs_cluster() { seeds.to_owned() } else { String::new() },
            workload: self.workload(),
            space: KeySpace {
                namespace: self.namespace.clone(),
                set: self.set.clone(),
                keys: self.keys,
                kind: self.key_kind,
            },
            prebuilt_keys: self.prebuilt_keys,
            batch: self.batch_size,
            tasks: self.tasks,
            threads: self.threads,
            idle_tasks: if client.mode() == Mode::Async { self.idle_tasks } else { 0 },
            warmup_ms: self.warmup,
            // A run without a measured phase has no figures.
            duration_ms: self.duration.max(1),
            lat_sample_every: self.lat_sample_every,
            runtime: self.runtime,
            workers: self.workers,
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
        assert!(parse(&["--no-load", "--load"]).loads());
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
        ] {
            assert!(Cli::try_parse_from([&["aerolane-bench"], &args[..]].concat()).is_err(), "{args:?}");
        }
    }

    #[test]
    fn spec_carries_the_settings() {
        let cli =
            parse(&["--max-conns-per-node", "512", "--services-alternate", "--batch-size", "128", "--idle-tasks=9"]);
        let spec = cli.spec(ClientKind::CoreAsync, "h:1");
        assert_eq!(spec.settings.max_conns_per_node, Some(512));
        assert!(spec.settings.use_services_alternate);
        assert_eq!((spec.batch, spec.idle_tasks, spec.seeds.as_str()), (128, 9, "h:1"));
        let spec = cli.spec(ClientKind::FloorSync, "h:1");
        assert_eq!((spec.idle_tasks, spec.seeds.as_str()), (0, ""));
    }
}
