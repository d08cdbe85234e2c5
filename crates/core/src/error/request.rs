//! Errors about the structure of a request: malformed JSON, wrong member types, and invalid attribute values.

use super::constraint::detected;
use super::{Error, ErrorCode};
use crate::value::NumberError;

/// The operation does not exist.
pub fn unknown_operation() -> Error {
    Error::new(ErrorCode::UnknownOperation, "")
}

/// The body is not valid JSON.
pub fn malformed_json() -> Error {
    serialization("")
}

/// A scalar has the wrong type. `class` is the expected Java class, `token` the token found, such as `NUMBER_VALUE`.
pub fn cannot_convert(token: &str, class: &str) -> Error {
    serialization(format!("{token} cannot be converted to {class}"))
}

/// The body has a list where a scalar of `class` is expected.
pub fn unrecognized_scalar(class: &str) -> Error {
    serialization(format!("Unrecognized collection type class java.lang.{class}"))
}

/// The body has a list where a structure of DynamoDB's `class` is expected.
pub fn unrecognized_structure(class: &str) -> Error {
    serialization(format!("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{class}"))
}

/// The body has a list where a map is expected; `class` is the class of its values: `String`, or one of DynamoDB's.
pub fn unrecognized_map(class: &str) -> Error {
    let package = if class == "String" { "java.lang" } else { "com.amazonaws.dynamodb.v20120810" };
    serialization(format!("Unrecognized collection type java.util.Map<java.lang.String, {package}.{class}>"))
}

/// The body has an object where another type is expected.
pub fn structure_not_expected() -> Error {
    serialization("Start of structure or map found where not expected")
}

/// The body has a scalar where a list or an object is expected.
pub fn unexpected_field_type() -> Error {
    serialization("Unexpected field type")
}

/// An attribute value is not an object.
pub fn unexpected_value_type() -> Error {
    serialization("Unexpected value type in payload")
}

/// A boolean attribute value has another type.
pub fn unexpected_token() -> Error {
    serialization("Unexpected token received from parser")
}

/// Binary data is not valid base64.
pub fn invalid_base64(text: &str) -> Error {
    if !text.len().is_multiple_of(4) {
        let length = text.len();
        return serialization(format!("Base64 encoded length is expected a multiple of 4 bytes but found: {length}"));
    }
    match text.chars().find(|&letter| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '/' | '=')) {
        Some(letter) => serialization(format!("Invalid Base64 character: '{letter}'")),
        None => serialization("Invalid last non-pad Base64 character dectected"),
    }
}

fn serialization(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Serialization, message)
}

/// An attribute value has no type.
pub fn empty_attribute_value() -> Error {
    Error::validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
}

/// An attribute value has several types.
pub fn ambiguous_attribute_value() -> Error {
    Error::validation(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    )
}

/// Returns whether the error reports an attribute value with no type or several types.
pub fn is_about_types(error: &Error) -> bool {
    *error == empty_attribute_value() || *error == ambiguous_attribute_value()
}

/// The text is not a number, or is a number outside DynamoDB's range or precision.
pub fn number(text: &str, reason: NumberError) -> Error {
    Error::validation(match reason {
        NumberError::NotANumber => format!("The parameter cannot be converted to a numeric value: {text}"),
        NumberError::Overflow => {
            "Number overflow. Attempting to store a number with magnitude larger than supported range".into()
        }
        NumberError::Underflow => {
            "Number underflow. Attempting to store a number with magnitude smaller than supported range".into()
        }
        NumberError::Precision => "Attempting to store more than 38 significant digits in a Number".into(),
    })
}

/// `{"NULL": false}` is not a valid attribute value.
pub fn null_must_be_true() -> Error {
    invalid("Null attribute value types must have the value of true")
}

/// A string set is empty.
pub fn empty_string_set() -> Error {
    invalid("An string set  may not be empty")
}

/// A number set is empty.
pub fn empty_number_set() -> Error {
    invalid("An number set  may not be empty")
}

