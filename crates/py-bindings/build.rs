//! Link arguments of an extension module (macOS), and what `build_info()` tells of this build.

use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    pyo3_build_config::add_extension_module_link_args();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok().and_then(|o| String::from_utf8(o.stdout).ok());
    println!("cargo::rustc-env=AEROLANE_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let env = |name| std::env::var(name).unwrap_or_else(|_| "unknown".into());
    // PROFILE tells only debug from release; the folder has the profile's own name: target/<profile>/build/<crate>/out.
    let out = std::path::PathBuf::from(env("OUT_DIR"));
    let folder = out.ancestors().nth(3).and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
    let profile = folder.map_or_else(|| env("PROFILE"), str::to_owned);
    println!("cargo::rustc-env=AEROLANE_PROFILE={profile}");
    println!("cargo::rustc-env=AEROLANE_OPT_LEVEL={}", env("OPT_LEVEL"));
    println!("cargo::rustc-env=AEROLANE_TARGET={}", env("TARGET"));
    let features = std::env::vars().filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase));
    println!("cargo::rustc-env=AEROLANE_FEATURES={}", features.collect::<Vec<_>>().join(","));
}
