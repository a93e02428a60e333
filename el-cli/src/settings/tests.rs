use std::fs;

use super::*;

struct Layers {
    dir: tempfile::TempDir,
    variables: Vec<(&'static str, &'static str)>,
    is_trusted: bool,
}

impl Layers {
    fn new(project: &str, user: &str) -> Layers {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.toml"), project).unwrap();
        fs::write(dir.path().join("user.toml"), user).unwrap();
        Layers { dir, variables: Vec::new(), is_trusted: true }
    }

    fn variable(mut self, name: &'static str, value: &'static str) -> Layers {
        self.variables.push((name, value));
        self
    }

    fn load(&self) -> Settings {
        let root = self.dir.path();
        Settings::from_layers(
            root,
            &root.join("config.toml"),
            Some(&root.join("user.toml")),
            |_| self.is_trusted,
            |name| {
                self.variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            },
        )
    }
}

#[test]
fn what_is_the_users_own_to_say_no_project_says() {
    let settings =
        Layers::new("safe_directories = [\"*\"]\n", "safe_directories = [\"/a\", \"~/b\"]\n")
            .load();
    assert_eq!(settings.safe_directories().unwrap()[0], Path::new("/a"));
    assert_eq!(settings.problems().count(), 1);
    assert!(settings.reliable().is_err());
}

#[test]
fn what_nobody_has_trusted_does_not_count() {
    let project = "notify = [\"x\"]\nland_mode = \"merge\"\nmax_turns = 5\nmax_attempts = 9\n";
    let mut layers = Layers::new(project, "notify = [\"mine\"]\n");
    layers.is_trusted = false;
    let settings = layers.load();
    assert_eq!(origin(&settings, "notify", None), ("[\"mine\"]".to_owned(), "user"));
    assert_eq!(origin(&settings, "land_mode", None), ("merge".to_owned(), "project"));
    assert_eq!(origin(&settings, "max_turns", None), ("5".to_owned(), "project"));
    assert_eq!(origin(&settings, "max_attempts", None), ("3".to_owned(), "default"));
    assert_eq!(settings.inert_names(), ["max_attempts", "notify"]);
    let sentence = settings.inert_sentence().unwrap();
    assert!(sentence.contains("el trust") && sentence.ends_with("max_attempts, notify"));
    layers.is_trusted = true;
    let settings = layers.load();
    assert_eq!(origin(&settings, "notify", None), ("[\"x\"]".to_owned(), "project"));
    assert!(settings.inert_sentence().is_none());
}

fn origin(settings: &Settings, key: &str, agent: Option<&str>) -> (String, &'static str) {
    let resolved = settings.get(Key::find_key(key).unwrap(), agent).unwrap();
    let layer = match resolved.origin {
        Origin::Default => "default",
        Origin::User { .. } => "user",
        Origin::Project { .. } => "project",
        Origin::Env { .. } => "env",
        Origin::Flag { .. } => "flag",
    };
    (resolved.value.to_text(), layer)
}

#[test]
fn defaults_are_those_of_the_seed() {
    let layers = Layers::new("", "");
    let settings = layers.load();
    let agent = settings.agent_settings("claude").unwrap();
    assert_eq!(agent.claude_code_path, "claude");
    assert_eq!(agent.working_directory, layers.dir.path());
    assert!(!agent.preserve_sessions);
    assert_eq!(agent.execution_timeout, Duration::from_secs(3600));
    assert_eq!(agent.permission_mode, "acceptEdits");
    let work = settings.work_settings().unwrap();
    assert_eq!(work.context_directory, layers.dir.path().join(".eluent/agent-context"));
    assert_eq!((work.concurrency, work.rules.max_attempts), (1, 3));
    assert_eq!(settings.durability().unwrap(), el_core::Durability::Normal);
}

#[test]
fn each_layer_outranks_the_one_below() {
    let layers =
        Layers::new("model = \"project\"\nmax_turns = 5", "model = \"user\"\nmax_attempts = 7");
    let settings = layers.load();
    assert_eq!(origin(&settings, "model", None), ("project".into(), "project"));
    assert_eq!(origin(&settings, "max_attempts", None), ("7".into(), "user"));
    assert_eq!(origin(&settings, "concurrency", None), ("1".into(), "default"));
    let layers = layers.variable("EL_MODEL", "env").variable("EL_MAX_TURNS", "");
    assert_eq!(origin(&layers.load(), "model", None), ("env".into(), "env"));
    assert_eq!(origin(&layers.load(), "max_turns", None), ("5".into(), "project"));
    let settings = layers.load().with_flag("--model", "model", Some("flag")).with_flag(
        "--max",
        "max_turns",
        None,
    );
    assert_eq!(origin(&settings, "model", None), ("flag".into(), "flag"));
}

#[test]
fn an_agents_table_outranks_the_settings_above_it_in_either_file() {
    let settings = Layers::new(
        "model = \"project\"",
        "[agents.gendry]\nmodel = \"gendrys\"\nexecutor = \"command\"",
    )
    .load();
    assert_eq!(origin(&settings, "model", Some("gendry")), ("gendrys".into(), "user"));
    assert_eq!(origin(&settings, "model", Some("claude")), ("project".into(), "project"));
    assert_eq!(
        settings.agent_settings("gendry").unwrap().executor,
        el_agents::settings::Executor::Command(Vec::new())
    );
    assert_eq!(settings.agents(), ["gendry"]);
}

#[test]
fn a_bad_value_stops_only_what_needs_it() {
    let settings = Layers::new("\nmax_turns = \"ten\"", "").load();
    let error = settings.agent_settings("claude").unwrap_err();
    assert_eq!(error.exit(), crate::exit::Exit::Configuration);
    assert!(
        error.message().ends_with("config.toml:2: max_turns: a whole number is needed, not a text"),
        "{error}"
    );
    assert_eq!(error.details()["field"], "max_turns");
    assert!(settings.work_settings().is_ok() && settings.durability().is_ok());
    assert_eq!(settings.bad_values().len(), 1);
    let overridden = settings.with_flag("--max-turns", "max_turns", Some("3"));
    assert_eq!(overridden.agent_settings("claude").unwrap().max_turns, Some(3));
}

#[test]
fn a_bad_variable_or_flag_is_named() {
    let settings = Layers::new("", "").variable("EL_LEASE", "soon").load();
    assert!(settings.work_settings().unwrap_err().message().starts_with("EL_LEASE: 'soon'"));
    let settings = settings.with_flag("--lease", "lease", Some("1s"));
    assert_eq!(settings.work_settings().unwrap_err().message(), "--lease: 1s is less than 5s");
}

#[test]
fn relative_paths_start_at_the_project() {
    let layers = Layers::new(
        "working_directory = \"sub\"\n[agents.far]\nworking_directory = \"/srv/far\"",
        "",
    );
    let settings = layers.load();
    assert_eq!(
        settings.agent_settings("claude").unwrap().working_directory,
        layers.dir.path().join("sub")
    );
    assert_eq!(settings.agent_settings("far").unwrap().working_directory, Path::new("/srv/far"));
}
