//! Typed code of models: what `keyform::model!` makes of the five systems compiles, and works on the embedded engine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use keyform::{CallError, Database, ModelOptions};

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
