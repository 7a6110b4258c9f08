//! Kinds of requests, and the service time of each.

use super::{ConditionsError, ServiceTime};
use std::fmt;
use std::str::FromStr;

/// What a server does for a request, as far as that decides how long it takes. Info and administration have no service
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServiceKind {
    /// A single record is read.
    Read,
    /// A single record is written, deleted or touched, or operated on with at least one write.
    Write,
    /// A batch, however many rows it has: one service.
    Batch,
    /// A query over a primary or secondary index (a scan, too), before its first record; also one that works in the
    /// background.
    Query,
    /// A function of a UDF module on a single record.
    Udf,
}

/// How many kinds there are.
pub(super) const KINDS: usize = 5;

impl ServiceKind {
    /// All kinds.
    pub const ALL: [Self; KINDS] = [Self::Read, Self::Write, Self::Batch, Self::Query, Self::Udf];

    /// The name: `read`, `write`, `batch`, `query` or `udf`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Batch => "batch",
            Self::Query => "query",
            Self::Udf => "udf",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// The service time of each kind of request. By default all are zero.
///
/// As text: `read=80us,write=exp:300us`, or one time for `all` kinds: `all=80us`, for short `80us`. A kind that is listed
/// beside `all` has its own time, a kind that is not listed has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceTimes([ServiceTime; KINDS]);

impl ServiceTimes {
    /// The same for all kinds.
    #[must_use]
    pub fn all(time: &ServiceTime) -> Self {
        Self(std::array::from_fn(|_| time.clone()))
    }

    /// The time of a kind.
    #[must_use]
    pub fn get(&self, kind: ServiceKind) -> &ServiceTime {
        &self.0[kind.index()]
    }

    /// Changes the time of a kind.
    pub fn set(&mut self, kind: ServiceKind, time: ServiceTime) {
        self.0[kind.index()] = time;
    }

    /// The times of kinds by their names, or of `all`, in any order.
    ///
    /// # Errors
    /// [`ConditionsError::Kind`] for an unknown kind, [`ConditionsError::Twice`].
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, ServiceTime)>) -> Result<Self, ConditionsError> {
        let mut all = None;
        let mut own = [const { None }; KINDS];
        for (name, time) in pairs {
            let place = match name {
                "all" => &mut all,
                _ => match ServiceKind::from_name(name) {
                    Some(kind) => &mut own[kind.index()],
                    None => return Err(ConditionsError::Kind(name.to_owned())),
                },
            };
            if place.replace(time).is_some() {
                return Err(ConditionsError::Twice(name.to_owned()));
            }
        }
        let all = all.unwrap_or_default();
        Ok(Self(own.map(|time| time.unwrap_or_else(|| all.clone()))))
    }

    pub(super) fn are_zero(&self) -> bool {
        self.0.iter().all(ServiceTime::is_zero)
    }

    pub(super) fn check(&self) -> Result<(), ConditionsError> {
        self.0.iter().try_for_each(ServiceTime::check)
    }
}

impl FromStr for ServiceTimes {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains(['=', ',']) {
            return text.parse().map(|time| Self::all(&time));
        }
        let pairs = text.split(',').map(|pair| {
            let (kind, time) = pair.split_once('=').ok_or_else(|| ConditionsError::Pair(pair.to_owned()))?;
            Ok((kind, time.parse()?))
        });
        Self::from_pairs(pairs.collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for ServiceTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([first, others @ ..]) = self;
        if others.iter().all(|time| time == first) {
            return first.fmt(f);
        }
        let mut comma = "";
        for kind in ServiceKind::ALL {
            let time = self.get(kind);
            if !time.is_zero() {
                write!(f, "{comma}{}={time}", kind.name())?;
                comma = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_any_order() {
        for (text, shown) in [
            ("80us", "80us"),
            ("all=80us", "80us"),
            ("0s", "0s"),
            ("write=300us,read=80us", "read=80us,write=300us"),
            ("read=1ms,all=80us", "read=1ms,write=80us,batch=80us,query=80us,udf=80us"),
            ("udf=99%:80us+1%:20ms,query=exp:2ms", "query=exp:2ms,udf=99%:80us+1%:20ms"),
            ("all=1ms,read=0s", "write=1ms,batch=1ms,query=1ms,udf=1ms"),
        ] {
            let times: ServiceTimes = text.parse().unwrap();
            assert_eq!(times.to_string(), shown);
            assert_eq!(shown.parse::<ServiceTimes>(), Ok(times), "{shown}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, error) in [
            ("", ConditionsError::Duration(String::new())),
            ("read", ConditionsError::Duration("read".to_owned())),
            ("read=", ConditionsError::Duration(String::new())),
            ("read=80us,", ConditionsError::Pair(String::new())),
            ("read,write=1us", ConditionsError::Pair("read".to_owned())),
            ("=1us", ConditionsError::Kind(String::new())),
            ("scan=80us", ConditionsError::Kind("scan".to_owned())),
            ("read=80us,read=80us", ConditionsError::Twice("read".to_owned())),
            ("all=80us,all=1s", ConditionsError::Twice("all".to_owned())),
            ("read=80us;write=1s", ConditionsError::Duration("80us;write=1s".to_owned())),
        ] {
            assert_eq!(text.parse::<ServiceTimes>(), Err(error), "{text}");
        }
    }
}
