//! Deleting a server or a channel leaves nothing behind, even if the program is killed in the middle.

use std::sync::Arc;
use std::time::Duration;

use keyform::operation::Scan;
use keyform::{AttributeValue, CallError, EpochMs, ExecuteExt};
use keyform_discord::model::{ConnectionId, CreateChannelInput, DeleteServerError};
use keyform_scenario::fault::Mortal;
use keyform_scenario::on_every_store;

use crate::support::{Company, World, world};

/// Returns the number of items that contain one of these texts.
async fn left(world: &World, texts: &[&str]) -> usize {
    let runner = world.code().calls().runner();
    let (table, _) = runner.tables().remove(0);
    let mut found = 0;
    let mut start = None;
    loop {
        let scan = Scan { start, consistent: true, ..Scan::of(table.clone()) };
        let page = runner.store().call(scan).await.unwrap();
        let has = |value: &AttributeValue| matches!(value, AttributeValue::S(text) if texts.iter().any(|known| text.contains(known)));
        found += page.items.iter().flatten().filter(|item| item.to_attributes().values().any(has)).count();
        start = page.last_key.map(|key| key.to_attributes());
        if start.is_none() {
            return found;
        }
    }
}

/// Creates an item of every kind in a channel.
async fn fill(world: &World, company: &Company, channel: &keyform_discord::model::ChannelId, messages: usize) {
    for number in 0..messages {
        world.post(&company.grace, channel, &format!("message {number}")).await;
    }
    let message = world.post(&company.ada, channel, "the last").await;
    let (at, id) = (EpochMs::from(message.created_at), message.message_id.into());
    world.of(&company.grace).mark_read(channel, &id, at).await.unwrap();
    let connection = ConnectionId::new(format!("c-{channel}")).unwrap();
    world.of(&company.grace).connect(&connection, channel).await.unwrap();
}

/// Finishes the remaining cascades; an index may have lagged behind.
async fn settle(world: &World) {
    for _ in 0..2 {
        world.scene.clock.advance(Duration::from_secs(60));
        world.code().resume_cascades().await.unwrap();
    }
}

#[test]
fn a_server_takes_everything_along() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let looms = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(looms).await.unwrap().channel_id;
        fill(&world, &company, &company.channel, 30).await;
        fill(&world, &company, &looms, 3).await;
        let (other, channel) = world.server(&company.ada, "Another").await;
        world.post(&company.ada, &channel.channel_id, "this one stays").await;
        let denied = world.of(&company.grace).delete_server(&company.server).await.unwrap_err();
        assert_eq!(denied, DeleteServerError::Failed(CallError::Forbidden));

        world.of(&company.ada).delete_server(&company.server).await.unwrap();
        settle(&world).await;
        let gone = [company.server.as_str(), company.channel.as_str(), looms.as_str()];
        assert_eq!(left(&world, &gone).await, 0);
        let mine = world.service.list_my_servers(&company.ada.user_id, Default::default()).await.unwrap();
        assert_eq!(mine.items.iter().map(|server| &server.server_id).collect::<Vec<_>>(), [&other.server_id]);
        assert_eq!(world.of(&company.ada).messages(&channel.channel_id).await.unwrap().items.len(), 1);
        let hers = world.of(&company.grace).connections_of_user(&company.grace.user_id).all().await.unwrap();
        assert!(hers.is_empty());
    });
}

#[test]
fn a_channel_takes_its_messages_along_and_is_no_longer_counted() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let looms = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(looms).await.unwrap().channel_id;
        fill(&world, &company, &looms, 10).await;
        fill(&world, &company, &company.channel, 2).await;
        world.of(&company.ada).delete_channel(&company.server, &looms).await.unwrap();
        settle(&world).await;
        assert_eq!(left(&world, &[looms.as_str()]).await, 0);
        assert_eq!(world.of(&company.grace).messages(&company.channel).await.unwrap().items.len(), 3);
        let server = world.of(&company.grace).server_by_id(&company.server).await.unwrap().unwrap();
        assert_eq!(server.channels, 1);
    });
}

#[test]
fn whoever_is_killed_in_the_middle_leaves_the_rest_to_the_next() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let mut deleted = Vec::new();
        for requests in 1..20 {
            let (server, channel) = world.server(&company.ada, "Engines").await;
            world.join(&company.ada, &server.server_id, &company.grace).await;
            let here = Company { server: server.server_id, channel: channel.channel_id, ..copy(&company) };
            fill(&world, &here, &here.channel, 2).await;
            let mortal = world.through(Arc::new(Mortal::new(world.scene.host.store(), requests)));
            // Regardless of the answer, the server is either deleted or not.
            let told = mortal.of(&company.ada).delete_server(&here.server).await;
            let is_there = world.code().server_by_id(&here.server).await.unwrap().is_some();
            assert!(!is_there || told.is_err());
            if is_there {
                world.of(&company.ada).delete_server(&here.server).await.unwrap();
            }
            deleted.extend([here.server.to_string(), here.channel.to_string()]);
        }
        settle(&world).await;
        let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
        assert_eq!(left(&world, &deleted).await, 0);
    });
}

fn copy(company: &Company) -> Company {
    Company {
        ada: company.ada.clone(),
        grace: company.grace.clone(),
        server: company.server.clone(),
        channel: company.channel.clone(),
    }
}
