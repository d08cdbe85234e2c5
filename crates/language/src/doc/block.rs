//! A document as a list of blocks. Text within a block is plain, but for `code` between backticks.

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What it is made of.
    pub blocks: Vec<Block>,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading of level 2 to 4.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(String),
    /// Points.
    List(Vec<String>),
    /// A table: the head, then the rows.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Text as it is, with the name of its language.
    Code(&'static str, String),
    /// A picture: as a Mermaid diagram, and as SVG.
    Picture {
        /// For Markdown.
        mermaid: String,
        /// For a page that needs nothing beside itself.
        svg: String,
    },
}

impl Page {
    /// An empty document.
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

    /// Adds points, unless there are none.
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

    /// Adds text as it is.
    pub fn code(&mut self, language: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Code(language, text.into()));
    }
}
