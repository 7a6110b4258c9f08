"""What people see: a summary of each mode, and all modes side by side."""

from collections.abc import Callable

from aerolane.bench.modes import MODES
from aerolane.bench.report import Report
from aerolane.bench.spec import Conditions


def summary(report: Report) -> str:
    """The summary block of one mode."""
    gil = "GIL" if report["gil"] else "no GIL"
    loop = f", {report['loop']}" if report["loop"] else ""
    version = f" {report['version']}" if report["version"] else ""
    who = (
        f"{report['client']} ({MODES[report['client']].distribution}{version}; Python {report['python']}, {gil}{loop})"
    )
    lines = [
        who,
        f"  workload   {report['workload']}, {_workers(report)}, {report['duration_s']:.1f} s measured"
        + (f", {report['rounds']} rounds" if report["rounds"] > 1 else ""),
        f"  ops/s      read {_grouped(report['read_tps'])}  write {_grouped(report['write_tps'])}"
        f"  total {_grouped(report['tps'])} (median second {_grouped(report['median_tps'])})",
        f"  errors     {report['errors']}  timeouts {report['timeouts']}  not found {report['not_found']}",
        "  latency    " + _latencies(report),
        *(
            f"  {kind:<10} " + _latencies(report[kind])
            for kind in ("reads", "writes")
            if report["reads"]["samples"] and report["writes"]["samples"]
        ),
        f"  client     CPU {report['client_cpu_us_per_op']:.2f} µs/op"
        f" ({report['client_cpu_system_share']:.0%} in the kernel), peak RSS {_mebibytes(report):.1f} MiB",
    ]
    conditions = _conditions(report)
    if conditions:
        lines.insert(2, f"  cluster    {conditions}")
    if report["rounds"] > 1:
        lines.append("  rounds     " + "  ".join(f"{name} {_range(report, key)}" for name, key in _SPREAD))
    lines += _open_loop(report) + _large(report)
    if "busy" in report:
        busy = report["busy"]
        lines.append(
            f"  competing  {busy['work_ms']:g} ms of work, {busy['runs']:.0f} times; delayed by"
            f" mean {busy['delay_mean_us'] / 1e3:.2f}  p50 {busy['delay_p50_us'] / 1e3:.2f}"
            f"  p99 {busy['delay_p99_us'] / 1e3:.2f}  max {busy['delay_max_us'] / 1e3:.2f} ms"
            f" (waiting for its turn: mean {busy['wait_mean_us'] / 1e3:.2f} ms)"
        )
    lines += [f"  {line}" for line in report.get("latency", ())]
    lines += [f"  error x {sample['count']}: {sample['message']}" for sample in report["error_samples"]]
    return "\n".join(lines)


def _conditions(report: Report) -> str:
    options = Conditions(**report["conditions"]).describe()
    return ", ".join(filter(None, (options, "over TLS" if report["tls"] else "")))


def _range(report: Report, key: str) -> str:
    spread, scale = report["spread"][key], 1e-3 if key in dict(_LATENCIES).values() else 1
    least, most = spread["min"] * scale, spread["max"] * scale
    if key == "tps":
        return f"{_grouped(least)} to {_grouped(most)}"
    return f"{least:.2f} to {most:.2f}" if scale == 1 else f"{least:.3f} to {most:.3f} ms"


def _open_loop(report: Report) -> list[str]:
    found = report["open_loop"]
    if not found:
        return []
    pacer, start = found["pacer_lateness"], found["start_delay"]
    return [
        f"  open loop  {found['rate']:g} calls/s ({found['arrivals']}), at most {found['max_outstanding']} in flight:"
        f" {found['offered']} due, {found['late']} found no free worker, {found['not_started']} never begun",
        f"             timer late by mean {pacer['mean_us']:.0f}  p99 {pacer['p99_us']:.0f} µs;"
        f" begun after mean {start['mean_us']:.0f}  p99 {start['p99_us']:.0f} µs",
    ]


def _large(report: Report) -> list[str]:
    large = report["background_large"]
    if not large:
        return []
    return [
        f"  beside     {large['tasks']} tasks that read {large['bytes']} bytes: {large['tps']:.0f} reads/s,"
        f" {large['megabytes_per_s']:.0f} MB/s, errors {large['errors']}; {_latencies(large['latency'])}"
    ]


def _latencies(figures: Report) -> str:
    shown = "  ".join(f"{name} {figures[key] / 1e3:.3f}" for name, key in _LATENCIES)
    return f"{shown} ms ({figures['samples']} samples)"


