//! `el work` as a service of the user: a unit of systemd, or an agent of launchd.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use el_agents::tmux::socket_name;
use el_core::SERVER_VARIABLES;
use el_core::model::safe_prefix;
use etcetera::BaseStrategy as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::work::this_program;
use crate::output::{sanitize, style};
use crate::replace::replace_file;
use crate::{App, CommandError, Exit, Result, server};

mod text;

use text::Job;

/// Let el work run as a service of yours, from log-in on: systemd or launchd
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el service install --now
  el service status
  el service uninstall

The service runs el work for this project with the settings of its configuration. Stopping it
ends its sessions cleanly. It may run without a log-in, too: loginctl enable-linger (systemd).")]
pub(crate) enum Command {
    /// Write the service's file; again writes it anew
    #[command(after_help = "\
Examples:
  el service install
  el service install --now   Start it, too, and at each log-in
  el service install --robot")]
    Install(Install),
    /// Stop the service, and take its file away
    #[command(after_help = "\
Examples:
  el service uninstall

Removing what is not there is no error.")]
    Uninstall(Which),
    /// Say whether the service is installed, and whether it runs
    #[command(after_help = "\
Examples:
  el service status
  el service status --robot")]
    Status(Which),
}

impl Command {
    pub(super) fn only_looks(&self) -> bool {
        matches!(self, Command::Status(_))
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    #[command(flatten)]
    which: Which,
    /// Start it now, and at each log-in
    #[arg(long)]
    now: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The service manager to use [default: that of this system]
    #[arg(long, value_enum, value_name = "MANAGER")]
    manager: Option<Manager>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Manager {
    Systemd,
    Launchd,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    manager: Manager,
    name: String,
    /// The service's file.
    path: PathBuf,
    /// The file is there.
    installed: bool,
    /// The file is as `el service install` would write it now.
    current: bool,
    /// The manager's word for its state (`active`, `inactive`); `null` if it cannot be asked.
    state: Option<String>,
    /// The commands that start and remove the service.
    next: Vec<String>,
}

pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Install(args) => install(args, app),
        Command::Uninstall(which) => uninstall(which, app),
        Command::Status(which) => {
            let service = Service::of_project(which, app)?;
            report_service(app, &service, "Service")
        }
    }
}

fn install(args: &Install, app: &App) -> Result<Exit> {
    // Faults that would keep el work from starting are reported now, not in a log.
    drop(app.settings_for_agents()?.work_settings()?);
    let service = Service::of_project(&args.which, app)?;
    let folder = service.path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .map_err(|source| CommandError::file_error("create the folder", folder, source))?;
    replace_file(&service.path, service.definition_text()?.as_bytes())
        .map_err(|source| CommandError::file_error("write", &service.path, source))?;
    if args.now {
        for words in service.start_commands() {
            service.call(&words)?;
        }
    }
    report_service(app, &service, "Installed")
}

fn uninstall(which: &Which, app: &App) -> Result<Exit> {
    let service = Service::of_project(which, app)?;
    if service.path.exists() {
        // A manager that does not run, or does not know the service, has nothing to stop.
        let _ = service.call(&service.stop_command());
        fs::remove_file(&service.path)
            .map_err(|source| CommandError::file_error("remove", &service.path, source))?;
        let _ = service.call(&service.reload_command());
    }
    report_service(app, &service, "Removed")
}

fn report_service(app: &App, service: &Service, done: &str) -> Result<Exit> {
    let answer = service.inspect_service()?;
    app.printer.emit(&answer, |page| {
        if page.is_quiet() {
            return page.push_line(&answer.name);
        }
        let is_there = if answer.installed { "installed" } else { "not installed" };
        let stale = if answer.installed && !answer.current { ", by an older call" } else { "" };
        let state = answer.state.as_deref().map_or(String::new(), |state| format!(", {state}"));
        let (name, state) = (&answer.name, sanitize::one_line(&state));
        page.push_done(done, &format!("{name} ({is_there}{stale}{state})"));
        page.push_painted(style::DIM, &sanitize::path_line(&answer.path));
        for line in &answer.next {
            page.push_painted(style::DIM, &sanitize::one_line(line));
        }
    })
}

/// The service of a project.
#[derive(Debug)]
struct Service {
    manager: Manager,
    name: String,
    path: PathBuf,
    job: Job,
    is_on_server: bool,
}

/// Variables that decide where things are. All other variables of the caller may be secrets.
const KEPT: [&str; 9] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TMUX_TMPDIR",
    "CLAUDE_CONFIG_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The variable of libpq that is a secret.
const PASSWORD: &str = "PGPASSWORD";

