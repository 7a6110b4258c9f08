//! What is wrong with a text, and where.

use std::fmt;

use crate::Version;

/// A part of the text, in bytes: from its first to before its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the span from the start of this one to the end of another.
    pub(crate) fn to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }
}

/// What kind of mistake it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AelErrorKind {
    /// The text is not of the language.
    Syntax,
    /// Types do not fit, or the text leaves a type open.
    Type,
    /// Parameters are missing, unused, or of a type that does not fit.
    Parameter,
    /// The text is too long, or nested too deep.
    Limit,
    /// The language has it, this compiler does not: servers from 8.2 on compile such text themselves.
    Unsupported,
    /// The server that the expression is for is too old: [`AelError::needs`] tells which version has it.
    Version,
}

/// Why a text cannot be compiled: what, where, and what to do.
///
/// Its `Display` is the message, the place, and the line with a caret under the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AelError(Box<Details>);

/// Apart, so that what can fail hands little over.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    kind: AelErrorKind,
    message: String,
    offset: usize,
    line: usize,
    column: usize,
    excerpt: String,
    needs: Option<Version>,
}

/// Most characters of a line that an excerpt shows before and after the place.
const EXCERPT: usize = 40;

impl AelError {
    pub(crate) fn new(kind: AelErrorKind, text: &str, span: Span, message: impl Into<String>) -> Self {
        let mut offset = span.start.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_text = text[line_start..].split(['\n', '\r']).next().unwrap_or_default();
        let column = text[line_start..offset].chars().count();
        let marked =
            text.get(offset..span.end.min(line_start + line_text.len())).map_or(1, |part| part.chars().count());
        let skipped = column.saturating_sub(EXCERPT);
        // Tabs become spaces, so that the caret stands where it belongs.
        let shown: String =
            line_text.chars().skip(skipped).take(2 * EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let carets = "^".repeat(marked.clamp(1, (2 * EXCERPT).saturating_sub(column - skipped).max(1)));
        let excerpt = format!("{shown}\n{}{carets}", " ".repeat(column - skipped));
        let line = before.matches('\n').count() + 1;
        let message = message.into();
        Self(Box::new(Details { kind, message, offset, line, column: column + 1, excerpt, needs: None }))
    }

    pub(crate) fn needing(mut self, version: Version) -> Self {
        self.0.needs = Some(version);
        self
    }

    /// Returns what kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> AelErrorKind {
        self.0.kind
    }

    /// Returns what is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the place in the text, in bytes from its start.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the line of the place; the first is 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Returns the column of the place, in characters; the first is 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// Returns the line of the text around the place, and below it carets under the place.
    #[must_use]
    pub fn excerpt(&self) -> &str {
        &self.0.excerpt
    }

    /// Returns the server version that the text needs, where the server is too old.
    #[must_use]
    pub fn needs(&self) -> Option<Version> {
        self.0.needs
    }
}

impl fmt::Display for AelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.0.line, self.0.column, self.0.message)?;
        for line in self.0.excerpt.lines() {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AelError {}
