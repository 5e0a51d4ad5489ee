//! numpy's arrays to shapes, strides and flags, and back: the only code that knows numpy's C
//! structures.
//!
//! Of the C API two functions are used, `PyArray_NewFromDescr` and `PyArray_SetBaseObject`, and
//! the leading fields of `PyArrayObject` and `PyArray_Descr`, which numpy keeps stable. Only
//! `elsize` has moved between numpy 1 and 2.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use einrs::{Sizes, Strided};
use pyo3::ffi::{self, PyTypeObject};
use pyo3::prelude::*;

use crate::call::{Object, Reduction};

/// Shapes and strides are read and written as `i64`, which is `npy_intp` on 64-bit platforms.
const _: () = assert!(size_of::<isize>() == size_of::<i64>(), "einrs needs a 64-bit platform");

const OWNS_DATA: c_int = 0x0004;
const WRITE_BACK_IF_COPY: c_int = 0x2000;

#[repr(C)]
struct ArrayObject {
    head: ffi::PyObject,
    data: *mut c_char,
    ndim: c_int,
    dimensions: *const i64,
    strides: *const i64,
    base: Object,
    descr: *mut Descr,
    flags: c_int,
}

#[repr(C)]
struct Descr {
    head: ffi::PyObject,
    scalar_type: Object,
    kind: c_char,
    code: c_char,
    byte_order: c_char,
    former_flags: c_char,
    type_number: c_int,
    /// numpy 1: `elsize`. numpy 2: the low half of `flags`.
    elsize_1: c_int,
    alignment_1: c_int,
    /// numpy 2 only.
    elsize_2: i64,
}

type NewFromDescr = unsafe extern "C" fn(
    *mut PyTypeObject,
    *mut Descr,
    c_int,
    *const i64,
    *const i64,
    *mut c_void,
    c_int,
    Object,
) -> Object;
type SetBaseObject = unsafe extern "C" fn(Object, Object) -> c_int;

/// Positions in numpy's function table, the same in numpy 1 and 2.
mod slot {
    pub(super) const ABI_VERSION: usize = 0;
    pub(super) const ARRAY_TYPE: usize = 2;
    pub(super) const NEW_FROM_DESCR: usize = 94;
    pub(super) const SET_BASE_OBJECT: usize = 282;
}

/// What einrs uses of numpy.
pub(crate) struct Numpy {
    array_type: *mut PyTypeObject,
    new_from_descr: NewFromDescr,
    set_base_object: SetBaseObject,
    is_version_2: bool,
    reductions: [Option<Py<PyAny>>; Reduction::ALL.len()],
    pub(crate) divide: Py<PyAny>,
}

// SAFETY: the pointers are those of numpy's static type and functions.
unsafe impl Send for Numpy {}
// SAFETY: as above, and nothing is ever changed.
unsafe impl Sync for Numpy {}

impl Numpy {
    /// # Safety
    /// `table` must be numpy's C API table.
    pub(crate) unsafe fn new(
        table: *const *const c_void,
        reductions: [Option<Py<PyAny>>; Reduction::ALL.len()],
        divide: Py<PyAny>,
    ) -> Self {
        // SAFETY: the slots hold functions of these signatures and the array type.
        unsafe {
            let version: unsafe extern "C" fn() -> c_uint =
                std::mem::transmute(*table.add(slot::ABI_VERSION));
            Self {
                array_type: (*table.add(slot::ARRAY_TYPE)).cast::<PyTypeObject>().cast_mut(),
                new_from_descr: std::mem::transmute::<*const c_void, NewFromDescr>(
                    *table.add(slot::NEW_FROM_DESCR),
                ),
                set_base_object: std::mem::transmute::<*const c_void, SetBaseObject>(
                    *table.add(slot::SET_BASE_OBJECT),
                ),
                is_version_2: version() >= 0x0200_0000,
                reductions,
                divide,
            }
        }
    }

    pub(crate) fn reduction(&self, reduction: Reduction) -> Option<&Py<PyAny>> {
        self.reductions[reduction as usize].as_ref()
    }

    pub(crate) fn is_array(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.array_type
    }

    /// # Safety
    /// `array` must be an exact `ndarray` that outlives the result.
    #[inline]
    pub(crate) unsafe fn array(&self, array: Object) -> Array<'_> {
        // SAFETY: an `ndarray` starts with these fields.
        Array { object: array, fields: unsafe { &*array.cast::<ArrayObject>() }, numpy: self }
    }
}

/// An exact `ndarray`.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    pub(crate) object: Object,
    fields: &'a ArrayObject,
    pub(crate) numpy: &'a Numpy,
}

