//! The file: what it said when it was last read without a mistake, and whether it has changed since.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use aerolane_config::MAX_BYTES;
use aerolane_config::client::{ClientFile, parse};

/// What was written so short a time before it was read may have been written once more since, within the same tick of the
/// clock of the file system.
const UNSETTLED: Duration = Duration::from_secs(2);

/// What differs when a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    /// One that was put in the place of another is another file.
    inode: u64,
}

/// A file.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// As of the last time that it was read, whatever came of it; `None`: it was not, or may have changed within a tick.
    stamp: Option<Stamp>,
    /// As it was then, and what is wrong with it.
    text: Option<(String, Option<String>)>,
    /// What was wrong last, which is said once.
    wrong: Option<String>,
}

/// What a look at the file has found.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing new.
    Nothing,
    /// It says something else than before.
    Changed(Box<ClientFile>),
    /// It cannot be used, for a reason that was not said before.
    Wrong(String),
}

impl File {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, stamp: None, text: None, wrong: None }
    }

    /// Looks at the file, and reads it if it has changed. Blocks.
    pub(super) fn look(&mut self) -> Found {
        match self.read() {
            Ok(None) => {
                self.wrong = None;
                Found::Nothing
            }
            Ok(Some(file)) => {
                self.wrong = None;
                Found::Changed(Box::new(file))
            }
            Err(reason) if self.wrong.as_ref() == Some(&reason) => Found::Nothing,
            Err(reason) => {
                self.wrong = Some(reason.clone());
                Found::Wrong(reason)
            }
        }
    }

    fn read(&mut self) -> Result<Option<ClientFile>, String> {
        let stamp = stamp(&self.path).inspect_err(|_| self.stamp = None)?;
        if self.stamp != Some(stamp) {
            let settled = stamp.modified.is_some_and(|at| at.elapsed().is_ok_and(|age| age > UNSETTLED));
            self.stamp = settled.then_some(stamp);
            let text = text(&self.path).inspect_err(|_| self.stamp = None)?;
            if self.text.as_ref().is_none_or(|(before, _)| *before != text) {
                let (file, wrong) = match parse(&text) {
                    Ok(file) => (Some(file), None),
                    Err(problems) => (None, Some(listed(problems.iter()))),
                };
                self.text = Some((text, wrong.clone()));
                return wrong.map_or(Ok(file), Err);
            }
        }
        let wrong = self.text.as_ref().and_then(|(_, wrong)| wrong.clone());
        wrong.map_or(Ok(None), Err)
    }
}

/// The most things that one line lists.
const MOST_LISTED: usize = 20;

/// The most characters of one of them.
const MOST_CHARACTERS: usize = 300;

/// Things in one line, whatever texts of the file are in them.
pub(super) fn listed(things: impl ExactSizeIterator<Item = impl ToString>) -> String {
    let more = things.len().saturating_sub(MOST_LISTED);
    let shorten = |thing: String| -> String {
        thing.chars().take(MOST_CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let mut texts: Vec<_> = things.take(MOST_LISTED).map(|thing| shorten(thing.to_string())).collect();
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    texts.join("; ")
}

fn failed(error: &std::io::Error) -> String {
    format!("it cannot be read: {error}")
}

fn stamp(path: &Path) -> Result<Stamp, String> {
    let data = std::fs::metadata(path).map_err(|e| failed(&e))?;
    // Nobody should wait for what a pipe may give.
    if !data.is_file() {
        return Err("it cannot be read: it is not a file".into());
    }
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let inode = 0;
    Ok(Stamp { modified: data.modified().ok(), size: data.len(), inode })
}

fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .map_err(|e| failed(&e))?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| failed(&e))?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        format!("line {}: the text is not UTF-8", before.split(|byte| *byte == b'\n').count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_one_line_and_not_long() {
        let things = vec!["a\nb".to_owned() + &"x".repeat(9999); 100];
        let line = listed(things.iter());
        assert!(line.starts_with("a bxxx") && line.ends_with("; and 80 more"));
        assert!(line.len() < 20 * 310 && !line.contains('\n'));
    }

    #[test]
    fn a_file_is_read_when_it_changes_and_what_is_wrong_is_said_once() {
        let path = std::env::temp_dir().join(format!("aerolane-dynamic-{}.yaml", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut file = File::at(path.clone());
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let wrong = |found: Found, part: &str| match found {
            Found::Wrong(text) => assert!(text.contains(part), "{part:?} in {text:?}"),
            found => panic!("{found:?}"),
        };
        wrong(file.look(), "cannot be read");
        assert!(matches!(file.look(), Found::Nothing), "said once");
        write("version: 1\ndynamic: {read: {max_retries: 4}}");
        let Found::Changed(read) = file.look() else { panic!() };
        assert_eq!(read.dynamic.read.base.max_retries, Some(4));
        assert!(matches!(file.look(), Found::Nothing));
        // The same size, at once.
        write("version: 1\ndynamic: {read: {max_retries: 5}}");
        assert!(matches!(file.look(), Found::Changed(_)));
        write("version: 1\ndynamic: {read: {max_retries: x}}");
        wrong(file.look(), "line 2, dynamic.read.max_retries");
        assert!(matches!(file.look(), Found::Nothing));
        std::fs::remove_file(&path).unwrap();
        wrong(file.look(), "cannot be read");
        // There again as it was: still wrong, and now that is news again.
        write("version: 1\ndynamic: {read: {max_retries: x}}");
        assert!(matches!(file.look(), Found::Wrong(_) | Found::Nothing));
        write("version: 1\ndynamic: {read: {max_retries: 5}}");
        assert!(matches!(file.look(), Found::Changed(_)));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        wrong(file.look(), "not a file");
        std::fs::remove_dir(&path).unwrap();
    }
}
