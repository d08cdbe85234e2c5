//! The list of operations. Everything that has one entry per operation is generated here or matches exhaustively on
//! what is generated here, so that a forgotten operation does not compile.
//!
//! Each line names the request, which is a struct in this module, whether it may change the store, and the type of its
//! response. The groups are the service's two endpoints. The order is that of the server's metrics: frequent ones first.

use super::address::Addresses;
use super::request::{Request, Response};
use super::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchGetItem, BatchGetItemOutput, BatchWriteItem,
    BatchWriteItemOutput, ContinuousBackups, CreateTable, DeleteItem, DeleteTable, DescribeContinuousBackups,
    DescribeLimits, DescribeLimitsOutput, DescribeStream, DescribeTable, DescribeTimeToLive, ExecuteStatement,
    ExecuteStatementOutput, ExecuteTransaction, ExecuteTransactionOutput, GetItem, GetItemOutput, GetRecords,
    GetRecordsOutput, GetShardIterator, ListStreams, ListStreamsOutput, ListTables, ListTablesOutput,
    ListTagsOfResource, ListTagsOfResourceOutput, PageOutput, PutItem, Query, Scan, StreamDescription, TagResource,
    TimeToLive, TimeToLiveStatus, TransactGetItems, TransactGetItemsOutput, TransactWriteItems,
    TransactWriteItemsOutput, UntagResource, UpdateContinuousBackups, UpdateItem, UpdateTable, UpdateTimeToLive,
    WriteItemOutput,
};
use crate::error::{Error, remote};
use crate::table::TableDescription;

/// Endpoint of the service that serves an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// DynamoDB.
    DynamoDb,
    /// DynamoDB Streams.
    Streams,
}

macro_rules! effect {
    (reads) => {
        false
    };
    (writes) => {
        true
    };
}

macro_rules! operations {
    ($($service:ident { $($name:ident $effect:ident -> $output:ty,)+ })+) => {
        /// A request to a store.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each variant holds the request of that name, described at its struct")]
        pub enum Operation {
            $($($name($name),)+)+
        }

        /// Response to the operation of the same name.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each variant holds the response to the operation of that name")]
        pub enum Output {
            $($($name($output),)+)+
        }

        /// Operation without its request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each variant has the service's name of the operation")]
        pub enum OperationKind {
            $($($name,)+)+
        }

        impl OperationKind {
            /// All operations, in the order of the list. `kind as usize` is a position in it.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)+)+];

            /// Returns the service's name of the operation.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$name => stringify!($name),)+)+
                }
            }

            /// Returns the operation with the service's name, in its exact spelling.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($(stringify!($name) => Some(Self::$name),)+)+
                    _ => None,
                }
            }

            /// Returns whether the operation may change the store. A PartiQL statement counts as a write, whatever its
            /// kind.
            #[must_use]
            pub const fn writes(self) -> bool {
                match self {
                    $($(Self::$name => effect!($effect),)+)+
                }
            }

            /// Returns the endpoint that serves the operation.
            #[must_use]
            pub const fn service(self) -> Service {
                match self {
                    $($(Self::$name => Service::$service,)+)+
                }
            }
        }

        impl Operation {
            /// Returns the operation without its request.
            #[must_use]
            pub const fn kind(&self) -> OperationKind {
                match self {
                    $($(Self::$name(_) => OperationKind::$name,)+)+
                }
            }

            /// Returns the addressed table, the first of several. See [`Addresses::table`].
            #[must_use]
            pub fn table(&self) -> Option<&str> {
                match self {
                    $($(Self::$name(request) => request.table(),)+)+
                }
            }

            /// Renames the addressed tables. See [`Addresses::rename_tables`].
            pub fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) -> bool {
                match self {
                    $($(Self::$name(request) => request.rename_tables(rename),)+)+
                }
            }
        }

        impl Output {
            /// Returns the operation that this is the response to.
            #[must_use]
            pub const fn kind(&self) -> OperationKind {
                match self {
                    $($(Self::$name(_) => OperationKind::$name,)+)+
                }
            }

            /// Returns the bytes of the items in the response. See [`Response::item_bytes`].
            #[must_use]
            pub fn item_bytes(&self) -> usize {
                match self {
                    $($(Self::$name(output) => output.item_bytes(),)+)+
                }
            }

            /// Renames the tables in the response. See [`Response::rename_tables`].
            pub fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) {
                match self {
                    $($(Self::$name(output) => output.rename_tables(rename),)+)+
                }
            }
        }

        $($(
            impl From<$name> for Operation {
                fn from(request: $name) -> Self {
                    Self::$name(request)
                }
            }

            impl Request for $name {
                type Output = $output;
                const KIND: OperationKind = OperationKind::$name;

                fn from_output(output: Output) -> Result<$output, Error> {
                    let Output::$name(output) = output else {
                        return Err(remote::wrong_response(Self::NAME, output.kind().name()));
                    };
                    Ok(output)
                }

                fn into_output(output: $output) -> Output {
                    Output::$name(output)
                }
            }
        )+)+
    };
}

operations! {
    DynamoDb {
        GetItem reads -> GetItemOutput,
        PutItem writes -> WriteItemOutput,
        Query reads -> PageOutput,
        UpdateItem writes -> WriteItemOutput,
        DeleteItem writes -> WriteItemOutput,
        BatchGetItem reads -> BatchGetItemOutput,
        BatchWriteItem writes -> BatchWriteItemOutput,
        TransactWriteItems writes -> TransactWriteItemsOutput,
        TransactGetItems reads -> TransactGetItemsOutput,
        Scan reads -> PageOutput,
        ExecuteStatement writes -> ExecuteStatementOutput,
        BatchExecuteStatement writes -> BatchExecuteStatementOutput,
        ExecuteTransaction writes -> ExecuteTransactionOutput,
    }
    Streams {
        GetRecords reads -> GetRecordsOutput,
        GetShardIterator reads -> String,
        DescribeStream reads -> StreamDescription,
        ListStreams reads -> ListStreamsOutput,
    }
    DynamoDb {
        DescribeTable reads -> Box<TableDescription>,
        ListTables reads -> ListTablesOutput,
        CreateTable writes -> Box<TableDescription>,
        UpdateTable writes -> Box<TableDescription>,
        DeleteTable writes -> Box<TableDescription>,
        UpdateTimeToLive writes -> TimeToLive,
        DescribeTimeToLive reads -> TimeToLiveStatus,
        DescribeContinuousBackups reads -> ContinuousBackups,
        UpdateContinuousBackups writes -> ContinuousBackups,
        DescribeLimits reads -> DescribeLimitsOutput,
        TagResource writes -> (),
        UntagResource writes -> (),
        ListTagsOfResource reads -> ListTagsOfResourceOutput,
    }
}

impl Operation {
    /// Returns the service's name of the operation.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Returns whether the operation may change the store. See [`OperationKind::writes`].
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.kind().writes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name_and_stands_at_its_position() {
        for (position, kind) in OperationKind::ALL.iter().enumerate() {
            assert_eq!(OperationKind::from_name(kind.name()), Some(*kind));
            assert_eq!(*kind as usize, position);
        }
        assert_eq!(OperationKind::from_name("getitem"), None);
    }

    #[test]
    fn a_response_to_another_operation_is_an_error() {
        let output = Output::Scan(PageOutput::default());
        assert_eq!(Scan::from_output(output.clone()), Ok(PageOutput::default()));
        let error = Query::from_output(output).unwrap_err();
        assert_eq!(error.message(), "the store answered Query with the response to Scan");
    }
}
