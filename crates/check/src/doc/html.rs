//! Formats a document as one self-contained HTML page: styles and diagrams are inlined, and it works offline.

use super::block::{Block, Page};

const STYLE: &str = include_str!("page.css");

/// Formats a document.
#[must_use]
pub fn print(page: &Page) -> String {
    let title = escape(&page.title);
    let body: String = page.blocks.iter().map(block).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<nav aria-label=\"Contents\">\n<strong>{title}</strong>\n{}</nav>\n\
         <main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n",
        contents(page)
    )
}

/// Returns the level 2 and 3 headings as links.
fn contents(page: &Page) -> String {
    let mut out = String::from("<ul>\n");
    for block in &page.blocks {
        if let Block::Heading(level @ 2..=3, text) = block {
            out.push_str(&format!(
                "<li class=\"level{level}\"><a href=\"#{}\">{}</a></li>\n",
                anchor(text),
                inline(text)
            ));
        }
    }
    out + "</ul>\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("<h{level} id=\"{}\">{}</h{level}>\n", anchor(text), inline(text)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(points) => {
            let points: String = points.iter().map(|point| format!("<li>{}</li>\n", inline(point))).collect();
            format!("<ul>\n{points}</ul>\n")
        }
        Block::Table(head, rows) => table(head, rows),
        Block::Code(language, text) => {
            format!("<pre class=\"{language}\"><code>{}</code></pre>\n", escape(text.trim_end()))
        }
        Block::Picture { svg, .. } => format!("<figure>\n{svg}</figure>\n"),
    }
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let cells = |cells: &[String], tag: &str| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", inline(cell))).collect()
    };
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        cells(head, "th")
    )
}

/// Escapes text and formats `code` between backticks.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (number, piece) in text.split('`').enumerate() {
        let piece = escape(piece);
        out.push_str(&if number % 2 == 1 { format!("<code>{piece}</code>") } else { piece });
    }
    out
}

/// Escapes text for HTML content and attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn anchor(text: &str) -> String {
    let words = text.to_lowercase();
    words
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}
