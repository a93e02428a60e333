use clap::CommandFactory as _;

use super::*;

fn wrong(line: &str) -> (CommandError, bool) {
    let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    match parse(&argv) {
        Parsed::Wrong { error, robot, .. } => (error, robot),
        other => panic!("{line} gave {other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
    let mut whole = Cli::command();
    whole.build();
}

#[test]
fn every_visible_command_stands_in_the_overview() {
    let mut command = Cli::command();
    command.build();
    let listed = command_names();
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        assert!(
            listed.contains(&sub.get_name()),
            "{} is missing in args/commands.txt",
            sub.get_name()
        );
    }
    for name in listed {
        assert!(
            command.find_subcommand(name).is_some(),
            "{name} in args/commands.txt is no command"
        );
    }
}

#[test]
fn every_command_has_examples() {
    fn check(command: &clap::Command, path: &str) {
        for sub in
            command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
        {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                check(sub, &path);
            }
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let longest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= 96, "{path}: a line of its examples has {longest} columns");
            assert!(
                help.contains("Examples:") && help.contains(path.trim()),
                "{path} has no examples of itself"
            );
        }
    }
    let mut command = Cli::command();
    command.build();
    check(&command, "el");
}

#[test]
fn a_robot_is_recognised_anywhere_before_the_double_dash() {
    assert!(wrong("el list --banana --robot").1);
    assert!(wrong("el --json frobnicate").1);
    assert!(!wrong("el list --banana -- --robot").1);
}

#[test]
fn a_wrong_value_names_the_flag_and_the_values_that_exist() {
    let (error, _) = wrong("el list --status banana");
    assert_eq!(error.code(), "invalid_value");
    assert_eq!(error.details()["field"], "status");
    assert!(error.message().contains("banana") && error.message().contains("wont_do"), "{error}");
}

#[test]
fn a_misspelt_command_has_a_hint() {
    let (error, _) = wrong("el craete");
    assert_eq!(error.code(), "usage");
    assert!(error.hints().iter().any(|hint| hint.contains("create")), "{:?}", error.hints());
}

#[test]
fn a_flag_as_the_value_of_an_option_is_that_value() {
    let argv: Vec<OsString> =
        ["el", "create", "-t", "x", "--description=--robot"].map(OsString::from).to_vec();
    let Parsed::Run(cli) = parse(&argv) else { panic!("not understood") };
    assert!(!cli.globals.robot);
}
