//! The side-by-side table for people.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, LineStyle, Table};

use crate::client_kind::{ClientKind, Mode};
use crate::latency::LatencyFigures;
use crate::report::{Report, Spread};

/// Renders the reports as one table. Ratios refer to the client of aerospike-core of the same kind, where it ran.
#[must_use]
pub fn render(reports: &[(ClientKind, Report)]) -> String {
    let mut table = new_table(&[
        "client",
        "workers",
        "ops/s",
        "x core",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "max µs",
        "errors",
        "timeouts",
        "CPU µs/op",
        "x core",
        "peak RSS MiB",
    ]);
    for (kind, report) in reports {
        let reference = kind.reference().and_then(|name| reports.iter().find(|(other, _)| *other == name));
        let against = |figure: fn(&Report) -> f64| match reference {
            Some((_, core)) if figure(core) > 0.0 => format!("{:.2}", figure(report) / figure(core)),
            _ => "-".to_owned(),
        };
        table.add_row([
            report.client.clone(),
            match kind.mode() {
                Mode::Async => format!("{} tasks", report.tasks),
                Mode::Sync => format!("{} threads", report.threads),
            },
            grouped(report.tps),
            against(|r| r.tps),
            latency(report.latency.p50_us),
            latency(report.latency.p99_us),
            latency(report.latency.p999_us),
            latency(report.latency.max_us),
            report.errors.to_string(),
            report.timeouts.to_string(),
            format!("{:.2}", report.client_cpu_us_per_op),
            against(|r| r.client_cpu_us_per_op),
            format!("{:.1}", report.peak_rss_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    table.to_string()
}

/// The tables below the first one, each only where it has something to say: how far the rounds are apart, latencies by
/// kind of call, the schedule of an open loop, large reads beside the workload.
#[must_use]
pub fn details(reports: &[(ClientKind, Report)]) -> Vec<String> {
    [spreads(reports), kinds(reports), schedules(reports), large_reads(reports)].into_iter().flatten().collect()
}

fn spreads(reports: &[(ClientKind, Report)]) -> Option<String> {
    let head = ["least and most of the rounds", "ops/s", "CPU µs/op", "p50 µs", "p99 µs", "p99.9 µs"];
    rows(&head, reports, |report| {
        let range = |name: &str, show: fn(f64) -> String| match report.spread.get(name) {
            Some(Spread { min, max, .. }) => format!("{} .. {}", show(*min), show(*max)),
            None => "-".to_owned(),
        };
        let cells = vec![
            range("tps", grouped),
            range("client_cpu_us_per_op", |cpu| format!("{cpu:.2}")),
            range("p50_us", latency),
            range("p99_us", latency),
            range("p999_us", latency),
        ];
        if report.rounds > 1 { vec![(String::new(), cells)] } else { Vec::new() }
    })
}

const LATENCY_HEAD: [&str; 7] = ["samples", "p50 µs", "p90 µs", "p98 µs", "p99 µs", "p99.9 µs", "max µs"];

fn latencies(figures: &LatencyFigures) -> Vec<String> {
    let LatencyFigures { p50_us, p90_us, p98_us, p99_us, p999_us, max_us, .. } = *figures;
    let mut cells = vec![figures.samples.to_string()];
    cells.extend([p50_us, p90_us, p98_us, p99_us, p999_us, max_us].map(latency));
    cells
}

fn kinds(reports: &[(ClientKind, Report)]) -> Option<String> {
    rows(&[&["by kind of call"], &LATENCY_HEAD[..]].concat(), reports, |report| {
        if report.reads.samples == 0 || report.writes.samples == 0 {
            return Vec::new();
        }
        vec![(" reads".to_owned(), latencies(&report.reads)), (" writes".to_owned(), latencies(&report.writes))]
    })
}

fn schedules(reports: &[(ClientKind, Report)]) -> Option<String> {
    let head = [
        "open loop",
        "calls due",
        "late",
        "not begun",
        "pacer late, mean µs",
        "p99 µs",
        "begun after, mean µs",
        "p99 µs",
    ];
    rows(&head, reports, |report| match &report.open_loop {
        None => Vec::new(),
        Some(figures) => vec![(
            String::new(),
            vec![
                figures.offered.to_string(),
                figures.late.to_string(),
                figures.not_started.to_string(),
                latency(figures.pacer_lateness.mean_us),
                latency(figures.pacer_lateness.p99_us),
                latency(figures.start_delay.mean_us),
                latency(figures.start_delay.p99_us),
            ],
        )],
    })
}

fn large_reads(reports: &[(ClientKind, Report)]) -> Option<String> {
    let head = [&["large reads beside", "reads/s", "MB/s", "errors"], &LATENCY_HEAD[..]].concat();
    rows(&head, reports, |report| match &report.background_large {
        None => Vec::new(),
        Some(large) => {
            let counts = [grouped(large.tps), grouped(large.megabytes_per_s), large.errors.to_string()];
            vec![(String::new(), [&counts[..], &latencies(&large.latency)].concat())]
        }
    })
}

/// A table with the rows that `of` gives for each report: what follows the name of the client, and the cells.
fn rows(
    head: &[&str],
    reports: &[(ClientKind, Report)],
    of: impl Fn(&Report) -> Vec<(String, Vec<String>)>,
) -> Option<String> {
    let mut table = new_table(head);
    for (client, report) in reports {
        for (kind, cells) in of(report) {
            table.add_row([vec![format!("{client}{kind}")], cells].concat());
        }
    }
    (table.row_count() > 0).then(|| table.to_string())
}

fn new_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()));
    table.set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A whole number with a space between groups of three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// One digit after the point below 10 µs, none above.
fn latency(micros: f64) -> String {
    if micros < 10.0 { format!("{micros:.1}") } else { format!("{micros:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    fn row<'a>(table: &'a str, client: &str) -> Vec<&'a str> {
        let line = table.lines().find(|line| line.trim_start().starts_with(client)).unwrap();
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    }

    #[test]
    fn ratios_refer_to_core_of_the_same_kind() {
        let reports = [
            (ClientKind::CoreAsync, report(ClientKind::CoreAsync, 80_000.0, 12.0)),
            (ClientKind::AerolaneAsync, report(ClientKind::AerolaneAsync, 120_000.0, 3.0)),
            (ClientKind::AerolaneSync, report(ClientKind::AerolaneSync, 50_000.0, 9.0)),
            (ClientKind::FloorAsync, report(ClientKind::FloorAsync, 3_000_000.0, 0.6)),
        ];
        let table = render(&reports);
        let cells = row(&table, "aerolane-async");
        assert_eq!((cells[1], cells[2], cells[3]), ("4 tasks", "120 000", "1.50"), "{table}");
        assert_eq!((cells[10], cells[11], cells[12]), ("3.00", "0.25", "10.0"), "{table}");
        assert_eq!(row(&table, "core-async")[3], "1.00");
        assert_eq!(row(&table, "aerolane-sync")[3], "-", "no core-sync in this run");
        assert_eq!(row(&table, "floor-async")[3], "-");
        assert_eq!(row(&table, "aerolane-sync")[1], "2 threads");
    }

    #[test]
    fn details_are_shown_where_there_are_any() {
        let mut report = report(ClientKind::CoreAsync, 80_000.0, 12.0);
        assert_eq!(details(&[(ClientKind::CoreAsync, report.clone())]), Vec::<String>::new());
        report.rounds = 2;
        report.spread.insert("tps".to_owned(), Spread { min: 70_000.0, median: 80_000.0, max: 90_000.0 });
        report.reads = LatencyFigures { samples: 7, p999_us: 123.0, ..LatencyFigures::default() };
        report.writes = LatencyFigures { samples: 8, ..LatencyFigures::default() };
        let tables = details(&[(ClientKind::CoreAsync, report)]);
        assert_eq!(tables.len(), 2);
        assert_eq!(row(&tables[0], "core-async")[1], "70 000 .. 90 000");
        assert_eq!(row(&tables[1], "core-async reads")[6], "123");
        assert_eq!(row(&tables[1], "core-async writes")[1], "8");
    }

    #[test]
    fn numbers_for_people() {
        for (value, text) in [(0.0, "0"), (999.0, "999"), (1000.0, "1 000"), (1_234_567.4, "1 234 567")] {
            assert_eq!(grouped(value), text);
        }
        assert_eq!((latency(9.44), latency(10.6)), ("9.4".to_owned(), "11".to_owned()));
    }
}
