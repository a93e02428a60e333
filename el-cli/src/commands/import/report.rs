//! The report of an import, for people.

use el_core::exchange::{BadLine, Note, NoteKind, Tracker};
use el_core::ops::Imported;

use crate::output::{Page, count, sanitize, style};

/// The maximum number of bad lines that are listed for people; robots get all.
pub(super) const LISTED: usize = 20;

/// Reports the effects of an import. `from`: the origin of the records.
pub(in crate::commands) fn print_imported(
    page: &mut Page,
    done: &Imported,
    tracker: Tracker,
    from: &str,
    dry_run: bool,
    bad: &[BadLine],
) {
    if page.is_quiet() {
        return;
    }
    let total = done.created + done.updated + done.unchanged;
    let verb = if dry_run { "Would import" } else { "Imported" };
    let mut facts = vec![format!(
        "{} new, {} changed, {} unchanged",
        done.created, done.updated, done.unchanged
    )];
    let counted = [
        (done.bonds_added, "bond", ""),
        (done.bonds_removed, "bond", " removed"),
        (done.comments_added, "comment", ""),
        (done.comments_edited, "comment", " edited"),
        (bad.len(), "bad line", " left out"),
    ];
    let told = counted
        .iter()
        .filter(|(many, ..)| *many > 0)
        .map(|(many, what, how)| count::with_noun(*many, what) + how);
    facts.extend(told);
    let atoms = count::with_noun(total, "atom");
    page.push_done(verb, &format!("{atoms} from {from}: {}", facts.join(" · ")));
    if !bad.is_empty() {
        page.push_section("Lines that could not be read");
        for line in bad.iter().take(LISTED) {
            page.push_line(format!("  line {}: {}", line.line, sanitize::one_line(&line.message)));
        }
        if bad.len() > LISTED {
            page.push_line(format!("  and {} more", bad.len() - LISTED));
        }
    }
    let kept = if tracker == Tracker::El { "metadata.kept" } else { "metadata.source" };
    let kept = format!("Kept under {kept}, having no place of its own");
    let parts = [
        (NoteKind::Approximated, "Became the nearest that there is here"),
        (NoteKind::Kept, kept.as_str()),
        (NoteKind::LeftOut, "Left out"),
        (NoteKind::Conflict, "Changed on both sides"),
        (NoteKind::Remark, "To know"),
    ];
    for (kind, heading) in parts {
        let notes: Vec<&Note> = done.notes.iter().filter(|note| note.kind == kind).collect();
        if notes.is_empty() {
            continue;
        }
        page.push_section(heading);
        for note in notes {
            let more = if note.count > note.places.len() { ", …" } else { "" };
            let places = format!("{} × · {}{more}", note.count, note.places.join(", "));
            let places = page.paint(style::DIM, &sanitize::one_line(&places));
            page.push_line(format!("  {}  {places}", sanitize::one_line(&note.what)));
        }
    }
}
