//! The sandbox: what an agent, a check or a setup can read, write and reach.
//!
//! Bubblewrap makes the sandbox. A pure function decides about the file system (`plan`); the
//! probe finds out whether this machine can have one at all.

mod checkout;
mod client;
mod denial;
mod exit;
mod files;
mod mounts;
mod plan;
mod probe;
mod secrets;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::checkout::Checkout;
use self::denial::Denials;
pub(crate) use self::exit::read_exit;
use self::files::Disk;
use self::plan::{Folders, plan};
use crate::check::ConfigurationError;
use crate::rundir::{RunDir, private_folder};
use crate::session;
use crate::settings::{Network, Places, SandboxMode, SandboxSettings};
use crate::summary_file::summaries_folder;

/// A sandbox that this machine can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    bubblewrap: PathBuf,
    settings: SandboxSettings,
    /// Variables that name services outside, and stay.
    #[serde(default)]
    pass: Vec<String>,
}

/// What came of looking for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Sandbox(Sandbox),
    /// The settings want none.
    Off,
    /// The settings want one where it can be had, and here it cannot: why.
    Missing(String),
}

/// A program to be run in a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub argv: &'a [OsString],
    pub environment: &'a [(OsString, OsString)],
    pub workdir: &'a Path,
    pub places: &'a Places,
    /// For an agent, what it has of its run.
    pub run: Option<OwnRun<'a>>,
}

/// The run of an agent: its folder, and its context.
#[derive(Debug, Clone, Copy)]
pub struct OwnRun<'a> {
    pub folder: &'a RunDir,
    pub context: &'a Path,
}

/// The sandbox of a check or a setup.
#[derive(Debug, Clone, Copy)]
pub struct Confinement<'a> {
    pub sandbox: &'a Sandbox,
    pub places: &'a Places,
}

/// How it is run then.
#[derive(Debug, Clone)]
pub struct Confined {
    pub argv: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

impl Found {
    /// Why there is none although the settings want one.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Found::Missing(why) => Some(why),
            Found::Sandbox(_) | Found::Off => None,
        }
    }

    /// The sandbox, if there is one.
    pub fn found_sandbox(&self) -> Option<&Sandbox> {
        match self {
            Found::Sandbox(sandbox) => Some(sandbox),
            Found::Off | Found::Missing(_) => None,
        }
    }
}

impl Sandbox {
    /// Looks for the sandbox that these settings want.
    ///
    /// # Errors
    /// If they want no agent without, and there is none.
    pub fn find(
        settings: &SandboxSettings,
        pass: &[String],
        environment: &[(OsString, OsString)],
    ) -> Result<Found, ConfigurationError> {
        if settings.mode == SandboxMode::Off {
            return Ok(Found::Off);
        }
        match probe::bubblewrap(environment, settings.network) {
            Ok(bubblewrap) => Ok(Found::Sandbox(Sandbox {
                bubblewrap,
                settings: settings.clone(),
                pass: pass.to_vec(),
            })),
            Err(why) if settings.mode == SandboxMode::Strict => Err(ConfigurationError::new(
                "sandbox",
                format!("no agent runs without a sandbox (sandbox = \"strict\"), and {why}"),
                "or set sandbox = \"auto\" to run agents without one here",
            )),
            Err(why) => Ok(Found::Missing(why)),
        }
    }

