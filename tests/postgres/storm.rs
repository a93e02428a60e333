//! Many who file and claim atoms at once, while the test does something to the server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::support::{SOON, TestEnv, wait_until};

/// The changes that the server acknowledged.
#[derive(Default)]
pub(super) struct Storm {
    created: Mutex<BTreeSet<String>>,
    claimed: Mutex<Vec<(Value, String)>>,
    is_over: AtomicBool,
}

impl Storm {
    /// Four write at once until `during` is over.
    pub(super) fn rage(env: &TestEnv, during: impl FnOnce(&Storm)) -> Storm {
        let storm = Storm::default();
        std::thread::scope(|scope| {
            let storm = &storm;
            for writer in 0..4 {
                scope.spawn(move || storm.write(env, writer));
            }
            during(storm);
            storm.is_over.store(true, Ordering::Relaxed);
        });
        storm
    }

    /// Waits until so many atoms are filed.
    #[track_caller]
    pub(super) fn wait_for(&self, least: usize) {
        wait_until("changes", SOON, || (self.created.lock().unwrap().len() >= least).then_some(()));
    }

    fn write(&self, env: &TestEnv, writer: usize) {
        for n in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let title = format!("{writer} {n}");
            let made = env.el(&["--robot", "create", &title]);
            match made.status {
                0 => {
                    let id = made.json()["data"]["id"].as_str().unwrap().to_owned();
                    self.created.lock().unwrap().insert(id);
                }
                6 | 7 => {
                    let code = made.json()["error"]["code"].as_str().unwrap().to_owned();
                    let known = ["server_unreachable", "server_timeout", "server_refused", "busy"];
                    assert!(known.contains(&code.as_str()), "{code}");
                }
                other => panic!("exit code {other}: {made:?}"),
            }
            let name = format!("person-{writer}");
            let next = env.el(&["--robot", "--actor", &name, "next", "--claim"]);
            if next.status == 0 {
                let claim = next.json()["data"].take();
                // Nothing may be ready.
                if !claim.is_null() {
                    self.claimed.lock().unwrap().push((claim, name));
                }
            }
        }
    }

    /// All that was acknowledged is there, and no atom was claimed twice.
    #[track_caller]
    pub(super) fn assert_kept(self, env: &TestEnv) {
        let listed = env.robot(&["list", "--all", "--limit", "0"]);
        let there: BTreeSet<String> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|atom| atom["id"].as_str().unwrap().to_owned())
            .collect();
        let created = self.created.into_inner().unwrap();
        assert!(created.is_subset(&there), "{:?}", created.difference(&there).collect::<Vec<_>>());
        let claimed = self.claimed.into_inner().unwrap();
        assert!(!claimed.is_empty());
        let mut claimers = BTreeMap::new();
        for (claim, name) in &claimed {
            let id = claim["id"].as_str().or_else(|| claim["atom"]["id"].as_str()).unwrap();
            let earlier = claimers.insert(id, name);
            assert_eq!(earlier, None, "{id} was claimed by {name} too");
        }
        for atom in listed["items"].as_array().unwrap() {
            // An acknowledged claim holds; nobody gave anything back.
            if let Some(name) = claimers.get(atom["id"].as_str().unwrap()) {
                let found = (&atom["status"], &atom["assignee"]);
                assert_eq!(found, (&"in_progress".into(), &name.as_str().into()), "{atom}");
            }
        }
        let found = env.el(&["doctor"]).stdout;
        assert!(!found.contains("count of blockers") && !found.contains("search index"), "{found}");
    }
}
