//! aerolane
