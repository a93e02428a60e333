//! The commands: a file per verb with its arguments and its function; a noun with several verbs is
//! a folder.

use clap::Subcommand;

use crate::{App, Exit, Result, actor};

mod approve;
mod artifacts;
mod atom_form;
mod attach;
mod backup;
mod cancel;
mod chat;
mod check_text;
mod claim;
pub(crate) mod close;
mod comment;
mod completions;
mod config;
mod create;
mod db;
mod dep;
pub(crate) mod diff;
mod discard;
mod doctor;
mod edit;
mod export;
mod freed;
mod help;
mod history;
mod hook;
mod import;
mod in_session;
pub(crate) mod inbox;
mod init;
pub(crate) mod land;
mod list;
pub(crate) mod logs;
mod mailbox;
mod man;
mod mcp;
mod merge_driver;
mod next;
pub(crate) mod orchestrate;
mod phase;
mod pr;
mod prime;
mod queue;
mod ready;
mod reject;
mod release;
mod reopen;
mod restore;
mod retry;
mod review;
pub(crate) mod run;
mod run_options;
pub(crate) mod runs;
mod schema;
mod search;
pub(crate) mod serve;
mod service;
mod setup;
pub(crate) mod show;
mod stats;
pub(crate) mod status;
mod submit;
mod supervise;
mod sync;
mod tasks;
mod top;
mod trust;
mod undo;
mod update;
pub(crate) mod why;
mod work;
mod workers;
mod worktrees;

/// The commands of `el`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Init(init::Args),
    Create(create::Args),
    List(list::Args),
    Show(show::Args),
    Ready(ready::Args),
    Next(next::Args),
    Update(update::Args),
    Edit(edit::Args),
    Close(close::Args),
    Reopen(reopen::Args),
    Submit(submit::Args),
    Review(review::Args),
    Approve(approve::Args),
    Reject(reject::Args),
    #[command(subcommand)]
    Comment(comment::Command),
    #[command(subcommand)]
    Dep(dep::Command),
    Claim(claim::Args),
    Release(release::Args),
    Discard(discard::Args),
    Search(search::Args),
    Serve(serve::Args),
    #[command(subcommand)]
    Service(service::Command),
    Setup(setup::Args),
    History(history::Args),
    Stats(stats::Args),
    Status(status::Args),
    Top(top::Args),
    Orchestrate(Box<orchestrate::Args>),
    #[command(subcommand)]
    Phase(phase::Command),
    CheckText(check_text::Args),
    Run(run::Args),
    Tasks(tasks::Args),
    Queue(queue::Args),
    Runs(runs::Args),
    Workers(workers::Args),
    Artifacts(artifacts::Args),
    Logs(logs::Args),
    Attach(attach::Args),
    Why(why::Args),
    Diff(diff::Args),
    Land(land::Args),
    Pr(pr::Args),
    Worktrees(worktrees::Args),
    Cancel(cancel::Args),
    Retry(retry::Args),
    Chat(chat::Args),
    Inbox(inbox::Args),
    #[command(subcommand)]
    Mailbox(mailbox::Command),
    #[command(subcommand)]
    Config(config::Command),
    Trust(trust::Args),
    Doctor(doctor::Args),
    Db(db::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Undo(undo::Args),
    Completions(completions::Args),
    Import(import::Args),
    Export(export::Args),
    #[command(subcommand)]
    Sync(sync::Command),
    MergeDriver(merge_driver::Args),
    Prime(prime::Args),
    Schema(schema::Args),
    Man(man::Args),
    Mcp(mcp::Args),
    Help(help::Args),
    Work(Box<work::Args>),
    #[command(hide = true)]
    Supervise(supervise::Args),
    #[command(subcommand, hide = true)]
    Hook(hook::Command),
}

/// Functions of higher modules that some commands call. Passed down, so that no command imports a
/// module that is made of commands.
pub(crate) struct Upper {
    /// Builds the whole command line, for commands that explain the command line.
    pub(crate) grammar: fn() -> clap::Command,
    /// Serves the tools of `el mcp`.
    pub(crate) serve_mcp: fn(&App) -> Result<Exit>,
    /// Shows the board on the terminal.
    pub(crate) show_top: fn(&App) -> Result<Exit>,
    /// Serves the web board.
    pub(crate) serve_board: fn(&App, serve::ServeOptions) -> Result<Exit>,
}

