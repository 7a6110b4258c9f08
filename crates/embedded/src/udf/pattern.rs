//! Lua's patterns, with an end: Lua's own functions can take years for some of them, and nothing can interrupt those.
//!
//! The rules are those of the Lua 5.4 reference manual (6.4.1), the texts of errors those that Lua gives.

use super::lua::{TOO_LATE, is_late};
use mlua::{IntoLua, Lua, LuaString, MultiValue, Table, Value};

/// Most captures, as in Lua.
const MAX_CAPTURES: usize = 32;
/// How deep a match may go into itself, as in Lua.
const MAX_DEPTH: usize = 200;
/// Steps between two looks at the clock.
const STEPS: u32 = 10_000;

/// Why there is no answer.
#[derive(Debug, PartialEq)]
enum Stop {
    /// The pattern is wrong.
    Pattern(String),
    /// The script's time is up.
    Late,
}

impl From<&str> for Stop {
    fn from(text: &str) -> Self {
        Self::Pattern(text.to_owned())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    /// Not closed yet.
    Open,
    /// It is a place, no text.
    Position,
    Bytes(usize),
}

/// One attempt, and what it has captured.
struct Matcher<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    captures: Vec<(usize, Length)>,
    depth: usize,
    steps: u32,
}

/// A match: from where to where in the text, and its captures.
#[derive(Debug, PartialEq)]
struct Found {
    begin: usize,
    end: usize,
    captures: Vec<(usize, Length)>,
}

impl<'a> Matcher<'a> {
    fn new(text: &'a [u8], pattern: &'a [u8]) -> Self {
        Self { text, pattern, captures: Vec::new(), depth: 0, steps: 0 }
    }

    /// The first match from a place on (or only there); one that ends at `not_at` does not count.
    fn search(&mut self, from: usize, anchored: bool, not_at: Option<usize>) -> Result<Option<Found>, Stop> {
        for begin in from..=self.text.len() {
            self.captures.clear();
            if let Some(end) = self.matches(begin, 0)?.filter(|end| Some(*end) != not_at) {
                if self.captures.iter().any(|(_, length)| *length == Length::Open) {
                    return Err("unfinished capture".into());
                }
                return Ok(Some(Found { begin, end, captures: std::mem::take(&mut self.captures) }));
            }
            if anchored {
                break;
            }
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS) && is_late() { Err(Stop::Late) } else { Ok(()) }
    }

