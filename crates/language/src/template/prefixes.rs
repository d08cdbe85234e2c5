//! Finds templates whose literal beginnings are compatible, without comparing every pair.
//!
//! Two templates can share a string only if one literal beginning begins with the other. In sorted order, all texts that
//! begin with `USER#` follow one another; the texts that `USER#` itself begins with are found by looking up each of its
//! beginnings. A table of a thousand entities with prefixes of their own is therefore compared in a thousand steps.

use std::collections::HashMap;

/// Literal beginnings of templates, by number.
#[derive(Clone, Debug)]
pub struct Prefixes {
    sorted: Vec<(String, usize)>,
    by_text: HashMap<String, Vec<usize>>,
}

impl Prefixes {
    /// Indexes the beginnings; each has the number of its position.
    #[must_use]
    pub fn new(prefixes: impl IntoIterator<Item = String>) -> Self {
        let mut sorted: Vec<(String, usize)> =
            prefixes.into_iter().enumerate().map(|(number, text)| (text, number)).collect();
        sorted.sort();
        let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
        for (text, number) in &sorted {
            by_text.entry(text.clone()).or_default().push(*number);
        }
        Self { sorted, by_text }
    }

    /// Returns how many beginnings are compatible with a text, without listing them.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.longer(text).len() + self.shorter(text).map(<[usize]>::len).sum::<usize>()
    }

    /// Returns the numbers of the beginnings that `text` begins with, or that begin with `text`, in order.
    #[must_use]
    pub fn compatible(&self, text: &str) -> Vec<usize> {
        let longer = self.longer(text).iter().map(|(_, number)| *number);
        let mut numbers: Vec<usize> = longer.chain(self.shorter(text).flatten().copied()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the beginnings that begin with `text`, including `text` itself.
    fn longer(&self, text: &str) -> &[(String, usize)] {
        let from = self.sorted.partition_point(|(other, _)| other.as_str() < text);
        let length = self.sorted[from..].partition_point(|(other, _)| other.starts_with(text));
        &self.sorted[from..from + length]
    }

    /// Returns the numbers of the beginnings that are a proper beginning of `text`.
    fn shorter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a [usize]> {
        let beginnings = text.char_indices().map(|(end, _)| &text[..end]);
        beginnings.filter_map(|beginning| self.by_text.get(beginning)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_beginnings_are_found_in_both_directions() {
        let texts = ["", "USER#", "USER#A", "USERS", "ORG#", "USER#"];
        let prefixes = Prefixes::new(texts.map(str::to_owned));
        for text in ["", "USER#", "USER#AB", "US", "ORG#", "X"] {
            let expected: Vec<usize> = (0..texts.len())
                .filter(|number| texts[*number].starts_with(text) || text.starts_with(texts[*number]))
                .collect();
            assert_eq!(prefixes.compatible(text), expected, "{text}");
            assert_eq!(prefixes.count(text), expected.len(), "{text}");
        }
    }
}
