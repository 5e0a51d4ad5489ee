//! The raw arguments of a builtin to a [`Call`]: exact types only, nothing allocated.
//!
//! Everything here borrows from the caller's arguments, which CPython keeps alive for the call.

use std::ffi::c_char;

use pyo3::ffi;

use crate::frameworks::Native;

pub(crate) type Object = *mut ffi::PyObject;

/// The most lengths that a call of the warm path may give; calls with more take the readable way.
pub(crate) const MAX_LENGTHS: usize = 8;

/// Which public function was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Rearrange,
    Reduce,
    Repeat,
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

    pub(crate) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Arguments that the warm path understands.
pub(crate) struct Call<'a> {
    pub(crate) function: Function,
    pub(crate) reduction: Option<Reduction>,
    pub(crate) tensor: Object,
    pub(crate) native: Native,
    pub(crate) pattern: &'a str,
    pub(crate) pattern_hash: u64,
    names: [&'a str; MAX_LENGTHS],
    lengths: [i64; MAX_LENGTHS],
    count: usize,
}

impl<'a> Call<'a> {
    /// The call, if its tensor has a type that a framework registered, the pattern and the
    /// reduction are exact strings and the lengths exact integers of 64 bits.
    ///
    /// # Safety
    /// `args` and `kwnames` must be the arguments of a `METH_FASTCALL | METH_KEYWORDS` function
    /// that is being called with `positional` positional ones, and outlive `'a`.
    #[inline]
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
        // SAFETY: there are `expected` arguments, alive for `'a`, and we are attached.
        unsafe {
            let native = Native::of(ffi::Py_TYPE(*args))?;
            let pattern = text(*args.add(1))?;
            let pattern_hash = ffi::PyObject_Hash(*args.add(1)).cast_unsigned() as u64;
            let reduction = match function {
                Function::Reduce => Some(Reduction::named(text(*args.add(2))?)?),
                Function::Rearrange | Function::Repeat => None,
            };
            let (names, lengths) = ([""; MAX_LENGTHS], [0; MAX_LENGTHS]);
            let tensor = *args;
            let mut call = Self {
                function,
                reduction,
                tensor,
                native,
                pattern,
                pattern_hash,
                names,
                lengths,
                count: 0,
            };
            if !kwnames.is_null() {
                call.read_lengths(args.add(expected), kwnames)?;
            }
            Some(call)
        }
    }

    /// # Safety
    /// As [`Call::read`]; `values` are the arguments that belong to the names.
    unsafe fn read_lengths(&mut self, values: *const Object, kwnames: Object) -> Option<()> {
        // SAFETY: `kwnames` is a tuple of strings, and there are as many values behind it.
        unsafe {
            self.count = usize::try_from(ffi::PyTuple_GET_SIZE(kwnames)).ok()?;
            if self.count > MAX_LENGTHS {
                return None;
            }
            for i in 0..self.count {
                self.names[i] = text(ffi::PyTuple_GET_ITEM(kwnames, i.cast_signed()))?;
                self.lengths[i] = exact_integer(*values.add(i))?;
            }
        }
        Some(())
    }

    pub(crate) fn names(&self) -> &[&'a str] {
        &self.names[..self.count]
    }

    pub(crate) fn lengths(&self) -> &[i64] {
        &self.lengths[..self.count]
    }

    /// Whether the rank of the tensor is likely all that is needed: without brackets and numbers
    /// whole axes are moved. A wrong guess only costs a second look-up.
    pub(crate) fn moves_whole_axes(&self) -> bool {
        self.count == 0
            && self.function == Function::Rearrange
            && !self.pattern.bytes().any(|byte| byte == b'(' || byte.is_ascii_digit())
    }
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
