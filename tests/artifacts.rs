//! A run's artifacts: summary, key files, `RESULTS.json`, `STATUS.txt`, `ERRORS.md`, and their
//! views for people and programs.

mod endings;
mod real;
mod views;

use serde_json::Value;

use crate::support::TestEnv;

/// A summary in the requested format, as a line of a script.
fn summary(deliverables: &[&str], status: &str) -> String {
    let list: String =
        deliverables.iter().map(|path| format!("- `{path}` - About {path}\\n")).collect();
    format!(
        "# Task Completion Summary\\n\\n## Objective\\nSay hello\\n\\n## Accomplishments\\n- Said \
         it\\n\\n## Key Deliverables\\n{list}\\n\
         ## Test Results\\n✅ All 2 tests passed\\n\\n## Important Notes\\n- None\\n\\n## \
         Status\\n{status}\\n"
    )
}

/// The script step that writes the summary to the path in the context.
fn write_summary(deliverables: &[&str], status: &str) -> String {
    format!("write .eluent/summaries/$EL_ATOM.md {}", summary(deliverables, status))
}

fn results(env: &TestEnv, run: &Value) -> Value {
    serde_json::from_str(&env.read_run_file(run, "RESULTS.json")).unwrap()
}

/// `path state` of each file that was handed over.
fn sent(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            format!("{} {}", item["path"].as_str().unwrap(), item["state"].as_str().unwrap())
        })
        .collect()
}
