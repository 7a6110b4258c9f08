//! The side-by-side table for people.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, LineStyle, Table};

use crate::client_kind::{ClientKind, Mode};
use crate::report::Report;

/// Renders the reports as one table. Ratios refer to the client of aerospike-core of the same kind, where it ran.
#[must_use]
pub fn render(reports: &[(ClientKind, Report)]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()));
    table.set_header([
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
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
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
            latency(report.p50_us),
            latency(report.p99_us),
            latency(report.p999_us),
            latency(report.max_us),
            report.errors.to_string(),
            report.timeouts.to_string(),
            format!("{:.2}", report.client_cpu_us_per_op),
            against(|r| r.client_cpu_us_per_op),
            format!("{:.1}", report.peak_rss_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    table.to_string()
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
    fn numbers_for_people() {
        for (value, text) in [(0.0, "0"), (999.0, "999"), (1000.0, "1 000"), (1_234_567.4, "1 234 567")] {
            assert_eq!(grouped(value), text);
        }
        assert_eq!((latency(9.44), latency(10.6)), ("9.4".to_owned(), "11".to_owned()));
    }
}
