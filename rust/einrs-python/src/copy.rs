//! A strided view to contiguous memory: the copy that a small rearrangement needs.

/// The most axes that a walk keeps track of after joining.
const MAX_AXES: usize = 16;

/// An axis of the walk: how many elements, and the bytes between them in the source.
#[derive(Clone, Copy)]
struct Walk {
    length: usize,
    stride: isize,
}

/// Copies the elements of a view, in row-major order, one after the other to `to`.
///
/// Returns false, with nothing copied, for more than 16 axes that cannot be joined.
///
/// # Safety
/// `from` plus every combination of strides (in bytes) within `shape` must be readable for `item`
/// bytes, `to` must be writable for the product of `shape` times `item` bytes, and the two must
/// not overlap. Neither needs to be aligned.
pub(crate) unsafe fn copy_strided(
    to: *mut u8,
    from: *const u8,
    shape: &[i64],
    strides: &[i64],
    item: usize,
) -> bool {
    let mut axes = [Walk { length: 1, stride: 0 }; MAX_AXES];
    let Some(count) = join(shape, strides, &mut axes) else { return false };
    let axes = &axes[..count];
    // SAFETY: the caller's contract, with `axes` describing the same elements as `shape`.
    unsafe {
        match item {
            1 => walk::<1>(to, from, axes),
            2 => walk::<2>(to, from, axes),
            4 => walk::<4>(to, from, axes),
            8 => walk::<8>(to, from, axes),
            16 => walk::<16>(to, from, axes),
            32 => walk::<32>(to, from, axes),
            _ => return false,
        }
    }
    true
}

/// Drops axes of length 1 and joins neighbours that one stride reaches; the number of axes left,
/// at least one. A length of 0 anywhere leaves one axis of length 0.
fn join(shape: &[i64], strides: &[i64], axes: &mut [Walk; MAX_AXES]) -> Option<usize> {
    let mut count = 0;
    for (&length, &stride) in shape.iter().zip(strides) {
        let (length, stride) = (usize::try_from(length).ok()?, isize::try_from(stride).ok()?);
        if length == 0 {
            axes[0] = Walk { length: 0, stride: 0 };
            return Some(1);
        }
        if length == 1 {
            continue;
        }
        let inner = Walk { length, stride };
        match axes[..count].last_mut() {
            Some(outer) if outer.stride == stride.checked_mul(length.cast_signed())? => {
                *outer = Walk { length: outer.length * length, stride };
            }
            _ => {
                *axes.get_mut(count)? = inner;
                count += 1;
            }
        }
    }
    Some(count.max(1))
}

/// Copies in row-major order, the two innermost axes at a time.
///
/// # Safety
/// As [`copy_strided`], for elements of `N` bytes.
unsafe fn walk<const N: usize>(to: *mut u8, from: *const u8, axes: &[Walk]) {
    if axes.iter().any(|axis| axis.length == 0) {
        return;
    }
    let single = Walk { length: 1, stride: 0 };
    let (outer, middle, inner) = match axes {
        [] => return,
        [inner] => (&[][..], single, *inner),
        [outer @ .., middle, inner] => (outer, *middle, *inner),
    };
    let mut index = [0usize; MAX_AXES];
    let (mut to, mut from) = (to, from);
    loop {
        // SAFETY: `from` stands on the first element of the innermost axes and `to` on its place.
        unsafe {
            plane::<N>(to, from, middle, inner);
            to = to.add(middle.length * inner.length * N);
        }
        let mut behind = outer.len();
        loop {
            if behind == 0 {
                return;
            }
            behind -= 1;
            let Walk { length, stride } = outer[behind];
            index[behind] += 1;
            if index[behind] < length {
                // Within the view again once the axes behind have been wound back.
                from = from.wrapping_offset(stride);
                break;
            }
            from = from.wrapping_offset(-stride * (length - 1).cast_signed());
            index[behind] = 0;
        }
    }
}

/// Copies the elements of two axes.
///
/// # Safety
/// As [`run`], for each step of the outer axis.
#[inline]
unsafe fn plane<const N: usize>(to: *mut u8, from: *const u8, outer: Walk, inner: Walk) {
    for i in 0..outer.length {
        // SAFETY: the caller's contract.
        unsafe {
            let start = from.offset(outer.stride * i.cast_signed());
            run::<N>(to.add(i * inner.length * N), start, inner);
        }
    }
}

/// Copies one run of elements.
///
/// # Safety
/// `inner.length` elements must be readable from `from` on at the given stride, and as many
/// writable from `to` on one after the other.
#[inline]
unsafe fn run<const N: usize>(to: *mut u8, from: *const u8, inner: Walk) {
    // SAFETY: every access is one of the `length` elements of the contract; arrays of bytes have
    // no alignment.
    unsafe {
        if inner.stride == N.cast_signed() {
            std::ptr::copy_nonoverlapping(from, to, inner.length * N);
            return;
        }
        for i in 0..inner.length {
            let element = from.offset(inner.stride * i.cast_signed()).cast::<[u8; N]>();
            *to.add(i * N).cast::<[u8; N]>() = *element;
        }
    }
}
