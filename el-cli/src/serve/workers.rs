//! Starts and stops workers from the page, by an `el` of its own, as on the command line. The words
//! of the command are fixed, whatever the request says.

use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Data, Failure};
use super::board::Board;
use super::body::Body;
use super::verbs::ensure_writable;
use crate::output::sanitize;
use crate::{App, CommandError, Exit, Result};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

pub(super) async fn change_workers(
    State(board): State<Arc<Board>>,
    Path(verb): Path<String>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Data<Value>, Failure> {
    ensure_writable(&board)?;
    let words = match verb.as_str() {
        "start" => ["work", "--background"],
        "stop" => ["work", "--stop"],
        _ => {
            let text = "there is no such verb";
            return Err(Failure::new(StatusCode::NOT_FOUND, "not_found", text));
        }
    };
    board.run_call(move |app| run_el(app, words)).await.map(Data)
}

fn run_el(app: &App, words: [&str; 2]) -> Result<Value> {
    let project = app.project()?;
    let el = std::env::current_exe().unwrap_or_else(|_| "el".into());
    let ended = Command::new(el)
        .args(["--actor", app.actor()])
        .args(project.database_flag())
        .args(words)
        .current_dir(&project.root)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| CommandError::internal_error("cannot start el").with_source(source))?;
    let said = if ended.status.success() { &ended.stdout } else { &ended.stderr };
    let said = String::from_utf8_lossy(said);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = sanitize::one_line(line.trim_start_matches("error: ")).into_owned();
    match ended.status.success() {
        true => Ok(json!({ "said": line })),
        false => Err(CommandError::new(Exit::Configuration, "worker", line)),
    }
}