impl Service {
    fn of_project(which: &Which, app: &App) -> Result<Service> {
        let project = app.project()?;
        let own = if cfg!(target_os = "macos") { Manager::Launchd } else { Manager::Systemd };
        let manager = which.manager.unwrap_or(own);
        let folder = project.root.file_name().unwrap_or_default().to_string_lossy();
        let hash = socket_name(&project.db);
        let hash = hash.rsplit('-').next().unwrap_or_default();
        let name = format!("el-{}-{}", safe_prefix(&folder), &hash[..8]);
        let no_home = || {
            CommandError::config_error("HOME", "there is no home folder for the service's file")
                .with_hint("set HOME or XDG_CONFIG_HOME")
        };
        let base = etcetera::choose_base_strategy().map_err(|_| no_home())?;
        let path = match manager {
            Manager::Systemd => {
                base.config_dir().join("systemd/user").join(format!("{name}.service"))
            }
            Manager::Launchd => {
                base.home_dir().join("Library/LaunchAgents").join(format!("{name}.plist"))
            }
        };
        let mut words: Vec<OsString> = vec![this_program()?.into()];
        if crate::project::Project::in_folder(&project.root).db != project.db {
            words.extend(["--db".into(), project.db.clone().into()]);
        }
        words.push("work".into());
        let mut kept = KEPT.to_vec();
        let is_on_server = project.server.is_some();
        if is_on_server {
            ensure_no_password()?;
            kept.push(server::VARIABLE);
            kept.extend(SERVER_VARIABLES.into_iter().filter(|name| *name != PASSWORD));
        }
        let given = kept.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
        let job = Job {
            name: name.clone(),
            words,
            folder: project.root.clone(),
            environment: given.filter(|(_, value)| !value.is_empty()).collect(),
            log: project.state.join("worker.log"),
        };
        Ok(Service { manager, name, path, job, is_on_server })
    }

    fn definition_text(&self) -> Result<String> {
        match self.manager {
            Manager::Systemd => self.job.systemd(),
            Manager::Launchd => self.job.launchd(),
        }
    }

    fn inspect_service(&self) -> Result<Answer> {
        let found = fs::read(&self.path).ok();
        let text = self.definition_text()?;
        let start = self.start_commands().iter().map(|words| words.join(" ")).collect::<Vec<_>>();
        let installed = found.is_some();
        let mut next = match installed {
            true => vec![
                format!("{} starts it, and starts it at each log-in", start.join(" && ")),
                "el service uninstall stops it and takes it away".to_owned(),
            ],
            false => vec!["el service install writes it".to_owned()],
        };
        if installed && self.is_on_server && std::env::var_os(PASSWORD).is_some() {
            next.push(format!("{PASSWORD} is not written there; ~/.pgpass keeps a password"));
        }
        Ok(Answer {
            manager: self.manager,
            name: self.name.clone(),
            path: self.path.clone(),
            installed,
            current: found.is_some_and(|found| found == text.as_bytes()),
            state: self.state(),
            next,
        })
    }

    /// The name of systemd's unit.
    fn unit_name(&self) -> String {
        format!("{}.service", self.name)
    }

    /// The manager's word for the state.
    fn state(&self) -> Option<String> {
        let unit = self.unit_name();
        let words = match self.manager {
            Manager::Systemd => ["systemctl", "--user", "is-active", &unit],
            Manager::Launchd => return None,
        };
        let said = Process::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output().ok()?;
        let word = String::from_utf8(said.stdout).ok()?;
        Some(word.trim().to_owned()).filter(|word| !word.is_empty())
    }

    fn start_commands(&self) -> Vec<Vec<String>> {
        match self.manager {
            Manager::Systemd => vec![
                self.reload_command(),
                texts(&["systemctl", "--user", "enable", "--now", &self.unit_name()]),
            ],
            Manager::Launchd => {
                let path = self.path.display().to_string();
                vec![texts(&["launchctl", "load", "-w", &path])]
            }
        }
    }

    fn stop_command(&self) -> Vec<String> {
        match self.manager {
            Manager::Systemd => {
                texts(&["systemctl", "--user", "disable", "--now", &self.unit_name()])
            }
            Manager::Launchd => {
                let path = self.path.display().to_string();
                texts(&["launchctl", "unload", "-w", &path])
            }
        }
    }

    fn reload_command(&self) -> Vec<String> {
        match self.manager {
            Manager::Systemd => texts(&["systemctl", "--user", "daemon-reload"]),
            Manager::Launchd => texts(&["true"]),
        }
    }

    fn call(&self, words: &[String]) -> Result<()> {
        let command = words.join(" ");
        let failed = |message: String| {
            CommandError::config_error("service", message)
                .with_hint(format!("the file {} is written", self.path.display()))
                .with_hint(format!("{command} starts the service where a user's services run"))
        };
        let said = Process::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output();
        let said =
            said.map_err(|source| failed(format!("cannot call {}", words[0])).with_source(source))?;
        if said.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&said.stderr);
        Err(failed(format!("{command} failed: {}", told.trim())))
    }
}

/// Refuses a server's address with a password, which the service's file would keep.
fn ensure_no_password() -> Result<()> {
    match std::env::var(server::VARIABLE) {
        Ok(url) if el_core::has_password(&url) => Err(CommandError::config_error(
            server::VARIABLE,
            "the address has a password, and the service's file would keep it",
        )
        .with_hint("leave the password out of the address; ~/.pgpass keeps it")),
        _ => Ok(()),
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
