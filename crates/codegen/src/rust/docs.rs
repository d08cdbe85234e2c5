//! Writes the documentation of a model as rustdoc. Nothing in it becomes a link, a tag or a doc test by accident.

/// Formats doc comment lines; empty for no lines.
pub(super) fn comment(indent: usize, lines: &[String]) -> String {
    let line = |line: &String| match line.trim_end() {
        "" => format!("{:indent$}///\n", ""),
        text => format!("{:indent$}/// {text}\n", ""),
    };
    lines.iter().map(line).collect()
}

/// Converts an author's documentation for rustdoc.
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

/// Joins paragraphs with empty lines; skips empty ones.
pub(super) fn joined(parts: Vec<Vec<String>>) -> Vec<String> {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&String::new())
}

#[derive(Default)]
struct Writer {
    /// Inside a fenced code block.
    fenced: bool,
    /// Inside a list, whose items continue with an indentation.
    listed: bool,
    /// Inside inline code that started on an earlier line.
    quoted: bool,
}

impl Writer {
    fn line(&mut self, line: &str) -> String {
        let line: String = line.chars().filter(|&letter| is_harmless(letter)).collect();
        let line = line.strip_prefix(' ').unwrap_or(&line).trim_end();
        let text = line.trim_start();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fenced = !self.fenced;
            // Without a language, rustdoc would run it as a Rust example.
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

    /// Escapes brackets and angles outside code, which would become links and tags.
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
                // Otherwise it would be a bare URL.
                ':' if !self.quoted && (escaped.ends_with("http") || escaped.ends_with("https")) => {
                    escaped.push_str("\\:");
                }
                _ => escaped.push(letter),
            }
        }
        escaped
    }
}

/// Returns false for control characters, and for those that change the text direction (Trojan source).
fn is_harmless(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && (!letter.is_control() || letter == '\t')
}

fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// Formats a text as inline code.
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
