//! The connection: where the store is, who asks, and how long an answer may take.

use std::fmt;
use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use keyform_core::Error;

use crate::failure;
use crate::trust::{self, TrustError};

/// The region when an endpoint is given and nothing else names one: an endpoint of one's own has none.
const REGION_OF_ENDPOINTS: &str = "us-east-1";

/// A DynamoDB endpoint. Cloning shares the connections.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) client: Client,
    pub(crate) streams: aws_sdk_dynamodbstreams::Client,
}

/// Where the store is, and who asks. What is not given comes from the AWS environment variables, then from the profile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address of a store that is not AWS's own, such as `http://localhost:8000`.
    pub endpoint_url: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The profile in AWS's configuration files.
    pub profile: Option<String>,
    /// The credentials.
    pub credentials: Option<Credentials>,
    /// The longest waits.
    pub timeouts: Timeouts,
}

/// The longest waits. They bound every request, those to the streams endpoint included: a store that accepts connections and never answers
/// fails a call instead of holding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, its TLS handshake included.
    pub connect: Duration,
    /// For the answer to one attempt of a request.
    pub request: Duration,
    /// For a request with all its attempts and the pauses between them.
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

/// An access key.
#[derive(Clone)]
pub struct Credentials {
    /// Its public part.
    pub access_key_id: String,
    /// Its secret part.
    pub secret_access_key: String,
}

impl fmt::Debug for Credentials {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

impl Remote {
    /// Reads the configuration. Nothing is sent yet: a wrong address, region or key shows at the first operation.
    ///
    /// If `AWS_CA_BUNDLE` is set, the certificates in that file are trusted instead of those of the operating system, as with the AWS command line.
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
    /// The file that `AWS_CA_BUNDLE` names cannot be read or has no usable certificate.
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

    /// Waits until a table that was made or changed can be used.
    ///
    /// # Errors
    /// When the store fails, or the table is not active after `longest`.
    pub async fn wait_until_active(&self, table: &str, longest: Duration) -> Result<(), Error> {
        let waited = self.client.wait_until_table_exists().table_name(table).wait(longest).await;
        waited.map(|_| ()).map_err(failure::told)
    }
}
