//! Typed code of models: the output of `keyform::model!` for the five example systems compiles and works on the
//! embedded engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use keyform::live::feed::{Feed, From};
use keyform::{CallError, ChangeEvent, Database, ModelOptions, Money, Secret, Uuid};

mod agencies {
    keyform::model!("../../systems/agencies/agencies.kf");
}

mod discord {
    keyform::model!("../../systems/discord/discord.kf");
}

mod helpmaton {
    keyform::model!("../../systems/helpmaton/helpmaton.kf");
}

mod t3nets {
    keyform::model!("../../systems/t3nets/t3nets.kf");
}

mod workspaces {
    keyform::model!("../../systems/workspaces/workspaces.kf");
}

/// Names that collide with Rust's, and documentation that rustdoc would misinterpret.
mod odd {
    keyform::model!("../codegen/tests/rust/odd.kf");
}

mod notes {
    keyform::model!("models/notes.kf");
}

mod empty {
    keyform::model!("../codegen/tests/rust/empty.kf");
}

mod plain {
    keyform::model!("../codegen/tests/rust/plain.kf");
}

/// Models that the code generator was not written for.
mod unseen {
    pub mod booking {
        keyform::model!("../check/tests/unseen/booking.kf");
    }

    pub mod catalogue {
        keyform::model!("../check/tests/unseen/catalogue.kf");
    }

    pub mod ledger {
        keyform::model!("../check/tests/unseen/ledger.kf");
    }

    pub mod saas {
        keyform::model!("../check/tests/unseen/saas.kf");
    }

    pub mod sensors {
        keyform::model!("../check/tests/unseen/sensors.kf");
    }

    pub mod shop {
        keyform::model!("../check/tests/unseen/shop.kf");
    }
}

use discord::{Caller, CreateInviteInput, CreateServerInput, Discord, JoinByInviteError, SignUpError, User};

async fn chat() -> Discord {
    Discord::open_with(&Database::in_memory(), ModelOptions::new().variable("stage", "test")).await.unwrap()
}

async fn person(chat: &Discord, name: &str) -> (User, Discord) {
    let user = chat.sign_up(&format!("{name}@example.com"), name, "hash").await.unwrap();
    let caller = chat.as_caller(Caller { user_id: user.user_id.clone() });
    (user, caller)
}

#[tokio::test]
async fn people_talk_in_a_server() {
    let chat = chat().await;
    let (ada, as_ada) = person(&chat, "ada").await;
    let (bob, as_bob) = person(&chat, "bob").await;
    assert_eq!(chat.user_by_id(&ada.user_id).await.unwrap(), Some(ada.clone()));
    let taken = chat.sign_up("ADA@example.com ", "ada2", "hash").await;
    assert_eq!(taken, Err(SignUpError::EmailTaken));

    let server = as_ada.create_server(CreateServerInput::new("engines")).await.unwrap();
    assert_eq!(as_bob.server_by_id(&server.server_id).await, Err(CallError::Forbidden));
    let input = CreateInviteInput { max_uses: Some(1), ..CreateInviteInput::new(server.server_id.clone()) };
    let invite = as_ada.create_invite(input).await.unwrap();
    assert!(as_bob.join_by_invite(&invite.invite_code).await.unwrap().is_some());
    let (_, as_cyd) = person(&chat, "cyd").await;
    let used = as_cyd.join_by_invite(&invite.invite_code).await;
    assert_eq!(used, Err(JoinByInviteError::InviteUsedUp));

    let channels = as_bob.channels_of_server(&server.server_id).await.unwrap();
    let channel = &channels.items[0].channel_id;
    for number in 0..120 {
        as_bob.post_message(channel, &format!("message {number}")).await.unwrap();
    }
    let page = as_ada.messages(channel).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].content.as_str()), (50, "message 119"));
    assert_eq!(page.items[0].user_id, bob.user_id);
    let next = as_ada.messages(channel).after(page.cursor.unwrap()).await.unwrap();
    assert_eq!(next.items[0].content, "message 69");
    let mut items = as_ada.messages(channel).items();
    let mut seen = 0;
    while let Some(message) = items.next().await {
        assert_eq!(message.unwrap().content, format!("message {}", 119 - seen));
        seen += 1;
    }
    assert_eq!(seen, 120);
    assert_eq!(as_ada.messages(channel).after("forged").await.map(|page| page.items), Err(CallError::Cursor));
}

