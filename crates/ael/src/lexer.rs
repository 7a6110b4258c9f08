//! Tokens.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::constant::Param;
use crate::error::{AelError, AelErrorKind, Span};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'a> {
    /// The magnitude of an integer: its sign is an operator.
    Int(u64),
    Float(f64),
    Str(Cow<'a, str>),
    Blob(Vec<u8>),
    Ident(&'a str),
    /// `${name}`.
    Variable(&'a str),
    /// A parameter, by its index.
    Param(usize),
    /// `$`: the record.
    Record,
    /// `@`: what a path is at.
    Item,
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// Describes it for a message that says what was found.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Int(_) | Self::Float(_) => "a number".to_owned(),
            Self::Str(_) => "a string".to_owned(),
            Self::Blob(_) => "bytes".to_owned(),
            Self::Ident(name) => format!("\"{name}\""),
            Self::Variable(name) => format!("\"${{{name}}}\""),
            Self::Param(_) => "a parameter".to_owned(),
            Self::Record => "\"$\"".to_owned(),
            Self::Item => "\"@\"".to_owned(),
            Self::Symbol(symbol) => format!("\"{symbol}\""),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// The symbol that the bytes start with, the longest one.
fn symbol(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [b'>', b'>', b'>', ..] => ">>>",
        [b'>', b'>', ..] => ">>",
        [b'>', b'=', ..] => ">=",
        [b'>', ..] => ">",
        [b'<', b'<', ..] => "<<",
        [b'<', b'=', ..] => "<=",
        [b'<', ..] => "<",
        [b'=', b'=', ..] => "==",
        [b'=', b'>', ..] => "=>",
        [b'=', b'~', ..] => "=~",
        [b'=', ..] => "=",
        [b'!', b'=', ..] => "!=",
        [b'*', b'*', ..] => "**",
        [b'*', ..] => "*",
        [b'.', b'.', ..] => "..",
        [b'.', ..] => ".",
        [b'+', ..] => "+",
        [b'-', ..] => "-",
        [b'/', ..] => "/",
        [b'%', ..] => "%",
        [b'&', ..] => "&",
        [b'|', ..] => "|",
        [b'^', ..] => "^",
        [b'~', ..] => "~",
        [b'(', ..] => "(",
        [b')', ..] => ")",
        [b'[', ..] => "[",
        [b']', ..] => "]",
        [b'{', ..] => "{",
        [b'}', ..] => "}",
        [b',', ..] => ",",
        [b':', ..] => ":",
        _ => return None,
    })
}

/// How parameters stand in the text. One text has one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholders {
    /// `?0` or `$1`.
    Numbered,
    /// `%s`, one after the other.
    Printf,
}

pub(crate) struct Lexer<'a, 'p> {
    pub(crate) text: &'a str,
    /// Where the next token starts, or white space before it.
    pub(crate) at: usize,
    pub(crate) params: &'p [Param],
    placeholders: Option<Placeholders>,
    /// Which parameters have been used.
    pub(crate) used: Vec<bool>,
    next_printf: usize,
}

impl<'a, 'p> Lexer<'a, 'p> {
    pub(crate) fn new(text: &'a str, params: &'p [Param]) -> Self {
        // Inside strings `%s` is a placeholder only in a text that has no numbered ones.
        let numbered = text.as_bytes().windows(2).any(|pair| pair[0] == b'?' && pair[1].is_ascii_digit());
        let placeholders = (!params.is_empty() && !numbered && text.contains('%')).then_some(Placeholders::Printf);
        Self { text, at: 0, params, placeholders, used: vec![false; params.len()], next_printf: 0 }
    }

    pub(crate) fn error(&self, kind: AelErrorKind, span: Span, message: impl Into<String>) -> AelError {
        AelError::new(kind, self.text, span, message)
    }

