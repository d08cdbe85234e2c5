//! Violations of the constraints on request members, which are checked before everything else.

use super::{Error, ErrorCode};

/// Limit for the text of all violations; further ones are only counted.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Constraint violations of one request, in the order in which DynamoDB lists them.
#[derive(Debug, Default)]
pub struct Violations {
    count: usize,
    text: String,
}

impl Violations {
    /// Returns an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// A required member is missing.
    pub fn null(&mut self, member: &str) {
        self.add(&format!("Value null at '{member}' failed to satisfy constraint: Member must not be null"));
    }

    /// A string or list is too short.
    pub fn short(&mut self, value: &str, member: &str, length_min: usize) {
        self.push(value, member, &format!("Member must have length greater than or equal to {length_min}"));
    }

    /// A string or list is too long.
    pub fn long(&mut self, value: &str, member: &str, length_max: usize) {
        self.push(value, member, &format!("Member must have length less than or equal to {length_max}"));
    }

    /// The table name of a data operation is empty. DynamoDB capitalizes the member here and omits the value.
    pub fn unnamed(&mut self, member: &str) {
        self.unvalued(member, "Member must have length greater than or equal to 1");
    }

    /// A list or map has too few elements; DynamoDB omits the value.
    pub fn few(&mut self, member: &str, length_min: usize) {
        self.unvalued(member, &format!("Member must have length greater than or equal to {length_min}"));
    }

    /// A list or map has too many elements; DynamoDB omits the value.
    pub fn many(&mut self, member: &str, length_max: usize) {
        self.unvalued(member, &format!("Member must have length less than or equal to {length_max}"));
    }

    /// A string does not match its pattern.
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

    /// A number is too small; DynamoDB omits the value.
    pub fn low_unvalued(&mut self, member: &str, least: i64) {
        self.unvalued(member, &format!("Member must have value greater than or equal to {least}"));
    }

    /// A number is too large; DynamoDB omits the value.
    pub fn high_unvalued(&mut self, member: &str, most: i64) {
        self.unvalued(member, &format!("Member must have value less than or equal to {most}"));
    }

    /// A string is not a member of its enumeration.
    pub fn enumeration(&mut self, value: &str, member: &str, names: &[&str]) {
        self.push(value, member, &format!("Member must satisfy enum value set: [{}]", names.join(", ")));
    }

    /// A string is not a member of its enumeration; DynamoDB omits both the value and the member.
    pub fn bare_enumeration(&mut self, names: &[&str]) {
        self.add(&format!("Failed to satisfy constraint: Member must satisfy enum value set: [{}]", names.join(", ")));
    }

    /// Returns an error if there is any violation.
    ///
    /// # Errors
    /// Returns a ValidationException that lists all violations.
    pub fn finish(self) -> Result<(), Error> {
        match self.count {
            0 => Ok(()),
            1 => Err(Error::validation(format!("1 validation error detected: {}", self.text))),
            count => Err(Error::validation(format!("{count} validation errors detected: {}", self.text))),
        }
    }

    /// Returns the number of violations so far.
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

/// Prefixes a ValidationException with `1 validation error detected: `, as DynamoDB does for single-item writes.
/// DynamoDB omits the prefix for attribute values with no type or several types and for invalid placeholders.
pub fn detected(error: Error) -> Error {
    let message = error.message();
    let plain = error.code() != ErrorCode::Validation
        || message.contains("validation error")
        || message.contains("Supplied AttributeValue ")
        || message.contains(" contains invalid key: ");
    if plain { error } else { Error::validation(format!("1 validation error detected: {message}")) }
}

impl Violations {
    /// A key of a map is not a valid table name.
    pub fn table_keys(&mut self, value: &str, member: &str) {
        self.push(
            value,
            member,
            "Map keys must satisfy constraint: [Member must have length less than or equal to 255, \
             Member must have length greater than or equal to 3, \
             Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]",
        );
    }

    /// A list contains strings that are empty or too long.
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

    /// A map contains a list that is empty or too long.
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
