//! What the operating system says about this process: CPU time used and the peak of its memory.

use std::time::Duration;

/// What all threads of this process have used since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time.
    pub cpu: CpuTime,
    /// Context switches because a thread waited for something.
    pub voluntary_switches: u64,
    /// Context switches because another thread was to run.
    pub involuntary_switches: u64,
}

impl Usage {
    /// The figures now (`getrusage(RUSAGE_SELF)`).
    #[must_use]
    pub fn now() -> Self {
        let usage = usage();
        Self {
            cpu: CpuTime { user: duration(usage.ru_utime), system: duration(usage.ru_stime) },
            voluntary_switches: usage.ru_nvcsw.max(0) as u64,
            involuntary_switches: usage.ru_nivcsw.max(0) as u64,
        }
    }

    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.since(earlier.cpu),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// User and system CPU time of all threads of this process since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time in user mode.
    pub user: Duration,
    /// Time in the kernel on behalf of this process.
    pub system: Duration,
}

impl CpuTime {
    fn since(self, earlier: Self) -> Self {
        Self { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }

    /// User and system time together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.user + self.system
    }
}

/// Peak resident set of this process in bytes.
///
/// On Linux `VmHWM` is read, because `ru_maxrss` survives `exec` and would include the process that started us.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status").ok().and_then(|status| high_water_mark(&status)).unwrap_or_else(|| {
        // Kibibytes on Linux and the BSDs, bytes on macOS.
        let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
        usage().ru_maxrss.max(0) as u64 * unit
    })
}

/// `VmHWM` of a `/proc/<pid>/status` text, in bytes.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Raises the soft limit of open files to the hard one: a client may hold hundreds of connections to each node.
/// Without effect where that is not allowed; the client will then say what it lacks.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls take a pointer to a valid `rlimit` that lives across the call.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

fn usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` points to writable memory of the right size, and an all-zero `rusage` is a valid value,
    // so reading it is fine even if the call were to fail.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.max(0) as u64) + Duration::from_micros(time.tv_usec.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work() {
        let before = Usage::now();
        let started = std::time::Instant::now();
        let mut sum = 0_u64;
        while started.elapsed() < Duration::from_millis(50) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let used = Usage::now().since(before).cpu.total();
        assert!(used > Duration::from_millis(5), "{used:?}");
    }

    #[test]
    fn reads_the_high_water_mark() {
        assert_eq!(high_water_mark("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t 1 kB\n"), Some(1234 * 1024));
        assert_eq!(high_water_mark("Name:\tx\n"), None);
        assert!(peak_rss_bytes() > 100_000);
    }
}