impl Command {
    /// Returns true if Claude Code calls the command at its own events.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, Command::Hook(_))
    }

    /// Returns true if the command opens the tracker, answers, and ends: what is called all day.
    fn is_brief(&self) -> bool {
        match self {
            Command::Create(_) | Command::Show(_) | Command::Ready(_) | Command::Next(_) => true,
            Command::Update(_) | Command::Close(_) | Command::Claim(_) => true,
            Command::Comment(_) | Command::Search(_) | Command::Prime(_) => true,
            _ => self.is_hook(),
        }
    }

    /// Runs `el` without a command.
    pub(crate) fn run_bare(app: &App) -> Result<Exit> {
        Command::Status(status::Args::default()).check_session(app)?;
        status::run_bare(app)
    }

    /// Runs the command.
    pub(crate) fn run(self, app: &App, upper: &Upper) -> Result<Exit> {
        // A hook never fails, and a supervisor has no caller.
        if !self.is_hook() && !matches!(self, Command::Supervise(_)) {
            actor::ensure_valid_name(app.globals().actor.as_deref())?;
        }
        self.check_session(app)?;
        if self.is_brief() {
            el_core::leave_files_open();
        }
        match self {
            Command::Init(args) => init::run(&args, app),
            Command::Create(args) => create::run(&args, app),
            Command::List(args) => list::run(&args, app),
            Command::Show(args) => show::run(&args, app),
            Command::Ready(args) => ready::run(&args, app),
            Command::Next(args) => next::run(&args, app),
            Command::Update(args) => update::run(&args, app),
            Command::Edit(args) => edit::run(&args, app),
            Command::Close(args) => close::run(&args, app),
            Command::Reopen(args) => reopen::run(&args, app),
            Command::Submit(args) => submit::run(&args, app),
            Command::Review(args) => review::run(&args, app),
            Command::Approve(args) => approve::run(&args, app),
            Command::Reject(args) => reject::run(&args, app),
            Command::Chat(args) => chat::run(&args, app),
            Command::Inbox(args) => inbox::run(&args, app),
            Command::Mailbox(command) => mailbox::run(&command, app),
            Command::Comment(command) => comment::run(command, app),
            Command::Dep(command) => dep::run(command, app),
            Command::Claim(args) => claim::run(&args, app),
            Command::Release(args) => release::run(&args, app),
            Command::Discard(args) => discard::run(args, app),
            Command::Search(args) => search::run(&args, app),
            Command::Serve(args) => serve::run(&args, app, upper.serve_board),
            Command::Service(command) => service::run(&command, app),
            Command::Setup(args) => setup::run(&args, app),
            Command::History(args) => history::run(&args, app),
            Command::Stats(args) => stats::run(&args, app),
            Command::Status(args) => status::run(&args, app),
            Command::Top(args) => top::run(&args, app, upper.show_top),
            Command::Orchestrate(args) => orchestrate::run(&args, app),
            Command::Phase(command) => phase::run(&command, app),
            Command::CheckText(args) => check_text::run(&args, app),
            Command::Run(args) => run::run(&args, app),
            Command::Tasks(args) => tasks::run(&args, app),
            Command::Queue(args) => queue::run(&args, app),
            Command::Runs(args) => runs::run(&args, app),
            Command::Workers(args) => workers::run(&args, app),
            Command::Artifacts(args) => artifacts::run(&args, app),
            Command::Logs(args) => logs::run(&args, app),
            Command::Attach(args) => attach::run(&args, app),
            Command::Diff(args) => diff::run(&args, app),
            Command::Land(args) => land::run(&args, app),
            Command::Pr(args) => pr::run(&args, app),
            Command::Worktrees(args) => worktrees::run(&args, app),
            Command::Why(args) => why::run(&args, app),
            Command::Cancel(args) => cancel::run(&args, app),
            Command::Retry(args) => retry::run(&args, app),
            Command::Config(command) => config::run(command, app),
            Command::Trust(args) => trust::run(&args, app),
            Command::Doctor(args) => doctor::run(&args, app),
            Command::Db(args) => db::run(&args, app),
            Command::Backup(args) => backup::run(&args, app),
            Command::Restore(args) => restore::run(&args, app),
            Command::Undo(args) => undo::run(&args, app),
            Command::Completions(args) => completions::run(&args, app),
            Command::Sync(command) => sync::run(&command, app),
            Command::Import(args) => import::run(&args, app),
            Command::Export(args) => export::run(&args, app),
            Command::MergeDriver(args) => merge_driver::run(&args, app),
            Command::Prime(args) => prime::run(&args, app),
            Command::Schema(args) => schema::run(&args, app),
            Command::Man(args) => man::run(&args, app, (upper.grammar)()),
            Command::Mcp(args) => mcp::run(&args, app, upper.serve_mcp),
            Command::Help(args) => help::run(&args, app, (upper.grammar)()),
            Command::Work(args) => work::run(&args, app),
            Command::Supervise(args) => supervise::run(&args, app),
            Command::Hook(command) => hook::run(&command, app),
        }
    }
}
