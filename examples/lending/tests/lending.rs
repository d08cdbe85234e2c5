//! The application on a database in memory.

use keyform::{CallError, Database, Date, Ulid};
use lending::model::{AddMemberInput, AddThingInput, BorrowError, Club, GiveBackError, Lending, MemberRole, Thing};

struct Town {
    lending: Lending,
}

impl Town {
    async fn new() -> Self {
        Self { lending: lending::open(&Database::in_memory()).await.unwrap() }
    }

    fn person(&self) -> (Ulid, Lending) {
        let person = Ulid::fresh();
        let seen = lending::seen_by(&self.lending, &person);
        (person, seen)
    }
}

async fn founded(seen: &Lending) -> Club {
    seen.found_club("Elm Street", "Ada").await.unwrap()
}

async fn added(seen: &Lending, club: &Club, name: &str) -> Thing {
    seen.add_thing(AddThingInput::new(club.club_id.clone(), name)).await.unwrap()
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[tokio::test]
async fn of_many_who_reach_for_a_thing_one_gets_it() {
    let town = Town::new().await;
    let (_, ada) = town.person();
    let club = founded(&ada).await;
    let drill = added(&ada, &club, "drill").await;
    let mut reaching = Vec::new();
    for number in 0..8 {
        let (person, seen) = town.person();
        ada.add_member(AddMemberInput::new(club.club_id.clone(), person, format!("member {number}"))).await.unwrap();
        let (club, thing) = (club.club_id.clone(), drill.thing_id.clone());
        reaching.push(tokio::spawn(async move { seen.borrow(&club, &thing, day("2026-12-24")).await }));
    }
    let mut got = 0;
    for reach in reaching {
        match reach.await.unwrap() {
            Ok(thing) => {
                assert_eq!((thing.due, thing.loans), (Some(day("2026-12-24")), 1));
                got += 1;
            }
            Err(error) => assert_eq!(error, BorrowError::AlreadyLent),
        }
    }
    assert_eq!(got, 1);
    let loans = ada.loans_of_thing(&club.club_id, &drill.thing_id).await.unwrap();
    assert_eq!(loans.items.len(), 1);
}

#[tokio::test]
async fn a_thing_comes_back_from_whoever_has_it() {
    let town = Town::new().await;
    let (_, ada) = town.person();
    let club = founded(&ada).await;
    let tent = added(&ada, &club, "tent").await;
    let (bob_id, bob) = town.person();
    let bob_member = ada.add_member(AddMemberInput::new(club.club_id.clone(), bob_id.clone(), "Bob")).await.unwrap();
    assert_eq!(bob_member.role, MemberRole::Borrower);
    bob.borrow(&club.club_id, &tent.thing_id, day("2026-11-01")).await.unwrap();
    assert_eq!(ada.give_back(&club.club_id, &tent.thing_id).await, Err(GiveBackError::NotYours));
    let late = lending::overdue(&ada, &club.club_id, day("2026-11-02")).await.unwrap();
    assert_eq!(late.iter().map(|thing| thing.name.as_str()).collect::<Vec<_>>(), ["tent"]);
    let back = bob.give_back(&club.club_id, &tent.thing_id).await.unwrap();
    assert_eq!((back.holder, back.due), (None, None));
    assert!(lending::overdue(&ada, &club.club_id, day("2026-11-02")).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_club_is_closed_to_everybody_else() {
    let town = Town::new().await;
    let (_, ada) = town.person();
    let club = founded(&ada).await;
    let saw = added(&ada, &club, "saw").await;
    let (eve_id, eve) = town.person();
    assert_eq!(eve.things(&club.club_id).await.unwrap_err(), CallError::Forbidden);
    assert_eq!(eve.thing(&club.club_id, &saw.thing_id).await.unwrap_err(), CallError::Forbidden);
    let taken = eve.borrow(&club.club_id, &saw.thing_id, day("2026-12-24")).await;
    assert_eq!(taken, Err(BorrowError::Failed(CallError::Forbidden)));
    let joined = eve.add_member(AddMemberInput::new(club.club_id.clone(), eve_id, "Eve")).await;
    assert!(joined.is_err());
    let whole = ada.club(&club.club_id).await.unwrap();
    assert_eq!((whole.club.things, whole.members.len()), (1, 1));
}

#[tokio::test]
async fn a_call_that_is_repeated_under_a_token_applies_once() {
    let town = Town::new().await;
    let (_, ada) = town.person();
    let club = founded(&ada).await;
    let once = ada.with_token("3f0c9e8a-6a55-4f3c-9f0e-0a8f6a1d2b3c");
    added(&once, &club, "ladder").await;
    // Whatever the second call returns, it changes nothing.
    drop(once.add_thing(AddThingInput::new(club.club_id.clone(), "ladder")).await);
    let things = ada.things(&club.club_id).all().await.unwrap();
    assert_eq!((things.len(), ada.club(&club.club_id).await.unwrap().club.things), (1, 1));
}

#[tokio::test]
async fn pages_follow_each_other() {
    let town = Town::new().await;
    let (_, ada) = town.person();
    let club = founded(&ada).await;
    for number in 0..120 {
        added(&ada, &club, &format!("thing {number:03}")).await;
    }
    let first = ada.things(&club.club_id).await.unwrap();
    let second = ada.things(&club.club_id).after(first.cursor.clone().unwrap()).await.unwrap();
    assert_eq!((first.items.len(), second.items.len()), (50, 50));
    let all = ada.things(&club.club_id).all().await.unwrap();
    assert_eq!((all.len(), &all[50]), (120, &second.items[0]));
}