    /// Where a match of the pattern from `p` on ends that begins at `s`.
    fn matches(&mut self, s: usize, p: usize) -> Result<Option<usize>, Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("pattern too complex".into());
        }
        let found = self.run(s, p);
        self.depth -= 1;
        found
    }

    fn run(&mut self, mut s: usize, mut p: usize) -> Result<Option<usize>, Stop> {
        loop {
            self.step()?;
            let Some(first) = self.pattern.get(p) else { return Ok(Some(s)) };
            match (first, self.pattern.get(p + 1)) {
                (b'(', Some(b')')) => return self.open(s, p + 2, Length::Position),
                (b'(', _) => return self.open(s, p + 1, Length::Open),
                (b')', _) => return self.close(s, p + 1),
                (b'$', None) => return Ok((s == self.text.len()).then_some(s)),
                (b'%', Some(b'b')) => {
                    let Some(end) = self.balance(s, p + 2)? else { return Ok(None) };
                    (s, p) = (end, p + 4);
                    continue;
                }
                (b'%', Some(b'f')) => {
                    let set = p + 2;
                    if self.pattern.get(set) != Some(&b'[') {
                        return Err("missing '[' after '%f' in pattern".into());
                    }
                    let end = self.class_end(set)?;
                    let before = if s == 0 { 0 } else { self.text[s - 1] };
                    let here = self.text.get(s).copied().unwrap_or(0);
                    if self.in_set(before, set, end - 1) || !self.in_set(here, set, end - 1) {
                        return Ok(None);
                    }
                    p = end;
                    continue;
                }
                (b'%', Some(digit @ b'0'..=b'9')) => {
                    let Some(again) = self.captured(*digit)? else { return Ok(None) };
                    if !self.text[s..].starts_with(again) {
                        return Ok(None);
                    }
                    (s, p) = (s + again.len(), p + 2);
                    continue;
                }
                _ => {}
            }
            let end = self.class_end(p)?;
            let one = self.one(s, p, end);
            match self.pattern.get(end) {
                Some(b'?') => {
                    if one && let Some(found) = self.matches(s + 1, end + 1)? {
                        return Ok(Some(found));
                    }
                    p = end + 1;
                }
                Some(b'+') => return if one { self.most(s + 1, p, end) } else { Ok(None) },
                Some(b'*') => return self.most(s, p, end),
                Some(b'-') => return self.fewest(s, p, end),
                _ if !one => return Ok(None),
                _ => (s, p) = (s + 1, end),
            }
        }
    }

    /// As many as there are, then fewer.
    fn most(&mut self, s: usize, p: usize, end: usize) -> Result<Option<usize>, Stop> {
        let mut n = 0;
        while self.one(s + n, p, end) {
            self.step()?;
            n += 1;
        }
        loop {
            if let Some(found) = self.matches(s + n, end + 1)? {
                return Ok(Some(found));
            }
            if n == 0 {
                return Ok(None);
            }
            n -= 1;
        }
    }

    /// As few as will do.
    fn fewest(&mut self, mut s: usize, p: usize, end: usize) -> Result<Option<usize>, Stop> {
        loop {
            if let Some(found) = self.matches(s, end + 1)? {
                return Ok(Some(found));
            }
            if !self.one(s, p, end) {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open(&mut self, s: usize, p: usize, length: Length) -> Result<Option<usize>, Stop> {
        if self.captures.len() >= MAX_CAPTURES {
            return Err("too many captures".into());
        }
        self.captures.push((s, length));
        let found = self.matches(s, p)?;
        if found.is_none() {
            self.captures.pop();
        }
        Ok(found)
    }

    fn close(&mut self, s: usize, p: usize) -> Result<Option<usize>, Stop> {
        let open = self.captures.iter().rposition(|(_, length)| *length == Length::Open);
        let at = open.ok_or("invalid pattern capture")?;
        self.captures[at].1 = Length::Bytes(s - self.captures[at].0);
        let found = self.matches(s, p)?;
        if found.is_none() {
            self.captures[at].1 = Length::Open;
        }
        Ok(found)
    }

    /// The end of a balanced piece; its two delimiters stand in the pattern.
    fn balance(&mut self, s: usize, p: usize) -> Result<Option<usize>, Stop> {
        let (Some(open), Some(close)) = (self.pattern.get(p), self.pattern.get(p + 1)) else {
            return Err("malformed pattern (missing arguments to '%b')".into());
        };
        if self.text.get(s) != Some(open) {
            return Ok(None);
        }
        let mut level = 1;
        for at in s + 1..self.text.len() {
            self.step()?;
            if self.text[at] == *close {
                level -= 1;
                if level == 0 {
                    return Ok(Some(at + 1));
                }
            } else if self.text[at] == *open {
                level += 1;
            }
        }
        Ok(None)
    }

    /// What a closed capture has caught.
    fn captured(&self, digit: u8) -> Result<Option<&'a [u8]>, Stop> {
        let found = usize::from(digit - b'0').checked_sub(1).and_then(|at| self.captures.get(at));
        match found {
            Some((begin, Length::Bytes(len))) => Ok(Some(&self.text[*begin..begin + len])),
            // A place has no text to be met again.
            Some((_, Length::Position)) => Ok(None),
            _ => Err(Stop::Pattern(format!("invalid capture index %{}", i32::from(digit) - i32::from(b'0')))),
        }
    }

    /// Where the class of single characters that begins at `p` ends.
    fn class_end(&self, p: usize) -> Result<usize, Stop> {
        match self.pattern[p] {
            b'%' if p + 1 >= self.pattern.len() => Err("malformed pattern (ends with '%')".into()),
            b'%' => Ok(p + 2),
            b'[' => {
                let mut at = p + 1;
                if self.pattern.get(at) == Some(&b'^') {
                    at += 1;
                }
                // A bracket that comes first stands for itself.
                loop {
                    let byte = *self.pattern.get(at).ok_or("malformed pattern (missing ']')")?;
                    at += if byte == b'%' { 2 } else { 1 };
                    if self.pattern.get(at) == Some(&b']') {
                        return Ok(at + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    /// Whether the character at `s` is of the class.
    fn one(&self, s: usize, p: usize, end: usize) -> bool {
        let Some(byte) = self.text.get(s).copied() else { return false };
        match self.pattern[p] {
            b'.' => true,
            b'%' => in_class(byte, self.pattern[p + 1]),
            b'[' => self.in_set(byte, p, end - 1),
            own => own == byte,
        }
    }

    /// Whether a character is in the set between two brackets.
    fn in_set(&self, byte: u8, open: usize, close: usize) -> bool {
        let mut at = open + 1;
        let negated = self.pattern[at] == b'^';
        if negated {
            at += 1;
        }
        while at < close {
            let first = self.pattern[at];
            if first == b'%' {
                if in_class(byte, self.pattern[at + 1]) {
                    return !negated;
                }
                at += 2;
            } else if self.pattern[at + 1] == b'-' && at + 2 < close {
                if (first..=self.pattern[at + 2]).contains(&byte) {
                    return !negated;
                }
                at += 3;
            } else {
                if first == byte {
                    return !negated;
                }
                at += 1;
            }
        }
        negated
    }
}

/// Whether a character is of the class with this letter; a capital means all others, and no letter itself.
fn in_class(byte: u8, class: u8) -> bool {
    let is = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => return class == byte,
    };
    is != class.is_ascii_uppercase()
}

/// What Lua gets: nothing, or the first and last place and the captures; `false` and a text for a wrong pattern.
fn answer(lua: &Lua, text: &[u8], found: Result<Option<Found>, Stop>) -> mlua::Result<MultiValue> {
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(MultiValue::new()),
        Err(Stop::Late) => return Err(mlua::Error::RuntimeError(TOO_LATE.to_owned())),
        Err(Stop::Pattern(problem)) => {
            return Ok(MultiValue::from_vec(vec![Value::Boolean(false), problem.into_lua(lua)?]));
        }
    };
    let mut values = vec![Value::Integer(found.begin as i64 + 1), Value::Integer(found.end as i64)];
    for (begin, length) in found.captures {
        values.push(match length {
            Length::Bytes(len) => Value::String(lua.create_string(&text[begin..begin + len])?),
            _ => Value::Integer(begin as i64 + 1),
        });
    }
    Ok(MultiValue::from_vec(values))
}

/// Text, pattern, where to begin, whether only there, and where the match may not end.
type Search = (LuaString, LuaString, usize, bool, Option<usize>);

/// What `prelude.lua` makes Lua's functions of: `search(text, pattern, from, anchored, not_at)` and
/// `plain(text, part, from)`. Places count from 1.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let search = |lua: &Lua, (text, pattern, from, anchored, not_at): Search| {
        let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
        let found = Matcher::new(&text, &pattern).search(from.saturating_sub(1), anchored, not_at);
        answer(lua, &text, found)
    };
    table.set("search", lua.create_function(search)?)?;
    let plain = |lua: &Lua, (text, part, from): (LuaString, LuaString, usize)| {
        let (text, part) = (text.as_bytes(), part.as_bytes());
        let from = from.saturating_sub(1).min(text.len());
        let found = memchr::memmem::find(&text[from..], &part).map(|at| from + at);
        let found = found.map(|begin| Found { begin, end: begin + part.len(), captures: Vec::new() });
        answer(lua, &text, Ok(found))
    };
    table.set("plain", lua.create_function(plain)?)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of pieces of patterns and texts: the same ones every time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }

        fn text(&mut self, pieces: &[&str], most: usize) -> String {
            let n = self.below(most + 1);
            (0..n).map(|_| pieces[self.below(pieces.len())]).collect()
        }
    }

    const PIECES: [&str; 36] = [
        "a", "b", ".", "%a", "%d", "%s", "%w", "%W", "%p", "*", "+", "-", "?", "(", ")", "()", "[", "]", "[ab]",
        "[^a]", "[a-c]", "[%d-]", "[]]", "[^]]", "%b()", "%bab", "%f[%w]", "%f", "^", "$", "%", "%1", "%2", "%%",
        "(a*)", "(.-)b",
    ];
    const TEXTS: [&str; 9] = ["a", "b", "c", "1", " ", "(", ")", "-", "]"];

    /// Lua's own functions, and those of the prelude.
    fn both() -> (Lua, Lua) {
        let ours = Lua::new();
        let nothing = ours.create_function(|_, _: MultiValue| Ok(())).unwrap();
        ours.globals().set("aerospike", ours.create_table().unwrap()).unwrap();
        let late = ours.create_function(|_, ()| Ok(false)).unwrap();
        let prelude = ours.load(include_str!("prelude.lua")).set_name("=prelude.lua");
        prelude.call::<()>((late, nothing, api(&ours).unwrap())).unwrap();
        (Lua::new(), ours)
    }

    #[test]
    fn answers_and_errors_are_those_of_lua() {
        let program = r#"
            local f, s, p, r, n = ...
            local function shown(ok, ...)
              local all = table.pack(ok, ...)
              for i = 1, all.n do all[i] = math.type(all[i]) == "integer" and all[i] or tostring(all[i]) end
              return table.concat(all, "|")
            end
            if f == "gmatch" then
              return shown(pcall(function()
                local all = {}
                for a, b in string.gmatch(s, p) do all[#all + 1] = tostring(a) .. "," .. tostring(b) end
                return table.concat(all, ";")
              end))
            end
            if f == "gsub" then
              local with = ({ r, { a = "x", b = false, ["1"] = 5 }, function(a, b) return b or (a == "a" and "y") end })[n + 1]
              return shown(pcall(string.gsub, s, p, with)) .. shown(pcall(string.gsub, s, p, r, n))
            end
            return shown(pcall(string[f], s, p, n - 1))
        "#;
        let (theirs, ours) = both();
        let functions = [theirs.load(program).into_function().unwrap(), ours.load(program).into_function().unwrap()];
        let mut random = Random(7);
        let mut succeeded = 0;
        for _ in 0..20_000 {
            let name = ["find", "match", "gmatch", "gsub"][random.below(4)];
            let (text, pattern) = (random.text(&TEXTS, 10), random.text(&PIECES, 5));
            let replacement = random.text(&["x", "%0", "%1", "%%", "%", "y", "%2"], 3);
            let arguments = (name, text, pattern, replacement, random.below(3));
            let shown: Vec<String> = functions.iter().map(|f| f.call(arguments.clone()).unwrap()).collect();
            if shown[1].contains("unfinished capture") {
                // Lua finds it when the capture is wanted, which in `gsub` may be never.
                assert!(shown[0].contains("false|") || name == "gsub", "{arguments:?}");
                continue;
            }
            assert_eq!(shown[0], shown[1], "{arguments:?}");
            succeeded += usize::from(shown[0].starts_with("true"));
        }
        assert!(succeeded > 5000, "{succeeded}");
    }

    #[test]
    fn what_takes_years_ends() {
        super::super::lua::start_clock();
        let text = [b"a".repeat(5000), b"b".to_vec()].concat();
        let pattern = [b".-".repeat(60), b"c".to_vec()].concat();
        assert_eq!(Matcher::new(&text, &pattern).search(0, false, None), Err(Stop::Late));
    }
}
