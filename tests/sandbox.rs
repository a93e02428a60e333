//! The sandbox around agents, checks and setups.

mod attacks;
mod modes;

use std::process::Command;

use crate::support::TestEnv;

/// Whether this machine can make a sandbox. `EL_REQUIRE_SANDBOX` says that it has to.
fn has_bubblewrap() -> bool {
    let words = ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"];
    let works = Command::new("bwrap").args(words).output().is_ok_and(|ran| ran.status.success());
    if !works {
        let is_wanted = std::env::var_os("EL_REQUIRE_SANDBOX").is_some();
        assert!(!is_wanted, "bubblewrap does not work here, and the tests of the sandbox need it");
        eprintln!("skipped: bubblewrap does not work here");
    }
    works
}

impl TestEnv {
    /// A repository of its own with an agent that runs a shell script in the sandbox. `None`: this
    /// machine cannot make one.
    fn with_sandbox(configuration: &str) -> Option<TestEnv> {
        if !has_bubblewrap() {
            return None;
        }
        let mut env = TestEnv::with_repository(&format!(
            "executor = \"command\"\ncommand = \"agent.sh\"\nmax_attempts = 1\n{configuration}"
        ));
        env.set("EL_SANDBOX", "strict");
        Some(env)
    }

    /// Runs one atom, whose agent runs this script and then closes it. The script's output.
    #[track_caller]
    fn attack(&self, script: &str) -> String {
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\nexec 2>&1\n{script}\nel close \"$EL_ATOM\" --reason done\n"
        );
        self.program("agent.sh", &script);
        let id = self.create("attack", &[]);
        self.work(&["--drain"]);
        assert_eq!(self.status(&id), "closed", "{:#?}", self.last_run(&id));
        self.read_run_file(&self.last_run(&id), "transcript.jsonl")
    }
}
