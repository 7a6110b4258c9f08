//! Queries whose condition is text: a server says which index serves it (the plan), and the query is then carried out by
//! that plan. For servers from 8.2 on.
//!
//! aerospike-core asks for plans; a server before 8.2 would not understand the question, and answer with all records.

use std::sync::Arc;

use aerolane_wire::message::field;
use aerospike_core::{CollectionIndexType, Node, QueryPlan, QueryPolicy, ResultCode, Version};

use super::request::RawQuery;
use crate::error::{Error, Result};
use crate::query::Statement;

impl RawQuery {
    /// The query that a plan of [`Client::query_explain`](crate::Client::query_explain) is for: its namespace, its set, its
    /// index and its condition. What comes of each record is the caller's to say ([`ops`](Self::ops)).
    ///
    /// # Errors
    /// `Server` with `FilteredOut`: no record can match. `BadResponse`: the plan has a range that is none.
    pub fn of_plan(plan: &QueryPlan) -> Result<Self> {
        if plan.is_filtered_out() {
            return Err(Error::server_bare(ResultCode::FilteredOut));
        }
        let mut query = Self::new(plan.namespace());
        if let Some(set) = plan.set_name() {
            query = query.field(field::SET, set.as_bytes());
        }
        if let (Some(name), Some(range)) = (plan.index_name(), plan.index_range_bytes()) {
            if *plan.index_type() != CollectionIndexType::Default {
                query = query.field(field::INDEX_TYPE, &[*plan.index_type() as u8]);
            }
            query = query.field(field::INDEX_RANGE, &without_bin(range)?).field(field::INDEX_NAME, name.as_bytes());
        }
        // No flags: it is to be carried out.
        Ok(query.field(field::QUERY_WHERE, &[&[0], plan.ael()?.as_bytes()].concat()))
    }
}

/// An index range as a query has it that names its index: without the bin's name. One range: 1, the length of the bin's
/// name, this name, the type of the bounds, and the bounds.
fn without_bin(range: &[u8]) -> Result<Vec<u8>> {
    let rest = match range {
        [1, length, rest @ ..] => rest.get(usize::from(*length)..).filter(|rest| !rest.is_empty()),
        _ => None,
    };
    let rest = rest.ok_or_else(|| Error::bad_response("the query plan has an invalid index range"))?;
    Ok([&[1, 0], rest].concat())
}

/// # Errors
/// A node is too old for queries by plan: `Server` with `UnsupportedFeature`. Nothing was sent.
pub(in crate::client) fn check_servers(nodes: &[Arc<Node>]) -> Result<()> {
    let Some(old) = nodes.iter().find(|node| !node.version().supports_query_selection()) else { return Ok(()) };
    let Version { major, minor, patch, build } = old.version();
    let text =
        format!("servers select the index of a query from 8.2 on; this node runs {major}.{minor}.{patch}.{build}");
    Err(Error::unsupported(text, &Arc::from(format!("{}: {}", old.name(), old.address()))))
}

/// # Errors
/// `InvalidArgument`: the policy has a filter, whose place the plan's condition takes.
pub(super) fn check_policy(policy: &QueryPolicy) -> Result<()> {
    match policy.base_policy.filter_expression {
        None => Ok(()),
        Some(_) => {
            Err(Error::invalid_argument("a query with a plan takes no filter expression: the plan has the condition"))
        }
    }
}

/// # Errors
/// `InvalidArgument`: what a query with this plan has to do with another one, or brings along a filter.
pub(in crate::client) fn check_statement(policy: &QueryPolicy, statement: &Statement, plan: &QueryPlan) -> Result<()> {
    check_policy(policy)?;
    let of_plan = (plan.namespace(), plan.set_name().unwrap_or_default());
    if (&*statement.namespace, &*statement.set_name) != of_plan {
        let text =
            format!("the plan is for {of_plan:?}, the statement for {:?}", (&statement.namespace, &statement.set_name));
        return Err(Error::invalid_argument(text));
    }
    if statement.filter.is_some() {
        return Err(Error::invalid_argument("a query with a plan takes no filter: the plan has the index"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lose_the_name_of_their_bin() {
        assert_eq!(without_bin(&[1, 3, b'a', b'g', b'e', 1, 9, 10]).unwrap(), [1, 0, 1, 9, 10]);
        assert_eq!(without_bin(&[1, 0, 1, 9]).unwrap(), [1, 0, 1, 9]);
        for range in [&[][..], &[1], &[1, 0], &[2, 0, 1], &[0, 0, 1], &[1, 3, b'a', b'g', b'e'], &[1, 255, 1]] {
            assert!(without_bin(range).is_err(), "{range:?}");
        }
    }
}
