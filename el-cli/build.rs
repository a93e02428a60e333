//! Tells the linker to put the program at a fixed address, so that no start has to relocate it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}"));
    if target("OS").is_ok_and(|os| os == "linux") && target("ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bin=el=-no-pie");
    }
}
