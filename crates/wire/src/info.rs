//! Info text: commands and their answers.
//!
//! A request is a sequence of lines, each one a command, `name` or `name:parameters` or `name/path`. An answer has a
//! line for each command: the command as it was sent, a tab, the answer's text. (Golden groups `info` and `connect`.)
//! Text may be any bytes but line ends, and in commands, tabs.

use crate::proto::{FrameType, begin_frame, end_frame};
use crate::{WireError, WireResult};

/// Appends a whole request frame. No commands at all ask for the server's summary.
///
/// Fails if a command holds a tab or a line end, as it would read as something else.
pub fn encode_request<'n>(out: &mut Vec<u8>, commands: impl IntoIterator<Item = &'n [u8]>) -> WireResult<()> {
    let start = begin_frame(out, FrameType::Info);
    for command in commands {
        if command.iter().any(|byte| matches!(byte, b'\n' | b'\t')) {
            out.truncate(start);
            return Err(WireError::invalid("an info command cannot hold a tab or a line end", 0));
        }
        out.extend_from_slice(command);
        out.push(b'\n');
    }
    end_frame(out, start)
}

/// The commands of a request body, without their line ends.
///
/// As in the server, an empty line is a command (an unknown one), and a last line without its end is ignored.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// Over the body of a request frame.
    #[must_use]
    pub const fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// What has not been handed out: in the end, an unterminated last line.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| *byte == b'\n')?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(line)
    }
}

/// A command taken apart as the server does it: the name, and what stands behind the first `:` or `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command<'a> {
    /// The name.
    pub name: &'a [u8],
    /// `:` or `/`, if there is one.
    pub separator: Option<u8>,
    /// What stands behind the separator; empty without one.
    pub parameters: &'a [u8],
}

impl<'a> Command<'a> {
    /// Takes a line apart.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Self {
        match line.iter().position(|byte| matches!(byte, b':' | b'/')) {
            Some(at) => Self { name: &line[..at], separator: Some(line[at]), parameters: &line[at + 1..] },
            None => Self { name: line, separator: None, parameters: &[] },
        }
    }

    /// The value of the first parameter `key=value` with this key. Parameters are separated by `;`.
    #[must_use]
    pub fn parameter(&self, key: &[u8]) -> Option<&'a [u8]> {
        pairs(self.parameters, b';').find(|(k, _)| *k == key).map(|(_, value)| value)
    }
}

/// Splits `key=value` items: of command parameters and of most answers. An item without `=` has an empty value.
pub fn pairs(text: &[u8], separator: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split(move |byte| *byte == separator).filter(|item| !item.is_empty()).map(|item| {
        match item.iter().position(|byte| *byte == b'=') {
            Some(at) => (&item[..at], &item[at + 1..]),
            None => (item, &[][..]),
        }
    })
}

/// One line of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The command as it was sent.
    pub command: &'a [u8],
    /// The answer's text; `None` if the line has no tab.
    pub text: Option<&'a [u8]>,
}

impl<'a> Answer<'a> {
    /// The error number and text if this is an error answer, `ERROR:number:text` (`FAIL` in place of `ERROR` and a
    /// missing number are taken, too; the number is then `None`).
    #[must_use]
    pub fn error(&self) -> Option<(Option<u8>, &'a [u8])> {
        let text = self.text?;
        let rest = strip_ignore_case(text, b"error").or_else(|| strip_ignore_case(text, b"fail"))?;
        let rest = match rest {
            [] => return Some((None, rest)),
            [b':', rest @ ..] => rest,
            _ => return None,
        };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        Some(match (number, &rest[digits..]) {
            (Some(number), [b':', message @ ..] | message @ []) => (Some(number), message),
            _ => (None, rest),
        })
    }
}

fn strip_ignore_case<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (front, rest) = text.split_at_checked(prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The lines of an answer body. A last line without its end counts.
#[derive(Debug, Clone)]
pub struct Answers<'a> {
    rest: &'a [u8],
}

