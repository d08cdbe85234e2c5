//! Permissions in a workspace, and the invitations that grant them.

use std::time::Duration;

use keyform::CallError;
use keyform_helpmaton::identity::caller_of;
use keyform_helpmaton::model::{
    AcceptInviteError, AcceptOwnerInviteError, AnswerInviteError, Caller, InviteError, InviteInput, SubscriptionPlan,
    WorkspaceId,
};
use keyform_helpmaton::permissions::Level;
use keyform_helpmaton::secrets::lookup_hash;
use keyform_scenario::{eventually, on_every_store};

use super::support::{World, address, refusal};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn nobody_grants_more_than_they_have() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let [reader, writer, other, eve] =
            [world.person("r").await, world.person("w").await, world.person("o").await, world.person("e").await];
        let system = &world.system;
        system.give_access(&ada, &workspace, &reader.user_id, Level::Read).await.unwrap();
        system.give_access(&ada, &workspace, &writer.user_id, Level::Write).await.unwrap();
        for (by, level, expected) in [
            (&eve, Level::Read, false),
            (&reader, Level::Read, false),
            (&writer, Level::Owner, false),
            (&writer, Level::Write, true),
            (&ada, Level::Owner, true),
        ] {
            let given = system.ensure_access(by, &workspace, &other.user_id, level).await;
            assert_eq!(given.is_ok(), expected, "{level:?}: {given:?}");
        }
        assert_eq!(system.level_of(&other.user_id, &workspace).await.unwrap(), Some(Level::Owner));
        assert_eq!(
            refusal(system.change_access(&writer, &workspace, &other.user_id, Level::Read).await),
            "Forbidden",
            "only owners touch owners"
        );
        assert_eq!(refusal(system.remove_access(&writer, &workspace, &reader.user_id).await), "Forbidden");
        assert_eq!(
            refusal(system.change_access(&writer, &workspace, &writer.user_id, Level::Owner).await),
            "Forbidden"
        );
    });
}

#[test]
fn give_ensure_change_and_remove() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        let system = &world.system;
        let level = async || system.level_of(&bob.user_id, &workspace).await.unwrap();
        system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await.unwrap();
        assert_eq!(refusal(system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await), "AlreadyMember");
        assert_eq!(
            system.ensure_access(&ada, &workspace, &bob.user_id, Level::Read).await.unwrap(),
            Level::Write,
            "ensure never lowers"
        );
        assert_eq!(system.ensure_access(&ada, &workspace, &bob.user_id, Level::Owner).await.unwrap(), Level::Owner);
        system.change_access(&ada, &workspace, &bob.user_id, Level::Read).await.unwrap();
        assert_eq!(level().await, Some(Level::Read));
        let left = world.subscription(&ada).await.users_left;
        system.remove_access(&ada, &workspace, &bob.user_id).await.unwrap();
        assert_eq!(level().await, None);
        assert_eq!(world.subscription(&ada).await.users_left, left + 1, "the seat is given back");
        assert_eq!(refusal(system.remove_access(&ada, &workspace, &bob.user_id).await), "NotAMember");
        system.change_access(&ada, &workspace, &bob.user_id, Level::Owner).await.unwrap();
        assert_eq!(level().await, Some(Level::Owner), "change adds a missing member");
        system.change_access(&ada, &workspace, &ada.user_id, Level::Read).await.unwrap();
        assert_eq!(refusal(system.remove_access(&bob, &workspace, &bob.user_id).await), "LastOwner");
        assert_eq!(refusal(system.change_access(&bob, &workspace, &bob.user_id, Level::Write).await), "LastOwner");
        system.remove_access(&ada, &workspace, &ada.user_id).await.unwrap();
        let seats = system.model.seats(&world.subscription(&ada).await.subscription_id).all().await.unwrap();
        assert_eq!(seats.len(), 2, "the owner of the subscription keeps the seat");
    });
}

#[test]
fn a_member_counts_once_in_all_workspaces_of_a_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, first) = world.pro("ada").await;
        let second = world.workspace(&ada).await;
        let bob = world.person("bob").await;
        for workspace in [&first, &second] {
            world.system.give_access(&ada, workspace, &bob.user_id, Level::Read).await.unwrap();
        }
        assert_eq!(world.subscription(&ada).await.users_left, 3);
        world.system.remove_access(&ada, &first, &bob.user_id).await.unwrap();
        assert_eq!(world.subscription(&ada).await.users_left, 3, "still in the other");
        world.system.remove_access(&ada, &second, &bob.user_id).await.unwrap();
        assert_eq!(world.subscription(&ada).await.users_left, 4);
    });
}

