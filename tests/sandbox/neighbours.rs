//! Two agents at work at the same time, of which each tries what it can against the other.

use super::places::EVERYWHERE;
use crate::support::TestEnv;

/// Finds the other run by the tracker, tries everything, and ends once both have tried.
fn attack_neighbour(env: &TestEnv) -> String {
    format!(
        "own=$(basename $(dirname $(dirname $EL_SESSION))); runs={tracker}/runs
         live() {{ el runs --live --robot | grep -o '\"id\":\"run-[^\"]*' | cut -d'\"' -f4; }}
         until [ $(live | wc -l) = 2 ]; do sleep 0.1; done
         other=$(live | grep -v $own)
         atom=$(el list --robot | grep -o '\"id\":\"t-[^\"]*' | cut -d'\"' -f4 | grep -v $EL_ATOM)
         ls $runs; ls $runs/$other $runs/$other/session
         cat $runs/$other/prompt.md $runs/$other/env.json
         echo mine > $runs/$other/STATUS.txt; rm -rf $runs/$other; ls {tracker}/worktrees
         echo mine > {tracker}/worktrees/$atom/base.txt; rm -r {tracker}/worktrees/$atom
         for socket in $runs/$other/session/socket $runs/$own/../$other/session/socket; do
           EL_SESSION=$socket el close $atom --reason stolen; echo by socket: $?
           EL_SESSION=$socket el comment add $atom stolen; echo by socket: $?
         done
         ln -s $runs/$other/session link
         EL_SESSION=$PWD/link/socket el close $atom; echo by socket: $?
         rm link
         el close $atom --reason stolen; echo by name: $?
         el update $atom --status open; echo by name: $?
         el cancel $atom --requeue; echo by name: $?
         for id in $other $own; do el logs $id > /dev/null; done
         el comment add $EL_ATOM tried
         until el show $atom --robot | grep -q '\"content\":\"tried\"'; do sleep 0.1; done",
        tracker = env.project(".eluent").display(),
    )
}

#[test]
fn another_run_its_folder_and_its_socket_are_out_of_reach() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("concurrency = 2\n") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        env.agent_script(&attack_neighbour(&env));
        let before = env.outside_state();
        let ids = ["one", "two"].map(|title| env.create(title, &[]));
        env.assert_refused_in_container();
        env.work(&["--drain"]);
        for id in &ids {
            let run = env.last_run(id);
            let said = env.read_run_file(&run, "transcript.jsonl");
            assert_eq!(env.outcomes(id), ["closed"], "{run:#}\n{said}");
            assert_eq!(env.show(id)["close_reason"], "done", "{said}");
            assert_eq!(env.comments(id), ["tried"], "{said}");
            assert!(!said.contains("by socket: 0") && !said.contains("by name: 0"), "{said}");
            assert!(said.matches("by socket: ").count() == 5, "{said}");
            env.assert_settled(&run);
        }
        env.assert_unchanged(&before, &format!("{place:?}"));
    }
}
