//! POSIX regular expressions, basic and extended, in the syntax of the `regex` crate.
//!
//! What GNU's library adds is known too: `\w`, `\s`, `\b` and their opposites, `\<`, `\>`, and in basic expressions `\|`,
//! `\+` and `\?`. Back-references are not: expressions with them are refused.

use std::fmt::Write;

/// Translates a pattern; `None` if it is malformed. With `newline`, `.` and negated classes do not match a line end.
pub(super) fn translate(pattern: &[u8], extended: bool, newline: bool) -> Option<String> {
    let mut translator = Translator {
        rest: pattern,
        extended,
        newline,
        out: String::with_capacity(pattern.len() + 8),
        atom: None,
        repeated: false,
        open: Vec::new(),
    };
    while let Some(token) = translator.token() {
        translator.translate(token)?;
    }
    translator.open.is_empty().then_some(translator.out)
}

/// What the next signs of a pattern mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Literal(u8),
    /// `\` and a sign that is not special.
    Escaped(u8),
    Any,
    Class,
    Open,
    Close,
    Or,
    Start,
    End,
    Repeat(u8),
    Interval,
}

struct Translator<'a> {
    rest: &'a [u8],
    extended: bool,
    newline: bool,
    out: String,
    /// Where the atom begins that a repetition would repeat.
    atom: Option<usize>,
    /// Whether that atom has a repetition already.
    repeated: bool,
    /// Where open groups begin.
    open: Vec<usize>,
}

