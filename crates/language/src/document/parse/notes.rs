//! Attaches comments and documentation to lines.
//!
//! A comment before or within a line belongs to it. A comment after it on the same line is its trailing comment.
//! Comments before a closing brace are the tail of the block.

use crate::document::ast::{Line, Notes};
use crate::document::token::Comment;

use super::{Parsed, Parser};

/// Represents an empty line between two comments.
const EMPTY_LINE: &str = "\n";

impl Parser<'_> {
    /// Parses a line with its comments. Returns `None` if an error leaves nothing of the line; its comments then
    /// go to the next line.
    pub(super) fn line<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<Line<T>> {
        let comment_at = self.comment_at;
        let mut notes = self.notes_before();
        let start = self.peek().span.start;
        let outer = self.header_comment.take();
        let value = read(self);
        let header = std::mem::replace(&mut self.header_comment, outer);
        let Ok(value) = value else {
            self.comment_at = comment_at;
            return None;
        };
        let span = self.since(start);
        self.hoist(&mut notes);
        self.eat_mark(",");
        self.close_notes(&mut notes, header);
        Some(Line { notes, value, span })
    }

    /// Takes the comments before the next token.
    pub(super) fn notes_before(&mut self) -> Notes {
        let end = self.peek().span.start;
        let taken = self.comments_until(end);
        let gap = taken.first().map_or(self.peek().gap, |comment| comment.gap);
        let mut notes = Notes { gap, ..Notes::default() };
        let mut separated = false;
        for comment in taken {
            separated |= comment.gap && !notes.comments.is_empty();
            if comment.doc {
                notes.docs.push(comment.text);
                continue;
            }
            if std::mem::take(&mut separated) {
                notes.comments.push(EMPTY_LINE.to_owned());
            }
            notes.comments.push(comment.text);
        }
        let after_docs = notes.docs.is_empty() && self.peek().gap;
        if !notes.comments.is_empty() && (separated || after_docs) {
            notes.comments.push(EMPTY_LINE.to_owned());
        }
        notes
    }

    /// Takes the comments within the line that was just parsed.
    fn hoist(&mut self, notes: &mut Notes) {
        let end = self.end();
        for comment in self.comments_until(end) {
            push(notes, comment);
        }
    }

    /// Takes the comment after the line that was just parsed, and the one after its opening brace.
    pub(super) fn close_notes(&mut self, notes: &mut Notes, header: Option<String>) {
        notes.trailing = header;
        if let Some(comment) = self.comment_behind() {
            if notes.trailing.is_none() && !comment.doc {
                notes.trailing = Some(comment.text);
            } else {
                push(notes, comment);
            }
        }
    }

    /// Takes the comment after the last token, if it is on the same line.
    pub(super) fn comment_behind(&mut self) -> Option<Comment> {
        let end = self.peek().span.start;
        let comment =
            self.comments.get(self.comment_at).filter(|comment| !comment.first && comment.span.start < end)?;
        self.comment_at += 1;
        Some(comment.clone())
    }

    /// Saves the comment after an opening brace for the line it belongs to.
    pub(super) fn header_comment(&mut self) {
        if self.header_comment.is_none()
            && self.comments.get(self.comment_at).is_some_and(|comment| !comment.doc)
            && let Some(comment) = self.comment_behind()
        {
            self.header_comment = Some(comment.text);
        }
    }

    /// Takes the comments before a closing brace or the end of the file.
    pub(super) fn tail(&mut self) -> Vec<String> {
        let end = self.peek().span.start;
        let mut tail = Vec::new();
        for comment in self.comments_until(end) {
            if comment.gap && !tail.is_empty() {
                tail.push(EMPTY_LINE.to_owned());
            }
            tail.push(comment.text);
        }
        tail
    }

    /// Returns the comments of a tail to the line that contains the block.
    pub(super) fn leave_comments(&mut self, tail: &[String]) {
        self.comment_at -= tail.iter().filter(|text| *text != EMPTY_LINE).count();
    }

    /// Takes the comments that begin before `end`.
    fn comments_until(&mut self, end: usize) -> Vec<Comment> {
        let rest = &self.comments[self.comment_at..];
        let taken: Vec<Comment> = rest.iter().take_while(|comment| comment.span.start < end).cloned().collect();
        self.comment_at += taken.len();
        taken
    }
}

/// Adds a comment to the comments or documentation before the line.
fn push(notes: &mut Notes, comment: Comment) {
    if comment.doc { notes.docs.push(comment.text) } else { notes.comments.push(comment.text) }
}
