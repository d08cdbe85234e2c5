//! The same operations and models on Amazon DynamoDB, or on any endpoint that is compatible with it, through the AWS SDK.

pub use keyform_aws::{Credentials, Options, Remote, Timeouts, TrustError};
