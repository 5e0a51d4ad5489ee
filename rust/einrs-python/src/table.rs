//! Keys of calls to compiled entries: the one table behind the one guard.

use std::ptr::null_mut;
use std::sync::Arc;

use einrs::Recipe;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::cache::Cache;
use crate::call::{Call, Function, Object, PlainPattern, Reduction};
use crate::compile::Program;
use crate::einsum::Contraction;
use crate::frameworks::Native;
use crate::guard::Guarded;
use crate::packing::PackedAxes;
use crate::shape_names::NamedShape;

/// Half the number of entries that are kept.
const GENERATION: usize = 2048;

static TABLE: Guarded<Cache<Key, Entry>> = Guarded::new(Cache::new(GENERATION));

/// What one call site compiles to.
pub(crate) enum Entry {
    Transform(Arc<Transform>),
    Contraction(Arc<Contraction>),
    PackedAxes(Arc<PackedAxes>),
    NamedShape(Arc<NamedShape>),
}

/// One kind of entry. The function in the key says which kind it is.
pub(crate) trait Compiled: Sized {
    fn of(entry: &Entry) -> Option<&Arc<Self>>;
    fn entry(this: Arc<Self>) -> Entry;
}

macro_rules! compiled {
    ($($kind:ident)*) => {
        $(impl Compiled for $kind {
            #[inline]
            fn of(entry: &Entry) -> Option<&Arc<Self>> {
                match entry {
                    Entry::$kind(this) => Some(this),
                    _ => None,
                }
            }

            fn entry(this: Arc<Self>) -> Entry {
                Entry::$kind(this)
            }
        })*
    };
}

compiled! { Transform Contraction PackedAxes NamedShape }

/// A rearrangement, reduction or repeat.
pub(crate) struct Transform {
    pub(crate) recipe: Recipe,
    /// What the recipe says of itself, kept since each call asks.
    pub(crate) needs_sizes: bool,
    pub(crate) has_whole_inputs: bool,
    pub(crate) program: Program,
}

/// What must be equal for an entry to fit: everything but the shape and, for a framework that
/// binds them at each call, the lengths. Only exact strings and integers get here.
///
/// The objects are kept, so that the call site that made the entry finds it by two addresses;
/// other objects are compared by their text.
pub(crate) struct Key {
    form: Form,
    pattern: Py<PyAny>,
    kwnames: Option<Py<PyAny>>,
    lengths: Box<[i64]>,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
            && is_same_text(self.pattern.as_ptr(), other.pattern.as_ptr())
            && are_same_names(
                pointer(self.kwnames.as_ref()),
                pointer(other.kwnames.as_ref()),
                self.form.names,
            )
            && self.lengths == other.lengths
    }
}

fn pointer(object: Option<&Py<PyAny>>) -> Object {
    object.map_or(null_mut(), Py::as_ptr)
}

/// Neither allocates nor runs Python code, as a conversion to UTF-8 might to raise an error.
#[inline]
fn is_same_text(one: Object, other: Object) -> bool {
    // SAFETY: both are strings, kept alive by a key and by the caller of the builtin.
    one == other || unsafe { ffi::PyUnicode_Compare(one, other) == 0 }
}

#[inline]
fn are_same_names(one: Object, other: Object, count: usize) -> bool {
    let item = |names: Object, i: usize| {
        // SAFETY: both are tuples of `count` strings, or `count` is 0.
        unsafe { ffi::PyTuple_GET_ITEM(names, i.cast_signed()) }
    };
    one == other || (0..count).all(|i| is_same_text(item(one, i), item(other, i)))
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
    form: Form,
    pattern: Object,
    kwnames: Object,
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
        let hash = form.hash(call.pattern_hash);
        let hash = lengths.iter().fold(hash, |hash, length| mix(hash, length.cast_unsigned()));
        Self { form, pattern: call.pattern, kwnames: call.kwnames, lengths, hash }
    }

    /// For a pattern without lengths; `ndim` is a rank, or how many tensors there are.
    #[inline]
    pub(crate) fn plain(
        function: Function,
        native: Native,
        pattern: &'c PlainPattern,
        ndim: usize,
    ) -> Self {
        let framework = native.index();
        let form = Form { function, reduction: None, framework, ndim, names: 0 };
        let hash = form.hash(pattern.hash);
        Self { form, pattern: pattern.object, kwnames: null_mut(), lengths: &[], hash }
    }

    #[inline]
    fn is(&self, key: &Key) -> bool {
        key.form == self.form
            && is_same_text(key.pattern.as_ptr(), self.pattern)
            && are_same_names(pointer(key.kwnames.as_ref()), self.kwnames, self.form.names)
            // Element by element: `memcmp` of two empty slices makes a masked load from a dangling
            // address, which costs 50 ns on AVX-512 machines.
            && key.lengths.iter().eq(self.lengths)
    }

    fn to_key(&self, py: Python<'_>) -> Key {
        // SAFETY: the caller of the builtin keeps both objects alive, and a null tuple is none.
        let (pattern, kwnames) = unsafe {
            let pattern = Bound::from_borrowed_ptr(py, self.pattern);
            (pattern, Bound::from_borrowed_ptr_or_opt(py, self.kwnames))
        };
        Key {
            form: self.form,
            pattern: pattern.unbind(),
            kwnames: kwnames.map(Bound::unbind),
            lengths: self.lengths.into(),
        }
    }

    /// What `read` makes of the entry, under the guard: it must not run Python code.
    #[inline]
    pub(crate) fn read<E: Compiled, R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Arc<E>) -> R,
    ) -> Option<R> {
        let read = |entry: &Entry| E::of(entry).map(read);
        TABLE.enter(py, |table| table.get(self.hash, |key| self.is(key), read)).flatten()
    }

    pub(crate) fn insert<E: Compiled>(&self, py: Python<'_>, entry: Arc<E>) {
        let key = self.to_key(py);
        let entry = E::entry(entry);
        let retired = TABLE.enter(py, |table| table.insert(self.hash, key, entry));
        // The guard is gone: dropping programs may run Python code. PyO3 would put off what is
        // dropped while it does not know that the thread is attached.
        Python::attach(|_| drop(retired));
    }
}

impl Form {
    #[inline]
    fn hash(&self, pattern_hash: u64) -> u64 {
        let kind = self.reduction.map_or(0, |reduction| reduction as usize + 1);
        let meta = self.function as usize
            | kind << 3
            | self.framework << 7
            | self.names << 13
            | self.ndim << 17;
        mix(pattern_hash, meta as u64)
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
