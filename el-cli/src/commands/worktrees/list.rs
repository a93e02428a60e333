use el_agents::land::AtomBranch;

use super::{find_branches, find_repository};
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{sanitize, style};

pub(super) fn run(app: &App) -> Result<Exit> {
    let store = app.reader()?;
    let found = find_branches(app, &store, &find_repository(app)?)?;
    let list = List::all(&found);
    app.printer.emit(&list, |page| {
        for branch in &found {
            if page.quiet() {
                page.line(sanitize::line(&branch.branch));
                continue;
            }
            let id = page.paint(style::ID, &branch.branch);
            let title = branch.title.as_deref().map(sanitize::line).unwrap_or_default();
            page.line(format!("{id}  {}  {title}", state(branch)));
            if let Some(path) = &branch.path {
                let text = page.paint(style::DIM, &format!("  {}", sanitize::path(path)));
                page.line(text);
            }
        }
        if found.is_empty() && !page.quiet() {
            let text = page.paint(style::DIM, "No atom has a branch");
            page.line(text);
        }
    })?;
    Ok(Exit::Done)
}

/// In words.
fn state(branch: &AtomBranch) -> String {
    let mut words =
        vec![branch.status.map_or_else(|| "unknown atom".to_owned(), |status| status.to_string())];
    words.push(match branch.commits {
        1 => "1 commit".to_owned(),
        many => format!("{many} commits"),
    });
    if branch.landed {
        words.push("landed".to_owned());
    }
    words.extend(branch.describe_revert());
    words.extend(branch.describe_stray());
    if !branch.uncommitted.is_empty() {
        words.push(format!("{} not committed", branch.uncommitted.len()));
    }
    if branch.missing {
        words.push("its folder was removed".to_owned());
    }
    if branch.live {
        words.push("at work".to_owned());
    }
    words.join(" · ")
}
