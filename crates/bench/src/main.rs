//! `aerolane-bench`: see the crate's documentation and `--help`.

use std::process::ExitCode;

use aerolane_bench::cli::Cli;
use aerolane_bench::session::{self, ChildAnswer, Session};
use aerolane_bench::table;
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(task) = &cli.child {
        return answer_as_child(task);
    }
    if let Err(error) = cli.check() {
        error.exit();
    }
    match session::run(&cli) {
        Ok(session) => {
            print(&cli, &session);
            if session.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("aerolane-bench: {}", session::chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn answer_as_child(task: &str) -> ExitCode {
    let answer = session::child(task);
    let failed = matches!(answer, ChildAnswer::Failed(_));
    match serde_json::to_string(&answer) {
        Ok(text) => println!("{text}"),
        Err(error) => eprintln!("aerolane-bench: the answer could not be written: {error}"),
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print(cli: &Cli, session: &Session) {
    if cli.json {
        for (_, report) in &session.reports {
            match serde_json::to_string(report) {
                Ok(line) => println!("{line}"),
                Err(error) => eprintln!("aerolane-bench: {error}"),
            }
        }
    } else if !session.reports.is_empty() {
        println!("{}", headline(cli, session));
        println!("{}", table::render(&session.reports));
        for table in table::details(&session.reports) {
            println!("{table}");
        }
        for (client, report) in &session.reports {
            for sample in &report.error_samples {
                println!("{client}: {} times: {}", sample.count, sample.message);
            }
        }
    }
    for (client, reason) in &session.failures {
        eprintln!("{client} did not run: {reason}");
    }
}

fn headline(cli: &Cli, session: &Session) -> String {
    let target = match (session.embedded, cli.seeds()) {
        (true, _) => format!(
            "embedded cluster of {} nodes, in a process of its own{}{}",
            cli.nodes,
            if cli.tls { ", over TLS" } else { "" },
            cli.conditions().describe(),
        ),
        (false, Some(seeds)) => seeds,
        (false, None) => "no cluster".to_owned(),
    };
    let batch = if cli.batch_size == 1 { String::new() } else { format!(", batches of {}", cli.batch_size) };
    let pace = match cli.open_loop() {
        None => String::new(),
        Some(open_loop) => format!(", open loop of {} calls/s ({} arrivals)", open_loop.rate, open_loop.arrivals),
    };
    let large = match cli.background_large {
        None => String::new(),
        Some(large) => format!(", {} tasks that read {} bytes beside", large.tasks, large.bytes),
    };
    let idle = if cli.idle_tasks == 0 { String::new() } else { format!(", {} idle tasks", cli.idle_tasks) };
    let rounds = if cli.rounds == 1 { String::new() } else { format!(", {} rounds", cli.rounds) };
    format!(
        "{} on {target}: {} keys{batch}{pace}{large}{idle}, {} s after {} s warm-up{rounds}, {} cores",
        cli.workload(),
        cli.keys,
        cli.duration as f64 / 1000.0,
        cli.warmup as f64 / 1000.0,
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
    )
}
