use crate::{App, Exit, Result, backups};

/// The values of the flags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServeOptions {
    /// `None`: the project's own, or one of the next.
    pub(crate) port: Option<u16>,
    /// Show the link in the person's browser.
    pub(crate) opens_browser: bool,
    pub(crate) is_read_only: bool,
}

/// Show the project in your browser, live: what needs you first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el serve                 Print a link; Enter prints a new one, for a second browser
  el serve --open          Show it in the browser at once
  el serve --read-only     Only to look at
  el serve --port 8080
  ssh -L 7412:localhost:7412 host    The board of another machine, with the port that it printed

Each link signs one browser in: it can be used once, within a minute. The browser stays signed
in when el serve starts anew. The board listens on this machine alone, and no page of it asks
anything of another one. Your actions there are recorded in your name (--actor, EL_ACTOR). An
agent's session may not start it.")]
pub(crate) struct Args {
    /// The port [default: one of the project's own, from 7300; 0: a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Show the link in your browser
    #[arg(long)]
    open: bool,
    /// Refuse every change
    #[arg(long)]
    read_only: bool,
}

pub(super) fn run(
    args: &Args,
    app: &App,
    serve: fn(&App, ServeOptions) -> Result<Exit>,
) -> Result<Exit> {
    app.refuse_foreign()?;
    backups::watch(app.project()?);
    let (port, opens_browser, is_read_only) = (args.port, args.open, args.read_only);
    serve(app, ServeOptions { port, opens_browser, is_read_only })
}