#[test]
fn an_invitation_is_accepted_by_whom_it_was_sent_to() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (bob, eve) = (world.person("bob").await, world.person("eve").await);
        let system = &world.system;
        let key = address("key");
        let made = system.invite(&ada, &workspace, &bob.email, Level::Write, Some(&key)).await.unwrap();
        assert_eq!(system.invite(&ada, &workspace, &bob.email, Level::Write, Some(&key)).await.unwrap(), made);
        assert_eq!(
            refusal(system.invite(&ada, &workspace, &bob.email.to_uppercase(), Level::Read, None).await),
            "AlreadyInvited"
        );
        assert_eq!(refusal(system.invite(&bob, &workspace, &eve.email, Level::Read, None).await), "Forbidden");
        let token = world.mailed(&bob.email);
        let shown = system.invitation(&token).await.unwrap();
        assert_eq!((shown.workspace.as_str(), shown.level, shown.email.as_str()), ("Engines", 2, bob.email.as_str()));
        assert_eq!(refusal(system.accept_invitation(&eve, &token).await), "OtherAddress");
        assert_eq!(refusal(system.accept_invitation(&bob, "another").await), "UnknownInvite");
        assert_eq!(system.accept_invitation(&bob, &token).await.unwrap().level, 2);
        assert_eq!(system.accept_invitation(&bob, &token).await.unwrap().level, 2, "accepting twice changes nothing");
        assert_eq!(refusal(system.invitation(&token).await), "AlreadyAccepted");
        eventually(vec![], async || system.pending_invites(&ada, &workspace, None).await.unwrap().items).await;
        assert_eq!(refusal(system.invite(&ada, &workspace, &bob.email, Level::Read, None).await), "AlreadyMember");
        assert_eq!(world.subscription(&ada).await.users_left, 3);
    });
}

#[test]
fn an_invitation_is_accepted_without_signing_in() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let email = address("newcomer");
        world.system.invite(&ada, &workspace, &email, Level::Owner, None).await.unwrap();
        let token = world.mailed(&email);
        let session = world.system.accept_invitation_as_guest(&token, Some("New")).await.unwrap();
        let user = world.system.user_named(&email).await.unwrap();
        assert_eq!(session.user_id, user.id.to_string());
        assert!(user.email_verified.is_some());
        assert_eq!(world.system.level_of(&user.id, &workspace).await.unwrap(), Some(Level::Owner));
        let own = world.system.subscription_of(&user.id).await.unwrap();
        assert_eq!((own.user_id, own.plan), (user.id, SubscriptionPlan::Free));
        assert_eq!(owners(&world, &workspace).await, 2);
        assert_eq!(refusal(world.system.accept_invitation_as_guest(&token, None).await), "AlreadyAccepted");
    });
}

#[test]
fn an_invitation_opens_no_account_that_is_there() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        let token = world.mailed(&bob.email);
        assert_eq!(refusal(world.system.accept_invitation_as_guest(&token, None).await), "SignInFirst");
        assert_eq!(world.system.level_of(&bob.user_id, &workspace).await.unwrap(), None);
        assert_eq!(world.system.accept_invitation(&bob, &token).await.unwrap().level, 1);
    });
}

#[test]
fn a_claimed_address_or_one_that_is_not_proved_accepts_nothing() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (eve, email) = (world.person("eve").await, address("bob"));
        world.system.invite(&ada, &workspace, &email, Level::Owner, None).await.unwrap();
        let token = world.mailed(&email);
        // A token of another issuer may contain any address.
        let claims = Caller { email: email.clone(), ..eve.clone() };
        assert_eq!(refusal(world.system.accept_invitation(&claims, &token).await), "OtherAddress");
        let bob = caller_of(&world.system.user_of_email(&email, None).await.unwrap());
        assert_eq!(refusal(world.system.accept_invitation(&bob, &token).await), "OtherAddress");
        assert_eq!(world.subscription(&ada).await.users_left, 4, "no seat is taken");
        world.system.model.verify_email(&bob.user_id).await.unwrap();
        assert_eq!(world.system.accept_invitation(&bob, &token).await.unwrap().level, 3);
    });
}

