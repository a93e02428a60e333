//! The sandbox: what an agent, a check or a setup can read, write and reach.
//!
//! Bubblewrap makes the sandbox, and Landlock a second layer within. A pure function decides about
//! the file system (`plan`). On macOS, `sandbox-exec` gets the same decisions. `machine` finds out
//! if this machine can make a sandbox at all.

mod caches;
mod checkout;
mod client;
mod denial;
mod exit;
mod files;
mod git_folder;
mod landlock;
mod machine;
mod macos;
mod mounts;
mod new_repository;
mod own_branch;
mod plan;
mod secrets;
mod sockets;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::checkout::Checkout;
use self::denial::Denials;
pub(crate) use self::exit::{LAYOUTS, has_lost_a_path, read_exit};
use self::files::{Disk, Files as _};
use self::landlock::Landlock;
pub use self::landlock::{ENTER, enter};
pub use self::own_branch::OwnBranch;
use self::plan::{Folders, plan};
use crate::requirements::ConfigurationError;
use crate::rundir::{RunDir, private_folder};
use crate::session;
use crate::settings::{Network, Places, SandboxMode, SandboxSettings};
use crate::summary_file::summaries_folder;

/// A sandbox that this machine can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Bubblewrap, or on macOS `sandbox-exec`.
    #[serde(alias = "bubblewrap")]
    program: PathBuf,
    settings: SandboxSettings,
    /// Variables that name services outside, and that the program keeps.
    #[serde(default)]
    pass: Vec<String>,
}

/// The result of looking for a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Sandbox(Sandbox),
    /// The settings want none.
    Off,
    /// The settings ask for a sandbox if possible, and this machine cannot make one: why.
    Missing(String),
}

/// A program to be run in a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub argv: &'a [OsString],
    pub environment: &'a [(OsString, OsString)],
    pub workdir: &'a Path,
    pub places: &'a Places,
    /// For an agent, the run's own files.
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

/// The way to run a program in the sandbox.
#[derive(Debug, Clone)]
pub struct Confined {
    pub argv: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// The run's own copy of the branch, if the program commits to one.
    pub(crate) branch: Option<OwnBranch>,
}

