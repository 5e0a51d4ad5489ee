//! Checks the cache as plain Rust: exact keys, its bound, what survives, who drops, many threads.

#[path = "../src/cache.rs"]
mod cache;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use cache::{Cache, Statistics};

type Table = Cache<u64, u64>;

/// A hash that tells keys apart.
fn spread(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn get(table: &mut Table, key: u64) -> Option<u64> {
    table.get(spread(key), |held| *held == key, |value| *value)
}

fn insert(table: &mut Table, key: u64, value: u64) {
    drop(table.insert(spread(key), key, value));
}

#[test]
fn keys_with_one_hash_are_told_apart() {
    let mut table = Table::new(100);
    for key in 0..100 {
        drop(table.insert(7, key, key * 10));
    }
    for key in 0..200 {
        let found = table.get(7, |held| *held == key, |value| *value);
        assert_eq!(found, (key < 100).then_some(key * 10));
    }
}

#[test]
fn an_entry_is_found_under_its_hash_only() {
    let mut table = Table::new(4);
    insert(&mut table, 1, 10);
    assert_eq!(table.get(spread(2), |_| true, |value| *value), None);
    assert_eq!(get(&mut table, 1), Some(10));
}

#[test]
fn a_million_keys_never_exceed_the_limit() {
    let mut table = Table::new(512);
    for key in 0..1_000_000 {
        insert(&mut table, key, key);
        assert!(table.statistics().size <= table.statistics().limit);
    }
    assert!(table.statistics().size >= 512);
}

#[test]
fn using_all_entries_between_insertions_never_exceeds_the_limit() {
    for generation in 1..6 {
        let mut table = Table::new(generation);
        for key in 0..200 {
            insert(&mut table, key, key);
            for used in 0..=key {
                assert!(get(&mut table, used).is_none_or(|value| value == used));
            }
            let Statistics { size, limit, .. } = table.statistics();
            assert!(size <= limit, "{size} entries, {limit} at most");
        }
    }
}

#[test]
fn what_is_used_survives_and_what_is_not_goes() {
    let mut table = Table::new(8);
    for key in 0..1000 {
        insert(&mut table, key, key);
        assert_eq!(get(&mut table, 0), Some(0), "after {key} insertions");
    }
    assert_eq!(get(&mut table, 1), None);
    assert_eq!(get(&mut table, 999), Some(999));
}

#[test]
fn the_last_generation_is_held_whatever_is_used() {
    let mut table = Table::new(8);
    for key in 0..100 {
        insert(&mut table, key, key);
        for recent in key.saturating_sub(7)..=key {
            assert_eq!(get(&mut table, recent), Some(recent));
        }
    }
}

#[test]
fn a_second_insertion_keeps_the_first() {
    let mut table = Table::new(2);
    insert(&mut table, 1, 10);
    insert(&mut table, 1, 11);
    assert_eq!((get(&mut table, 1), table.statistics().size), (Some(10), 1));
    // The same for an entry of the old generation.
    insert(&mut table, 2, 20);
    insert(&mut table, 3, 30);
    insert(&mut table, 1, 12);
    assert_eq!((get(&mut table, 1), table.statistics().size), (Some(10), 3));
}

#[test]
fn clearing_empties_the_table_and_its_counters() {
    let mut table = Table::new(2);
    for key in 0..4 {
        insert(&mut table, key, key);
    }
    assert_eq!(get(&mut table, 0), Some(0));
    assert_eq!(get(&mut table, 9), None);
    assert_eq!(table.statistics(), Statistics { hits: 1, misses: 1, size: 4, limit: 4 });
    drop(table.clear());
    assert_eq!(table.statistics(), Statistics { hits: 0, misses: 0, size: 0, limit: 4 });
    assert_eq!((0..4).find_map(|key| get(&mut table, key)), None);
    insert(&mut table, 0, 5);
    assert_eq!(get(&mut table, 0), Some(5));
    assert_eq!(table.statistics(), Statistics { hits: 1, misses: 4, size: 1, limit: 4 });
}

static WATCHED: Mutex<Cache<u64, Watcher>> = Mutex::new(Cache::new(4));
static DROPPED: AtomicUsize = AtomicUsize::new(0);
static DROPPED_UNDER_THE_GUARD: AtomicUsize = AtomicUsize::new(0);

/// A value that comes back to the table when it is dropped, as a destructor in Python may.
struct Watcher;

impl Drop for Watcher {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
        match WATCHED.try_lock() {
            Ok(mut table) => assert_eq!(table.get(1, |_| false, |_| ()), None),
            Err(_) => {
                DROPPED_UNDER_THE_GUARD.fetch_add(1, SeqCst);
            }
        }
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_caller_drops_what_has_left() {
    for key in 0..100 {
        let retired = guard(&WATCHED).insert(spread(key), key, Watcher);
        drop(retired);
        let refused = guard(&WATCHED).insert(spread(key), key, Watcher);
        drop(refused);
        let found = guard(&WATCHED).get(spread(key - key % 3), |_| true, |_| ());
        assert!(found.is_some());
    }
    let cleared = guard(&WATCHED).clear();
    drop(cleared);
    assert_eq!(DROPPED.load(SeqCst), 200);
    assert_eq!(DROPPED_UNDER_THE_GUARD.load(SeqCst), 0);
}

#[test]
fn threads_find_only_what_belongs_to_their_key() {
    let table = Mutex::new(Table::new(32));
    let found = AtomicUsize::new(0);
    thread::scope(|scope| {
        for seed in 1..=8 {
            let (table, found) = (&table, &found);
            scope.spawn(move || found.fetch_add(hammer(table, seed), SeqCst));
        }
    });
    let statistics = guard(&table).statistics();
    assert!(found.load(SeqCst) > 10_000, "the threads hardly met: {statistics:?}");
}

/// Looks up random keys, inserts those that are missing, and clears now and then; how many were
/// found. Several keys share a hash.
fn hammer(table: &Mutex<Table>, seed: u64) -> usize {
    let mut random = spread(seed);
    let mut found = 0;
    for _ in 0..50_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let key = random % 96;
        let hash = spread(key % 24);
        let value = guard(table).get(hash, |held| *held == key, |value| *value);
        let retired = match value {
            Some(value) => {
                assert_eq!(value, !key);
                found += 1;
                continue;
            }
            None if random.is_multiple_of(1009) => guard(table).clear(),
            None => guard(table).insert(hash, key, !key),
        };
        drop(retired);
        let Statistics { size, limit, .. } = guard(table).statistics();
        assert!(size <= limit, "{size} entries, {limit} at most");
    }
    found
}
