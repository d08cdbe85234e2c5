//! Many threads: counters lose nothing, transactions exclude each other, readers see only complete and durable states.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform_core::ErrorCode;
use keyform_core::operation::TransactWriteItems;
use keyform_engine::Database;
use keyform_engine::store::{PowerCut, SimDisk};
use keyform_world::testing::ManualWorld;

use crate::proof::bank::{self, Ack, EndOnDrop, Unknown, Writer, add_one, transfer};
use crate::proof::subject::{self, Subject, block_on};

const NOW_MS: u64 = 1_700_000_000_500;
const THREADS: u64 = 6;

fn on_both(check: impl Fn(&Subject)) {
    for subject in [Subject::in_memory(NOW_MS), Subject::on_disk(NOW_MS)] {
        bank::found(&subject.database).unwrap();
        check(&subject);
    }
}

#[test]
fn a_hot_counter_gives_every_number_once() {
    on_both(|subject| {
        let database = &subject.database;
        let counted: Vec<Vec<i64>> = std::thread::scope(|scope| {
            let count = || (0..100).map(|_| add_one(database, "counter#hot").unwrap()).collect();
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(counted.iter().all(|own| own.is_sorted()), "each thread sees the counter rise");
        let all: BTreeSet<i64> = counted.into_iter().flatten().collect();
        assert_eq!(all, (1..=THREADS as i64 * 100).collect());
    });
}

#[test]
fn readers_see_transfers_as_a_whole() {
    on_both(|subject| {
        let database = &subject.database;
        let done = AtomicBool::new(false);
        let acks = std::thread::scope(|scope| {
            let _end = EndOnDrop(&done);
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::SeqCst) {
                        assert_eq!(bank::sum_at_one_moment(database), bank::SUM);
                    }
                });
            }
            let work = |number: u64| {
                let mut writer = Writer::new(format!("w{number}"), number);
                (0..150).filter_map(|_| writer.step(database).unwrap()).collect::<Vec<_>>()
            };
            let writers: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
        });
        bank::audit(database, &acks, Unknown::default());
    });
}

#[test]
fn an_index_made_under_load_has_every_item() {
    on_both(|subject| {
        let database = &subject.database;
        let acks = std::thread::scope(|scope| {
            let work = |number: u64| {
                let mut writer = Writer::new(format!("w{number}"), number);
                (0..200).filter_map(|_| writer.step(database).unwrap()).collect::<Vec<_>>()
            };
            let writers: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            for _ in 0..5 {
                bank::drop_index(database, "by-branch");
                database.sweep().unwrap();
                bank::add_index(database, "by-branch");
                database.sweep().unwrap();
            }
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
        });
        bank::audit(database, &acks, Unknown::default());
    });
}

#[test]
fn a_transaction_under_way_keeps_others_off_its_items() {
    on_both(|subject| {
        let database = &subject.database;
        let first = database.call(transfer("first", 1, (0, 1, 10)));
        let refused = database.call_blocking(transfer("second", 1, (1, 2, 10))).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::TransactionCanceled);
        assert!(refused.message().contains("[TransactionConflict, None, None]"), "{refused}");
        let elsewhere = database.call_blocking(transfer("second", 2, (3, 4, 10)));
        assert!(elsewhere.is_ok(), "other items are free: {elsewhere:?}");
        block_on(first).unwrap();
        database.call_blocking(transfer("second", 1, (1, 2, 10))).unwrap();
        assert_eq!(bank::sum_at_one_moment(database), bank::SUM);
    });
}

#[test]
fn a_token_is_applied_once_however_often_it_is_sent() {
    on_both(|subject| {
        let database = &subject.database;
        for number in 1..20 {
            let request = bank::with_token(transfer("token", number, (0, 1, 1)), &format!("token {number}"));
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| assert!(until_answered(database, &request)));
                }
            });
        }
        // The audit records show what was applied, and the balances must match them.
        bank::audit(database, &[Ack::Transfer("token".to_owned(), 19)], Unknown::default());
    });
}

