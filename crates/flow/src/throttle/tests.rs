//! Properties of the rate limits, on a manual clock.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};

use keyform_world::testing::ManualWorld;
use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn client(number: u32) -> Client {
    Client::from(IpAddr::V4(Ipv4Addr::from(number)))
}

fn log_in() -> Attempts {
    Attempts {
        kind: "logIn",
        per_client: Rate::new(100, SECOND),
        per_account: Some(Rate::new(20, 10 * SECOND)),
        per_account_and_client: Some(Rate::new(5, 30 * SECOND)),
    }
}

fn allowed(throttle: &Throttle, attempts: &Attempts, client: Client, account: &str, tries: usize) -> usize {
    (0..tries).filter(|_| throttle.attempt(attempts, client, Some(account.as_bytes())).is_ok()).count()
}

#[test]
fn who_waits_as_long_as_told_gets_through_once() {
    let hand = ManualWorld::default();
    let throttle = Throttle::in_world(Arc::new(hand.clone()));
    assert_eq!(allowed(&throttle, &log_in(), client(1), "ada", 150), 5);
    let refused = throttle.attempt(&log_in(), client(1), Some(b"ada")).expect_err("refused");
    assert_eq!(refused.retry_after_secs(), 30);
    hand.advance(Duration::from_secs(refused.retry_after_secs()) - Duration::from_micros(1));
    assert_eq!(allowed(&throttle, &log_in(), client(1), "ada", 10), 0);
    hand.advance(Duration::from_micros(1));
    assert_eq!(allowed(&throttle, &log_in(), client(1), "ada", 10), 1);
}

#[test]
fn a_stranger_who_guesses_does_not_lock_the_owner_out() {
    let hand = ManualWorld::default();
    let throttle = Throttle::in_world(Arc::new(hand.clone()));
    for _ in 0..100 {
        allowed(&throttle, &log_in(), client(1), "ada", 50);
        assert_eq!(allowed(&throttle, &log_in(), client(2), "ada", 1), 1);
        hand.advance(30 * SECOND);
    }
}

#[test]
fn many_strangers_together_have_the_limit_of_the_account() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let through: usize = (0..60).map(|number| allowed(&throttle, &log_in(), client(number), "ada", 5)).sum();
    assert_eq!(through, 20);
}

#[test]
fn one_client_with_many_accounts_has_the_limit_of_the_client() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let through: usize =
        (0..1000).map(|number| allowed(&throttle, &log_in(), client(1), &format!("user {number}"), 1)).sum();
    assert_eq!(through, 100);
    assert_eq!(allowed(&throttle, &log_in(), client(2), "user 1", 1), 1);
}

#[test]
fn kinds_of_attempts_are_counted_apart() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let mail = Attempts { kind: "mail", ..log_in() };
    assert_eq!(allowed(&throttle, &log_in(), client(1), "ada", 10), 5);
    assert_eq!(allowed(&throttle, &mail, client(1), "ada", 10), 5);
}

#[test]
fn a_flood_of_other_keys_resets_nothing_and_blocks_few() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let wide = Attempts { per_client: Rate::new(u32::MAX, Duration::from_micros(1)), ..log_in() };
    assert_eq!(allowed(&throttle, &wide, client(1), "ada", 10), 5);
    for number in 0..200_000_u32 {
        let account = format!("made-up-{number}");
        // The outcome of an invented key does not matter here.
        let _passed = throttle.attempt(&wide, client(number + 10), Some(account.as_bytes()));
    }
    assert_eq!(allowed(&throttle, &wide, client(1), "ada", 10), 0);
    assert_eq!(throttle.cells().0.len() * size_of::<u64>(), 1024 * 1024);
}

#[test]
fn a_thousand_exhausted_accounts_leave_the_others_alone() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    for number in 0..1000 {
        let account = format!("guessed-{number}");
        for at in 0..4 {
            allowed(&throttle, &log_in(), client(number * 4 + at), &account, 5);
        }
    }
    let free = (0..1000)
        .filter(|number| allowed(&throttle, &log_in(), client(9_000_000 + number), &number.to_string(), 1) == 1);
    // A key is blocked if each of its four cells is shared with one of the 5,000 exhausted keys: on average one of 2,000.
    // The seed of the hash is random, so the bound allows for many more.
    assert!(free.count() >= 990);
}

