//! Graphs for Graphviz and Mermaid. Titles are quoted, so no title is read as syntax.

use crate::model::{BondKind, IssueType, Status};

/// An atom in a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    pub id: String,
    pub title: String,
    pub status: Status,
    pub issue_type: IssueType,
}

/// A bond in a picture; both ends must be among the vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub source: String,
    pub target: String,
    pub kind: BondKind,
}

/// More of a title makes a picture unreadable.
const TITLE: usize = 60;

fn short_title(title: &str) -> String {
    let mut text: String =
        title.chars().map(|c| if c.is_control() { ' ' } else { c }).take(TITLE).collect();
    if title.chars().count() > TITLE {
        text.push('…');
    }
    text
}

fn status_color(status: Status) -> &'static str {
    match status {
        Status::Open => "#dbeafe",
        Status::InProgress => "#fef3c7",
        Status::Blocked => "#fee2e2",
        Status::Review | Status::Testing => "#ede9fe",
        Status::Deferred => "#f3f4f6",
        Status::Closed => "#dcfce7",
        Status::WontDo | Status::Discard => "#e5e7eb",
    }
}

/// The language of Graphviz: `dot -Tsvg`.
pub fn render_dot(vertices: &[Vertex], edges: &[Edge]) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = String::from(
        "digraph el {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", \
         fontname=\"sans-serif\"];\n",
    );
    for vertex in vertices {
        let label = format!("{}\n{}", short_title(&vertex.title), vertex.id);
        // A newline in a quoted text is written as such.
        let label = quote(&label).replace('\n', "\\n");
        let shape =
            if vertex.issue_type.is_abstract() { ", shape=folder, style=filled" } else { "" };
        out.push_str(&format!(
            "  {} [label={label}, fillcolor=\"{}\"{shape}];\n",
            quote(&vertex.id),
            status_color(vertex.status)
        ));
    }
    for edge in edges {
        let style = match edge.kind {
            BondKind::Blocks => "",
            BondKind::ParentChild => " [style=dashed, arrowhead=none, color=gray]",
            BondKind::WaitsFor => " [label=\"waits_for\"]",
            BondKind::ConditionalBlocks => " [label=\"if it fails\", style=dotted]",
            BondKind::Related => " [label=\"related\", style=dotted, color=gray]",
            BondKind::Duplicates => " [label=\"duplicates\", style=dotted, color=gray]",
            BondKind::DiscoveredFrom => " [label=\"led to\", style=dotted, color=gray]",
            BondKind::RepliesTo => " [label=\"replies_to\", style=dotted, color=gray]",
        };
        out.push_str(&format!("  {} -> {}{style};\n", quote(&edge.source), quote(&edge.target)));
    }
    out.push_str("}\n");
    out
}

/// A Mermaid flowchart, as GitHub shows in Markdown.
pub fn render_mermaid(vertices: &[Vertex], edges: &[Edge]) -> String {
    let mut out = String::from("flowchart LR\n");
    let index: std::collections::HashMap<&str, usize> =
        vertices.iter().enumerate().map(|(at, v)| (v.id.as_str(), at)).collect();
    for (at, vertex) in vertices.iter().enumerate() {
        let label = format!(
            "{}<br/>{}",
            escape_entities(&short_title(&vertex.title)),
            escape_entities(&vertex.id)
        );
        let (open, close) = if vertex.issue_type.is_abstract() { ("[[", "]]") } else { ("[", "]") };
        out.push_str(&format!("  n{at}{open}\"{label}\"{close}:::{}\n", vertex.status));
    }
    for edge in edges {
        let (Some(source), Some(target)) =
            (index.get(edge.source.as_str()), index.get(edge.target.as_str()))
        else {
            continue;
        };
        let arrow = match edge.kind {
            BondKind::Blocks => "-->".to_owned(),
            BondKind::ParentChild => "---".to_owned(),
            BondKind::WaitsFor => "-->|waits_for|".to_owned(),
            BondKind::ConditionalBlocks => "-.->|if it fails|".to_owned(),
            BondKind::DiscoveredFrom => "-.->|led to|".to_owned(),
            kind => format!("-.->|{kind}|"),
        };
        out.push_str(&format!("  n{source} {arrow} n{target}\n"));
    }
    for status in Status::ALL.iter().filter(|status| vertices.iter().any(|v| v.status == **status))
    {
        out.push_str(&format!(
            "  classDef {status} fill:{},stroke:#6b7280,color:#111827\n",
            status_color(*status)
        ));
    }
    out
}

/// Escapes all of Mermaid's special characters as numeric entities.
fn escape_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | ',' | '…') {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", u32::from(c)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(id: &str, title: &str) -> Vertex {
        Vertex {
            id: id.into(),
            title: title.into(),
            status: Status::Open,
            issue_type: IssueType::Task,
        }
    }

    #[test]
    fn titles_are_data_in_both_languages() {
        let vertices = [vertex("a-1", "say \"hi\"]; drop\\ <b>\u{1b}[31m"), vertex("a-2", "end")];
        let edges = [Edge { source: "a-1".into(), target: "a-2".into(), kind: BondKind::Blocks }];
        let dot = render_dot(&vertices, &edges);
        assert!(
            dot.contains("label=\"say \\\"hi\\\"]; drop\\\\ <b> [31m\\na-1\"")
                && dot.contains("\"a-1\" -> \"a-2\";"),
            "{dot}"
        );
        let mermaid = render_mermaid(&vertices, &edges);
        assert!(
            mermaid.contains(
                "n0[\"say #34;hi#34;#93;#59; drop#92; #60;b#62; #91;31m<br/>a-1\"]:::open"
            ),
            "{mermaid}"
        );
        assert!(mermaid.contains("n0 --> n1"));
    }
}
