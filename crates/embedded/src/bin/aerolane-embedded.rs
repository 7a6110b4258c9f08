//! The embedded cluster as a program: prints its seeds, then runs until it is told to stop.

use aerolane_embedded::conditions::{Conditions, ConditionsError, Latency};
use aerolane_embedded::control::{Controller, MAX_LINE, show};
use aerolane_embedded::{Builder, ClusterError, ConflictResolution, EmbeddedCluster, NamespaceOptions};
use clap::Parser;
use parking_lot::Mutex;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

/// An Aerospike-compatible cluster in memory, for tests and for trying things out. Do not use it in production.
#[derive(Debug, Parser)]
#[command(name = "aerolane-embedded", version)]
struct Arguments {
    /// Number of nodes.
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// Port of the first node; the others use the ports after it. 0: any free ports.
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Address that nodes advertise to clients, if it is not the one that they listen on: for a container, that of the
    /// host. The ports must be the same outside.
    #[arg(long, value_name = "IP")]
    advertise: Option<IpAddr>,
    /// The same for clients that ask for alternate addresses.
    #[arg(long, value_name = "IP")]
    advertise_alternate: Option<IpAddr>,
    /// Name of a namespace; may be given several times.
    #[arg(long = "namespace", default_value = "test")]
    namespaces: Vec<String>,
    /// How many nodes hold each partition.
    #[arg(long, default_value_t = 2)]
    replication_factor: usize,
    /// Seconds after which records written with the default TTL expire. 0: never.
    #[arg(long, default_value_t = 0)]
    default_ttl: u32,
    /// Puts the namespaces into strong-consistency mode, which supports transactions.
    #[arg(long)]
    strong_consistency: bool,
    /// Seconds between two sweeps that remove expired records. 0: none.
    #[arg(long, default_value_t = 1)]
    nsup_period: u32,
    /// The cluster's name.
    #[arg(long)]
    cluster_name: Option<String>,
    /// The build that nodes say they are, such as 8.2.0.0, for what clients make of it. Default: 8.1.2.0. From 8.2 on, nodes
    /// know the index type `integer`, and say which index serves the text of a query.
    #[arg(long, value_name = "VERSION")]
    build: Option<String>,
    /// Number of threads that serve all nodes. Default: one per core, at most 4.
    #[arg(long)]
    threads: Option<usize>,
    /// How long the server works on a request, by kind of request: read, write, batch, query, udf or all. A time is fixed
    /// (80us), exponential with a mean (exp:80us) or a mixture (99%:80us+1%:20ms). It occupies the connection.
    #[arg(long, value_name = "KIND=TIME,..")]
    service_time: Option<String>,
    /// How many requests a node works on at once; the others wait in line. Used with --service-time.
    #[arg(long, value_name = "N", default_value_t = aerolane_embedded::conditions::DEFAULT_IN_SERVICE)]
    in_service: usize,
    /// Latency of the network, each way: 150us, or with jitter 150us~30us. A round trip takes twice as long.
    #[arg(long, value_name = "TIME[~JITTER]")]
    latency: Option<String>,
    /// Seeds everything random: service times, jitter, and which requests a fault with a probability hits. --json
    /// prints the seed. Default: `AEROLANE_SEED`, or else 0.
    #[arg(long)]
    seed: Option<u64>,
    /// How late writes reach their replicas, such as 50ms. A write is answered once all replicas have it, unless its
    /// commit level is master.
    #[arg(long, value_name = "TIME")]
    replication_lag: Option<String>,
    /// How many records per second migrate when nodes join or leave. Default: all at once.
    #[arg(long, value_name = "RECORDS")]
    migration_rate: Option<u32>,
    /// Nodes that stop still have their records when they start again, as with storage on a device.
    #[arg(long)]
    keep_records: bool,
    /// Which of two versions of a record wins: generation or last-update-time.
    #[arg(long, value_name = "POLICY", default_value_t)]
    conflict_resolution: ConflictResolution,
    /// Makes the nodes the roster of the namespaces: partitions become unavailable whenever strong consistency requires
    /// it.
    #[arg(long, requires = "strong_consistency")]
    roster: bool,
    /// Bytes of records above which a node refuses writes to a namespace. 0: no limit.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    data_limit: u64,
    /// Maximum number of connections to a node. 0: no limit.
    #[arg(long, value_name = "N", default_value_t = 0)]
    connection_limit: usize,
    /// Users, as `name:password` or `name:password:role+role`, separated by commas. If there are any, every connection
    /// has to log in. A user without roles may do everything.
    #[arg(long, value_delimiter = ',')]
    users: Vec<String>,
    /// Also listen with TLS, with a certificate for this name that is generated on the spot.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "NAME")]
    tls_name: Option<String>,
    /// TLS port of the first node; the others use the ports after it. 0: any free ports.
    #[cfg(feature = "tls")]
    #[arg(long, default_value_t = 0)]
    tls_port: u16,
    /// Where to write the certificate that clients have to trust (PEM).
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<std::path::PathBuf>,
    /// Print one JSON object instead of the plain seed list.
    #[arg(long)]
    json: bool,
    /// Stop when standard input is closed, so that the cluster does not outlive the process that started it.
    #[arg(long)]
    stdin: bool,
    /// Accept the requests of --control on this TCP port of --host, from up to 64 connections: for containers. 0: any
    /// free port; --json prints it. Whoever reaches the port controls the cluster.
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// Log to standard error: warn (protocol violations, failed logins) or info (membership, connections, logins,
    /// faults that hit). Default: `AEROLANE_EMBEDDED_LOG`, or else nothing.
    #[arg(long, value_name = "LEVEL")]
    log: Option<log::LevelFilter>,
    /// Start nothing; execute requests from standard input, one JSON object per line ({"do":"start","nodes":3}), and
    /// answer each with a line, until standard input is closed. The documentation of the crate's module `control` lists
    /// all requests. Cannot be combined with other options.
    #[arg(long, exclusive = true)]
    control: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut logger = env_logger::Builder::new();
    logger.filter_level(arguments.log.unwrap_or(log::LevelFilter::Off));
    if arguments.log.is_none() {
        logger.parse_env("AEROLANE_EMBEDDED_LOG");
    }
    logger.init();
    // Before anything runs, so that no signal is missed.
    let (stopper, stop) = mpsc::channel();
    if let Err(error) = stop_on_signals(stopper.clone()) {
        return fail(&error);
    }
    if arguments.control {
        return control(stopper, &stop);
    }
    if arguments.stdin
        && let Err(error) = stop_with_input(stopper)
    {
        return fail(&error);
    }
    let cluster = match start(&arguments) {
        Ok(cluster) => cluster,
        Err(error) => return fail(&error),
    };
    #[cfg(feature = "tls")]
    if let (Some(file), Some(pem)) = (&arguments.tls_certificate, cluster.certificate_pem())
        && let Err(error) = std::fs::write(file, pem)
    {
        eprintln!("aerolane-embedded: cannot write {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    let port = match arguments.control_port.map(|port| TcpListener::bind((arguments.host, port))).transpose() {
        Ok(port) => port,
        Err(error) => return fail(&error),
    };
    if let Err(error) = announce(&arguments, &cluster, port.as_ref()) {
        return fail(&error);
    }
    let controller = Arc::new(Mutex::new(Controller::of(cluster)));
    if let Some(port) = port
        && let Err(error) = control_at(port, &controller)
    {
        return fail(&error);
    }
    // Every sender is gone only if the threads that wait for the end have failed; that is an end, too.
    let code = stop.recv().unwrap_or(ExitCode::FAILURE);
    // Its nodes are stopped properly; who is connected to the control port learns it by the end of the process.
    *controller.lock() = Controller::new();
    code
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("aerolane-embedded: {error}");
    ExitCode::FAILURE
}

fn start(arguments: &Arguments) -> Result<EmbeddedCluster, ClusterError> {
    let mut builder: Builder = EmbeddedCluster::builder()
        .nodes(arguments.nodes)
        .host(arguments.host)
        .port(arguments.port)
        .replication_factor(arguments.replication_factor)
        .migration_rate(arguments.migration_rate)
        .connection_limit(arguments.connection_limit);
    if let Some(lag) = &arguments.replication_lag {
        let Latency { one_way, .. } =
            lag.parse().map_err(|error| ClusterError::Setting(format!("--replication-lag: {error}")))?;
        builder = builder.replication_lag(one_way);
    }
    for name in &arguments.namespaces {
        let options = NamespaceOptions::new(name)
            .default_ttl(arguments.default_ttl)
            .nsup_period(arguments.nsup_period)
            .strong_consistency(arguments.strong_consistency)
            .roster(arguments.roster)
            .keep_records(arguments.keep_records)
            .conflict_resolution(arguments.conflict_resolution)
            .data_limit(arguments.data_limit);
        builder = builder.namespace_with(options);
    }
    if let Some(address) = arguments.advertise {
        builder = builder.advertise(address);
    }
    if let Some(address) = arguments.advertise_alternate {
        builder = builder.advertise_alternate(address);
    }
    if let Some(name) = &arguments.cluster_name {
        builder = builder.cluster_name(name);
    }
    if let Some(build) = &arguments.build {
        builder = builder.build(build);
    }
    if let Some(threads) = arguments.threads {
        builder = builder.service_threads(threads);
    }
    for user in &arguments.users {
        let Some((name, password)) = user.split_once(':') else {
            return Err(ClusterError::Setting(format!("user {user:?}: name:password or name:password:roles expected")));
        };
        builder = match password.split_once(':') {
            None => builder.user(name, password),
            Some((password, roles)) => builder.user_with_roles(name, password, roles.split('+')),
        };
    }
    builder = builder.conditions(conditions(arguments)?);
    if let Some(seed) = arguments.seed {
        builder = builder.seed(seed);
    }
    #[cfg(feature = "tls")]
    if let Some(name) = &arguments.tls_name {
        builder = builder.tls(aerolane_embedded::TlsOptions::self_signed(name)).tls_port(arguments.tls_port);
    }
    builder.start()
}

fn conditions(arguments: &Arguments) -> Result<Conditions, ClusterError> {
    let told = |option: &str| {
        let option = option.to_owned();
        move |error: ConditionsError| ClusterError::Setting(format!("{option}: {error}"))
    };
    let mut conditions = Conditions::new().in_service(arguments.in_service).seed(arguments.seed.unwrap_or(0));
    if let Some(times) = &arguments.service_time {
        conditions = conditions.service_times(times.parse().map_err(told("--service-time"))?);
    }
    if let Some(latency) = &arguments.latency {
        let Latency { one_way, jitter } = latency.parse().map_err(told("--latency"))?;
        conditions = conditions.latency(one_way).jitter(jitter);
    }
    // What is left is a limit out of range.
    conditions.check().map_err(told("--in-service"))?;
    Ok(conditions)
}

/// Prints where the nodes listen: one line, flushed, so that whoever started the program can wait for it.
fn announce(arguments: &Arguments, cluster: &EmbeddedCluster, control: Option<&TcpListener>) -> std::io::Result<()> {
    let line = if arguments.json {
        let mut shown = show(cluster);
        shown["control"] = control.map(TcpListener::local_addr).transpose()?.map(|at| at.to_string()).into();
        shown.to_string()
    } else {
        cluster.seeds()
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Carries out the requests of standard input until their end, or a signal.
fn control(stopper: mpsc::Sender<ExitCode>, stop: &mpsc::Receiver<ExitCode>) -> ExitCode {
    let thread = std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        let controller = Mutex::new(Controller::new());
        let code = match carry_out(BufReader::new(std::io::stdin()), std::io::stdout(), &controller) {
            Ok(()) => ExitCode::SUCCESS,
            // Whoever has asked has gone.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
        // The receiver is gone only when the program ends anyway.
        let _ = stopper.send(code);
    });
    if let Err(error) = thread {
        return fail(&error);
    }
    stop.recv().unwrap_or(ExitCode::FAILURE)
}

/// Most connections to the control port at a time.
const MAX_CONTROLLERS: usize = 64;

/// Carries out the requests of those who connect to a port.
fn control_at(port: TcpListener, controller: &Arc<Mutex<Controller>>) -> std::io::Result<()> {
    let controller = Arc::clone(controller);
    let serve = move || {
        let connected = Arc::new(());
        for stream in port.incoming().flatten() {
            // One reference is here. What is too much is closed at once.
            if Arc::strong_count(&connected) > MAX_CONTROLLERS {
                continue;
            }
            let (controller, connected) = (Arc::clone(&controller), Arc::clone(&connected));
            let serve = move || {
                // Whoever has gone needs no answer.
                let _ = stream.set_nodelay(true);
                let _ = carry_out(BufReader::new(&stream), &stream, &controller);
                drop(connected);
            };
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new().name("control".to_owned()).spawn(serve);
        }
    };
    std::thread::Builder::new().name("control-port".to_owned()).spawn(serve)?;
    Ok(())
}

/// Answers requests until they end, or nobody reads answers any more.
fn carry_out(
    mut requests: impl BufRead,
    mut answers: impl Write,
    controller: &Mutex<Controller>,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = requests.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.len() > MAX_LINE {
            let text = format!("a request is longer than {MAX_LINE} bytes");
            return Err(std::io::Error::new(ErrorKind::InvalidData, text));
        }
        // What is not UTF-8 is no JSON either, and is refused as that.
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let mut answer = controller.lock().answer(text.trim());
        answer.push('\n');
        answers.write_all(answer.as_bytes())?;
        answers.flush()?;
    }
}

/// Sends something on SIGINT and on SIGTERM.
fn stop_on_signals(stop: mpsc::Sender<ExitCode>) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if signals.forever().next().is_some() {
            // The receiver is gone only when the program ends anyway.
            let _ = stop.send(ExitCode::SUCCESS);
        }
    })?;
    Ok(())
}

/// Sends something when standard input ends.
fn stop_with_input(stop: mpsc::Sender<ExitCode>) -> std::io::Result<()> {
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut chunk = [0; 1024];
        while std::io::stdin().read(&mut chunk).is_ok_and(|n| n > 0) {}
        let _ = stop.send(ExitCode::SUCCESS);
    })?;
    Ok(())
}
