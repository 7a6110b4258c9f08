//! Instructions per operation of the hot paths, by callgrind: the difference of a long and a short run of the same
//! program, so that its start and end cancel out.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::hot_paths;

/// Operations of the short run.
const SHORT: u64 = 200;
/// Operations of the long run.
const LONG: u64 = 1_200;

/// Why instructions could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstructionError {
    /// Valgrind is not installed or does not start.
    #[error("valgrind did not start (is it installed?)")]
    Valgrind(#[source] std::io::Error),
    /// It ran but gave no count.
    #[error("callgrind gave no count for `{name}`: {output}")]
    NoCount {
        /// The hot path.
        name: String,
        /// The end of what it said.
        output: String,
    },
}

/// Instructions per operation of every hot path whose name contains `only`.
///
/// `program` must run the hot path `NAME` `N` times when called with `--run NAME --times N`.
///
/// # Errors
/// When valgrind cannot be run or gives no count.
pub fn per_operation(program: &Path, only: &str) -> Result<Vec<(String, f64)>, InstructionError> {
    hot_paths::all()
        .iter()
        .filter(|path| path.name.contains(only))
        .map(|path| {
            let short = collected(program, path.name, SHORT)?;
            let long = collected(program, path.name, LONG)?;
            Ok((path.name.to_owned(), long.saturating_sub(short) as f64 / (LONG - SHORT) as f64))
        })
        .collect()
}

fn collected(program: &Path, name: &str, times: u64) -> Result<u64, InstructionError> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--run", name, "--times", &times.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(InstructionError::Valgrind)?;
    let said = String::from_utf8_lossy(&output.stderr);
    match count_in(&said) {
        Some(count) if output.status.success() => Ok(count),
        _ => {
            let tail: Vec<_> = said.lines().rev().take(3).collect();
            Err(InstructionError::NoCount { name: name.to_owned(), output: tail.join(" | ") })
        }
    }
}

/// The number behind `Collected :` in callgrind's summary.
fn count_in(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_count() {
        let output = "==42== Events    : Ir\n==42== Collected : 1234567\n==42== \n";
        assert_eq!(count_in(output), Some(1_234_567));
        assert_eq!(count_in("==42== Collected : many\n"), None);
        assert_eq!(count_in(""), None);
    }
}