impl Found {
    /// Why there is no sandbox although the settings ask for one.
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
    /// Looks for the sandbox that these settings ask for.
    ///
    /// # Errors
    /// If the settings allow no agent without a sandbox, and there is none.
    pub fn find(
        settings: &SandboxSettings,
        pass: &[String],
        environment: &[(OsString, OsString)],
    ) -> Result<Found, ConfigurationError> {
        if settings.mode == SandboxMode::Off {
            return Ok(Found::Off);
        }
        match machine::find_program(environment, settings.network) {
            Ok(program) => Ok(Found::Sandbox(Sandbox {
                program,
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

    /// Describes the sandbox to people.
    pub fn summary(&self) -> String {
        let has_network = self.settings.network == Network::On;
        let name = match cfg!(target_os = "macos") {
            true => "sandbox-exec (untested)".to_owned(),
            false => format!("bubblewrap{}", Landlock::of_kernel().summary(has_network)),
        };
        format!("{name}{}", if has_network { "" } else { ", without a network" })
    }

    /// Describes the sandbox to the agent.
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

    /// Returns sentences about the denials in the outputs of programs, each with the setting that
    /// allows the access.
    pub(crate) fn denials(
        &self,
        environment: &[(OsString, OsString)],
        outputs: &[PathBuf],
    ) -> Vec<String> {
        self.kept_from(environment).find_in(outputs)
    }

    /// Returns a hint for the agent itself about a command that failed; `None` if the sandbox is
    /// not the cause.
    pub fn hint(&self, environment: &[(OsString, OsString)], said: &str) -> Option<String> {
        let told = self.kept_from(environment).find_in_text(said);
        (!told.is_empty()).then(|| {
            format!(
                "{}. Only a person can run that: go on without, or say in your summary what has to \
                 be opened.",
                told.join("; ")
            )
        })
    }

    fn kept_from(&self, environment: &[(OsString, OsString)]) -> Denials {
        let home = environment.iter().find(|(name, _)| name == OsStr::new("HOME"));
        let home = home.map(|(_, home)| PathBuf::from(home));
        let mut hidden = secrets::below(home.as_deref());
        hidden.extend(self.settings.hide.iter().cloned());
        Denials { hidden, home, network: self.settings.network, is_there: Path::exists }
    }

    /// Returns the words and the environment that run a program in the sandbox.
    ///
    /// # Errors
    /// If the files that the program needs cannot be laid out.
    pub fn confine(&self, call: &Call<'_>) -> io::Result<Confined> {
        let mut folders = self.folders(call)?;
        let mut branch = None;
        if let Some(checkout) = Checkout::around_folder(&folders.workdir, &Disk) {
            checkout.create_pinned();
            if let Some(OwnRun { folder, .. }) = call.run {
                branch = OwnBranch::lay_out(folder, &checkout)?;
            }
        } else if let Some(OwnRun { folder, .. }) = call.run {
            let is_none =
                folders.workdir.ancestors().all(|above| !Disk.is_there(&above.join(".git")));
            if is_none {
                new_repository::note_missing(folder)?;
            }
        }
        folders.branches = branch.as_ref().map(OwnBranch::shown_folder);
        let mut argv: Vec<OsString> = vec![self.program.clone().into()];
        if cfg!(target_os = "macos") {
            macos::without_replacements(&mut folders);
            let mounts = plan(&folders, &Disk);
            let client = folders.client.as_deref();
            let profile = macos::profile(&mounts, client, self.settings.network);
            argv.extend(["-p".into(), profile.into()]);
            argv.extend(call.argv.iter().cloned());
            // Commits are on the branch itself.
            let environment = self.environment(call.environment);
            return Ok(Confined { argv, environment, branch: None });
        }
        let mounts = plan(&folders, &Disk);
        argv.extend(flags(self.settings.network).iter().map(OsString::from));
        argv.extend(mounts.arguments());
        argv.extend(["--chdir".into(), folders.workdir.clone().into(), "--".into()]);
        let (el, workdir) = (&call.places.el, &folders.workdir);
        argv.extend(Landlock::of_kernel().entering_words(el, workdir, mounts.writable()));
        argv.extend(call.argv.iter().cloned());
        Ok(Confined { argv, environment: self.environment(call.environment), branch })
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
            // The client follows a link of that name.
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
        folders.sockets = sockets::listening();
        let forges = secrets::FORGE_FOLDERS.iter().filter_map(|name| get(name).map(PathBuf::from));
        let hidden = self.settings.hide.iter().cloned().chain(state).chain(tmux).chain(forges);
        folders.hidden = hidden.collect();
        if let Some(home) = &folders.home {
            caches::make_missing(home, &self.settings.write);
        }
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

    /// The environment without services outside and without tokens of forges, and with temporary
    /// files in the private `/tmp`.
    /// Git neither packs nor prunes, since it does not see every object that is in use.
    fn environment(&self, given: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let is_kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            let is_outside = |list: &[&str]| list.contains(&name.as_ref());
            !(is_outside(secrets::SERVICES) || is_outside(secrets::TOKENS)) || self.is_passed(&name)
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

/// Removes files that git outside would obey or write through, once no process of the run is left.
/// Returns a sentence for each.
pub(crate) fn remove_traps(run: &RunDir, workdir: &Path) -> Vec<String> {
    let mut told = git_folder::remove_links(workdir);
    told.extend(new_repository::remove_traps(run, workdir));
    told
}

/// Returns the flags of every sandbox: it dies with us, sees its own processes only, and has no
/// capability.
fn flags(network: Network) -> Vec<&'static str> {
    let mut flags =
        vec!["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"];
    if network == Network::Off {
        flags.push("--unshare-net");
    }
    flags
}