    fn syntax(&self, start: usize, message: impl Into<String>) -> AelError {
        self.error(AelErrorKind::Syntax, Span::new(start, self.at.max(start + 1)), message)
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and comments.
    pub(crate) fn skip_space(&mut self) -> Result<(), AelError> {
        let bytes = self.text.as_bytes();
        loop {
            while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            if !matches!(bytes[self.at..], [b'/', b'*', ..]) {
                return Ok(());
            }
            let start = self.at;
            let Some(end) = self.rest()[2..].find("*/") else {
                self.at = start + 2;
                return Err(self.syntax(start, "the comment has no end: \"*/\" is missing"));
            };
            self.at += end + 4;
        }
    }

    /// Takes a symbol that comes next, behind white space; tells whether it did.
    pub(crate) fn eat(&mut self, symbol: &str) -> Result<bool, AelError> {
        self.skip_space()?;
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        Ok(found)
    }

    /// Takes the letters, digits and underscores that come next; other characters if `also` has them.
    pub(crate) fn word(&mut self, also: &[u8]) -> &'a str {
        let rest = self.rest();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || also.contains(byte);
        let len = rest.bytes().take_while(is_word).count();
        self.at += len;
        &rest[..len]
    }

    /// Reads the next token, and where it stands.
    pub(crate) fn token(&mut self) -> Result<(Token<'a>, Span), AelError> {
        self.skip_space()?;
        let start = self.at;
        let token = self.read(start)?;
        Ok((token, Span::new(start, self.at)))
    }

