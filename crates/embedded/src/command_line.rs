//! The parts of an info command line and its `name=value` parameters, with the server's error texts.

/// An error answer.
pub(crate) fn error(code: u8, text: &str) -> String {
    format!("ERROR:{code}:{text}")
}

/// An info command line, split: `name`, then `:parameters` or `/path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandLine<'a> {
    /// The command, up to the first `:`, `/` or `;`.
    pub(crate) name: &'a str,
    /// What stands behind a `:`, empty if there is none.
    parameters: &'a str,
    /// What stands behind a `/`, empty if there is none.
    path: &'a str,
}

/// Why a parameter cannot be used. Its text is the end of an `ERROR:<code>:<text>` answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterError {
    /// The parameter is not there.
    Missing,
    /// `name=` without a value.
    Empty,
    /// More bytes than the server has room for.
    TooLong,
}

impl ParameterError {
    /// The server's text, as in `ERROR:4:missing 'set' value`.
    pub(crate) fn text(self, name: &str) -> String {
        match self {
            Self::Missing => format!("missing '{name}'"),
            Self::Empty => format!("missing '{name}' value"),
            Self::TooLong => format!("'{name}' value too long"),
        }
    }

    /// The whole answer with the code for bad parameters.
    pub(crate) fn answer(self, name: &str) -> String {
        error(4, &self.text(name))
    }
}

impl<'a> CommandLine<'a> {
    /// Splits a line (without its line end).
    pub(crate) fn parse(line: &'a str) -> Self {
        let end = line.find([':', '/', ';']).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let (parameters, path) = match rest.as_bytes().first() {
            Some(b':') => (&rest[1..], ""),
            Some(b'/') => ("", &rest[1..]),
            _ => ("", ""),
        };
        Self { name, parameters, path }
    }

    /// The `name=value` pairs in order; a part without `=` is a name with an empty value.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.parameters
            .split(';')
            .filter(|part| !part.is_empty())
            .map(|part| part.split_once('=').unwrap_or((part, "")))
    }

    /// The parameter's value; an empty one counts as missing its value.
    pub(crate) fn get(&self, name: &str) -> Result<&'a str, ParameterError> {
        match self.pairs().find(|(key, _)| *key == name) {
            None => Err(ParameterError::Missing),
            Some((_, "")) => Err(ParameterError::Empty),
            Some((_, value)) => Ok(value),
        }
    }

    /// The parameter's value of at most `max` bytes.
    pub(crate) fn get_bounded(&self, name: &str, max: usize) -> Result<&'a str, ParameterError> {
        let value = self.get(name)?;
        if value.len() > max { Err(ParameterError::TooLong) } else { Ok(value) }
    }

    /// The value, or nothing if the parameter is not there; an empty or too long one is still an error.
    pub(crate) fn optional(&self, name: &str, max: usize) -> Result<Option<&'a str>, ParameterError> {
        match self.get_bounded(name, max) {
            Ok(value) => Ok(Some(value)),
            Err(ParameterError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The namespace, under its new or its old name (`ns`, or `id` where the server still takes it).
    pub(crate) fn namespace(&self) -> Result<&'a str, ParameterError> {
        match self.get("namespace") {
            Err(ParameterError::Missing) => match self.get("ns") {
                Err(ParameterError::Missing) => self.get("id"),
                found => found,
            },
            found => found,
        }
    }

    /// The parts of a `/path`.
    pub(crate) fn path(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.path.split('/').filter(|part| !part.is_empty())
    }
}

/// A number with the unit letters of the server's time values: `100`, `2D`, `12H`, `5M`, `30S`.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let unit = match text.as_bytes().last()? {
        b's' | b'S' => 1,
        b'm' | b'M' => 60,
        b'h' | b'H' => 3600,
        b'd' | b'D' => 86_400,
        _ => return text.parse().ok(),
    };
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_as_the_server_splits_them() {
        let line = CommandLine::parse("sets/test/infoset");
        assert_eq!((line.name, line.path().collect::<Vec<_>>()), ("sets", vec!["test", "infoset"]));
        let line = CommandLine::parse("truncate:namespace=test;set=a;lut=");
        assert_eq!(line.name, "truncate");
        assert_eq!(line.namespace(), Ok("test"));
        assert_eq!(line.get_bounded("set", 0), Err(ParameterError::TooLong));
        assert_eq!(line.get("lut"), Err(ParameterError::Empty));
        assert_eq!(line.optional("nope", 3), Ok(None));
        for odd in ["", "build;", "build:", ":", "/", "a/b:c"] {
            CommandLine::parse(odd).pairs().count();
        }
        assert_eq!(CommandLine::parse("build;").name, "build");
        assert_eq!(CommandLine::parse(" build").name, " build");
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("2D"), Some(172_800));
        assert_eq!(seconds("100"), Some(100));
        assert_eq!(seconds("x"), None);
        assert_eq!(seconds(""), None);
        assert_eq!(seconds("99999999999999999999D"), None);
    }
}
