//! The text as sections.

use super::headings::{self, BOLD, BULLET, Heading, Section};
use super::lines::Line;

/// The lines of each section, in the order of the text.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    found: Vec<(Section, Vec<Line<'a>>)>,
    /// The lines before and between the sections.
    loose: Vec<Line<'a>>,
}

/// An open section, and the heading that began the section.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    rank: u8,
    indent: usize,
}

impl<'a> Sections<'a> {
    pub(super) fn find_sections(lines: &[Line<'a>]) -> Sections<'a> {
        let read = |at: usize| headings::read_heading(lines[at], lines.get(at + 1).copied());
        let headings: Vec<Option<Heading<'_>>> = (0..lines.len()).map(read).collect();
        let opens = SectionOpener::new(&headings);
        let mut sections = Sections { found: Vec::new(), loose: Vec::new() };
        // The open section; below, the interrupted section.
        let mut current: Option<Place> = None;
        let mut outer: Option<Place> = None;
        for (line, heading) in lines.iter().zip(headings) {
            match heading {
                Some(Heading { section: Some(section), rank, rest })
                    if opens.opens_section(section, rank, rest) =>
                {
                    if let Some(before) = current.filter(|place| place.rank < rank) {
                        outer = Some(before);
                    } else if outer.is_some_and(|place| place.rank >= rank) {
                        outer = None;
                    }
                    let rest = if rest.is_empty() { Vec::new() } else { vec![Line::plain(rest)] };
                    sections.found.push((section, rest));
                    current =
                        Some(Place { at: sections.found.len() - 1, rank, indent: line.indent });
                }
                // Another heading ends the section, unless the heading is of a lower level.
                Some(Heading { section: None, rank, .. }) => {
                    if current.is_some_and(|place| rank <= place.rank) {
                        current = outer.filter(|place| place.rank < rank);
                        outer = None;
                    }
                }
                // A heading below the section's own is no text of it.
                Some(Heading { rank, .. }) if rank < BOLD => {}
                _ => {
                    // A label in a list covers the item and the lines below; the next item belongs
                    // to the list again.
                    let is_next =
                        |place: &Place| place.rank == BULLET && line.indent <= place.indent;
                    if current.as_ref().is_some_and(is_next)
                        && outer.is_some()
                        && super::items::after_bullet(line.text).is_some()
                    {
                        current = outer.take();
                    }
                    match current {
                        Some(place) => sections.found[place.at].1.push(*line),
                        None => sections.loose.push(*line),
                    }
                }
            }
        }
        sections
    }

    /// No section at all was found.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns true if the text has no more of a summary than a word like "Summary:".
    pub(super) fn are_of_no_summary(&self) -> bool {
        self.found.iter().all(|(section, _)| *section == Section::Overview)
    }

    pub(super) fn loose_lines(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.loose.iter().copied()
    }

    /// Returns the lines of a section; repeated sections are joined, with a blank line between.
    pub(super) fn section_lines(&self, section: Section) -> impl Iterator<Item = Line<'a>> + '_ {
        self.section_parts(section).flat_map(|lines| lines.iter().copied().chain([Line::plain("")]))
    }

    pub(super) fn section_parts(&self, section: Section) -> impl Iterator<Item = &[Line<'a>]> + '_ {
        self.found
            .iter()
            .filter(move |(found, _)| *found == section)
            .map(|(_, lines)| lines.as_slice())
    }

    pub(super) fn has_section(&self, section: Section) -> bool {
        self.found.iter().any(|(found, _)| *found == section)
    }

    /// Where the accomplishments are.
    pub(super) fn accomplishments_section(&self) -> Option<Section> {
        [Section::Accomplishments, Section::Overview]
            .into_iter()
            .find(|section| self.has_section(*section))
    }

    /// Where the deliverables are.
    pub(super) fn deliverables_section(&self) -> Option<Section> {
        [Section::Deliverables, Section::Changed]
            .into_iter()
            .find(|section| self.has_section(*section))
    }

    /// Warns about missing and repeated sections.
    pub(super) fn warn_missing(&self, warnings: &mut Vec<String>) {
        if self.is_empty() {
            warnings.push("it has no section of the format".to_owned());
            return;
        }
        for section in Section::ALL {
            if self.section_parts(section).count() > 1 {
                warnings.push(format!("{}: this section is there more than once", section.title()));
            }
        }
        let missing = [
            Section::Objective,
            Section::Accomplishments,
            Section::Deliverables,
            Section::Tests,
            Section::Notes,
            Section::Status,
        ];
        let missing: Vec<&str> = missing
            .into_iter()
            .filter(|section| !self.has_section(*section))
            .map(Section::title)
            .collect();
        if !missing.is_empty() {
            warnings.push(format!("missing: {}", missing.join(", ")));
        }
        if self.deliverables_section() == Some(Section::Changed) {
            warnings.push("Key Deliverables: taken from the files that changed".to_owned());
        }
    }
}

/// The headings that begin a section. A `#` heading does, unless a surer heading names the same
/// section. A label does if the text has no `#` headings, or none for the section. So a `### Tests`
/// or a `**Notes:**` inside of another section stays inside if the real section exists.
struct SectionOpener {
    surest: [u8; Section::ALL.len()],
    has_headings: bool,
}

impl SectionOpener {
    fn new(headings: &[Option<Heading<'_>>]) -> SectionOpener {
        let mut surest = [u8::MAX; Section::ALL.len()];
        for heading in headings.iter().flatten() {
            if let Some(section) = heading.section {
                let at = section as usize;
                surest[at] = surest[at].min(heading.rank);
            }
        }
        SectionOpener { surest, has_headings: surest.iter().any(|rank| *rank < BOLD) }
    }

    fn opens_section(&self, section: Section, rank: u8, rest: &str) -> bool {
        // A status on a line of its own counts anywhere; every other label without emphasis is only
        // a word in such a text.
        let is_surely_meant = rank <= BOLD
            || !self.has_headings
            || section == Section::Status && super::status_line::has_status(rest);
        rank <= self.surest[section as usize] && is_surely_meant
    }
}
