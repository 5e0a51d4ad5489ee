//! CPython's calls to [`replay::run`]: the three builtins, their documentation, and the barrier
//! that no panic crosses.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::ffi::{self, PyMethodDef, PyMethodDefPointer};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::call::{Function, Object};
use crate::calling::vectorcall;
use crate::replay;

/// Two builtins on one C function compare equal and hash alike, so each has its own.
macro_rules! entry_point {
    ($name:ident, $body:expr) => {
        unsafe extern "C" fn $name(
            _module: Object,
            args: *const Object,
            positional: ffi::Py_ssize_t,
            kwnames: Object,
        ) -> Object {
            let run: unsafe fn(*const Object, usize, Object) -> Object = $body;
            // SAFETY: CPython calls a builtin attached, with its arguments alive.
            caught(|| unsafe { run(args, positional.cast_unsigned(), kwnames) })
        }
    };
}

entry_point!(rearrange, |args, positional, kwnames| {
    // SAFETY: these are the arguments of the call.
    unsafe { replay::run(Function::Rearrange, args, positional, kwnames) }
});
entry_point!(reduce, |args, positional, kwnames| {
    // SAFETY: these are the arguments of the call.
    unsafe { replay::run(Function::Reduce, args, positional, kwnames) }
});
entry_point!(repeat, |args, positional, kwnames| {
    // SAFETY: these are the arguments of the call.
    unsafe { replay::run(Function::Repeat, args, positional, kwnames) }
});
// What the tests call to see that a panic becomes an exception.
entry_point!(panic, |_, _, _| panic!("a panic on purpose"));

struct Definition(PyMethodDef);

// SAFETY: the definitions are constant; CPython only reads them.
unsafe impl Sync for Definition {}

const fn definition(
    name: &'static CStr,
    function: ffi::PyCFunctionFastWithKeywords,
    doc: &'static CStr,
) -> Definition {
    Definition(PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: doc.as_ptr(),
    })
}

/// The text of a documentation file as a C string.
macro_rules! documentation {
    ($file:literal) => {
        match CStr::from_bytes_with_nul(concat!(include_str!($file), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("the documentation contains a NUL"),
        }
    };
}

static REARRANGE: Definition =
    definition(c"rearrange", rearrange, documentation!("docs/rearrange.txt"));
static REDUCE: Definition = definition(c"reduce", reduce, documentation!("docs/reduce.txt"));
static REPEAT: Definition = definition(c"repeat", repeat, documentation!("docs/repeat.txt"));
static PANIC: Definition = definition(c"_panic", panic, c"_panic()\n--\n\nPanics, for the tests.");

/// Adds the builtins. They say `einrs` is their module, so that they pickle by their public name.
pub(crate) fn add_operations(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let public = PyString::intern(py, "einrs");
    for definition in [&REARRANGE, &REDUCE, &REPEAT, &PANIC] {
        let method = (&raw const definition.0).cast_mut();
        // SAFETY: the definition is static, and `public` is alive; the result is ours.
        let function = unsafe {
            let builtin = ffi::PyCFunction_NewEx(method, null_mut(), public.as_ptr());
            Bound::from_owned_ptr_or_err(py, builtin)?
        };
        let name: String = function.getattr("__name__")?.extract()?;
        module.add(name.as_str(), function)?;
    }
    Ok(())
}

fn caught(run: impl FnOnce() -> Object) -> Object {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => report(&*payload),
    }
}

#[cold]
fn report(payload: &(dyn std::any::Any + Send)) -> Object {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = format!(
        "einrs has a bug: {}. Please report it with the pattern and the shape: {}/issues",
        text.unwrap_or("a panic without a message"),
        env!("CARGO_PKG_REPOSITORY"),
    );
    // SAFETY: CPython calls a builtin attached.
    let py = unsafe { Python::assume_attached() };
    pyo3::exceptions::PyRuntimeError::new_err(message).restore(py);
    null_mut()
}

/// Calls the function of the same name in `einrs._ops`, which accepts all that einops accepts,
/// replays readably and words every error.
///
/// # Safety
/// `args` and `kwnames` must be the arguments of the running builtin, and we must be attached.
#[cold]
pub(crate) unsafe fn readably(
    function: Function,
    args: *const Object,
    positional: usize,
    kwnames: Object,
) -> Object {
    static TARGETS: [PyOnceLock<Py<PyAny>>; 3] = [const { PyOnceLock::new() }; 3];
    // SAFETY: the caller's contract. Without the guard of `Python::attach` no destructor of ours
    // needs the GIL if the call never comes back.
    let py = unsafe { Python::assume_attached() };
    let kept = &TARGETS[function as usize];
    let target = match kept.get(py) {
        Some(target) => Ok(target.bind(py).clone()),
        // Not inside the cell: the import may run code that comes back here.
        None => import_readable(py, function).inspect(|target| {
            let _ = kept.set(py, target.clone().unbind());
        }),
    };
    match target {
        // SAFETY: the arguments are alive, and a `str` tuple names the last ones.
        Ok(target) => unsafe { vectorcall(target.as_ptr(), args, positional, kwnames) },
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}

fn import_readable(py: Python<'_>, function: Function) -> PyResult<Bound<'_, PyAny>> {
    let name = match function {
        Function::Rearrange => "rearrange",
        Function::Reduce => "reduce",
        Function::Repeat => "repeat",
    };
    PyModule::import(py, "einrs._ops")?.getattr(name)
}
