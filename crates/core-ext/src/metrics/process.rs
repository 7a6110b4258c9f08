//! What the whole process uses: processor time and memory.

use std::time::{Duration, Instant};

use crate::sync::Mutex;

/// Tells how much of the processor the process has used since it was asked last.
#[derive(Debug)]
pub(crate) struct ProcessUsage(Mutex<(Instant, Duration)>);

impl ProcessUsage {
    pub(super) fn new() -> Self {
        Self(Mutex::new((Instant::now(), processor_time())))
    }

    /// Returns the share of one processor that the process has used since the last call, in percent: above 100 where
    /// several threads ran.
    pub(crate) fn cpu_percent(&self) -> f64 {
        let (now, used) = (Instant::now(), processor_time());
        let (before, used_before) = std::mem::replace(&mut *self.0.lock(), (now, used));
        let elapsed = now.saturating_duration_since(before).as_secs_f64();
        if elapsed > 0.0 { 100.0 * used.saturating_sub(used_before).as_secs_f64() / elapsed } else { 0.0 }
    }
}

fn processor_time() -> Duration {
    // Not rustix's: each client asks, and rustix looks for the system's own code in memory first, which fails under valgrind.
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call; where there is no such clock, the zeros stay.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

/// Returns the bytes of memory that the process occupies; 0 on systems other than Linux.
pub(crate) fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