#[test]
fn attempts_at_the_same_time_do_not_slip_through() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let through = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| through.fetch_add(allowed(&throttle, &log_in(), client(1), "ada", 3), Ordering::Relaxed));
        }
    });
    assert_eq!(through.into_inner(), 5);
}

#[test]
fn rates_of_no_attempts_and_no_time_do_not_break() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let odd = |rate| Attempts { kind: "odd", per_client: rate, per_account: None, per_account_and_client: None };
    assert_eq!(allowed(&throttle, &odd(Rate::new(0, SECOND)), client(1), "", 5), 1);
    assert_eq!(allowed(&throttle, &odd(Rate::new(1, Duration::ZERO)), client(2), "", 5), 5);
    assert_eq!(allowed(&throttle, &odd(Rate::new(u32::MAX, Duration::MAX)), client(3), "", 5), 5);
}

proptest! {
    /// In any interval a key gets at most its burst plus one attempt per period, regardless of other keys; and a
    /// rejected attempt that waits for `retry_after` is the next to pass.
    #[test]
    fn no_key_exceeds_its_rate(steps in proptest::collection::vec((0..4_u32, 0..4_u8, 0..20_000_u64), 1..300)) {
        let hand = ManualWorld::default();
        let throttle = Throttle::in_world(Arc::new(hand.clone()));
        let attempts = Attempts {
            kind: "any",
            per_client: Rate::new(8, SECOND),
            per_account: Some(Rate::new(6, 2 * SECOND)),
            per_account_and_client: Some(Rate::new(3, 5 * SECOND)),
        };
        let mut passed: HashMap<(Option<u8>, Option<u32>), Vec<Duration>> = HashMap::new();
        for (who, account, pause) in steps {
            hand.advance(Duration::from_millis(pause) / 4);
            let now = throttle.0.world.monotonic();
            if throttle.attempt(&attempts, client(who), Some(&[account])).is_ok() {
                for key in [(None, Some(who)), (Some(account), None), (Some(account), Some(who))] {
                    passed.entry(key).or_default().push(now);
                }
            }
        }
        for ((account, who), times) in passed {
            let (burst, every) = match (account, who) {
                (None, _) => (8, SECOND),
                (_, None) => (6, 2 * SECOND),
                _ => (3, 5 * SECOND),
            };
            for (at, begin) in times.iter().enumerate() {
                for (count, end) in times[at..].iter().enumerate() {
                    let periods = (*end - *begin).as_micros() / every.as_micros();
                    prop_assert!((count as u128) < burst + periods);
                }
            }
        }
    }
}

#[test]
fn an_attempt_of_several_kinds_is_counted_by_all_or_by_none() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let few = Attempts { kind: "few", per_account: Some(Rate::new(2, SECOND)), ..log_in() };
    let many =
        Attempts { kind: "many", per_account: Some(Rate::new(4, SECOND)), per_account_and_client: None, ..log_in() };
    let both = || throttle.attempt_all(client(1), &[(&many, Some(b"ada")), (&few, Some(b"ada"))]);
    assert!(both().is_ok() && both().is_ok());
    for _ in 0..10 {
        assert!(both().is_err(), "the second kind is exhausted");
    }
    assert_eq!(allowed(&throttle, &many, client(1), "ada", 10), 2, "the first kind counted two attempts");
}

#[test]
fn guesses_that_begin_alike_are_limited_for_all_clients_together() {
    let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
    let codes =
        Attempts { kind: "codes", per_account: Some(Rate::new(5, SECOND)), per_account_and_client: None, ..log_in() };
    let guess =
        |number: u32, code: &str| throttle.attempt(&codes, client(number), Some(beginning(code).as_bytes())).is_ok();
    assert_eq!((0..50).filter(|number| guess(*number, &format!("ab{number}"))).count(), 5);
    assert!(guess(7, "cd1"), "others begin otherwise");
    assert_eq!(beginning("\u{e9}\u{e8}\u{ea}"), "\u{e9}\u{e8}");
    assert_eq!(beginning("a"), "a");
}
