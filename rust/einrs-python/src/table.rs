//! Keys of calls to compiled entries: the one table behind the one guard.

use std::ptr::null_mut;
use std::sync::Arc;

use einrs::{Recipe, Sizes};
use pyo3::prelude::*;

use crate::cache::Cache;
use crate::call::{Call, Function, Reduction};
use crate::compile::Program;
use crate::guard::Guarded;

/// Half the number of entries that are kept.
const GENERATION: usize = 2048;

static TABLE: Guarded<Cache<Key, Arc<Entry>>> = Guarded::new(Cache::new(GENERATION));

/// What one call site compiles to.
pub(crate) struct Entry {
    pub(crate) recipe: Recipe,
    /// What the recipe says of itself, kept since each call asks.
    pub(crate) needs_sizes: bool,
    pub(crate) has_whole_inputs: bool,
    pub(crate) program: Program,
}

/// What must be equal for an entry to fit: everything but the shape and, for a framework that
/// binds them at each call, the lengths. Only exact strings and integers get here.
///
/// The objects are kept beside their texts, so that the call site that made the entry finds it by
/// two addresses.
pub(crate) struct Key {
    form: Form,
    pattern: Py<PyAny>,
    pattern_text: Box<str>,
    kwnames: Option<Py<PyAny>>,
    names: Box<[Box<str>]>,
    lengths: Sizes,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
            && self.pattern_text == other.pattern_text
            && self.names == other.names
            && self.lengths == other.lengths
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Form {
    function: Function,
    reduction: Option<Reduction>,
    framework: usize,
    ndim: usize,
    names: usize,
}

/// The same, borrowed from a call.
pub(crate) struct Lookup<'c> {
    call: &'c Call,
    form: Form,
    lengths: &'c [i64],
    hash: u64,
}

impl<'c> Lookup<'c> {
    #[inline]
    pub(crate) fn new(call: &'c Call, ndim: usize, keyed_by_lengths: bool) -> Self {
        let lengths = if keyed_by_lengths { call.lengths() } else { &[] };
        let (function, reduction) = (call.function, call.reduction);
        let (framework, names) = (call.native.index(), call.count());
        let form = Form { function, reduction, framework, ndim, names };
        let kind = reduction.map_or(0, |reduction| reduction as usize + 1);
        let meta = function as usize | kind << 2 | framework << 6 | names << 12 | ndim << 16;
        let hash = mix(call.pattern_hash, meta as u64);
        let hash = lengths.iter().fold(hash, |hash, length| mix(hash, length.cast_unsigned()));
        Self { call, form, lengths, hash }
    }

    #[inline]
    fn is(&self, key: &Key) -> bool {
        key.form == self.form
            && (key.pattern.as_ptr() == self.call.pattern || self.is_text(key))
            && (key.kwnames.as_ref().map_or(null_mut(), Py::as_ptr) == self.call.kwnames
                || self.are_names(key))
            // Element by element: `memcmp` of two empty slices makes a masked load from a dangling
            // address, which costs 50 ns on AVX-512 machines.
            && key.lengths.iter().eq(self.lengths)
    }

    fn is_text(&self, key: &Key) -> bool {
        self.call.pattern_text() == Some(&key.pattern_text)
    }

    fn are_names(&self, key: &Key) -> bool {
        key.names.iter().enumerate().all(|(i, name)| self.call.name(i) == Some(name))
    }

    fn to_key(&self, py: Python<'_>, pattern_text: &str, names: &[&str]) -> Key {
        // SAFETY: the caller of the builtin keeps both objects alive, and a null tuple is none.
        let (pattern, kwnames) = unsafe {
            let pattern = Bound::from_borrowed_ptr(py, self.call.pattern);
            (pattern, Bound::from_borrowed_ptr_or_opt(py, self.call.kwnames))
        };
        Key {
            form: self.form,
            pattern: pattern.unbind(),
            pattern_text: pattern_text.into(),
            kwnames: kwnames.map(Bound::unbind),
            names: names.iter().map(|name| (*name).into()).collect(),
            lengths: self.lengths.iter().copied().collect(),
        }
    }

    /// What `read` makes of the entry, under the guard: it must not run Python code.
    #[inline]
    pub(crate) fn read<R>(&self, py: Python<'_>, read: impl FnOnce(&Arc<Entry>) -> R) -> Option<R> {
        TABLE.enter(py, |table| table.get(self.hash, |key| self.is(key), read))
    }

    pub(crate) fn insert(&self, py: Python<'_>, text: &str, names: &[&str], entry: Arc<Entry>) {
        let key = self.to_key(py, text, names);
        let retired = TABLE.enter(py, |table| table.insert(self.hash, key, entry));
        // The guard is gone: dropping programs may run Python code.
        drop(retired);
    }
}

#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// `(hits, misses, size, limit)` of the table of compiled calls.
#[pyfunction]
pub(crate) fn cache_info(py: Python<'_>) -> (u64, u64, usize, usize) {
    let statistics = TABLE.enter(py, |table| table.statistics());
    (statistics.hits, statistics.misses, statistics.size, statistics.limit)
}

/// Forgets all compiled calls and sets the counters to zero.
#[pyfunction]
pub(crate) fn cache_clear(py: Python<'_>) {
    let retired = TABLE.enter(py, Cache::clear);
    drop(retired);
}