#[tokio::test]
async fn changes_are_variants_of_an_enum() {
    use discord::Change;

    let database = Database::in_memory();
    let chat = Discord::open_with(&database, ModelOptions::new().variable("stage", "test")).await.unwrap();
    let table = "discord-clone-test-DiscordTable";
    let mut feed =
        Feed::open(Arc::new(database), Arc::new(keyform::SystemWorld), table, From::Beginning).await.unwrap();
    let (ada, as_ada) = person(&chat, "ada").await;
    let input = discord::UpdateProfileInput { avatar_url: None, ..discord::UpdateProfileInput::new("countess") };
    as_ada.update_profile(input).await.unwrap();
    let batch = feed.read().await.unwrap();
    let changes: Vec<Change> = batch.changes.iter().map(|change| chat.change(&change.record).unwrap()).collect();
    let users: Vec<(ChangeEvent, Option<&str>, Option<&str>)> = changes
        .iter()
        .filter_map(|change| match change {
            Change::User(change) => {
                let name = |user: &Option<User>| user.as_ref().map(|user| user.username.clone()).map(String::leak);
                Some((change.event, name(&change.old).map(|name| &*name), name(&change.new).map(|name| &*name)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        users,
        [(ChangeEvent::Inserted, None, Some("ada")), (ChangeEvent::Modified, Some("ada"), Some("countess"))]
    );
    let hashes: Vec<&Secret<String>> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Credentials(change) => change.latest().map(|credentials| &credentials.password_hash),
            _ => None,
        })
        .collect();
    assert_eq!(hashes, [&Secret::new("hash".to_owned())]);
    assert!(changes.contains(&Change::Unknown), "the sentinel of the address is of no entity");
    assert_eq!(ada.username, "ada");
}

#[tokio::test]
async fn a_conflict_gives_the_item_as_it_is() {
    use agencies::{Agencies, Caller, UpdateAgencyError};

    let model =
        Agencies::open_with(&Database::in_memory(), ModelOptions::new().variable("stage", "test")).await.unwrap();
    let ada = model.as_caller(Caller { idpid: "ada".parse().unwrap(), admin: false });
    let agency = ada.create_agency("one").await.unwrap();
    let renamed = ada.update_agency(&agency.agency_id, "two", agency.status, agency.version).await.unwrap();
    assert_eq!((renamed.name.as_str(), renamed.version), ("two", agency.version + 1));
    let late = ada.update_agency(&agency.agency_id, "three", agency.status, agency.version).await;
    assert_eq!(late, Err(UpdateAgencyError::Changed));
}

#[tokio::test]
async fn credit_is_bought_once_and_a_late_edit_is_a_conflict() {
    use helpmaton::{
        Caller, ChangeWorkspaceError, ChangeWorkspaceInput, CreateWorkspaceInput, CreditEntryCurrency, CreditEntryKind,
        Helpmaton, SignUpInput, UserId, WorkspaceCurrency, WorkspaceId,
    };

    let keys = keyform::runtime::seal::Keyring::generate(&keyform::SystemWorld);
    let model = Helpmaton::open_with(&Database::in_memory(), ModelOptions::new().field_keys(keys)).await.unwrap();
    let id = UserId::from(Uuid::fresh());
    let subscription = helpmaton::SubscriptionId::from(Uuid::fresh());
    let user = model.sign_up(SignUpInput::new(id.clone(), "ada@example.com", subscription.clone())).await.unwrap();
    assert_eq!(user.id, id);
    let ada = model.as_caller(Caller { user_id: id, email: "ada@example.com".to_owned() });
    let workspace = WorkspaceId::from(Uuid::fresh());
    let input = CreateWorkspaceInput {
        currency: Some(WorkspaceCurrency::Eur),
        ..CreateWorkspaceInput::new(workspace.clone(), subscription, "engines")
    };
    let made = ada.create_workspace(input).await.unwrap();
    assert_eq!(made.credit_balance, Money::ZERO);

    let entry = "order-1".parse().unwrap();
    let paid = Money::of_units(20);
    let credited = model.credit_purchase(&workspace, &entry, paid, CreditEntryCurrency::Eur).await.unwrap();
    assert_eq!(credited.credit_balance, paid);
    let again = model.credit_purchase(&workspace, &entry, paid, CreditEntryCurrency::Eur).await;
    assert_eq!(again, Err(helpmaton::CreditPurchaseError::AlreadyCredited));
    let entries = ada.credit_entries(&workspace).all().await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [CreditEntryKind::Purchase]);

    let late = ChangeWorkspaceInput::new(workspace, "motors", made.version);
    match ada.change_workspace(late).await {
        Err(ChangeWorkspaceError::Conflict(Some(current))) => assert_eq!(current.credit_balance, paid),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_collection_is_a_struct() {
    use workspaces::{Caller, Workspaces};

    let model =
        Workspaces::open_with(&Database::in_memory(), ModelOptions::new().variable("stage", "test")).await.unwrap();
    let ada = model.as_caller(Caller { user_id: Uuid::fresh() });
    let workspace = ada.create_workspace("engines").await.unwrap();
    ada.set_setting(&workspace.workspace_id, "theme", &"dark".into()).await.unwrap();
    let all = ada.workspace(&workspace.workspace_id).await.unwrap();
    assert_eq!((all.workspace.name.as_str(), all.members.len(), all.items.len()), ("engines", 1, 0));
    assert_eq!(all.settings.len(), 1);
}

#[tokio::test]
async fn odd_names_and_types_go_there_and_back() {
    use odd::{Odd, OptionFn, OptionFnInItem, OptionFnWhere, OptionMatch, SelfInput};

    let model = Odd::open_with(&Database::in_memory(), ModelOptions::new().variable("stage", "test")).await.unwrap();
    let caller = odd::Caller { user_id: keyform::Ulid::fresh(), team: None };
    let model = model.as_caller(caller);
    let r#fn =
        OptionFn { r#async: "a".to_owned(), r#in: vec![OptionFnInItem { r#loop: 7 }], r#where: OptionFnWhere::Y };
    let input = SelfInput { r#fn: Some(r#fn), ..SelfInput::new("t", "s", OptionMatch::AB2, "long enough") };
    let made = model.self_(input).await.unwrap();
    assert_eq!((made.nothing, made.r#match.as_str()), (None, "a-b"));
    let read = model.open_read("t", "s").await.unwrap().unwrap();
    assert_eq!(read.r#fn.map(|part| part.r#in[0].r#loop), Some(7));
    assert_eq!(read.by_status, None);
    let shown = format!("{:?}", read.password);
    assert_eq!(shown, "Secret(…)");
    let types = BTreeSet::from(["t".to_owned()]).into_iter().collect::<Vec<_>>();
    assert_eq!(model.r#type(&types, "s").await.unwrap().len(), 1);
    let made = model.r#gen(odd::GenInput::new(7.into())).await.unwrap();
    let raised = model.raise(made.result, 2, made.rev).await.unwrap();
    assert_eq!((made.points, raised.points), (0, 2));
    let late = model.raise(made.result, 2, made.rev).await;
    assert_eq!(late, Err(odd::RaiseError::Conflict(Some(Box::new(raised)))));
    let none = model.raise(8.into(), 2, 1).await;
    assert_eq!(none, Err(odd::RaiseError::FailedOutcome));
}

#[test]
fn the_page_to_start_with_shows_the_model_it_compiles() {
    let page = include_str!("../../../../docs/rust.md");
    assert!(page.contains(&format!("```kf\n{}```", include_str!("../../models/notes.kf"))));
}

#[tokio::test]
async fn what_is_missing_is_said() {
    let missing = Discord::open(&Database::in_memory()).await.map(drop).unwrap_err();
    assert!(missing.to_string().contains("variable"), "{missing}");
    let id = "not a ulid".parse::<discord::UserId>().unwrap_err();
    assert_eq!(id.to_string(), "`not a ulid` is not a ULID");
}

#[tokio::test]
async fn structs_are_what_the_http_api_has_as_json() {
    let chat = chat().await;
    let (ada, _) = person(&chat, "ada").await;
    let json = keyform::serde_json::to_value(&ada).unwrap();
    assert_eq!((json["username"].as_str(), json["userId"].as_str()), (Some("ada"), Some(ada.user_id.as_str())));
    assert!(json.get("avatarUrl").is_none());
    assert_eq!(keyform::serde_json::from_value::<User>(json).unwrap(), ada);
    let credentials = chat.credentials(&ada.user_id).await.unwrap().unwrap();
    assert_eq!(credentials.password_hash.expose(), "hash");
    assert!(!keyform::serde_json::to_string(&credentials).unwrap().contains("hash\""));
}
