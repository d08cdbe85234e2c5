//! Error codes, with their HTTP status and the namespace used in `__type`.

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $space:ident, $status:literal;)*) => {
        /// DynamoDB's error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// Returns DynamoDB's name, such as `ValidationException`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the code with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            /// Returns the name with its namespace, as in the `__type` member of an error response.
            pub fn qualified_name(self) -> &'static str {
                match self { $(Self::$variant => concat!($space!(), "#", $name),)* }
            }

            /// Returns the HTTP status.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }
        }
    };
}

macro_rules! dynamo {
    () => {
        "com.amazonaws.dynamodb.v20120810"
    };
}
macro_rules! validate {
    () => {
        "com.amazon.coral.validate"
    };
}
macro_rules! service {
    () => {
        "com.amazon.coral.service"
    };
}

codes! {
    /// A parameter of the request is invalid.
    Validation = "ValidationException", validate, 400;
    /// The body is not valid JSON or has a member of the wrong type.
    Serialization = "SerializationException", service, 400;
    /// The operation does not exist.
    UnknownOperation = "UnknownOperationException", service, 400;
    /// The request has no credentials.
    MissingAuthenticationToken = "MissingAuthenticationTokenException", service, 400;
    /// The signature lacks a part.
    IncompleteSignature = "IncompleteSignatureException", service, 400;
    /// The signature does not match the request, or is expired.
    InvalidSignature = "InvalidSignatureException", service, 400;
    /// The access key is unknown.
    UnrecognizedClient = "UnrecognizedClientException", service, 400;
    /// The caller is not authorized for the operation.
    AccessDenied = "AccessDeniedException", service, 400;
    /// The body exceeds the size limit.
    RequestTooLarge = "RequestEntityTooLargeException", service, 413;
    /// The body did not arrive before the timeout.
    RequestTimeout = "RequestTimeoutException", service, 408;
    /// The request rate is too high.
    Throttling = "ThrottlingException", service, 400;
    /// The provisioned throughput of the table or an index is exceeded.
    ProvisionedThroughputExceeded = "ProvisionedThroughputExceededException", dynamo, 400;
    /// The throughput limit of the account is exceeded.
    RequestLimitExceeded = "RequestLimitExceeded", dynamo, 400;
    /// The server failed; the request itself may be valid.
    InternalServer = "InternalServerError", dynamo, 500;
    /// The condition of a write did not hold.
    ConditionalCheckFailed = "ConditionalCheckFailedException", dynamo, 400;
    /// The table, index, stream or shard does not exist.
    ResourceNotFound = "ResourceNotFoundException", dynamo, 400;
    /// The table does not exist; only some table operations report it with this code.
    TableNotFound = "TableNotFoundException", dynamo, 400;
    /// The table already exists or is being changed.
    ResourceInUse = "ResourceInUseException", dynamo, 400;
    /// Too many control-plane operations at once.
    LimitExceeded = "LimitExceededException", dynamo, 400;
    /// The item collection would exceed its size limit.
    ItemCollectionSizeLimitExceeded = "ItemCollectionSizeLimitExceededException", dynamo, 400;
    /// The transaction was cancelled; the error carries one reason per action.
    TransactionCanceled = "TransactionCanceledException", dynamo, 400;
    /// A transaction on the item is in progress.
    TransactionConflict = "TransactionConflictException", dynamo, 400;
    /// A transaction with the same idempotency token is in progress.
    TransactionInProgress = "TransactionInProgressException", dynamo, 400;
    /// The idempotency token was used with another request.
    IdempotentParameterMismatch = "IdempotentParameterMismatchException", dynamo, 400;
    /// An INSERT statement found an item with the same key.
    DuplicateItem = "DuplicateItemException", dynamo, 400;
    /// The shard iterator is older than 15 minutes.
    ExpiredIterator = "ExpiredIteratorException", dynamo, 400;
    /// The requested stream records were trimmed.
    TrimmedDataAccess = "TrimmedDataAccessException", dynamo, 400;
}
