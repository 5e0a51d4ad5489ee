//! Keys of calls to compiled entries: the one table behind the one mutex.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use einrs::{Recipe, Sizes};
use pyo3::prelude::*;

use crate::cache::Cache;
use crate::call::{Call, Function, Reduction};
use crate::compile::Program;

/// Half the number of entries that are kept.
const GENERATION: usize = 2048;

static TABLE: Mutex<Cache<Key, Arc<Entry>>> = Mutex::new(Cache::new(GENERATION));

/// What one call site compiles to.
pub(crate) struct Entry {
    pub(crate) recipe: Recipe,
    pub(crate) program: Program,
}

/// What must be equal for an entry to fit: everything but the shape and, for a framework that
/// binds them at each call, the lengths. Only exact strings and integers get here.
#[derive(PartialEq)]
pub(crate) struct Key {
    call: Form,
    pattern: Box<str>,
    names: Box<[Box<str>]>,
    lengths: Sizes,
}

#[derive(Clone, Copy, PartialEq)]
struct Form {
    function: Function,
    reduction: Option<Reduction>,
    framework: usize,
    ndim: usize,
}

/// The same, borrowed from a call.
pub(crate) struct Lookup<'c> {
    form: Form,
    pattern: &'c str,
    names: &'c [&'c str],
    lengths: &'c [i64],
    hash: u64,
}

impl<'c> Lookup<'c> {
    #[inline]
    pub(crate) fn new(call: &'c Call<'_>, ndim: usize, keyed_by_lengths: bool) -> Self {
        let lengths = if keyed_by_lengths { call.lengths() } else { &[] };
        let framework = call.native.index();
        let form = Form { function: call.function, reduction: call.reduction, framework, ndim };
        let kind = call.reduction.map_or(0, |reduction| reduction as u64 + 1);
        let meta = (call.function as u64) | kind << 2 | (framework as u64) << 6;
        let hash = mix(call.pattern_hash ^ meta, ndim as u64);
        let hash = lengths.iter().fold(hash, |hash, length| mix(hash, length.cast_unsigned()));
        Self { form, pattern: call.pattern, names: call.names(), lengths, hash }
    }

    #[inline]
    fn is(&self, key: &Key) -> bool {
        key.call == self.form
            && *key.pattern == *self.pattern
            && key.names.len() == self.names.len()
            && key.names.iter().zip(self.names).all(|(key, name)| **key == **name)
            && *key.lengths == *self.lengths
    }

    fn to_key(&self) -> Key {
        Key {
            call: self.form,
            pattern: self.pattern.into(),
            names: self.names.iter().map(|name| (*name).into()).collect(),
            lengths: self.lengths.iter().copied().collect(),
        }
    }

    /// What `read` makes of the entry, under the guard: it must not run Python code.
    #[inline]
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Arc<Entry>) -> R) -> Option<R> {
        table().get(self.hash, |key| self.is(key), read)
    }

    pub(crate) fn insert(&self, entry: Arc<Entry>) {
        let key = self.to_key();
        let retired = table().insert(self.hash, key, entry);
        // The guard is gone: dropping programs may run Python code.
        drop(retired);
    }
}

#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn table() -> MutexGuard<'static, Cache<Key, Arc<Entry>>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `(hits, misses, size, limit)` of the table of compiled calls.
#[pyfunction]
pub(crate) fn cache_info() -> (u64, u64, usize, usize) {
    let statistics = table().statistics();
    (statistics.hits, statistics.misses, statistics.size, statistics.limit)
}

/// Forgets all compiled calls and sets the counters to zero.
#[pyfunction]
pub(crate) fn cache_clear() {
    let retired = table().clear();
    drop(retired);
}