#[test]
fn an_owner_who_is_one_no_more_lets_nobody_in() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (eve, bob) = (world.person("eve").await, world.person("bob").await);
        for level in [Level::Read, Level::Owner] {
            world.system.give_access(&ada, &workspace, &eve.user_id, Level::Owner).await.unwrap();
            let made = world.system.invite(&eve, &workspace, &bob.email, level, None).await.unwrap();
            world.system.remove_access(&ada, &workspace, &eve.user_id).await.unwrap();
            let token = world.mailed(&bob.email);
            assert_eq!(refusal(world.system.accept_invitation(&bob, &token).await), "InviterGone");
            let as_ada = world.system.model.as_caller(ada.clone());
            as_ada.withdraw_invite(&workspace, &made.invite_id.parse().unwrap()).await.unwrap();
        }
        assert_eq!(world.system.level_of(&bob.user_id, &workspace).await.unwrap(), None);
        assert_eq!(owners(&world, &workspace).await, 1);
        assert_eq!(world.subscription(&ada).await.users_left, 4);
    });
}

#[test]
fn only_code_makes_and_answers_invitations() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        let as_ada = world.system.model.as_caller(ada.clone());
        let hash = lookup_hash("a token of Ada's choice");
        let chosen = InviteInput::new(workspace.clone(), &*bob.email, hash.clone(), 1, ada.user_id.clone());
        assert_eq!(as_ada.invite(chosen).await, Err(InviteError::Failed(CallError::Forbidden)));
        let made = world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        let id = made.invite_id.parse().unwrap();
        let as_bob = world.system.model.as_caller(bob.clone());
        let forbidden = CallError::Forbidden;
        assert_eq!(
            as_bob.accept_invite(&workspace, &id, &bob.user_id).await,
            Err(AcceptInviteError::Failed(forbidden.clone()))
        );
        assert_eq!(
            as_bob.accept_owner_invite(&workspace, &id, &bob.user_id).await,
            Err(AcceptOwnerInviteError::Failed(forbidden.clone()))
        );
        assert_eq!(
            as_bob.answer_invite(&workspace, &id, &bob.user_id).await,
            Err(AnswerInviteError::Failed(forbidden.clone()))
        );
        assert_eq!(as_ada.invite_by_token_hash(&hash).await, Err(forbidden));
        // Code may invite only on behalf of current owners.
        let of_bob = InviteInput::new(workspace.clone(), address("eve"), hash, 1, bob.user_id.clone());
        assert_eq!(world.system.model.invite(of_bob).await, Err(InviteError::Forbidden));
    });
}

#[test]
fn an_expired_invitation_is_refused_and_blocks_no_other() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        let old = world.mailed(&bob.email);
        world.clock.advance(DAY * 7 + MINUTE);
        assert_eq!(refusal(world.system.accept_invitation(&bob, &old).await), "InviteExpired");
        assert_eq!(world.system.pending_invites(&ada, &workspace, None).await.unwrap().items, []);
        let again = world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        assert_eq!(refusal(world.system.accept_invitation(&bob, &old).await), "UnknownInvite");
        let as_ada = world.system.model.as_caller(ada.clone());
        as_ada.withdraw_invite(&workspace, &again.invite_id.parse().unwrap()).await.unwrap();
        let withdrawn = world.mailed(&bob.email);
        assert_eq!(refusal(world.system.accept_invitation(&bob, &withdrawn).await), "UnknownInvite");
        world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
    });
}

#[test]
fn an_invitation_raises_a_member_and_lowers_none() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        for (invited, has, expected) in
            [(Level::Write, Level::Read, 2), (Level::Read, Level::Write, 2), (Level::Owner, Level::Read, 3)]
        {
            let bob = world.person("bob").await;
            world.system.invite(&ada, &workspace, &bob.email, invited, None).await.unwrap();
            world.system.give_access(&ada, &workspace, &bob.user_id, has).await.unwrap();
            let accepted = world.system.accept_invitation(&bob, &world.mailed(&bob.email)).await.unwrap();
            assert_eq!(accepted.level, expected, "{invited:?} for {has:?}");
        }
        assert_eq!(owners(&world, &workspace).await, 2);
    });
}

#[test]
fn a_free_plan_has_no_seat_for_others() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let workspace = world.workspace(&ada).await;
        let invited = world.system.invite(&ada, &workspace, &address("bob"), Level::Read, None).await;
        assert_eq!(refusal(invited), "UserLimitReached");
    });
}

/// Returns the owner count that a workspace stores.
async fn owners(world: &World, workspace: &WorkspaceId) -> i64 {
    world.system.model.workspace_by_id(workspace).await.unwrap().unwrap().owners
}