impl Translator<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn token(&mut self) -> Option<Token> {
        let sign = self.next()?;
        let escaped = sign == b'\\';
        let sign = if escaped {
            match self.next() {
                Some(sign) => sign,
                // Nothing is escaped: refused when it is translated.
                None => return Some(Token::Escaped(b'\\')),
            }
        } else {
            sign
        };
        // In basic expressions these are special when they are escaped.
        let special = escaped != self.extended;
        Some(match sign {
            b'(' if special => Token::Open,
            // In an extended expression, one that closes nothing is itself.
            b')' if special && !(self.extended && self.open.is_empty()) => Token::Close,
            b'|' if special => Token::Or,
            b'+' | b'?' if special => Token::Repeat(sign),
            b'{' if special => Token::Interval,
            _ if escaped => Token::Escaped(sign),
            b'*' => Token::Repeat(sign),
            b'.' => Token::Any,
            b'[' => Token::Class,
            b'^' if self.extended || self.is_start() => Token::Start,
            b'$' if self.extended || self.is_end() => Token::End,
            _ => Token::Literal(sign),
        })
    }

    /// Whether an expression begins here: of the pattern, a group or an alternative.
    fn is_start(&self) -> bool {
        self.out.is_empty() || self.out.ends_with("(?:") || (self.atom.is_none() && self.out.ends_with('|'))
    }

    /// Whether a basic expression ends here.
    fn is_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(b"\\)") || self.rest.starts_with(b"\\|")
    }

    fn begin(&mut self) {
        self.atom = Some(self.out.len());
        self.repeated = false;
    }

    fn assertion(&mut self, text: &str) {
        self.out.push_str(text);
        self.atom = None;
    }

    fn translate(&mut self, token: Token) -> Option<()> {
        match token {
            Token::Literal(sign) => {
                self.begin();
                self.literal(sign);
            }
            Token::Escaped(sign) => self.escaped(sign)?,
            Token::Any => {
                self.begin();
                self.out.push_str(if self.newline { "[^\\n]" } else { "(?s:.)" });
            }
            Token::Class => {
                self.begin();
                self.class()?;
            }
            Token::Open => {
                self.open.push(self.out.len());
                self.assertion("(?:");
            }
            Token::Close => {
                let start = self.open.pop()?;
                self.out.push(')');
                (self.atom, self.repeated) = (Some(start), false);
            }
            Token::Or => self.assertion("|"),
            Token::Start => self.assertion("^"),
            Token::End => self.assertion("$"),
            Token::Repeat(sign) => match self.atom {
                Some(_) => self.repeat(&char::from(sign).to_string()),
                None if self.extended => return None,
                None => {
                    self.begin();
                    self.literal(sign);
                }
            },
            Token::Interval => {
                let interval = self.interval()?;
                self.atom?;
                self.repeat(&interval);
            }
        }
        Some(())
    }

    fn literal(&mut self, sign: u8) {
        if sign.is_ascii_alphanumeric() {
            self.out.push(char::from(sign));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(self.out, "\\x{sign:02x}");
        }
    }

    fn escaped(&mut self, sign: u8) -> Option<()> {
        match sign {
            b'1'..=b'9' => return None,
            b'\\' if self.rest.is_empty() && self.out.is_empty() => return None,
            b'w' | b'W' | b's' | b'S' => {
                self.begin();
                self.out.extend(['\\', char::from(sign)]);
            }
            b'b' => self.assertion("\\b"),
            b'B' => self.assertion("\\B"),
            b'<' => self.assertion("\\b{start}"),
            b'>' => self.assertion("\\b{end}"),
            b'`' => self.assertion("\\A"),
            b'\'' => self.assertion("\\z"),
            _ => {
                self.begin();
                self.literal(sign);
            }
        }
        Some(())
    }

    fn repeat(&mut self, how: &str) {
        let Some(start) = self.atom else { return };
        if self.repeated {
            // A second sign would mean "as few as possible".
            self.out.insert_str(start, "(?:");
            self.out.push(')');
        }
        self.out.push_str(how);
        self.repeated = true;
    }

    /// The rest of an interval, up to its end.
    fn interval(&mut self) -> Option<String> {
        let end: &[u8] = if self.extended { b"}" } else { b"\\}" };
        let len = self.rest.windows(end.len()).position(|window| window == end)?;
        let text = std::str::from_utf8(&self.rest[..len]).ok()?;
        self.rest = &self.rest[len + end.len()..];
        let number = |text: &str| text.parse::<u16>().ok();
        match text.split_once(',') {
            None => number(text).map(|n| format!("{{{n}}}")),
            Some((from, "")) => number(from).map(|from| format!("{{{from},}}")),
            Some(("", to)) => number(to).map(|to| format!("{{0,{to}}}")),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                (from <= to).then(|| format!("{{{from},{to}}}"))
            }
        }
    }

    /// The rest of a class, up to its closing bracket.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.first() == Some(&b'^') {
            self.next();
            self.out.push_str(if self.newline { "^\\n" } else { "^" });
        }
        let mut first = true;
        loop {
            let sign = self.next()?;
            if sign == b']' && !first {
                self.out.push(']');
                return Some(());
            }
            first = false;
            match (sign, self.rest.first()) {
                (b'[', Some(b':')) => {
                    let len = self.rest.windows(2).position(|window| window == b":]")?;
                    self.out.push('[');
                    self.out.push_str(std::str::from_utf8(&self.rest[..len + 2]).ok()?);
                    self.rest = &self.rest[len + 2..];
                }
                (b'[', Some(b'.' | b'=')) => return None,
                _ => {
                    self.literal(sign);
                    if let [b'-', to, ..] = *self.rest
                        && to != b']'
                    {
                        self.rest = &self.rest[2..];
                        self.out.push('-');
                        self.literal(to);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::bytes::RegexBuilder;

    fn matches(pattern: &str, extended: bool, text: &str) -> Option<bool> {
        let pattern = translate(pattern.as_bytes(), extended, false)?;
        Some(RegexBuilder::new(&pattern).unicode(false).build().ok()?.is_match(text.as_bytes()))
    }

    /// As the server answers.
    #[test]
    fn patterns_mean_what_posix_says() {
        for (pattern, extended, text, expected) in [
            ("l\\{2\\}", false, "hello", Some(true)),
            ("a+(b)", false, "a+(b)", Some(true)),
            ("[]+(]x", false, "]x", Some(true)),
            ("\\(a\\|b\\)\\.c", false, "b.c", Some(true)),
            ("*a", false, "*a", Some(true)),
            ("\\(*a\\)", false, "*a", Some(true)),
            ("a^b", false, "a^b", Some(true)),
            ("a$b", false, "a$b", Some(true)),
            ("\\(^a\\)", false, "ba", Some(false)),
            ("x\\?y", false, "y", Some(true)),
            ("\\d", true, "5", Some(false)),
            ("a\\n", true, "an", Some(true)),
            ("[a\\]", true, "\\", Some(true)),
            ("a{,2}$", true, "aa", Some(true)),
            (")", true, ")", Some(true)),
            ("a+?", true, "", Some(true)),
            ("^(he|xx)l{2}o$", true, "hello", Some(true)),
            ("[[:digit:]x]", true, "5", Some(true)),
            ("[a-c-]", true, "-", Some(true)),
            ("(?i)A", true, "a", None),
            ("+a", true, "aa", None),
            ("a{1,0}", true, "a", None),
            ("[b-a]", true, "a", None),
            ("(a)\\1", true, "aa", None),
            ("(", true, "(", None),
            ("[", false, "[", None),
        ] {
            assert_eq!(matches(pattern, extended, text), expected, "{pattern}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_patterns_too() {
        let pattern = translate(b"[\x80-\xff]\xe9", true, false).unwrap();
        assert!(RegexBuilder::new(&pattern).unicode(false).build().unwrap().is_match(b"\x90\xe9"));
    }
}
