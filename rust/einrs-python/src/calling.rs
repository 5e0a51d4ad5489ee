//! Calls into Python that may never come back.
//!
//! When an interpreter up to CPython 3.13 ends, it ends daemon threads by `pthread_exit` as soon as
//! they ask for the GIL again. That unwinds through our frames, whose destructors would then touch
//! Python objects without the GIL. So the innermost frame stops the unwinding by sleeping for ever,
//! which is what CPython 3.14 does by itself.
//!
//! PyO3 declares CPython's functions as ones that do not unwind, and the compiler drops the
//! clean-up around such calls; hence the other type and the opaque pointer.

use std::hint::black_box;
use std::mem::transmute;
use std::time::Duration;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::call::Object;

type Vectorcall = unsafe extern "C" fn(Object, *const Object, usize, Object) -> Object;
type UnwindingVectorcall =
    unsafe extern "C-unwind" fn(Object, *const Object, usize, Object) -> Object;
type Get = unsafe extern "C" fn(Object, Object) -> Object;
type UnwindingGet = unsafe extern "C-unwind" fn(Object, Object) -> Object;

struct Sleeper;

impl Drop for Sleeper {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(Duration::MAX);
        }
    }
}

/// `PyObject_Vectorcall`.
///
/// # Safety
/// As `PyObject_Vectorcall`: we are attached, and all arguments are alive.
#[inline]
pub(crate) unsafe fn vectorcall(
    callable: Object,
    args: *const Object,
    count: usize,
    names: Object,
) -> Object {
    let sleeper = Sleeper;
    // SAFETY: the two types differ in what they say of unwinding only; the caller's contract.
    let result = unsafe {
        let call = black_box(vectorcall_of(callable));
        transmute::<Vectorcall, UnwindingVectorcall>(call)(callable, args, count, names)
    };
    std::mem::forget(sleeper);
    result
}

#[cfg(Py_3_11)]
unsafe fn vectorcall_of(_callable: Object) -> Vectorcall {
    ffi::PyObject_Vectorcall
}

/// CPython 3.10 has no such function in its library, only an inline one in its headers.
#[cfg(not(Py_3_11))]
unsafe fn vectorcall_of(callable: Object) -> Vectorcall {
    unsafe extern "C" fn slowly(
        callable: Object,
        args: *const Object,
        count: usize,
        names: Object,
    ) -> Object {
        // SAFETY: the contract of `vectorcall`.
        unsafe { ffi::PyObject_Vectorcall(callable, args, count, names) }
    }
    // SAFETY: the callable is alive, and we are attached.
    unsafe { ffi::PyVectorcall_Function(callable) }.unwrap_or(slowly)
}

/// An attribute of an object.
pub(crate) fn attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let sleeper = Sleeper;
    // SAFETY: as in `vectorcall`; both objects are alive.
    let result = unsafe {
        let get = black_box(ffi::PyObject_GetAttr as Get);
        transmute::<Get, UnwindingGet>(get)(object.as_ptr(), name.as_ptr())
    };
    std::mem::forget(sleeper);
    // SAFETY: the result is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), result) }
}

/// `object[key]`.
pub(crate) fn item<'py>(
    object: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let sleeper = Sleeper;
    // SAFETY: as in `vectorcall`; both objects are alive.
    let result = unsafe {
        let get = black_box(ffi::PyObject_GetItem as Get);
        transmute::<Get, UnwindingGet>(get)(object.as_ptr(), key.as_ptr())
    };
    std::mem::forget(sleeper);
    // SAFETY: the result is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), result) }
}

/// `callable(*args)`.
pub(crate) fn call<'py, const N: usize>(
    callable: &Bound<'py, PyAny>,
    args: [&Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    let args = args.map(Bound::as_ptr);
    // SAFETY: all objects are alive, and the result is a new reference or null.
    unsafe {
        let result = vectorcall(callable.as_ptr(), args.as_ptr(), N, std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(callable.py(), result)
    }
}
