//! aerolane-bench
