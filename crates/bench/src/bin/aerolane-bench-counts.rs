//! Heap allocations and instructions per operation, compared with the last accepted figures. See `counts.sh`.

use std::path::PathBuf;
use std::process::ExitCode;

use aerolane_bench::conditions::Conditions;
use aerolane_bench::counts::accepted::{self, Figures, Verdict};
use aerolane_bench::counts::heap::CountingAllocator;
use aerolane_bench::counts::{client_calls, hot_path_allocations, instructions};
use aerolane_bench::embedded::EmbeddedProcess;
use aerolane_bench::{hot_paths, session};
use clap::Parser;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Heap allocations and instructions per operation of the hot paths, compared with the last accepted figures.
#[derive(Debug, Parser)]
#[command(name = "aerolane-bench-counts", version)]
struct Options {
    /// The file of accepted figures.
    #[arg(long, default_value = "crates/bench/accepted/counts.toml")]
    accepted: PathBuf,

    /// Take the new figures as the accepted ones.
    #[arg(long)]
    accept: bool,

    /// Only paths whose name contains this.
    #[arg(long, default_value = "")]
    only: String,

    /// Do not count instructions (they need valgrind and some minutes).
    #[arg(long)]
    no_instructions: bool,

    /// Do not count the allocations of client calls (they need a cluster).
    #[arg(long)]
    no_client_calls: bool,

    /// The cluster for client calls; without one, an embedded cluster is started in a process of its own.
    #[arg(long, env = "AEROSPIKE_HOST")]
    host: Option<String>,

    /// What the figures are taken with, for the file.
    #[arg(long, default_value = "")]
    taken_with: String,

    /// Run this hot path and nothing else; what callgrind is given.
    #[arg(long, hide = true)]
    run: Option<String>,

    /// How often to run it.
    #[arg(long, hide = true, default_value_t = 1)]
    times: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(name) = &options.run {
        let Some(path) = hot_paths::find(name) else {
            eprintln!("there is no hot_paths path `{name}`");
            return ExitCode::FAILURE;
        };
        (path.prepare)()(options.times);
        return ExitCode::SUCCESS;
    }
    match count(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("aerolane-bench-counts: {}", session::chain(&*error));
            ExitCode::FAILURE
        }
    }
}

fn count(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut accepted = Figures::read(&options.accepted)?;
    let mut now = Figures { taken_with: options.taken_with.clone(), ..Figures::default() };
    now.allocations.extend(hot_path_allocations(&options.only));
    if !options.no_client_calls {
        let own;
        let seeds = if let Some(host) = options.host.as_deref().filter(|host| !host.is_empty()) {
            host
        } else {
            own = EmbeddedProcess::start(1, "test", false, &Conditions::default())?;
            own.seeds()
        };
        let figures = client_calls::allocations(seeds)?;
        now.allocations.extend(figures.into_iter().filter(|(name, _)| name.contains(&options.only)));
    }
    if !options.no_instructions {
        now.instructions.extend(instructions::per_operation(&std::env::current_exe()?, &options.only)?);
    }
    let lines = accepted::compare(&now, &accepted);
    println!("{}", accepted::render(&lines));
    if options.accept {
        accepted.accept(now);
        accepted.write(&options.accepted)?;
        println!("accepted: {}", options.accepted.display());
        return Ok(ExitCode::SUCCESS);
    }
    let worse = lines.iter().filter(|line| line.verdict == Verdict::Worse).count();
    if worse > 0 {
        eprintln!("{worse} figures are worse than accepted; if that is meant, run with --accept and say why");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