    /// What it is, in words for people.
    pub fn summary(&self) -> &'static str {
        match self.settings.network {
            Network::On => "bubblewrap",
            Network::Off => "bubblewrap, without a network",
        }
    }

    /// What the agent is told of it.
    pub(crate) fn advice(&self) -> String {
        let write = self.settings.write.iter().filter(|path| path.exists());
        let write: Vec<String> = write.map(|path| path.display().to_string()).collect();
        let more: String = write.iter().map(|path| format!(", {path}")).collect();
        format!(
            "You run in a sandbox. You can write this folder, /tmp{more}; all else is read-only, \
             and keys and log-ins are hidden. Where a command fails because of that, do not try to \
             get around it: say in your summary which path has to be opened."
        )
    }

    /// Sentences about what programs were kept from, as their outputs say, each with the setting
    /// that allows it.
    pub(crate) fn denials(
        &self,
        environment: &[(OsString, OsString)],
        outputs: &[PathBuf],
    ) -> Vec<String> {
        let home = environment.iter().find(|(name, _)| name == OsStr::new("HOME"));
        let mut hidden = secrets::below(home.map(|(_, home)| Path::new(home)));
        hidden.extend(self.settings.hide.iter().cloned());
        Denials { hidden, network: self.settings.network }.find_in(outputs)
    }

    /// The words and the environment that run a program in the sandbox.
    ///
    /// # Errors
    /// If what the program needs cannot be laid out.
    pub fn confine(&self, call: &Call<'_>) -> io::Result<Confined> {
        let folders = self.folders(call)?;
        if let Some(checkout) = Checkout::around_folder(&folders.workdir, &Disk) {
            checkout.create_pinned();
        }
        let mounts = plan(&folders, &Disk);
        let mut argv: Vec<OsString> = vec![self.bubblewrap.clone().into()];
        argv.extend(flags(self.settings.network).iter().map(OsString::from));
        argv.extend(mounts.arguments());
        argv.extend(["--chdir".into(), folders.workdir.into(), "--".into()]);
        argv.extend(call.argv.iter().cloned());
        Ok(Confined { argv, environment: self.environment(call.environment) })
    }

    fn folders(&self, call: &Call<'_>) -> io::Result<Folders> {
        let workdir = call.workdir.canonicalize()?;
        let get = |wanted: &str| {
            let found = call.environment.iter().find(|(name, _)| name == OsStr::new(wanted));
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        let real = |path: PathBuf| path.canonicalize().ok();
        let home = get("HOME").map(PathBuf::from).and_then(real);
        let tracker = call.places.database.parent().map(Path::to_owned).and_then(real);
        let mut folders = Folders { workdir, home, ..Folders::default() };
        if let Some(OwnRun { folder, .. }) = call.run
            && let Some((state, file)) = client::state(call.environment)
        {
            let copy = folder.path().join("claude.json");
            client::prepare(&state, &file, &copy, &folders.workdir)?;
            folders.client = real(state);
            // A link of that name is followed by the client.
            let at = file.parent().and_then(|folder| folder.canonicalize().ok());
            let at = real(file.clone()).or(at.map(|folder| folder.join(".claude.json")));
            folders.client_file = at.map(|at| (at, copy));
        }
        let absolute = |word: &OsString| Path::new(word).is_absolute();
        for word in call.argv.iter().filter(|word| absolute(word)) {
            let path = Path::new(word);
            folders
                .visible
                .extend([path.parent(), Some(path)].into_iter().flatten().map(Into::into));
            folders.visible.extend(real(path.to_owned()));
        }
        folders.visible.extend(call.places.el.parent().map(Path::to_owned));
        folders.visible.push(call.places.el.clone());
        let path = get("PATH");
        let on_path = path.iter().flat_map(std::env::split_paths).filter(|path| path.is_absolute());
        folders.programs = on_path.collect();
        folders.visible.extend(folders.programs.iter().cloned());
        if self.is_passed("SSH_AUTH_SOCK") {
            folders.visible.extend(get("SSH_AUTH_SOCK").map(PathBuf::from));
        }
        let state = get("XDG_STATE_HOME").map(|state| Path::new(&state).join("el"));
        let tmux = get("TMUX_TMPDIR").map(|folder| {
            let user = rustix::process::getuid().as_raw();
            Path::new(&folder).join(format!("tmux-{user}"))
        });
        folders.secrets = secrets::below(folders.home.as_deref());
        folders.hidden = self.settings.hide.iter().cloned().chain(state).chain(tmux).collect();
        folders.writable = self.settings.write.iter().cloned().filter_map(real).collect();
        let socket = get(session::VARIABLE).map(PathBuf::from);
        folders
            .needs
            .extend(socket.as_deref().and_then(Path::parent).map(Into::into).and_then(real));
        if let Some(OwnRun { folder, context }) = call.run {
            folders.needs.extend(real(folder.settings_path()));
            folders.needs.extend(real(folder.session()));
            folders.needs.extend(real(context.to_owned()));
            let own = folder.handover();
            private_folder(&own).map_err(io::Error::other)?;
            folders.summaries = real(summaries_folder(call.places)).map(|all| (all, own));
        }
        folders.tracker = tracker.filter(|folder| folder.file_name() == Some(".eluent".as_ref()));
        Ok(folders)
    }

    fn is_passed(&self, name: &str) -> bool {
        self.pass.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        })
    }

    /// Without the services outside; temporary files go to the private `/tmp`. Git neither packs
    /// nor prunes, since it does not see all that is in use.
    fn environment(&self, given: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let is_kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            !secrets::SERVICES.contains(&name.as_ref()) || self.is_passed(&name)
        };
        let mut environment: Vec<_> =
            given.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
        for (name, value) in [
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "gc.auto"),
            ("GIT_CONFIG_VALUE_0", "0"),
            ("GIT_CONFIG_KEY_1", "maintenance.auto"),
            ("GIT_CONFIG_VALUE_1", "false"),
        ] {
            environment.push((name.into(), value.into()));
        }
        environment
    }
}

/// What holds for every sandbox: it dies with us, sees its own processes only, and has no
/// capability.
fn flags(network: Network) -> Vec<&'static str> {
    let mut flags =
        vec!["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"];
    if network == Network::Off {
        flags.push("--unshare-net");
    }
    flags
}