impl<'a> Answers<'a> {
    /// Over the body of an answer frame.
    #[must_use]
    pub const fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// The text that answers `command`, if it is there.
    #[must_use]
    pub fn text(body: &'a [u8], command: &[u8]) -> Option<&'a [u8]> {
        Answers::new(body).find(|answer| answer.command == command).and_then(|answer| answer.text)
    }
}

impl<'a> Iterator for Answers<'a> {
    type Item = Answer<'a>;

    fn next(&mut self) -> Option<Answer<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let line = match self.rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                line
            }
            None => std::mem::take(&mut self.rest),
        };
        Some(match line.iter().position(|byte| *byte == b'\t') {
            Some(tab) => Answer { command: &line[..tab], text: Some(&line[tab + 1..]) },
            None => Answer { command: line, text: None },
        })
    }
}

/// Writes an answer frame, line by line.
#[derive(Debug)]
pub struct AnswerWriter<'b> {
    out: &'b mut Vec<u8>,
    start: usize,
}

impl<'b> AnswerWriter<'b> {
    /// Starts the frame.
    pub fn begin(out: &'b mut Vec<u8>) -> Self {
        let start = begin_frame(out, FrameType::Info);
        Self { out, start }
    }

    /// Appends a line. The text must not hold line ends; the command comes from [`Lines`], so it cannot.
    pub fn answer(&mut self, command: &[u8], text: &[u8]) {
        self.answer_with(command, |out| out.extend_from_slice(text));
    }

    /// Appends a line whose text `write` appends.
    pub fn answer_with(&mut self, command: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend_from_slice(command);
        self.out.push(b'\t');
        write(self.out);
        self.out.push(b'\n');
    }

    /// Closes the frame. Fails if it is larger than a frame may be.
    pub fn finish(self) -> WireResult<()> {
        end_frame(self.out, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_rules_for_lines() {
        let lines = |body: &'static [u8]| Lines::new(body).collect::<Vec<_>>();
        assert_eq!(lines(b"build\nnode\n"), [b"build", &b"node"[..]]);
        assert_eq!(lines(b"build\n\nno"), [b"build", &b""[..]]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn commands_and_parameters() {
        let command = Command::parse(b"sindex-create:namespace=test;set=g;indexname=i");
        assert_eq!((command.name, command.separator), (&b"sindex-create"[..], Some(b':')));
        assert_eq!(command.parameter(b"set"), Some(&b"g"[..]));
        assert_eq!(command.parameter(b"bin"), None);
        assert_eq!(Command::parse(b"namespace/test").parameters, b"test");
        assert_eq!(Command::parse(b"build").separator, None);
    }

    #[test]
    fn errors_are_told_from_texts() {
        let error = |text: &'static [u8]| Answer { command: b"x", text: Some(text) }.error();
        assert_eq!(error(b"ERROR:4:bad parameter"), Some((Some(4), &b"bad parameter"[..])));
        assert_eq!(error(b"ERROR::unrecognized"), Some((None, &b":unrecognized"[..])));
        assert_eq!(error(b"error:4"), Some((Some(4), &b""[..])));
        assert_eq!(error(b"FAIL:201:no index"), Some((Some(201), &b"no index"[..])));
        assert_eq!(error(b"ok"), None);
        assert_eq!(error(b"error_rate=1"), None);
        assert_eq!(error(b"ERROR:999:x"), Some((None, &b"999:x"[..])));
    }

    #[test]
    fn requests_and_answers_are_read_back() {
        let mut out = vec![];
        encode_request(&mut out, [&b"build"[..], b"node"]).unwrap();
        assert_eq!(&out[8..], b"build\nnode\n");
        assert!(encode_request(&mut out, [&b"a\nb"[..]]).is_err());
        assert_eq!(out.len(), 8 + 11);

        let mut out = vec![];
        let mut writer = AnswerWriter::begin(&mut out);
        writer.answer(b"build", b"8.1.2.0");
        writer.answer(b"node", b"A1");
        writer.finish().unwrap();
        assert_eq!(Answers::text(&out[8..], b"node"), Some(&b"A1"[..]));
        assert_eq!(Answers::new(b"half").next(), Some(Answer { command: b"half", text: None }));
    }
}
