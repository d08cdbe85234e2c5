//! The codes of errors, with the status and the namespace under which the wire reports them.

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $space:ident, $status:literal;)*) => {
        /// The kind of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// The service's name, such as `ValidationException`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The code of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            /// The name with its namespace, as `__type` carries it.
            pub fn qualified_name(self) -> &'static str {
                match self { $(Self::$variant => concat!($space!(), "#", $name),)* }
            }

            /// The HTTP status.
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
    /// The request is not valid.
    Validation = "ValidationException", validate, 400;
    /// The body is not JSON of the right shape.
    Serialization = "SerializationException", service, 400;
    /// There is no such operation.
    UnknownOperation = "UnknownOperationException", service, 400;
    /// No credentials were sent.
    MissingAuthenticationToken = "MissingAuthenticationTokenException", service, 400;
    /// The signature lacks a part.
    IncompleteSignature = "IncompleteSignatureException", service, 400;
    /// The signature is wrong.
    InvalidSignature = "InvalidSignatureException", service, 400;
    /// The access key is not known.
    UnrecognizedClient = "UnrecognizedClientException", service, 400;
    /// The caller may not do that.
    AccessDenied = "AccessDeniedException", service, 400;
    /// The body is too large.
    RequestTooLarge = "RequestEntityTooLargeException", service, 413;
    /// The body did not arrive in time.
    RequestTimeout = "RequestTimeoutException", service, 408;
    /// Too many requests.
    Throttling = "ThrottlingException", service, 400;
    /// The table's or an index's throughput is used up.
    ProvisionedThroughputExceeded = "ProvisionedThroughputExceededException", dynamo, 400;
    /// The account's throughput is used up.
    RequestLimitExceeded = "RequestLimitExceeded", dynamo, 400;
    /// The fault is the server's.
    InternalServer = "InternalServerError", dynamo, 500;
    /// A condition did not hold.
    ConditionalCheckFailed = "ConditionalCheckFailedException", dynamo, 400;
    /// There is no such table, index, stream or shard.
    ResourceNotFound = "ResourceNotFoundException", dynamo, 400;
    /// There is no such table (reported by some table operations).
    TableNotFound = "TableNotFoundException", dynamo, 400;
    /// The table exists or is being changed.
    ResourceInUse = "ResourceInUseException", dynamo, 400;
    /// Too many changes at once.
    LimitExceeded = "LimitExceededException", dynamo, 400;
    /// An item collection would be too large.
    ItemCollectionSizeLimitExceeded = "ItemCollectionSizeLimitExceededException", dynamo, 400;
    /// A transaction was cancelled.
    TransactionCanceled = "TransactionCanceledException", dynamo, 400;
    /// A transaction is going on for the item.
    TransactionConflict = "TransactionConflictException", dynamo, 400;
    /// A transaction with the token is going on.
    TransactionInProgress = "TransactionInProgressException", dynamo, 400;
    /// The token was used for another request.
    IdempotentParameterMismatch = "IdempotentParameterMismatchException", dynamo, 400;
    /// An insert found an item.
    DuplicateItem = "DuplicateItemException", dynamo, 400;
    /// A shard iterator is too old.
    ExpiredIterator = "ExpiredIteratorException", dynamo, 400;
    /// The records asked for are gone.
    TrimmedDataAccess = "TrimmedDataAccessException", dynamo, 400;
}
