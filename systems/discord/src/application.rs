//! The chat as an application: its flows and its sample data.

use keyform::application::{Application, claims};
use keyform::flow::{Flow, FlowCall, FlowError, Host};
use keyform::{CallError, TextForm, check_text};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::account::{LogIn, PasswordChange, Registration};
use crate::connections::{Hear, OfChannel, OfConnection};
use crate::limits;
use crate::model::{Caller, User, UserId};
use crate::search::Search;
use crate::servers::{MyServers, OfServer};
use crate::service::{Service, Settings};
use crate::unread::Badges;

/// Creates the application on a host.
///
/// # Errors
/// The host has no value for the variable `stage`.
pub fn application(host: &Host) -> Result<Application, CallError> {
    application_with(host, Settings::default())
}

/// Creates the application on a host with these settings.
///
/// # Errors
/// The host has no value for the variable `stage`.
pub fn application_with(host: &Host, settings: Settings) -> Result<Application, CallError> {
    let service = Service::new(host, settings)?;
    let application = Application::new(host, service.model().calls());
    let flows = accounts(&service).into_iter().chain(lists(&service)).chain(connections(&service));
    let application = flows.fold(application, Application::flow);
    let application = ["inviteByCode", "joinByInvite"].into_iter().fold(application, |application, pattern| {
        application.limit(pattern, limits::INVITE).limit_guesses(pattern, "inviteCode", limits::INVITE_CODES)
    });
    Ok(application.sample(move || {
        let service = service.clone();
        async move { service.make_sample().await }
    }))
}

/// No arguments.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Empty result.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct Done {
    done: bool,
}

const DONE: Done = Done { done: true };

/// The caller's own user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
struct Shown(#[schemars(with = "Value")] User);

fn accounts(service: &Service) -> [Flow; 4] {
    [
        open(
            service,
            "register",
            "Creates an account and logs in.",
            |service, call: FlowCall<Registration>| async move {
                service.attempt(&limits::REGISTER, call.client, &account_of(&call.arguments.email)?)?;
                service.register(call.arguments, call.token.as_deref()).await
            },
        )
        .outcomes(&["EmailTaken", "WeakPassword"]),
        open(
            service,
            "logIn",
            "Returns a token for an e-mail address and a password.",
            |service, call: FlowCall<LogIn>| async move {
                service.attempt(&limits::LOG_IN, call.client, &account_of(&call.arguments.email)?)?;
                service.log_in(call.arguments).await
            },
        )
        .outcomes(&["WrongCredentials", "TokensIssuedElsewhere"]),
        own(
            service,
            "changeMyPassword",
            "Changes the caller's password.",
            |service, user, call: FlowCall<PasswordChange>| async move {
                let account = service.me(&user).await?.email;
                service.attempt(&limits::LOG_IN, call.client, &account)?;
                service.change_my_password(&user, call.arguments).await.map(|()| DONE)
            },
        )
        .outcomes(&["WrongCredentials", "WeakPassword", "UnknownUser"]),
        own(service, "me", "Returns the caller's profile.", |service, user, _: FlowCall<Nothing>| async move {
            service.me(&user).await.map(Shown)
        })
        .outcomes(&["UnknownUser"]),
    ]
}

/// Normalizes an address as the model does, and rejects what is not an address, so that no other spelling evades the
/// rate limit.
fn account_of(email: &str) -> Result<String, FlowError> {
    check_text(email.to_owned(), TextForm::Email).map_err(|error| FlowError::Arguments(error.to_string()))
}

fn lists(service: &Service) -> [Flow; 5] {
    [
        own(
            service,
            "listMyServers",
            "Lists the caller's servers with their names.",
            |service, user, call: FlowCall<MyServers>| async move { service.list_my_servers(&user, call.arguments).await },
        ),
        own(
            service,
            "listMembers",
            "Lists the members of a server with their names and presence.",
            |service, user, call: FlowCall<OfServer>| async move { service.list_members(&user, call.arguments).await },
        ),
        own(
            service,
            "serverOverview",
            "Returns a server with its channels, unread counts and online members.",
            |service, user, call: FlowCall<OfServer>| async move {
                service.server_overview(&user, &call.arguments.server_id).await
            },
        )
        .outcomes(&["UnknownServer"]),
        own(
            service,
            "unreadBadges",
            "Counts the caller's unread messages per channel.",
            |service, user, call: FlowCall<Badges>| async move { service.unread_badges(&user, call.arguments).await },
        ),
        own(
            service,
            "searchMessages",
            "Searches the messages of a channel for a text, newest first.",
            |service, user, call: FlowCall<Search>| async move { service.search_messages(&user, call.arguments).await },
        )
        .interruptible(),
    ]
}

fn connections(service: &Service) -> [Flow; 5] {
    [
        own(
            service,
            "openConnection",
            "Starts listening to a channel and its server.",
            |service, user, call: FlowCall<OfChannel>| async move {
                service.open_connection(&user, &call.arguments.channel_id, call.token.as_deref()).await
            },
        )
        .outcomes(&["UnknownChannel", "NotConnected"]),
        own(
            service,
            "keepConnected",
            "Keeps a connection alive.",
            |service, user, call: FlowCall<OfConnection>| async move {
                service.keep_connected(&user, &call.arguments.connection_id).await
            },
        )
        .outcomes(&["NotConnected"]),
        own(
            service,
            "closeConnection",
            "Ends a connection of the caller.",
            |service, user, call: FlowCall<OfConnection>| async move {
                service.close_connection(&user, &call.arguments.connection_id).await.map(|()| DONE)
            },
        ),
        own(
            service,
            "nextEvents",
            "Returns the events of a connection; waits for the next one otherwise.",
            |service, user, call: FlowCall<Hear>| async move { service.next_events(&user, call.arguments).await },
        )
        .interruptible()
        .outcomes(&["NotConnected"]),
        own(
            service,
            "typing",
            "Notifies the listeners of a channel that the caller is typing.",
            |service, user, call: FlowCall<OfChannel>| async move {
                service.typing(&user, &call.arguments.channel_id).await.map(|()| DONE)
            },
        )
        .outcomes(&["UnknownUser"]),
    ]
}

/// Creates a public flow.
fn open<A, R, W>(
    service: &Service,
    name: &'static str,
    about: &'static str,
    run: impl Fn(Service, FlowCall<A>) -> W + Send + Sync + 'static,
) -> Flow
where
    A: DeserializeOwned + JsonSchema,
    R: Serialize + JsonSchema,
    W: Future<Output = Result<R, FlowError>> + Send + 'static,
{
    let service = service.clone();
    Flow::new(name, about, move |call| run(service.clone(), call)).public()
}

/// Creates a flow for authenticated users.
fn own<A, R, W>(
    service: &Service,
    name: &'static str,
    about: &'static str,
    run: impl Fn(Service, UserId, FlowCall<A>) -> W + Send + Sync + 'static,
) -> Flow
where
    A: DeserializeOwned + JsonSchema,
    R: Serialize + JsonSchema,
    W: Future<Output = Result<R, FlowError>> + Send + 'static,
{
    let service = service.clone();
    Flow::new(name, about, move |call: FlowCall<A>| {
        let user = claims::<Caller>(&call.caller);
        let work = user.map(|caller| run(service.clone(), caller.user_id, call));
        async move { work?.await }
    })
}
