//! Texts about members of a request that break the constraints of its shape, before anything else is looked at.

use super::{Error, ErrorCode};

/// How much of an error's text is about violations; more of them are only counted.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The constraints a request breaks, in the order in which the service lists them.
#[derive(Debug, Default)]
pub struct Violations {
    count: usize,
    text: String,
}

impl Violations {
    /// No violation so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// A member that must be there is not.
    pub fn null(&mut self, member: &str) {
        self.add(&format!("Value null at '{member}' failed to satisfy constraint: Member must not be null"));
    }

    /// A string or a list is too short.
    pub fn short(&mut self, value: &str, member: &str, length_min: usize) {
        self.push(value, member, &format!("Member must have length greater than or equal to {length_min}"));
    }

    /// A string or a list is too long.
    pub fn long(&mut self, value: &str, member: &str, length_max: usize) {
        self.push(value, member, &format!("Member must have length less than or equal to {length_max}"));
    }

    /// The name of a data operation's table is empty; the service writes the member with a capital here, and no value.
    pub fn unnamed(&mut self, member: &str) {
        self.unvalued(member, "Member must have length greater than or equal to 1");
    }

    /// A list or map has too few elements, where the service does not show it.
    pub fn few(&mut self, member: &str, length_min: usize) {
        self.unvalued(member, &format!("Member must have length greater than or equal to {length_min}"));
    }

    /// A list or map has too many elements, where the service does not show it.
    pub fn many(&mut self, member: &str, length_max: usize) {
        self.unvalued(member, &format!("Member must have length less than or equal to {length_max}"));
    }

    /// A string has characters that it may not have.
    pub fn pattern(&mut self, value: &str, member: &str, pattern: &str) {
        self.push(value, member, &format!("Member must satisfy regular expression pattern: {pattern}"));
    }

    /// A number is too small.
    pub fn low(&mut self, value: i64, member: &str, least: i64) {
        self.push(&value.to_string(), member, &format!("Member must have value greater than or equal to {least}"));
    }

    /// A number is too large.
    pub fn high(&mut self, value: i64, member: &str, most: i64) {
        self.push(&value.to_string(), member, &format!("Member must have value less than or equal to {most}"));
    }

    /// A number is too small, where the service does not show it.
    pub fn low_unvalued(&mut self, member: &str, least: i64) {
        self.unvalued(member, &format!("Member must have value greater than or equal to {least}"));
    }

    /// A number is too large, where the service does not show it.
    pub fn high_unvalued(&mut self, member: &str, most: i64) {
        self.unvalued(member, &format!("Member must have value less than or equal to {most}"));
    }

    /// A string is none of the names it may be.
    pub fn enumeration(&mut self, value: &str, member: &str, names: &[&str]) {
        self.push(value, member, &format!("Member must satisfy enum value set: [{}]", names.join(", ")));
    }

    /// A string is none of the names it may be, where the service shows neither it nor its member.
    pub fn bare_enumeration(&mut self, names: &[&str]) {
        self.add(&format!("Failed to satisfy constraint: Member must satisfy enum value set: [{}]", names.join(", ")));
    }

    /// The error, if there is a violation.
    ///
    /// # Errors
    /// A ValidationException that lists all of them.
    pub fn finish(self) -> Result<(), Error> {
        match self.count {
            0 => Ok(()),
            1 => Err(Error::validation(format!("1 validation error detected: {}", self.text))),
            count => Err(Error::validation(format!("{count} validation errors detected: {}", self.text))),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    fn add(&mut self, violation: &str) {
        self.count += 1;
        if self.text.len() > TEXT_BYTES_MAX {
            return;
        }
        if self.count > 1 {
            self.text.push_str("; ");
        }
        self.text.push_str(violation);
    }

    fn push(&mut self, value: &str, member: &str, constraint: &str) {
        self.add(&format!("Value '{value}' at '{member}' failed to satisfy constraint: {constraint}"));
    }

    fn unvalued(&mut self, member: &str, constraint: &str) {
        self.add(&format!("Value at '{member}' failed to satisfy constraint: {constraint}"));
    }
}

/// The same ValidationException with `1 validation error detected: ` in front, as writes of one item report it. Values without
/// or with several types, and placeholders that are none, are told without.
pub fn detected(error: Error) -> Error {
    let message = error.message();
    let plain = error.code() != ErrorCode::Validation
        || message.contains("validation error")
        || message.contains("Supplied AttributeValue ")
        || message.contains(" contains invalid key: ");
    if plain { error } else { Error::validation(format!("1 validation error detected: {message}")) }
}

impl Violations {
    /// A map's keys are no names of tables.
    pub fn table_keys(&mut self, value: &str, member: &str) {
        self.push(
            value,
            member,
            "Map keys must satisfy constraint: [Member must have length less than or equal to 255, \
             Member must have length greater than or equal to 3, \
             Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]",
        );
    }

    /// A list has strings that are empty or too long.
    pub fn member_lengths(&mut self, value: &str, member: &str, length_max: usize) {
        self.push(
            value,
            member,
            &format!(
                "Member must satisfy constraint: [Member must have length less than or equal to {length_max}, \
                 Member must have length greater than or equal to 1]"
            ),
        );
    }

    /// A map has a list that is empty or too long.
    pub fn list_lengths(&mut self, value: &str, member: &str, length_max: usize) {
        self.push(
            value,
            member,
            &format!(
                "Map value must satisfy constraint: [Member must have length less than or equal to {length_max}, \
                 Member must have length greater than or equal to 1]"
            ),
        );
    }
}
