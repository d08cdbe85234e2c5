//! Integration tests of the conversion to the types of the AWS SDK.

mod value;
