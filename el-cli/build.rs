//! Tells the linker to put the program at a fixed address, so that no start has to relocate it, and
//! to take the unwinder in, so that no start has to load it as a library of its own.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_target = |part: &str, value| variable(&format!("CARGO_CFG_TARGET_{part}")) == value;
    if is_target("OS", "linux") && is_target("ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=el=-no-pie");
        if variable("HOST") == variable("TARGET") && has_static_unwinder() {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}

/// Returns true if the C compiler brings its unwinder as a static library, as GCC does.
fn has_static_unwinder() -> bool {
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    // A compiler that has no such file prints the bare name.
    asked.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_absolute())
}
