//! The last line of `el work`: the branches to land.

use el_agents::land::{LandItem, LandOutcome, atom_branches, hold_configuration, plan_landing};
use el_agents::worker::WorkOptions;
use el_core::model::EventKind;
use el_core::{Store, ops};

use super::live::Listener;
use crate::commands::worktrees::{find_repository, target_branch};
use crate::output::names::first_few;
use crate::output::style;
use crate::{App, Result};

/// Suggests `el land` if agents worked in worktrees.
pub(super) fn suggest_landing(app: &App, options: &WorkOptions, listener: &mut Listener<'_>) {
    let is_apart = options.agents.iter().any(|served| served.agent.isolation.is_some());
    if !is_apart || app.printer.is_robot() || app.printer.new_page().is_quiet() {
        return;
    }
    // The work is done, also if git fails now; `el land` reports the error again.
    let Ok(items) = items_to_land(app, None) else { return };
    let Ok(store) = app.open_for_reading() else { return };
    let ids = |is_meant: &dyn Fn(&LandItem) -> bool| -> Vec<String> {
        items.iter().filter(|item| is_meant(item)).map(|item| item.atom_id.clone()).collect()
    };
    let uncommitted = ids(&|item| item.outcome == LandOutcome::Uncommitted);
    let held = ids(&|item| item.outcome == LandOutcome::ChangesConfiguration);
    let to_land = ids(&|item| item.outcome == LandOutcome::ToLand);
    let failed = ids(&|item| to_land.contains(&item.atom_id) && has_failed(&store, item));
    let ready = ids(&|item| to_land.contains(&item.atom_id) && !failed.contains(&item.atom_id));
    listener.print_above(|page| {
        if !uncommitted.is_empty() {
            let command = format!("el land --commit {}", uncommitted.join(" "));
            page.push_line(format!(
                "Not committed: {}. To commit and land it: {}",
                first_few(&uncommitted),
                page.paint(style::HINT, &command)
            ));
        }
        if !held.is_empty() {
            let command = format!("el land --allow-config {}", held.join(" "));
            page.push_line(format!(
                "Changes what decides about agents or hooks: {}. To land it, once looked at: {}",
                first_few(&held),
                page.paint(style::HINT, &command)
            ));
        }
        if let [first, ..] = &failed[..] {
            let command = page.paint(style::HINT, &format!("el why {first}")).to_string();
            page.push_line(format!("Did not land: {}. {command} says why", first_few(&failed)));
        }
        if !ready.is_empty() {
            let command = page.paint(style::HINT, "el land --all");
            page.push_line(format!(
                "Ready to land: {}. To bring them in: {command}",
                first_few(&ready)
            ));
        }
    });
}

/// Returns true if the last landing of this very commit failed.
fn has_failed(store: &Store, item: &LandItem) -> bool {
    let Ok(Some(last)) = ops::last_landing(store, &item.atom_id) else { return false };
    last.kind == EventKind::LandFailed && last.data["tip"].as_str() == item.tip.as_deref()
}

/// Plans the landing of these atoms; `None`: of all.
pub(in crate::commands) fn items_to_land(
    app: &App,
    wanted: Option<&[String]>,
) -> Result<Vec<LandItem>> {
    let repository = find_repository(app)?;
    let settings = app.settings()?.land_settings()?;
    let onto = target_branch(app, &repository, None)?;
    let branches = atom_branches(&app.open_for_reading()?, &repository, &settings, Some(&onto))?;
    let mut items = plan_landing(&branches, wanted);
    hold_configuration(&repository, &onto, &mut items)?;
    Ok(items)
}
