//! What holds for every text: it may be refused, but nothing panics, hangs or grows beyond the limits, and what is wrong
//! has a line of the text.
//!
//! The fuzz target beside this file runs this check with coverage, `tests/mutations.rs` on damaged files.

use aerolane_config::{MAX_NODES, Problem, client, parse, value};

/// Reads a text, as a file of either kind. Gives how many behaviors, clusters and settings of clients came out of it.
pub(crate) fn file(bytes: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().count().max(1) + 1;
    let check = |problem: &Problem| {
        assert!((1..=lines).contains(&problem.line), "{problem}, of {lines} lines");
        assert!(!problem.message.is_empty() && !problem.to_string().is_empty());
    };
    let first = text.lines().next().unwrap_or_default();
    for message in [value::duration(first).err(), value::size(first).err()].into_iter().flatten() {
        assert!(!message.is_empty());
    }
    let of_client = match client::parse(&text) {
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().for_each(check);
            None
        }
        Ok(file) => {
            file.ignored.iter().for_each(check);
            assert!(file.settings.len() + file.ignored.len() <= MAX_NODES);
            Some(file.settings.len())
        }
    };
    let _ = client::path(first);
    match parse(&text) {
        Err(problem) => {
            check(&problem);
            assert!(of_client.is_none(), "what is no YAML is none for both");
            None
        }
        Ok(config) => {
            config.problems.iter().for_each(check);
            let (ordered, circle) = config.behaviors_in_order();
            circle.iter().for_each(check);
            assert_eq!(ordered.len() + circle.len(), config.behaviors.len());
            assert!(config.systems.len() + config.behaviors.len() <= MAX_NODES);
            for (name, _) in &config.systems {
                let _ = config.system(Some(name));
            }
            Some(config.systems.len() + config.behaviors.len() + of_client.unwrap_or(0))
        }
    }
}
