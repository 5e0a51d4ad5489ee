//! A short list of sizes that needs no allocation: what the warm path does its arithmetic in.

use std::fmt;
use std::ops::Deref;

/// How many sizes are kept without an allocation. Of 6,200 call sites in public code none has
/// more than eight axes.
const INLINE: usize = 8;

/// A list of sizes, strides or axis lengths.
///
/// ```
/// let sizes: einrs::Sizes = [2, 3, 4].into_iter().collect();
/// assert_eq!(&sizes[1..], [3, 4]);
/// assert_eq!(sizes.to_string(), "[2, 3, 4]");
/// ```
#[derive(Clone, Debug)]
pub struct Sizes {
    inline: [i64; INLINE],
    len: usize,
    /// All sizes, once there are more than `INLINE`; empty before.
    spill: Vec<i64>,
}

impl Sizes {
    /// An empty list.
    ///
    /// ```
    /// assert!(einrs::Sizes::new().is_empty());
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Self { inline: [0; INLINE], len: 0, spill: Vec::new() }
    }

    /// `len` times the same size.
    ///
    /// ```
    /// assert_eq!(*einrs::Sizes::filled(1, 3), [1, 1, 1]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn filled(size: i64, len: usize) -> Self {
        if len <= INLINE {
            return Self { inline: [size; INLINE], len, spill: Vec::new() };
        }
        Self { inline: [0; INLINE], len, spill: vec![size; len] }
    }

    /// Adds a size at the end.
    ///
    /// ```
    /// let mut sizes = einrs::Sizes::filled(0, 8);
    /// sizes.push(9);
    /// assert_eq!((sizes.len(), sizes[8]), (9, 9));
    /// ```
    #[inline(always)]
    pub fn push(&mut self, size: i64) {
        if self.len < INLINE {
            self.inline[self.len] = size;
        } else {
            if self.len == INLINE {
                self.spill.extend_from_slice(&self.inline);
            }
            self.spill.push(size);
        }
        self.len += 1;
    }

    /// Removes all sizes.
    ///
    /// ```
    /// let mut sizes = einrs::Sizes::filled(1, 9);
    /// sizes.clear();
    /// assert!(sizes.is_empty());
    /// ```
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
        self.spill.clear();
    }

    /// Makes these the sizes.
    ///
    /// ```
    /// let mut sizes = einrs::Sizes::filled(1, 2);
    /// sizes.fill([7, 8, 9]);
    /// assert_eq!(*sizes, [7, 8, 9]);
    /// ```
    #[inline(always)]
    pub fn fill(&mut self, sizes: impl IntoIterator<Item = i64>) {
        let mut sizes = sizes.into_iter();
        self.spill.clear();
        for len in 0..INLINE {
            let Some(size) = sizes.next() else {
                self.len = len;
                return;
            };
            self.inline[len] = size;
        }
        self.len = INLINE;
        for size in sizes {
            self.push(size);
        }
    }

    /// The sizes, to be changed in place.
    ///
    /// ```
    /// let mut sizes = einrs::Sizes::filled(1, 2);
    /// sizes.as_mut_slice()[0] = 5;
    /// assert_eq!(*sizes, [5, 1]);
    /// ```
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [i64] {
        if self.len <= INLINE { &mut self.inline[..self.len] } else { &mut self.spill }
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Sizes {
    type Target = [i64];

    #[inline(always)]
    fn deref(&self) -> &[i64] {
        if self.len <= INLINE { &self.inline[..self.len] } else { &self.spill }
    }
}

impl FromIterator<i64> for Sizes {
    #[inline(always)]
    fn from_iter<I: IntoIterator<Item = i64>>(sizes: I) -> Self {
        let mut list = Self::new();
        list.fill(sizes);
        list
    }
}

impl PartialEq for Sizes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Sizes {}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
