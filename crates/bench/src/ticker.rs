//! One line per second while a run goes on; a progress bar when stderr is a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::measure::{Phase, Shared, Totals};
use crate::spec::RunSpec;

const SECOND: Duration = Duration::from_secs(1);

/// Reports the progress of a run on stderr.
#[derive(Debug)]
pub struct Ticker {
    shared: Arc<Shared>,
    name: &'static str,
    output: Output,
    last: (Instant, Totals),
    second: u64,
}

#[derive(Debug)]
enum Output {
    Silent,
    Lines,
    Bar(ProgressBar),
}

impl Ticker {
    /// A ticker for one run; silent if the run asks for that.
    ///
    /// # Panics
    /// Never: the template is a constant that the library takes.
    #[must_use]
    pub fn new(spec: &RunSpec, shared: &Arc<Shared>) -> Self {
        let output = if !spec.ticker {
            Output::Silent
        } else if std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{prefix:>15} {wide_bar} {msg}").expect("constant template");
            let bar = ProgressBar::new(spec.warmup_ms + spec.duration_ms).with_style(style);
            bar.set_prefix(spec.client.name());
            Output::Bar(bar)
        } else {
            Output::Lines
        };
        Self {
            shared: shared.clone(),
            name: spec.client.name(),
            output,
            last: (Instant::now(), Totals::default()),
            second: 0,
        }
    }

    /// Sleeps until `end`, reporting every second.
    pub fn run_until(&mut self, end: Instant) {
        loop {
            let now = Instant::now();
            if now >= end {
                return;
            }
            let next = self.last.0 + SECOND;
            std::thread::sleep(end.min(next).saturating_duration_since(now));
            if Instant::now() >= next {
                self.tick();
            }
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        let totals = self.shared.totals();
        let elapsed = now - self.last.0;
        let rate = (totals.records - self.last.1.records) as f64 / elapsed.as_secs_f64();
        let errors = totals.errors - self.last.1.errors;
        let timeouts = totals.timeouts - self.last.1.timeouts;
        self.last = (now, totals);
        self.second += 1;
        let phase = if self.shared.phase() == Phase::Warmup { "warm-up" } else { "measure" };
        match &self.output {
            Output::Silent => {}
            Output::Lines => eprintln!(
                "{:>15} {:>4} s {phase}  {rate:>9.0} ops/s  errors {errors}  timeouts {timeouts}",
                self.name, self.second
            ),
            Output::Bar(bar) => {
                bar.inc(elapsed.as_millis() as u64);
                bar.set_message(format!("{phase} {rate:>9.0} ops/s  errors {errors}  timeouts {timeouts}"));
            }
        }
    }

    /// Removes the progress bar.
    pub fn finish(self) {
        if let Output::Bar(bar) = self.output {
            bar.finish_and_clear();
        }
    }
}
