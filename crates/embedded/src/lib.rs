//! aerolane-embedded