impl<'a> Array<'a> {
    #[inline]
    pub(crate) fn ndim(self) -> usize {
        usize::try_from(self.fields.ndim).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn shape(self) -> &'a [i64] {
        // SAFETY: numpy keeps `ndim` lengths there, for a rank above 0.
        unsafe { slice(self.fields.dimensions, self.ndim()) }
    }

    #[inline]
    pub(crate) fn strides(self) -> &'a [i64] {
        // SAFETY: numpy keeps `ndim` strides there, for a rank above 0.
        unsafe { slice(self.fields.strides, self.ndim()) }
    }

    #[inline]
    fn descr(self) -> &'a Descr {
        // SAFETY: every array has a descriptor.
        unsafe { &*self.fields.descr }
    }

    #[inline]
    pub(crate) fn item(self) -> i64 {
        let descr = self.descr();
        if self.numpy.is_version_2 { descr.elsize_2 } else { i64::from(descr.elsize_1) }
    }

    pub(crate) fn data(self) -> *const u8 {
        self.fields.data.cast::<u8>().cast_const()
    }

    /// Whether the elements are plain numbers in the machine's byte order: bool, integers, floats
    /// and complex numbers, which numpy numbers 0 to 16, and half floats, 23.
    pub(crate) fn is_plain(self) -> bool {
        let descr = self.descr();
        let number = matches!(descr.type_number, 0..=16 | 23);
        number && matches!(descr.byte_order.cast_unsigned(), b'=' | b'|')
    }

    /// Whether the elements are plain `float32` or `float64`.
    pub(crate) fn is_float(self) -> bool {
        matches!(self.descr().type_number, 11 | 12) && self.is_plain()
    }

    /// A view of this array's memory, with its writeability; the base is the array, or its base.
    ///
    /// # Safety
    /// We must be attached, and the view must lie within the array.
    pub(crate) unsafe fn view(self, view: &Strided) -> Object {
        // SAFETY: the caller's contract.
        unsafe { self.view_at(0, view) }
    }

    /// A view that begins `offset` bytes behind the first element.
    ///
    /// # Safety
    /// As [`Array::view`].
    pub(crate) unsafe fn view_at(self, offset: isize, view: &Strided) -> Object {
        let flags = self.fields.flags & !(OWNS_DATA | WRITE_BACK_IF_COPY);
        // SAFETY: numpy copies shape and strides, takes over one reference to the descriptor and
        // one to the base.
        unsafe {
            let data = self.fields.data.wrapping_offset(offset).cast::<c_void>();
            let result = self.create(&view.shape, view.strides.as_ptr(), data, flags);
            if result.is_null() {
                return null_mut();
            }
            ffi::Py_INCREF(self.object);
            if (self.numpy.set_base_object)(result, self.object) < 0 {
                ffi::Py_DECREF(result);
                return null_mut();
            }
            result
        }
    }

    /// A new C-contiguous array of the same dtype, its elements not yet written.
    ///
    /// # Safety
    /// We must be attached, and the dtype must be plain: other elements need more than memory.
    pub(crate) unsafe fn fresh(self, shape: &Sizes) -> Object {
        // SAFETY: without data and strides numpy allocates a C-contiguous array.
        unsafe { self.create(shape, null(), null_mut(), 0) }
    }

    unsafe fn create(
        self,
        shape: &Sizes,
        strides: *const i64,
        data: *mut c_void,
        flags: c_int,
    ) -> Object {
        let Ok(ndim) = c_int::try_from(shape.len()) else { return null_mut() };
        let descr = self.fields.descr;
        // SAFETY: the call takes over the reference to the descriptor that is added here.
        unsafe {
            ffi::Py_INCREF(descr.cast());
            (self.numpy.new_from_descr)(
                self.numpy.array_type,
                descr,
                ndim,
                shape.as_ptr(),
                strides,
                data,
                flags,
                null_mut(),
            )
        }
    }
}

/// # Safety
/// `first` must point to `length` values that outlive `'a`, unless `length` is 0.
unsafe fn slice<'a>(first: *const i64, length: usize) -> &'a [i64] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's contract.
    unsafe { std::slice::from_raw_parts(first, length) }
}

/// # Safety
/// `array` must be an array that [`Array::fresh`] made and nobody else has seen.
pub(crate) unsafe fn data_of_fresh(array: Object) -> *mut u8 {
    // SAFETY: an `ndarray` starts with these fields.
    unsafe { (*array.cast::<ArrayObject>()).data.cast() }
}