_SPREAD = (
    ("ops/s", "tps"),
    ("CPU µs/op", "client_cpu_us_per_op"),
    ("p50", "p50_us"),
    ("p99", "p99_us"),
    ("p99.9", "p999_us"),
)
_DELAYS = ("wait_p50_us", "wait_p99_us", "delay_mean_us", "delay_p50_us", "delay_p99_us")
_LATENCIES = (
    ("p50", "p50_us"),
    ("p90", "p90_us"),
    ("p98", "p98_us"),
    ("p99", "p99_us"),
    ("p99.9", "p999_us"),
    ("max", "max_us"),
)


def markdown_head() -> str:
    """The head of the table that `markdown` gives rows of."""
    return (
        "| case | mode | ops/s (x) | CPU µs/op (x) | p50 / p99 / p99.9 µs | errors + timeouts | peak RSS MiB |"
        " other work: waits p50 / p99, delayed mean / p50 / p99 ms |\n|---|---|---|---|---|---|---|---|"
    )


def markdown(case: str, reports: list[Report]) -> list[str]:
    """The modes of one case as rows of a Markdown table; ratios are to the first peer."""
    peer = first_peer(reports)
    rows = []
    for report in reports:
        busy = report.get("busy")
        cells = (
            case,
            report["client"],
            f"{_grouped(report['tps'])} ({_ratio(report, peer, lambda r: r['tps'])})",
            f"{report['client_cpu_us_per_op']:.2f} ({_ratio(report, peer, lambda r: r['client_cpu_us_per_op'])})",
            " / ".join(_latency(report, key) for key in ("p50_us", "p99_us", "p999_us")),
            str(report["errors"] + report["timeouts"]),
            f"{_mebibytes(report):.0f}",
            " / ".join(f"{busy[key] / 1e3:.2f}" for key in _DELAYS) if busy else "",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def first_peer(reports: list[Report]) -> Report | None:
    """What ratios refer to."""
    return next((report for report in reports if is_peer(report["client"])), None)


def table(reports: list[Report]) -> str:
    """All modes side by side; ratios are to the first peer."""
    peer = first_peer(reports)
    name = peer["client"] if peer else "peer"
    busy = any("busy" in report for report in reports)
    head = ["mode", "workers", "ops/s", "x", "p50 µs", "p99 µs", "p99.9 µs", "errors", "timeouts", "CPU µs/op", "x"]
    head += ["RSS MiB"] + (
        ["wait p50 µs", "wait p99 µs", "delay mean µs", "delay p50 µs", "delay p99 µs"] if busy else []
    )
    rows = [head]
    for report in reports:
        row = [
            report["client"],
            _workers(report),
            _grouped(report["tps"]),
            _ratio(report, peer, lambda r: r["tps"]),
            *(_latency(report, key) for key in ("p50_us", "p99_us", "p999_us")),
            str(report["errors"]),
            str(report["timeouts"]),
            f"{report['client_cpu_us_per_op']:.2f}",
            _ratio(report, peer, lambda r: r["client_cpu_us_per_op"]),
            f"{_mebibytes(report):.1f}",
        ]
        if busy:
            row += [_micros(report["busy"][key]) if "busy" in report else "-" for key in _DELAYS]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(1, "-" * len(lines[0]))
    if peer and len(reports) > 1:
        lines.append(f"x: ratio to {name}")
    return "\n".join(lines)


def is_peer(name: str) -> bool:
    """Whether a mode measures another client than Aerolane."""
    return name.startswith(("peer-", "legacy-", "core-"))


def _workers(report: Report) -> str:
    if report["mode"] == "sync":
        return f"{report['threads']} thread{'s' * (report['threads'] != 1)}"
    loops = report["loops"]
    if loops > 1:
        return f"{loops} x {report['tasks'] // loops} tasks"
    return f"{report['tasks']} task{'s' * (report['tasks'] != 1)}"


def _ratio(report: Report, peer: Report | None, figure: Callable[[Report], float]) -> str:
    if peer is None or not figure(peer) or MODES[report["client"]].floor:
        return "-"
    return f"{figure(report) / figure(peer):.2f}"


def _grouped(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def _latency(report: Report, key: str) -> str:
    return _micros(report[key]) if report["samples"] else "-"


def _micros(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _mebibytes(report: Report) -> float:
    return float(report["peak_rss_bytes"]) / (1 << 20)
