//! The last accepted figures, and how new ones compare with them.

use std::collections::BTreeMap;
use std::path::Path;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, LineStyle, Table};
use serde::{Deserialize, Serialize};

/// How far a figure may grow before the check fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Allocations per operation, absolute.
    pub allocations: f64,
    /// Instructions per operation, relative (0.05: five per cent).
    pub instructions: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { allocations: 0.05, instructions: 0.05 }
    }
}

/// The accepted figures, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// What the figures were taken with: compiler and machine class. For people; not compared.
    #[serde(default)]
    pub taken_with: String,
    /// Limits for the comparison.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// Heap allocations per operation.
    #[serde(default)]
    pub allocations: BTreeMap<String, f64>,
    /// Instructions per operation.
    #[serde(default)]
    pub instructions: BTreeMap<String, f64>,
}

/// Why the accepted figures could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FiguresError {
    /// The file cannot be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path} is not a file of accepted figures: {reason}")]
    Form {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Figures {
    /// Reads a file; a file that does not exist has no figures.
    ///
    /// # Errors
    /// When it cannot be read or has another form.
    pub fn read(path: &Path) -> Result<Self, FiguresError> {
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|error| FiguresError::Form { path: path.display().to_string(), reason: error.to_string() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(FiguresError::File { path: path.display().to_string(), source }),
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FiguresError> {
        let text = toml::to_string(self)
            .map_err(|error| FiguresError::Form { path: path.display().to_string(), reason: error.to_string() })?;
        let text = format!("# Accepted by `counts.sh --accept`; compared by `make bench-counts`.\n{text}");
        std::fs::write(path, text).map_err(|source| FiguresError::File { path: path.display().to_string(), source })
    }

    /// Takes over every figure of `new`; figures that were not measured stay.
    pub fn accept(&mut self, new: Self) {
        self.taken_with = new.taken_with;
        self.allocations.extend(new.allocations);
        self.instructions.extend(new.instructions);
    }
}

/// How one new figure compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Same,
    /// Smaller by more than the tolerance: accept it.
    Better,
    /// Larger by more than the tolerance: the check fails.
    Worse,
    /// There is no accepted figure.
    New,
}

impl Verdict {
    fn of(new: f64, accepted: Option<f64>, allowed: f64) -> Self {
        match accepted {
            None => Self::New,
            Some(old) if new > old + allowed => Self::Worse,
            Some(old) if new < old - allowed => Self::Better,
            Some(_) => Self::Same,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::New => "new",
        }
    }
}

/// One line of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// `allocations` or `instructions`.
    pub what: &'static str,
    /// The path.
    pub name: String,
    /// Measured now.
    pub now: f64,
    /// Accepted before.
    pub accepted: Option<f64>,
    /// The comparison.
    pub verdict: Verdict,
}

/// Compares all figures of `now` with the accepted ones.
#[must_use]
pub fn compare(now: &Figures, accepted: &Figures) -> Vec<Line> {
    let tolerance = accepted.tolerance;
    let allocations = now.allocations.iter().map(|(name, &value)| {
        let old = accepted.allocations.get(name).copied();
        ("allocations", name, value, old, tolerance.allocations)
    });
    let instructions = now.instructions.iter().map(|(name, &value)| {
        let old = accepted.instructions.get(name).copied();
        ("instructions", name, value, old, old.unwrap_or(0.0) * tolerance.instructions)
    });
    allocations
        .chain(instructions)
        .map(|(what, name, now, accepted, allowed)| Line {
            what,
            name: name.clone(),
            now,
            accepted,
            verdict: Verdict::of(now, accepted, allowed),
        })
        .collect()
}

/// Renders the comparison.
#[must_use]
pub fn render(lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()));
    table.set_header(["per operation", "path", "now", "accepted", ""]);
    for column in table.column_iter_mut().skip(2).take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in lines {
        let digits = if line.what == "allocations" { 2 } else { 0 };
        table.add_row([
            line.what.to_owned(),
            line.name.clone(),
            format!("{:.digits$}", line.now),
            line.accepted.map_or_else(|| "-".to_owned(), |old| format!("{old:.digits$}")),
            line.verdict.text().to_owned(),
        ]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(allocations: &[(&str, f64)], instructions: &[(&str, f64)]) -> Figures {
        let map = |figures: &[(&str, f64)]| figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Figures { allocations: map(allocations), instructions: map(instructions), ..Figures::default() }
    }

    #[test]
    fn tolerances_are_absolute_for_allocations_and_relative_for_instructions() {
        let accepted = figures(&[("a", 1.0), ("b", 1.0), ("c", 2.0)], &[("d", 1000.0), ("e", 1000.0), ("f", 1000.0)]);
        let now =
            figures(&[("a", 1.04), ("b", 1.2), ("c", 1.0), ("n", 9.0)], &[("d", 1049.0), ("e", 1060.0), ("f", 900.0)]);
        let verdicts: Vec<_> = compare(&now, &accepted).into_iter().map(|line| (line.name, line.verdict)).collect();
        let expected = [
            ("a", Verdict::Same),
            ("b", Verdict::Worse),
            ("c", Verdict::Better),
            ("n", Verdict::New),
            ("d", Verdict::Same),
            ("e", Verdict::Worse),
            ("f", Verdict::Better),
        ];
        assert_eq!(verdicts, expected.map(|(name, verdict)| (name.to_owned(), verdict)));
    }

    #[test]
    fn files_are_read_back_and_missing_ones_are_empty() {
        let path = std::env::temp_dir().join(format!("aerolane-counts-{}.toml", std::process::id()));
        assert_eq!(Figures::read(&path).unwrap(), Figures::default());
        let mut kept = figures(&[("wire/encode get", 0.0), ("gone", 3.0)], &[]);
        kept.accept(figures(&[("wire/encode get", 1.0)], &[("x", 5.0)]));
        kept.write(&path).unwrap();
        assert_eq!(Figures::read(&path).unwrap(), figures(&[("wire/encode get", 1.0), ("gone", 3.0)], &[("x", 5.0)]));
        std::fs::write(&path, "allocations = 3").unwrap();
        assert!(matches!(Figures::read(&path), Err(FiguresError::Form { .. })));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_table_names_what_got_worse() {
        let lines = compare(&figures(&[("b", 1.2)], &[]), &figures(&[("b", 1.0)], &[]));
        let text = render(&lines);
        assert!(text.contains("WORSE") && text.contains("1.20") && text.contains("1.00"), "{text}");
    }
}