/// A binary set is empty.
pub fn empty_binary_set() -> Error {
    invalid("Binary sets should not be empty")
}

/// An element of a set is null.
pub fn null_in_set(kind: &str) -> Error {
    invalid(format!("An {kind} set may not have a null {kind} as a member"))
}

/// A string set contains an element twice.
pub fn duplicates_in_string_set(elements: &[String]) -> Error {
    let shown: Vec<String> = elements.iter().map(|element| format!("\"{element}\"")).collect();
    invalid(format!("Input collection [{}] contains duplicates.", shown.join(", ")))
}

/// A number set contains a number twice, possibly in different notations.
pub fn duplicates_in_number_set() -> Error {
    invalid("Input collection contains duplicates.")
}

/// A binary set contains an element twice; `elements` are base64.
pub fn duplicates_in_binary_set(elements: &[String]) -> Error {
    invalid(format!("Input collection [{}]of type BS contains duplicates.", elements.join(", ")))
}

/// Lists and maps exceed the nesting limit.
pub fn nested_too_deep() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
    )
}

/// A member that DynamoDB supports and Keyform does not, such as replicas in other regions. Ignoring it would report
/// success for work that was not done.
pub fn member_not_supported(member: &str) -> Error {
    invalid(format!("{member} is not supported"))
}

/// An attribute name is empty.
pub fn empty_attribute_name() -> Error {
    Error::validation("Empty attribute name")
}

/// An attribute name exceeds 65535 bytes.
pub fn long_attribute_name(name: &str) -> Error {
    let shown: String = name.chars().take(64).collect();
    invalid(format!("Size of attribute name '{shown}' has exceeded the maximum size limit of 65535 bytes"))
}

fn invalid(reason: impl std::fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {reason}"))
}

/// The request mixes legacy parameters and expressions.
pub fn mixed_parameters(legacy: &[&str], expressions: &[&str]) -> Error {
    let (legacy, expressions) = (legacy.join(", "), expressions.join(", "));
    Error::validation(format!(
        "Can not use both expression and non-expression parameters in the same request: \
         Non-expression parameters: {{{legacy}}} Expression parameters: {{{expressions}}}"
    ))
}

/// ExpressionAttributeNames is present without an expression.
pub fn names_without_expression() -> Error {
    Error::validation("ExpressionAttributeNames can only be specified when using expressions")
}

/// ExpressionAttributeValues is present without an expression; Query and Scan list the absent expressions.
pub fn values_without_expression(missing: &[&str]) -> Error {
    let text = "ExpressionAttributeValues can only be specified when using expressions";
    let missing: Vec<String> = missing.iter().map(|name| format!("{name} is null")).collect();
    Error::validation(match missing.as_slice() {
        [] => text.to_owned(),
        missing => format!("{text}: {}", missing.join(" and ")),
    })
}

/// A value of ExpressionAttributeValues is invalid, for this reason.
pub fn invalid_expression_value(reason: &Error, placeholder: &str) -> Error {
    let reason = reason.message();
    Error::validation(format!("ExpressionAttributeValues contains invalid value: {reason} for key {placeholder}"))
}

/// The start key of a page contains an invalid value.
pub fn invalid_start_key(reason: &Error) -> Error {
    Error::validation(format!("The provided starting key is invalid: {}", reason.message()))
}

/// PutItem or DeleteItem asks for ReturnValues that only UpdateItem supports.
pub fn return_values_of_update_only() -> Error {
    Error::validation("ReturnValues can only be ALL_OLD or NONE")
}

/// A legacy list of attributes contains a name twice.
pub fn duplicate_attribute_name(name: &str) -> Error {
    invalid(format!("Duplicate value in attribute name: {name}"))
}

/// A Query has no key condition.
pub fn key_condition_missing() -> Error {
    Error::validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
}

/// Segment is present without TotalSegments.
pub fn total_segments_missing() -> Error {
    Error::validation(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    )
}

