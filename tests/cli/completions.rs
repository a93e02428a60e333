//! Completion scripts are valid and offer the project's own values.

use crate::support::TestEnv;

#[test]
fn every_shell_gets_its_script() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = env.el(&["completions", shell]).ok().stdout;
        assert!(script.contains("el") && script.contains("COMPLETE"), "{shell}: {script}");
    }
    env.run(env.command("el").args(["completions", "banana"])).fails_with(2);
}

#[test]
fn bash_takes_the_script_and_completes_commands_and_atoms() {
    let env = TestEnv::with_tracker();
    let id = env.create("The title of it", &[]);
    std::fs::write(env.project("el.bash"), env.el(&["completions", "bash"]).ok().stdout).unwrap();
    let ask = |words: &str, index: usize| {
        let script = format!(
            "set -e; . ./el.bash; fn=$(complete -p el | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
             COMP_WORDS=({words}); COMP_CWORD={index}; \
             COMP_TYPE=9; $fn el \"${{COMP_WORDS[{index}]}}\" \"\"; printf \
             '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        env.run(env.command("bash").args(["-c", &script])).ok().stdout
    };
    let commands = ask("el cl", 1);
    assert!(commands.contains("close") && commands.contains("claim"), "{commands}");
    let atoms = ask("el show ''", 2);
    assert!(atoms.contains(&id), "{atoms}");
    assert!(ask("el update x --status def", 4).contains("deferred"));
}

#[test]
fn completion_without_a_project_offers_no_atoms_and_no_error() {
    let env = TestEnv::new();
    let mut command = env.command("el");
    command
        .env("EL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "2")
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_IFS", "\n");
    let ran = env.run(command.args(["--", "el", "show", ""])).ok();
    assert_eq!(ran.stderr, "");
}
