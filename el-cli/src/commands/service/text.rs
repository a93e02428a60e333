//! The files of services.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{CommandError, Result};

/// A command that a manager of services keeps running.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) name: String,
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) environment: Vec<(&'static str, String)>,
    /// For a manager without a journal of its own.
    pub(super) log: PathBuf,
}

impl Job {
    /// A user unit of systemd. `KillMode=process`: sessions outlive a worker that crashed, and the
    /// next worker adopts the sessions; stopping the unit ends the sessions by `el work --stop`.
    pub(super) fn systemd(&self) -> Result<String> {
        let words = self.words()?;
        let folder = plain(&self.folder.to_string_lossy())?.replace('%', "%%");
        let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let mut environment = String::new();
        for (name, value) in &self.environment {
            // Only a command expands `$`.
            let word = quoted(&format!("{name}={}", plain(value)?)).replace("$$", "$");
            environment.push_str(&format!("Environment={word}\n"));
        }
        Ok(format!(
            "# Written by `el service install`; `el service uninstall` takes it away.\n\
             [Unit]\n\
             Description=el work in {folder}\n\
             \n\
             [Service]\n\
             Type=exec\n\
             WorkingDirectory={folder}\n\
             {environment}\
             ExecStart={}\n\
             ExecStop=/bin/sh -c \"test -z '${{MAINPID}}' || exec \\\"$$@\\\" --stop\" {}\n\
             KillMode=process\n\
             TimeoutStopSec=120\n\
             Restart=on-failure\n\
             RestartSec=30\n\
             RestartPreventExitStatus=2 6\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            command.join(" "),
            // The word after the script is its `$0`.
            std::iter::once("el".to_owned()).chain(command.clone()).collect::<Vec<_>>().join(" "),
        ))
    }

    /// An agent of launchd. Sessions outlive the worker, as under systemd.
    pub(super) fn launchd(&self) -> Result<String> {
        let string = |text: &str| format!("<string>{}</string>", xml(text));
        let words: String =
            self.words()?.iter().map(|word| format!("    {}\n", string(word))).collect();
        let mut environment = String::new();
        for (name, value) in &self.environment {
            let value = string(plain(value)?);
            environment.push_str(&format!("    <key>{name}</key>{value}\n"));
        }
        let path = |path: &Path| -> Result<String> { Ok(string(plain(&path.to_string_lossy())?)) };
        let log = path(&self.log)?;
        Ok(format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <!-- Written by el service install; el service uninstall takes it away. -->\n\
             <plist version=\"1.0\">\n<dict>\n  \
             <key>Label</key>{}\n  \
             <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
             <key>WorkingDirectory</key>{}\n  \
             <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n  \
             <key>RunAtLoad</key><true/>\n  \
             <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n  \
             <key>ThrottleInterval</key><integer>30</integer>\n  \
             <key>AbandonProcessGroup</key><true/>\n  \
             <key>StandardOutPath</key>{log}\n  \
             <key>StandardErrorPath</key>{log}\n\
             </dict>\n</plist>\n",
            string(&self.name),
            path(&self.folder)?,
        ))
    }

    fn words(&self) -> Result<Vec<String>> {
        let texts = self.words.iter().map(|word| word.to_string_lossy());
        texts.map(|text| Ok(plain(&text)?.to_owned())).collect()
    }
}

/// A text that a line of a service's file can hold.
fn plain(text: &str) -> Result<&str> {
    if text.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
        return Err(CommandError::invalid_value(
            "service",
            format!("'{}' cannot stand in a service's file", text.escape_debug()),
        ));
    }
    Ok(text)
}

/// A word of a command in a unit, without expansion.
fn quoted(word: &str) -> String {
    let mut out = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '%' | '$' => out.extend([character, character]),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