/// TotalSegments is present without Segment.
pub fn segment_missing() -> Error {
    Error::validation(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
    )
}

/// Segment is not below TotalSegments.
pub fn segment_too_high() -> Error {
    Error::validation("The Segment parameter is zero-based and must be less than parameter TotalSegments")
}

/// SPECIFIC_ATTRIBUTES is selected without naming attributes.
pub fn select_without_attributes() -> Error {
    detected(Error::validation(
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
    ))
}

/// Attributes are named in `member`, but the selection is not SPECIFIC_ATTRIBUTES.
pub fn select_with_attributes(member: &str, select: &str) -> Error {
    let wanted = if select == "COUNT" { "only the Count" } else { select };
    detected(Error::validation(format!("Cannot specify the {member} when choosing to get {wanted}")))
}

/// ALL_PROJECTED_ATTRIBUTES is selected without an index.
pub fn select_without_index() -> Error {
    detected(Error::validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"))
}

/// A batch contains the same key twice.
pub fn duplicate_keys() -> Error {
    Error::validation("Provided list of item keys contains duplicates")
}

/// A BatchGetItem has too many keys over all tables.
pub fn batch_get_too_large() -> Error {
    Error::validation("Too many items requested for the BatchGetItem call")
}

/// A BatchWriteItem has too many writes over all tables.
pub fn batch_write_too_large() -> Error {
    Error::validation("Too many items requested for the BatchWriteItem call")
}

/// A BatchWriteItem names no table.
pub fn batch_write_empty() -> Error {
    Error::validation("The requestItems parameter is required for BatchWriteItem")
}

/// An action of a transaction is empty.
pub fn action_missing() -> Error {
    Error::validation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
}

/// An action of a transaction has several parts.
pub fn action_ambiguous() -> Error {
    Error::validation("TransactItems can only contain one of Check, Put, Update or Delete")
}

/// A required parameter of a table operation is missing.
pub fn parameter_missing(name: &str) -> Error {
    Error::validation(format!("The parameter '{name}' is required but was not present in the request"))
}

/// The table name of a table operation is too short or too long.
pub fn table_name_length() -> Error {
    Error::validation("TableName must be at least 3 characters long and at most 255 characters long")
}

/// A tag operation has no ARN.
pub fn arn_missing() -> Error {
    Error::validation("Invalid TableArn")
}

/// The ARN of a tag operation is not that of a table.
pub fn arn_invalid(arn: &str) -> Error {
    Error::validation(format!("Invalid TableArn: Invalid ResourceArn provided as input {arn}"))
}

/// TagResource has no tags.
pub fn tags_missing() -> Error {
    Error::validation("Atleast one Tag needs to be provided as Input.")
}

/// UntagResource has no tag keys.
pub fn tag_keys_missing() -> Error {
    Error::validation("Atleast one Tag Key needs to be provided as Input.")
}

/// A tag key is empty or too long.
pub fn tag_key_length() -> Error {
    invalid("Tag key must be between 1 and 128 characters")
}

/// A tag value is too long.
pub fn tag_value_length() -> Error {
    invalid("Tag value must be between 0 and 256 characters")
}

/// The table would have too many tags.
pub fn too_many_tags() -> Error {
    invalid("Too many tags: tag limit is 50")
}

/// The shard iterator type requires a sequence number.
pub fn sequence_number_missing() -> Error {
    invalid("SequenceNumber cannot be null")
}

/// The shard iterator type does not accept a sequence number.
pub fn sequence_number_not_wanted() -> Error {
    invalid("SequenceNumber should not be passed for this iterator type")
}

/// The sequence number is malformed.
pub fn sequence_number_invalid() -> Error {
    Error::validation("Invalid SequenceNumber for the shard")
}

/// A statement of a transaction does not parse.
pub fn transaction_statement(place: usize, reason: &Error) -> Error {
    Error::validation(format!("Validation failed in TransactStatements[{place}]: {}", reason.message()))
}
