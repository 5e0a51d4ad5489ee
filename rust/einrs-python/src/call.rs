//! The raw arguments of a builtin to a [`Call`]: exact types only, nothing allocated.
//!
//! Everything here borrows from the caller's arguments, which CPython keeps alive for the call.

use std::ffi::c_char;

use pyo3::ffi;

use crate::frameworks::Native;

pub(crate) type Object = *mut ffi::PyObject;

/// The most lengths that a call of the warm path may give; calls with more take the readable way.
pub(crate) const MAX_LENGTHS: usize = 8;

/// What is compiled for a pattern: the public function, or what several of them share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Rearrange,
    Reduce,
    Repeat,
    Einsum,
    /// `pack` and `unpack`.
    Packing,
    ParseShape,
}

/// A reduction by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reduction {
    Min,
    Max,
    Sum,
    Mean,
    Prod,
    Any,
    All,
}

impl Reduction {
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::Sum, "sum"),
        (Self::Mean, "mean"),
        (Self::Prod, "prod"),
        (Self::Any, "any"),
        (Self::All, "all"),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(reduction, _)| *reduction)
    }

    /// Whether the result depends on the order of the elements.
    pub(crate) fn rounds(self) -> bool {
        matches!(self, Self::Sum | Self::Mean | Self::Prod)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Arguments that the warm path understands.
///
/// Texts are not read here: a table entry is found by the addresses of the same objects, and a
/// call site passes the same objects each time.
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) reduction: Option<Reduction>,
    pub(crate) native: Native,
    pub(crate) tensor: Object,
    pub(crate) pattern: Object,
    pub(crate) pattern_hash: u64,
    /// The tuple of the names of the lengths, or null.
    pub(crate) kwnames: Object,
    lengths: [i64; MAX_LENGTHS],
    count: usize,
}

impl Call {
    /// The call, if its tensor has a type that a framework registered, the pattern and the
    /// reduction are exact strings and the lengths exact integers of 64 bits.
    ///
    /// # Safety
    /// `args` and `kwnames` must be the arguments of a `METH_FASTCALL | METH_KEYWORDS` function
    /// that is being called with `positional` positional ones, and outlive the result.
    #[inline(always)]
    pub(crate) unsafe fn read(
        function: Function,
        args: *const Object,
        positional: usize,
        kwnames: Object,
    ) -> Option<Self> {
        let expected = if function == Function::Reduce { 3 } else { 2 };
        if positional != expected {
            return None;
        }
        // SAFETY: there are `expected` arguments, alive, and we are attached.
        unsafe {
            let (tensor, pattern) = (*args, *args.add(1));
            let native = Native::of(ffi::Py_TYPE(tensor))?;
            if ffi::PyUnicode_CheckExact(pattern) == 0 {
                return None;
            }
            let reduction = match function {
                Function::Reduce => Some(Reduction::named(text(*args.add(2))?)?),
                _ => None,
            };
            let pattern_hash = hash_of(pattern);
            let (mut lengths, mut count) = ([0; MAX_LENGTHS], 0);
            if !kwnames.is_null() {
                count = ffi::PyTuple_GET_SIZE(kwnames).cast_unsigned();
                for (i, length) in lengths.get_mut(..count)?.iter_mut().enumerate() {
                    *length = exact_integer(*args.add(expected + i))?;
                }
            }
            Some(Self {
                function,
                reduction,
                native,
                tensor,
                pattern,
                pattern_hash,
                kwnames,
                lengths,
                count,
            })
        }
    }

    /// The same for a layer, which keeps names and lengths as two tuples.
    ///
    /// # Safety
    /// `args` must be the `positional` arguments of the function that is being called, and outlive
    /// the result.
    #[inline(always)]
    pub(crate) unsafe fn read_layer(
        function: Function,
        args: *const Object,
        positional: usize,
    ) -> Option<Self> {
        let expected = if function == Function::Reduce { 5 } else { 4 };
        if positional != expected {
            return None;
        }
        // SAFETY: as in `read`; the tuples keep what they hold alive.
        unsafe {
            let (tensor, pattern, names, given) = (*args, *args.add(1), *args.add(2), *args.add(3));
            let native = Native::of(ffi::Py_TYPE(tensor))?;
            let tuples = ffi::PyTuple_CheckExact(names) & ffi::PyTuple_CheckExact(given);
            if ffi::PyUnicode_CheckExact(pattern) & tuples == 0 {
                return None;
            }
            let reduction = match function {
                Function::Reduce => Some(Reduction::named(text(*args.add(4))?)?),
                _ => None,
            };
            let count = ffi::PyTuple_GET_SIZE(names);
            if ffi::PyTuple_GET_SIZE(given) != count {
                return None;
            }
            let (mut lengths, count) = ([0; MAX_LENGTHS], count.cast_unsigned());
            for (i, length) in lengths.get_mut(..count)?.iter_mut().enumerate() {
                // Keys compare names as strings.
                if ffi::PyUnicode_CheckExact(ffi::PyTuple_GET_ITEM(names, i.cast_signed())) == 0 {
                    return None;
                }
                *length = exact_integer(ffi::PyTuple_GET_ITEM(given, i.cast_signed()))?;
            }
            let pattern_hash = hash_of(pattern);
            Some(Self {
                function,
                reduction,
                native,
                tensor,
                pattern,
                pattern_hash,
                kwnames: names,
                lengths,
                count,
            })
        }
    }

