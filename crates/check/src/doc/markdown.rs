//! Formats a document as Markdown.

use super::block::{Block, Page};

/// Formats a document.
#[must_use]
pub fn print(page: &Page) -> String {
    let blocks = page.blocks.iter().map(block);
    let mut parts = vec![format!("# {}", page.title)];
    parts.extend(blocks);
    parts.join("\n\n") + "\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("{} {text}", "#".repeat(usize::from(*level))),
        Block::Paragraph(text) => text.clone(),
        Block::List(points) => points.iter().map(|point| format!("- {point}")).collect::<Vec<_>>().join("\n"),
        Block::Table(head, rows) => table(head, rows),
        Block::Code(language, text) => format!("```{language}\n{}\n```", text.trim_end()),
        Block::Picture { mermaid, .. } => format!("```mermaid\n{}\n```", mermaid.trim_end()),
    }
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line =
        |cells: &[String]| format!("| {} |", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}", "---|".repeat(head.len()));
    let lines = [line(head), rule].into_iter().chain(rows.iter().map(|row| line(row)));
    lines.collect::<Vec<_>>().join("\n")
}

fn escape(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
