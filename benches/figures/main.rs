//! The figures of docs/performance.md: `cargo bench -p el-cli --features test-fakes`, or with
//! `-- tracker`, `-- claims`, `-- worker` one part alone.
//!
//! Whole processes, from spawn to exit. Machines are shared and noisy: read the minimum and the
//! instructions; the median shows what a person gets on such a machine. Instructions are user-space
//! ones, counted by valgrind where it is installed.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made ends there")]
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

mod claims;
mod measure;
mod project;
mod tracker;
mod worker;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|w| w == part);
    println!("Machine: {}\n", measure::machine());
    if is_wanted("tracker") {
        tracker::run();
    }
    if is_wanted("claims") {
        claims::run();
    }
    if is_wanted("worker") {
        worker::run();
    }
}
