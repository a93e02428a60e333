//! Five tasks in three layers, three at a time, in worktrees, onto the main branch.

use serde_json::{Value, json};

use super::{analysis, block, each, plan, progress, question, task, task_list, worker};
use crate::real::{assert_run, project};
use crate::support::{SOON, TestEnv, wait_until};

const FIRST: [&str; 3] = ["green", "black", "herbs"];

/// The order in which atoms were begun (`true`) and closed: a task waits for the status of another,
/// not for its agent's last words.
fn beginnings_and_ends(env: &TestEnv) -> Vec<(String, bool)> {
    let database = env.database();
    let sql = "SELECT atom_id, kind = 'run_started' FROM events WHERE kind = 'run_started'
               OR (kind = 'status' AND json_extract(data, '$.to') = 'closed') ORDER BY seq";
    let mut statement = database.prepare(sql).unwrap();
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn five_tasks_in_three_layers_are_done_three_at_a_time_in_worktrees_and_landed() {
    let meeting = TestEnv::new();
    let there = |id: &str| meeting.path(format!("out/{id}"));
    let of_the_first = (0..3).map(|n| {
        let [own, next, last] = [0, 1, 2].map(|further| FIRST[(n + further) % 3]);
        let mut route = worker(
            own,
            json!({"tool": "Write", "input": {"file_path": format!("{own}.txt"),
                "content": format!("{own}\n")}}),
        );
        route["steps"][0]["text"] = json!(progress(own, 50));
        // None of the three goes on before the other two are being answered too.
        route["steps"][0]["touch"] = json!(there(own));
        route["steps"][0]["wait_file"] = json!(there(next));
        route["steps"][1]["wait_file"] = json!(there(last));
        route
    });
    let mut routes = vec![
        analysis(5),
        task_list(&[
            task("green", &[]),
            task("black", &[]),
            task("herbs", &[]),
            task("table", &FIRST),
            task("checked", &["table"]),
        ]),
        question(
            "aggregation",
            &json!([
                {"bash": "cat table.txt checked.txt > GUIDE.md",
                    "when": FIRST.map(|id| format!("Chapter {id} is written"))},
                {"bash": "git add GUIDE.md && git commit -q -m 'Bring the guide together'"},
                {"text": block("aggregation", &json!({"status": "success",
                    "summary": "GUIDE.md is one guide", "output_files": ["GUIDE.md"]}))},
            ]),
        ),
        worker("table", json!({"bash": "cat green.txt black.txt herbs.txt > table.txt"})),
        worker("checked", json!({"bash": "wc -l < table.txt > checked.txt"})),
    ];
    routes.extend(of_the_first);
    let Some((env, api)) = project(&json!({"routes": routes})) else { return };
    let checked = env.path("tmp/checked");
    env.configure(&format!(
        "allowed_tools = [\"Bash(git *)\", \"Bash(cat *)\", \"Bash(wc *)\"]\n\
         land_check = \"sh -c 'cat *.txt GUIDE.md > {}'\"\n",
        checked.display()
    ));
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);

    let words =
        ["orchestrate", "Write a guide to tea", "--isolate", "worktree", "--concurrency", "3"];
    env.start_el(&words).wait(SOON * 4).ok();

    let done = plan(&env);
    assert_eq!(
        (&done["state"], &done["epic"]["close_reason"]),
        (&json!("done"), &json!("GUIDE.md is one guide")),
        "{done:#}"
    );
    assert_eq!(each(&done, "phases", "state"), ["answered"; 3]);
    let tasks = each(&done, "tasks", "atom_id");
    let layers: Vec<&Value> =
        done["tasks"].as_array().unwrap().iter().map(|task| &task["layer"]).collect();
    assert_eq!(layers, [0, 0, 0, 1, 2]);

    // Each once, layer after layer; the first three run side by side.
    let asked = each(&done, "phases", "atom_id");
    let moments = beginnings_and_ends(&env);
    let position = |id: &str, began: bool| {
        moments.iter().position(|moment| *moment == (id.to_owned(), began)).unwrap()
    };
    let steps = [&asked[..1], &asked[1..2], &tasks[..3], &tasks[3..4], &tasks[4..], &asked[2..]];
    assert_eq!(moments.len(), 17, "eight atoms, and the end of their epic: {moments:#?}");
    for (n, step) in steps.iter().enumerate() {
        let before: usize = steps[..n].iter().map(|step| step.len() * 2).sum();
        for id in *step {
            let (began, ended) = (position(id, true) - before, position(id, false) - before);
            assert!(
                began < step.len() && (step.len()..step.len() * 2).contains(&ended),
                "{id} of step {n}: {moments:#?}"
            );
        }
    }

    let mut cost = 0;
    for id in tasks.iter().chain(&asked) {
        let run = env.last_run(id);
        assert_run(&env, &run, "closed");
        assert_eq!(env.comments(id), [] as [&str; 0], "nobody contradicts");
        assert!(
            run["workdir"].as_str().unwrap().ends_with(&format!(".eluent/worktrees/{id}")),
            "{run}"
        );
        assert!(api.messages().iter().any(|message| message["session"] == run["conversation"]));
        let own = run["cost_micros"].as_u64().unwrap();
        assert!(own > 0, "{run}");
        cost += own;
    }
    assert_eq!(done["spent_micros"], cost);
    let run = env.last_run(&tasks[0]);
    assert_eq!(
        (&run["percent"], &run["completion"]["summary"]),
        (&json!(50), &json!("Chapter green is written"))
    );

    assert_eq!(env.git(&["log", "--format=%s"]), "base", "nothing is landed yet");
    assert_eq!(env.robot(&["land", "--all"])["landed"], 6);
    let on_main = |file: &str| env.git(&["show", &format!("main:{file}")]);
    for id in FIRST {
        assert_eq!(on_main(&format!("{id}.txt")), id);
    }
    assert_eq!(
        (on_main("table.txt").as_str(), on_main("checked.txt").trim()),
        ("green\nblack\nherbs", "3")
    );
    assert!(on_main("GUIDE.md").starts_with("green\nblack\nherbs\n"));
    assert_eq!(env.git(&["status", "--porcelain", "-uno"]), "");
    let seen = std::fs::read_to_string(checked).unwrap();
    assert!(seen.contains("herbs\n"), "the check saw all of it: {seen}");
    env.robot(&["worktrees", "prune"]);
    assert_eq!(
        (
            env.git(&["branch", "--list", "el/*"]).as_str(),
            env.git(&["worktree", "list"]).lines().count()
        ),
        ("", 1)
    );
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);

    env.wait_for_sessions(&[]);
    // Except for the API itself.
    let left = || {
        env.processes()
            .into_iter()
            .filter(|process| !process.words.iter().any(|word| word.contains("fake-api")))
            .count()
    };
    wait_until("the end of all processes", SOON, || (left() == 0).then_some(()));
}
