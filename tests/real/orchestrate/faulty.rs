//! Faulty answers of the real client.

use serde_json::{Value, json};

use super::{block, delimited, each, plan, question, task, task_list};
use crate::real::{assert_run, project};

#[test]
fn slips_are_put_right_and_what_cannot_be_read_is_asked_for_again_in_the_same_conversation() {
    // A fence, unquoted keys, extra commas: there is a single reading.
    let slips = "```json\n{phase: \"analysis\", \"data\": {\"summary\": \"Two chapters\", \
        recommended_splits: 2,},}\n```";
    let torn = "{\"phase\": \"task_list\", \"data\": {\"tasks\": \
        [{\"id\": \"one\", \"title\": \"Chapter one\" \"Chapter two\" ]}}";
    let mut list = task_list(&[task("one", &[]), task("two", &["one"])]);
    let better = list["steps"][0].take();
    list["steps"] = json!([
        {"text": delimited(torn)},
        // The JSON is valid now, but a task waits for a missing task.
        {"text": block("task_list", &json!({"tasks": [task("one", &["zero"])]}))},
        better,
    ]);
    let scenario =
        json!({"routes": [question("analysis", &json!([{"text": delimited(slips)}])), list]});
    let Some((env, api)) = project(&scenario) else { return };
    env.el(&["orchestrate", "Write a manual of two chapters", "--plan-only"]).ok();

    let filed = plan(&env);
    assert_eq!(
        (&filed["state"], &filed["phases"][0]["data"]["recommended_splits"]),
        (&json!("planned"), &json!(2)),
        "{filed:#}"
    );
    assert_eq!(each(&filed, "tasks", "task_id"), ["one", "two"]);
    let [first, second] = [0, 1].map(|n| env.last_run(&each(&filed, "phases", "atom_id")[n]));
    assert_run(&env, &first, "closed");
    assert_run(&env, &second, "closed");
    assert_eq!((&first["resumes"], &second["resumes"]), (&json!(0), &json!(2)));
    let requests = |run: &Value| -> Vec<String> {
        let own =
            api.messages().into_iter().filter(|message| message["session"] == run["conversation"]);
        own.map(|message| message["body"]["messages"].to_string()).collect()
    };
    assert_eq!(requests(&first).len(), 1, "nothing had to be asked again");
    let asked = requests(&second);
    assert_eq!(asked.len(), 3);
    let fault = "The block in your last answer could not be used";
    assert_eq!(
        asked.iter().map(|request| request.matches(fault).count()).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert!(asked[1].contains("Cut the work below into tasks"), "it goes on with what was said");
    // The fault in words, and its place.
    assert!(
        asked[1].contains("At line 4, column 80: after a value comes")
            && asked[1].contains("⟪here⟫"),
        "{}",
        asked[1]
    );
    assert!(
        asked[2].contains("`tasks[0].dependencies[0]`: ")
            && asked[2].contains("is the id of no task"),
        "{}",
        asked[2]
    );
}