    fn read(&mut self, start: usize) -> Result<Token<'a>, AelError> {
        let Some(first) = self.byte() else { return Ok(Token::End) };
        let second = self.text.as_bytes().get(start + 1).copied();
        match first {
            b'\'' | b'"' => return self.string(),
            b'0'..=b'9' => return self.number(),
            b'.' if second.is_some_and(|byte| byte.is_ascii_digit()) => return self.number(),
            b'$' => return self.record(start),
            b'@' => {
                self.at += 1;
                return Ok(Token::Item);
            }
            b'?' => {
                self.at += 1;
                let digits = self.word(&[]);
                return self.numbered(start, digits, 0);
            }
            b'%' => {
                if let Some(token) = self.printf(start)? {
                    return Ok(token);
                }
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                let word = self.word(&[]);
                return match (word, self.byte()) {
                    ("x" | "X", Some(b'\'' | b'"')) => self.hex(start),
                    ("b64" | "B64", Some(b'\'' | b'"')) => self.base64(start),
                    _ => Ok(Token::Ident(word)),
                };
            }
            _ => {}
        }
        if let Some(symbol) = symbol(&self.text.as_bytes()[start..]) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        let found = self.rest().chars().next().unwrap_or_default();
        self.at += found.len_utf8();
        let hint = if found == '!' { " (not equal is \"!=\", and not is \"not(..)\")" } else { "" };
        Err(self.syntax(start, format!("\"{found}\" does not belong here{hint}")))
    }

    fn record(&mut self, start: usize) -> Result<Token<'a>, AelError> {
        self.at += 1;
        match self.byte() {
            Some(b'{') => {
                self.at += 1;
                let name = self.word(&[]);
                if name.is_empty() || !self.eat("}")? {
                    return Err(self.syntax(start, "expected the name of a variable, as in \"${total}\""));
                }
                Ok(Token::Variable(name))
            }
            Some(b'0'..=b'9') => {
                let digits = self.word(&[]);
                self.numbered(start, digits, 1)
            }
            _ => Ok(Token::Record),
        }
    }

    /// A placeholder with a number; the first is `first`.
    fn numbered(&mut self, start: usize, digits: &str, first: usize) -> Result<Token<'a>, AelError> {
        let index = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(first));
        let Some(index) = index else {
            return Err(self.syntax(start, format!("expected the number of a parameter, from {first} on")));
        };
        self.param(start, index, Placeholders::Numbered)
    }

    fn param(&mut self, start: usize, index: usize, way: Placeholders) -> Result<Token<'a>, AelError> {
        let span = Span::new(start, self.at);
        if self.placeholders.is_some_and(|other| other != way) {
            let text = "the text mixes numbered placeholders (\"?0\") with \"%s\": use one kind";
            return Err(self.error(AelErrorKind::Parameter, span, text));
        }
        self.placeholders = Some(way);
        let given = self.params.len();
        let Some(used) = self.used.get_mut(index) else {
            let text =
                format!("there is no parameter for this placeholder: {given} given, this is number {index}, from 0");
            return Err(self.error(AelErrorKind::Parameter, span, text));
        };
        *used = true;
        Ok(Token::Param(index))
    }

    /// `%s` and its like; `%` alone is an operator, and so is `%%` where there are parameters.
    fn printf(&mut self, start: usize) -> Result<Option<Token<'a>>, AelError> {
        let bytes = self.text.as_bytes();
        match bytes.get(start + 1) {
            Some(b'%') if !self.params.is_empty() => {
                self.at += 2;
                Ok(Some(Token::Symbol("%")))
            }
            Some(b's' | b'd' | b'i' | b'f' | b'g' | b'r')
                if !bytes.get(start + 2).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') =>
            {
                self.at += 2;
                let index = self.next_printf;
                self.next_printf += 1;
                self.param(start, index, Placeholders::Printf).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn number(&mut self) -> Result<Token<'a>, AelError> {
        let start = self.at;
        let word = self.word(&[]);
        let based = match word.as_bytes() {
            [b'0', b'x' | b'X', digits @ ..] => Some((16, digits.len())),
            [b'0', b'b' | b'B', digits @ ..] => Some((2, digits.len())),
            _ => None,
        };
        if let Some((radix, len)) = based {
            let value = u64::from_str_radix(&word[word.len() - len..], radix);
            return value.map(Token::Int).map_err(|_| self.syntax(start, "not a number of 64 bits"));
        }
        let fraction =
            self.byte() == Some(b'.') && { self.text.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit) };
        if fraction {
            self.at += 1;
            self.word(&[]);
            let digits = &self.text[start..self.at];
            if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                return digits.parse().map(Token::Float).map_err(|_| self.syntax(start, "not a number"));
            }
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            let value = word.parse().map(Token::Int);
            return value.map_err(|_| self.syntax(start, "the number does not fit into 64 bits"));
        }
        Err(self.syntax(start, "not a number: digits, with one point inside (10.0), or 0x.. or 0b.."))
    }

    /// The text of a string in quotes, which comes next, and whether it has escapes.
    fn quoted(&mut self) -> Result<(&'a str, bool), AelError> {
        let start = self.at;
        let quote = self.text.as_bytes()[start];
        let mut escaped = false;
        let mut at = start + 1;
        loop {
            match self.text.as_bytes().get(at) {
                None => {
                    return Err(self.syntax(start, "the string has no end: its closing quote is missing"));
                }
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(byte) if *byte == quote => break,
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok((&self.text[start + 1..at], escaped))
    }

    fn string(&mut self) -> Result<Token<'a>, AelError> {
        self.text().map(Token::Str)
    }

    /// A string in quotes, which comes next.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, AelError> {
        let start = self.at;
        let (raw, escaped) = self.quoted()?;
        let text = if escaped { Cow::Owned(self.unescape(start + 1, raw)?) } else { Cow::Borrowed(raw) };
        if self.placeholders == Some(Placeholders::Printf) && text.contains('%') {
            return self.fill(start, &text).map(Cow::Owned);
        }
        Ok(text)
    }

    fn unescape(&self, start: usize, raw: &str) -> Result<String, AelError> {
        let wrong = |at: usize, len: usize, text: &str| {
            self.error(AelErrorKind::Syntax, Span::new(start + at, start + at + len), text)
        };
        let mut text = Vec::with_capacity(raw.len());
        let mut chars = raw.char_indices();
        while let Some((at, c)) = chars.next() {
            if c != '\\' {
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            match chars.next() {
                Some((_, 'n')) => text.push(b'\n'),
                Some((_, 't')) => text.push(b'\t'),
                Some((_, 'r')) => text.push(b'\r'),
                Some((_, '0')) => text.push(0),
                Some((_, c @ ('\\' | '"' | '\''))) => text.push(c as u8),
                Some((_, 'x')) => {
                    let mut digit = || chars.next().and_then(|(_, c)| c.to_digit(16));
                    match (digit(), digit()) {
                        (Some(high), Some(low)) => text.push((high << 4 | low) as u8),
                        _ => return Err(wrong(at, 2, "two hexadecimal digits follow \\x, as in \\x41")),
                    }
                }
                _ => {
                    let text =
                        "no escape: \\\\, \\n, \\t, \\r, \\0, \\x41, \\\" and \\' are; a backslash itself is \\\\";
                    return Err(wrong(at, 2, text));
                }
            }
        }
        String::from_utf8(text)
            .map_err(|_| wrong(0, raw.len(), "the bytes of the string are not UTF-8: bytes are x'00ff'"))
    }

    /// Puts parameters into a string: into its value, so that nothing in them can end the string.
    fn fill(&mut self, start: usize, text: &str) -> Result<String, AelError> {
        let mut filled = String::with_capacity(text.len() + 16);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                filled.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => filled.push('%'),
                Some('s' | 'd' | 'i' | 'f' | 'g' | 'r') => {
                    let index = self.next_printf;
                    self.next_printf += 1;
                    self.param(start, index, Placeholders::Printf)?;
                    let Some(value) = self.params[index].text() else {
                        let text = format!("parameter {index} cannot stand in a string: remove the quotes around it");
                        return Err(self.error(AelErrorKind::Parameter, Span::new(start, self.at), text));
                    };
                    filled.push_str(&value);
                }
                _ => {
                    let text = "a \"%\" in a string is written \"%%\" where parameters are given";
                    return Err(self.error(AelErrorKind::Parameter, Span::new(start, self.at), text));
                }
            }
        }
        Ok(filled)
    }

    fn hex(&mut self, start: usize) -> Result<Token<'a>, AelError> {
        let (raw, _) = self.quoted()?;
        let digits: Option<Vec<u8>> =
            raw.bytes().map(|byte| char::from(byte).to_digit(16).map(|digit| digit as u8)).collect();
        match digits {
            Some(digits) if digits.len() % 2 == 0 => {
                Ok(Token::Blob(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
            }
            _ => Err(self.syntax(start, "bytes are an even number of hexadecimal digits: x'00ff'")),
        }
    }

    fn base64(&mut self, start: usize) -> Result<Token<'a>, AelError> {
        let (raw, _) = self.quoted()?;
        STANDARD.decode(raw).map(Token::Blob).map_err(|error| self.syntax(start, format!("not base64: {error}")))
    }

    /// The pattern and the flags of a regular expression, whose first slash comes next.
    pub(crate) fn regex(&mut self) -> Result<(String, &'a str, Span), AelError> {
        self.skip_space()?;
        let start = self.at;
        if self.byte() != Some(b'/') {
            return Err(self.syntax(start, "expected a regular expression between slashes, as in /^a/i"));
        }
        let mut pattern = String::new();
        let mut chars = self.rest()[1..].char_indices();
        let end = loop {
            match chars.next() {
                None | Some((_, '\n')) => {
                    return Err(self.syntax(start, "the regular expression has no end: its closing \"/\" is missing"));
                }
                Some((at, '/')) => break at,
                Some((_, '\\')) => match chars.next() {
                    Some((_, '/')) => pattern.push('/'),
                    Some((_, c)) => pattern.extend(['\\', c]),
                    None => {}
                },
                Some((_, c)) => pattern.push(c),
            }
        };
        self.at = start + 1 + end + 1;
        let flags = self.word(&[]);
        Ok((pattern, flags, Span::new(start, self.at)))
    }
}
