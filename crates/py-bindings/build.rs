//! Link arguments of an extension module (macOS), and what `build_info()` tells of this build.

use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    pyo3_build_config::add_extension_module_link_args();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok().and_then(|o| String::from_utf8(o.stdout).ok());
    println!("cargo::rustc-env=AEROLANE_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    for (name, from) in
        [("AEROLANE_PROFILE", "PROFILE"), ("AEROLANE_OPT_LEVEL", "OPT_LEVEL"), ("AEROLANE_TARGET", "TARGET")]
    {
        println!("cargo::rustc-env={name}={}", std::env::var(from).unwrap_or_else(|_| "unknown".into()));
    }
}
