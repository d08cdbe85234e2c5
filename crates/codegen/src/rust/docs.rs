//! Documentation of a model as rustdoc: nothing in it becomes a link, a tag or a test by accident.

/// Lines of documentation, indented; nothing for none.
pub(super) fn comment(indent: usize, lines: &[String]) -> String {
    let line = |line: &String| match line.trim_end() {
        "" => format!("{:indent$}///\n", ""),
        text => format!("{:indent$}/// {text}\n", ""),
    };
    lines.iter().map(line).collect()
}

/// An author's documentation, as it can stand in rustdoc.
pub(super) fn of(author: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut writer = Writer::default();
    for line in author {
        lines.push(writer.line(line));
    }
    if writer.fenced {
        lines.push("```".to_owned());
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    lines.split_off(empty)
}

/// Parts of documentation with an empty line between; those without lines are left out.
pub(super) fn joined(parts: Vec<Vec<String>>) -> Vec<String> {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&String::new())
}

#[derive(Default)]
struct Writer {
    /// Within a fenced block.
    fenced: bool,
    /// Within a list, whose items go on with an indentation.
    listed: bool,
    /// Within code that began on a line before.
    quoted: bool,
}

impl Writer {
    fn line(&mut self, line: &str) -> String {
        let line: String = line.chars().filter(|&letter| is_harmless(letter)).collect();
        let line = line.strip_prefix(' ').unwrap_or(&line).trim_end();
        let text = line.trim_start();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fenced = !self.fenced;
            // Otherwise rustdoc takes it for an example in Rust.
            return if self.fenced { "```text".to_owned() } else { "```".to_owned() };
        }
        if self.fenced {
            return line.to_owned();
        }
        if text.is_empty() {
            (self.listed, self.quoted) = (false, false);
            return String::new();
        }
        let item = text.starts_with("- ") || text.starts_with("* ") || is_numbered(text);
        let indent = match (item, self.listed) {
            (true, _) => 0,
            (false, true) => 3,
            (false, false) => 0,
        };
        self.listed |= item;
        format!("{:indent$}{}", "", self.escaped(text))
    }

    /// Brackets outside code are no links, and angles no tags.
    fn escaped(&mut self, text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '`' => {
                    self.quoted = !self.quoted;
                    escaped.push(letter);
                }
                '[' | ']' | '<' | '>' if !self.quoted => {
                    escaped.push('\\');
                    escaped.push(letter);
                }
                // Else it would be a bare link.
                ':' if !self.quoted && (escaped.ends_with("http") || escaped.ends_with("https")) => {
                    escaped.push_str("\\:");
                }
                _ => escaped.push(letter),
            }
        }
        escaped
    }
}

/// Control characters and those that turn the direction of a text have no place in a comment.
fn is_harmless(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && (!letter.is_control() || letter == '\t')
}

fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// A text as code within a line.
pub(super) fn code(text: &str) -> String {
    let text: String = text.chars().filter(|&letter| is_harmless(letter)).collect();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn nothing_becomes_a_link_a_tag_or_a_test() {
        let author = lines(" See [Message] and Vec<T>, but `[a]` stays.\n\n     indented\n\n ```\n let x;\n ```\n");
        let expected = lines("See \\[Message\\] and Vec\\<T\\>, but `[a]` stays.\n\nindented\n\n```text\nlet x;\n```");
        assert_eq!(of(&author), expected);
        assert_eq!(of(&lines(" ```\n open")), lines("```text\nopen\n```"));
        assert_eq!(of(&lines(" - one\n goes on\n - two")), lines("- one\n   goes on\n- two"));
        assert_eq!(of(&lines(" at https://example.com")), lines("at https\\://example.com"));
    }
}
