//! Connection settings: endpoint, credentials and timeouts.

use std::fmt;
use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use keyform_core::Error;

use crate::failure;
use crate::trust::{self, TrustError};

/// Region that signs requests to a custom endpoint if nothing else sets one.
const REGION_OF_ENDPOINTS: &str = "us-east-1";

/// DynamoDB endpoint. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) client: Client,
    pub(crate) streams: aws_sdk_dynamodbstreams::Client,
}

/// Endpoint and credentials. Missing values come from the AWS environment variables, then from the profile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Address of a DynamoDB-compatible store, such as `http://localhost:8000`; `None` for AWS.
    pub endpoint_url: Option<String>,
    /// AWS region, such as `eu-central-1`.
    pub region: Option<String>,
    /// Profile in the AWS configuration files.
    pub profile: Option<String>,
    /// Access key; `None` for the SDK's default credential chain.
    pub credentials: Option<Credentials>,
    /// Timeouts of every request.
    pub timeouts: Timeouts,
}

/// Timeouts of every request, including those to the streams endpoint: a store that accepts connections and never
/// responds makes a call fail instead of blocking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout of a connection, including its TLS handshake.
    pub connect: Duration,
    /// Timeout of a single attempt.
    pub request: Duration,
    /// Timeout of a request with all its attempts and the delays between them.
    pub deadline: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(3), request: Duration::from_secs(10), deadline: Duration::from_secs(30) }
    }
}

impl From<Timeouts> for TimeoutConfig {
    fn from(timeouts: Timeouts) -> Self {
        Self::builder()
            .connect_timeout(timeouts.connect)
            .operation_attempt_timeout(timeouts.request)
            .operation_timeout(timeouts.deadline)
            .build()
    }
}

/// AWS access key.
#[derive(Clone)]
pub struct Credentials {
    /// Access key id; not secret.
    pub access_key_id: String,
    /// Secret part; never printed.
    pub secret_access_key: String,
}

impl fmt::Debug for Credentials {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

impl Remote {
    /// Reads the configuration. Nothing is sent yet: a wrong endpoint, region or key surfaces at the first operation.
    ///
    /// If `AWS_CA_BUNDLE` is set, only the certificates in that file are trusted, not those of the operating system;
    /// the AWS CLI does the same.
    ///
    /// ```no_run
    /// use keyform_aws::{Options, Remote};
    ///
    /// # async fn example() -> Result<(), keyform_aws::TrustError> {
    /// let remote = Remote::connect(Options { region: Some("eu-central-1".to_owned()), ..Options::default() }).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file in `AWS_CA_BUNDLE` cannot be read or contains no usable certificate.
    pub async fn connect(options: Options) -> Result<Self, TrustError> {
        let mut loader = aws_config::defaults(BehaviorVersion::latest()).timeout_config(options.timeouts.into());
        if let Some(client) = trust::client()? {
            loader = loader.http_client(client);
        }
        if let Some(profile) = options.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = options.region {
            loader = loader.region(Region::new(region));
        }
        if let Some(Credentials { access_key_id, secret_access_key }) = options.credentials {
            let keys =
                aws_sdk_dynamodb::config::Credentials::new(access_key_id, secret_access_key, None, None, "keyform");
            loader = loader.credentials_provider(keys);
        }
        if let Some(url) = &options.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        let config = loader.load().await;
        let mut builder = aws_sdk_dynamodb::config::Builder::from(&config);
        let mut streams = aws_sdk_dynamodbstreams::config::Builder::from(&config);
        if options.endpoint_url.is_some() && config.region().is_none() {
            builder = builder.region(Region::from_static(REGION_OF_ENDPOINTS));
            streams = streams.region(Region::from_static(REGION_OF_ENDPOINTS));
        }
        Ok(Self {
            client: Client::from_conf(builder.build()),
            streams: aws_sdk_dynamodbstreams::Client::from_conf(streams.build()),
        })
    }

    /// Waits until a new or changed table is active.
    ///
    /// # Errors
    /// Returns an error if the store fails, or the table is not active after `longest`.
    pub async fn wait_until_active(&self, table: &str, longest: Duration) -> Result<(), Error> {
        let waited = self.client.wait_until_table_exists().table_name(table).wait(longest).await;
        waited.map(|_| ()).map_err(failure::service_error)
    }
}