    #[inline]
    pub(crate) fn lengths(&self) -> &[i64] {
        &self.lengths[..self.count]
    }

    /// How many lengths are given.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The pattern's text; none for lone surrogates.
    pub(crate) fn pattern_text(&self) -> Option<&str> {
        // SAFETY: the caller of the builtin keeps the string alive.
        unsafe { text(self.pattern) }
    }

    /// The name of a length; none for a subclass of `str` and for lone surrogates.
    pub(crate) fn name(&self, i: usize) -> Option<&str> {
        if i >= self.count {
            return None;
        }
        // SAFETY: the tuple has `count` items, and the caller of the builtin keeps it alive.
        unsafe { text(ffi::PyTuple_GET_ITEM(self.kwnames, i.cast_signed())) }
    }

    /// Whether the rank of the tensor is likely all that is needed: without brackets and numbers
    /// whole axes are moved. A wrong guess only costs that the shape is read as well.
    pub(crate) fn moves_whole_axes(&self) -> bool {
        let whole = |text: &str| !text.bytes().any(|byte| byte == b'(' || byte.is_ascii_digit());
        self.count == 0
            && self.function == Function::Rearrange
            && self.pattern_text().is_some_and(whole)
    }
}

/// A pattern without lengths, as the operations besides the first three take it.
#[derive(Clone, Copy)]
pub(crate) struct PlainPattern {
    pub(crate) object: Object,
    pub(crate) hash: u64,
}

impl PlainPattern {
    /// # Safety
    /// `object` must be alive for as long as the result is used, and we must be attached.
    #[inline]
    pub(crate) unsafe fn read(object: Object) -> Option<Self> {
        // SAFETY: the caller's contract.
        unsafe {
            if ffi::PyUnicode_CheckExact(object) == 0 {
                return None;
            }
            Some(Self { object, hash: hash_of(object) })
        }
    }

    /// The text; none for lone surrogates.
    pub(crate) fn text(&self) -> Option<&str> {
        // SAFETY: the contract of `read`.
        unsafe { text(self.object) }
    }
}

/// The hash of an exact string, which runs no Python code and cannot fail.
///
/// # Safety
/// `string` must be an exact `str`, alive, and we must be attached.
#[inline]
unsafe fn hash_of(string: Object) -> u64 {
    // SAFETY: the caller's contract.
    unsafe { ffi::PyObject_Hash(string).cast_unsigned() as u64 }
}

/// The text of an exact `str`; none for subclasses and for lone surrogates.
///
/// # Safety
/// `object` must be alive for `'a`, and we must be attached.
#[inline]
unsafe fn text<'a>(object: Object) -> Option<&'a str> {
    // SAFETY: the buffer belongs to the string, is UTF-8 and lives as long as it.
    unsafe {
        if ffi::PyUnicode_CheckExact(object) == 0 {
            return None;
        }
        let mut length = 0;
        let data: *const c_char = ffi::PyUnicode_AsUTF8AndSize(object, &raw mut length);
        if data.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), length.cast_unsigned());
        Some(std::str::from_utf8_unchecked(bytes))
    }
}

/// The value of an exact `int` that fits 64 bits. `True`, `3.0` and `numpy.int64(3)` are no
/// exact integers: they never reach a key.
///
/// # Safety
/// `object` must be alive, and we must be attached.
#[inline]
pub(crate) unsafe fn exact_integer(object: Object) -> Option<i64> {
    // SAFETY: the conversion of an exact `int` runs no Python code and cannot fail.
    unsafe {
        if ffi::PyLong_CheckExact(object) == 0 {
            return None;
        }
        let mut overflow = 0;
        let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
        (overflow == 0).then_some(value)
    }
}
