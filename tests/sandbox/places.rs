//! Where an attack is tried: in a worktree and in a shared folder, as root and as an ordinary user,
//! and in a container, where no namespace can be made.

use crate::support::TestEnv;

/// Where an agent works, and as whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    isolate: &'static str,
    as_user: bool,
}

pub(super) const WORKTREES: [Place; 2] = in_both("worktree");
pub(super) const SHARED: [Place; 2] = in_both("none");
pub(super) const EVERYWHERE: [Place; 4] = [WORKTREES[0], WORKTREES[1], SHARED[0], SHARED[1]];

const fn in_both(isolate: &'static str) -> [Place; 2] {
    [Place { isolate, as_user: false }, Place { isolate, as_user: true }]
}

impl Place {
    /// A repository whose agents work in this place, once it is handed over. `None`: this machine
    /// cannot make a sandbox.
    pub(super) fn prepare(self, configuration: &str) -> Option<TestEnv> {
        TestEnv::with_sandbox(&format!("isolate = \"{}\"\n{configuration}", self.isolate))
    }

    /// Gives all that was prepared to whoever works here. False: only root can.
    pub(super) fn hand_over(self, env: &mut TestEnv) -> bool {
        !self.as_user || env.hand_to_ordinary_user()
    }

    pub(super) fn is_worktree(self) -> bool {
        self.isolate == "worktree"
    }

    pub(super) fn is_of_user(self) -> bool {
        self.as_user
    }
}

/// The command that runs a program where no further namespace can be made, as in a container. The
/// program is started as root without rights.
const CONTAINER: [&str; 6] = [
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces; \
     exec setpriv --bounding-set=-all --inh-caps=-all -- \"$@\"",
    "sh",
];

impl TestEnv {
    /// Runs all further commands in a container. False: this machine can make none.
    pub(super) fn enter_container(&mut self) -> bool {
        let works = self.has_containers();
        self.run_through(&["unshare"]);
        self.run_through(&CONTAINER);
        works
    }

    fn has_containers(&self) -> bool {
        let mut command = self.command("unshare");
        let works = self.run(command.args(CONTAINER).arg("true")).status == 0;
        if !works {
            let is_wanted = std::env::var_os("EL_REQUIRE_SANDBOX").is_some();
            assert!(!is_wanted, "no namespace can be made here, and the sandbox's tests need one");
            eprintln!("skipped: there is no namespace to have none in");
        }
        works
    }

    /// In a container there is no sandbox, and so nobody attacks from within one: what is ready is
    /// not begun.
    #[track_caller]
    pub(super) fn assert_refused_in_container(&self) {
        if !self.has_containers() {
            return;
        }
        let mut command = self.command("unshare");
        let words = ["el", "--robot", "work", "--drain"];
        let ran = self.run(command.args(CONTAINER).args(words)).fails_with(6);
        assert_eq!(ran.json()["error"]["details"]["field"], "sandbox", "{ran:?}");
        assert_eq!(self.robot(&["runs"])["items"].as_array().unwrap().len(), 0);
    }

    /// Tries a script everywhere. `script` prepares what is there before.
    #[track_caller]
    pub(super) fn attack_everywhere(
        configuration: &str,
        script: impl Fn(&TestEnv) -> String,
        check: impl Fn(&TestEnv, &str),
    ) {
        for place in EVERYWHERE {
            let Some(mut env) = place.prepare(configuration) else { return };
            let script = script(&env);
            if place.hand_over(&mut env) {
                let said = env.attack(&script);
                check(&env, &format!("{place:?}\n{said}"));
            }
        }
    }
}
