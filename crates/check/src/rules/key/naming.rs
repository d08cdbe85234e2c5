//! Guesses the meaning of a field from its name, where the type is only `string` or a number.

/// Splits a name into words in lower case: `createdAt` and `created_at` become `created`, `at`.
pub(in crate::rules) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before_is_lower = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && before_is_lower;
        before_is_lower = character.is_lowercase() || character.is_ascii_digit();
        if !character.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        if begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether the name suggests a login or an address, which people spell in several ways.
pub(in crate::rules) fn is_personal_name(name: &str) -> bool {
    const ENDS: [&str; 4] = ["username", "login", "handle", "nickname"];
    let joined = words(name).concat();
    is_mail(name) || ENDS.iter().any(|end| joined.ends_with(end))
}

/// Returns whether the name suggests an e-mail address.
pub(in crate::rules) fn is_mail(name: &str) -> bool {
    const ENDS: [&str; 5] = ["email", "emailaddress", "mail", "mailaddress", "mailbox"];
    let joined = words(name).concat();
    ENDS.iter().any(|end| joined.ends_with(end))
}

/// Returns whether the name suggests the name of a host, in which case does not matter.
pub(in crate::rules) fn is_host(name: &str) -> bool {
    const LAST: [&str; 4] = ["domain", "hostname", "subdomain", "fqdn"];
    words(name).last().is_some_and(|word| LAST.contains(&word.as_str()))
}

/// Returns whether the name suggests a point in time: `createdAt`, `created`, `timestamp`.
pub(in crate::rules) fn is_moment(name: &str) -> bool {
    const LAST: [&str; 9] = ["at", "time", "timestamp", "datetime", "date", "created", "modified", "updated", "on"];
    words(name).last().is_some_and(|word| LAST.contains(&word.as_str()))
}

/// Returns whether the name suggests a period that many items share: `expiresHour`, `date`.
pub(in crate::rules) fn is_bucket_of_time(name: &str) -> bool {
    const LAST: [&str; 7] = ["minute", "hour", "day", "date", "week", "month", "year"];
    words(name).last().is_some_and(|word| LAST.contains(&word.as_str()))
}

/// Returns whether the name suggests an enumeration: `resourceType`, `status`.
pub(in crate::rules) fn is_one_of_few(name: &str) -> bool {
    const LAST: [&str; 3] = ["type", "kind", "status"];
    words(name).last().is_some_and(|word| LAST.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("createdAt"), ["created", "at"]);
        assert_eq!(words("created_at"), ["created", "at"]);
        assert_eq!(words("GSI1PK"), ["gsi1", "pk"]);
        assert_eq!(words("userID"), ["user", "id"]);
    }

    #[test]
    fn names_say_what_to_expect() {
        assert!(is_personal_name("userEmail") && is_personal_name("user_name") && is_personal_name("login"));
        assert!(!is_personal_name("emailId") && !is_personal_name("name") && !is_personal_name("usernameHash"));
        assert!(is_moment("created") && is_moment("sentAt") && !is_moment("station"));
        assert!(is_bucket_of_time("expiresHour") && !is_bucket_of_time("holiday"));
        assert!(is_one_of_few("resourceType") && !is_one_of_few("typeId"));
    }
}