#[test]
fn a_token_stands_for_one_request_only() {
    on_both(|subject| {
        let database = &subject.database;
        for round in 1..20 {
            let token = format!("token {round}");
            let send = |thread: u64| {
                let transfer = transfer(&format!("thread {thread}"), round, (thread as usize, thread as usize + 1, 1));
                until_answered(database, &bank::with_token(transfer, &token))
            };
            let done = std::thread::scope(|scope| {
                let send = &send;
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || send(thread * 2))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).filter(|done| *done).count()
            });
            assert_eq!(done, 1, "one of four requests with one token is applied");
        }
    });
}

/// Retries while the same transaction is in progress; returns whether it is applied, or false if the token belongs to
/// another request.
fn until_answered(database: &Database, request: &TransactWriteItems) -> bool {
    loop {
        match database.call_blocking(request.clone()) {
            Ok(_) => return true,
            Err(error) if error.code() == ErrorCode::IdempotentParameterMismatch => return false,
            Err(error) if error.code() == ErrorCode::TransactionInProgress || bank::is_conflict(&error) => {}
            Err(error) => panic!("a token is applied or not: {error}"),
        }
    }
}

#[test]
fn pages_under_load_show_what_stays_exactly_once() {
    on_both(|subject| {
        let database = &subject.database;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _end = EndOnDrop(&done);
            for number in 0..3 {
                let done = &done;
                scope.spawn(move || {
                    let mut writer = Writer::new(format!("w{number}"), number);
                    while !done.load(Ordering::SeqCst) {
                        writer.step(database).unwrap();
                    }
                });
            }
            for limit in (1..6).cycle().take(40) {
                let names = bank::names_in_pages(database, limit);
                let accounts: Vec<&String> = names.iter().filter(|name| name.starts_with("account#")).collect();
                let once: BTreeSet<&String> = names.iter().collect();
                assert_eq!(once.len(), names.len(), "nothing comes twice: {names:?}");
                assert_eq!(accounts.len(), bank::ACCOUNTS, "every account comes: {accounts:?}");
            }
        });
    });
}

#[test]
fn readers_see_only_what_a_power_cut_cannot_take() {
    let (disk, env) = (SimDisk::new(), ManualWorld::at_ms(NOW_MS));
    let database = subject::open(&disk, &env).unwrap();
    bank::found(&database).unwrap();
    add_one(&database, "counter#hot").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    add_one(&database, "counter#hot").unwrap();
                }
            });
        }
        let _end = EndOnDrop(&done);
        for _ in 0..40 {
            let seen = count(&database);
            let after = subject::open(&disk.cut_power(PowerCut::DropAll), &env).unwrap();
            let kept = count(&after);
            assert!(kept >= seen, "a reader saw {seen}, the disk kept {kept}");
        }
    });
}

#[test]
fn a_refusal_rests_only_on_what_a_power_cut_cannot_take() {
    let (disk, env) = (SimDisk::new(), ManualWorld::at_ms(NOW_MS));
    let database = subject::open(&disk, &env).unwrap();
    bank::found(&database).unwrap();
    for number in 0..100 {
        let put = bank::put_if_absent(&format!("ticket#{number}"));
        let first = database.call(put.clone());
        let refused = database.call_blocking(put.clone()).unwrap_err();
        let kept = disk.cut_power(PowerCut::DropAll);
        assert_eq!(refused.code(), ErrorCode::ConditionalCheckFailed);
        block_on(first).unwrap();
        let after = subject::open(&kept, &env).unwrap();
        let again = after.call_blocking(put).unwrap_err();
        assert_eq!(again.code(), ErrorCode::ConditionalCheckFailed, "the item of the refusal exists");
    }
}

fn count(database: &Database) -> i64 {
    bank::count(database, "counter#hot")
}
