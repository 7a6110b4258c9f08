//! The hot paths that need no network, each as a function that runs it `n` times.
//!
//! The microbenchmarks time them, the counts (`make bench-counts`) count their allocations and instructions.

mod client;
mod lane;
mod wire;

/// Rows in the batches here, the size that the targets speak of.
pub const BATCH: usize = 128;

/// Runs a hot path the given number of times.
pub type Run = Box<dyn FnMut(u64)>;

/// A named hot path.
pub struct HotPath {
    /// `group/what`; the groups are `wire`, `client` and `lane`.
    pub name: &'static str,
    /// Prepares everything that is not part of the path and returns the path.
    pub prepare: fn() -> Run,
}

impl HotPath {
    /// The part of the name before the slash.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.name.split('/').next().unwrap_or(self.name)
    }
}

impl std::fmt::Debug for HotPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HotPath").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All hot paths.
#[must_use]
pub fn all() -> Vec<HotPath> {
    let mut paths = wire::paths();
    paths.extend(client::paths());
    paths.extend(lane::paths());
    paths
}

/// The hot path of this name.
#[must_use]
pub fn find(name: &str) -> Option<HotPath> {
    all().into_iter().find(|path| path.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_path_runs_and_names_are_unique() {
        let mut names = HashSet::new();
        for path in all() {
            assert!(names.insert(path.name), "{} twice", path.name);
            assert!(["wire", "client", "lane"].contains(&path.group()), "{}", path.name);
            let mut run = (path.prepare)();
            run(3);
            run(0);
        }
        assert!(find("wire/encode get").is_some() && find("nothing").is_none());
    }
}
