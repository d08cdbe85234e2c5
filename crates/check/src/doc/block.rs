//! A document as a list of blocks. Text in a block is plain, except for `code` between backticks.

/// A generated document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Title of the document.
    pub title: String,
    /// Content in order.
    pub blocks: Vec<Block>,
}

/// A block of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading of level 2 to 4.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(String),
    /// A bulleted list.
    List(Vec<String>),
    /// A table: the header, then the rows.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Preformatted text with the name of its language.
    Code(&'static str, String),
    /// A diagram, as Mermaid and as SVG.
    Picture {
        /// Source for Markdown, whose viewers render Mermaid.
        mermaid: String,
        /// Source for the self-contained HTML page.
        svg: String,
    },
}

impl Page {
    /// Creates an empty document.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), blocks: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.blocks.push(Block::Heading(level, text.into()));
    }

    /// Adds a paragraph, unless it is empty.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.blocks.push(Block::Paragraph(text));
        }
    }

    /// Adds the paragraphs of a documentation comment.
    pub fn docs(&mut self, lines: &[String]) {
        for paragraph in lines.split(|line| line.trim().is_empty()) {
            self.paragraph(paragraph.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "));
        }
    }

    /// Adds a list, unless it is empty.
    pub fn list(&mut self, points: Vec<String>) {
        if !points.is_empty() {
            self.blocks.push(Block::List(points));
        }
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>) {
        if !rows.is_empty() {
            self.blocks.push(Block::Table(head.iter().map(|&cell| cell.to_owned()).collect(), rows));
        }
    }

    /// Adds preformatted text.
    pub fn code(&mut self, language: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Code(language, text.into()));
    }
}
