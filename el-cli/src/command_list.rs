//! The commands by purpose, as `el --help` lists the commands.

/// The list. A test keeps the list complete.
pub(crate) const COMMAND_LIST: &str = include_str!("command_list.txt");

/// The names of all commands that people see.
pub(crate) fn command_names() -> Vec<&'static str> {
    let commands = COMMAND_LIST.lines().filter(|line| line.starts_with("  "));
    commands.filter_map(|line| line.split_whitespace().next()).collect()
}
