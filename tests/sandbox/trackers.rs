//! Trackers of other projects.

use std::fs;

use super::places::EVERYWHERE;

#[test]
fn other_trackers_are_not_there() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        // One in a project, and one whose database is kept among other files.
        let other = env.path("other");
        fs::create_dir(&other).unwrap();
        let in_other = |words: &[&str]| {
            env.run(env.command("el").current_dir(&other).args(words)).ok();
        };
        in_other(&["init"]);
        in_other(&["create", "Confidential work"]);
        in_other(&["backup", "now"]);
        let kept = env.path("files/work.db");
        fs::create_dir(env.path("files")).unwrap();
        fs::write(env.path("files/plain"), "plain").unwrap();
        let database = kept.to_str().unwrap();
        fs::copy(other.join(".eluent/el.db"), &kept).unwrap();
        in_other(&["--db", database, "create", "Confidential, too"]);
        in_other(&["--db", database, "backup", "now"]);
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "ls -A {other}/.eluent; cat {other}/.eluent/* {kept}* {files}/plain
             rm -rf {other}/.eluent; mv {other}/.eluent {other}/old; (cd {other}; el list)",
            other = other.display(),
            kept = kept.display(),
            files = env.path("files").display(),
        ));
        assert!(said.contains("plain"), "{said}");
        assert!(!said.contains("Confidential") && !said.contains("el.db"), "{said}");
        let listed = env.run(env.command("el").current_dir(&other).args(["list"])).ok();
        assert!(listed.stdout.contains("Confidential work"), "{listed:?}");
    }
}
