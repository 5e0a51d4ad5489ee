//! A pattern of `pack` and `unpack`, and packed shapes, to where each piece begins and ends.

use crate::parse::{check_name, normalise};
use crate::{Error, ErrorKind, MAX_AXES, MAX_BYTES, Sizes, Span, Syntax};

/// A parsed pattern such as `batch * channel`: names, and one `*` for the axes that are packed.
///
/// ```
/// let packing = einrs::Packing::parse("batch * h w")?;
/// assert_eq!((packing.before(), packing.after()), (1, 2));
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing<'t> {
    text: &'t str,
    words: Vec<Span>,
    star: usize,
}

impl<'t> Packing<'t> {
    /// Reads a pattern of names and one `*`.
    ///
    /// ```
    /// assert!(einrs::Packing::parse("a a *").is_err());
    /// ```
    pub fn parse(text: &'t str) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::new(Syntax::TooLong, text, []));
        }
        let words: Vec<Span> = words(text).take(MAX_AXES + 1).collect();
        if words.len() > MAX_AXES {
            return Err(Error::new(Syntax::TooManyAxes, text, []));
        }
        let error = |kind: PackRule, spans: &[Span]| Err(Error::new(kind, text, spans));
        let name = |word: &Span| normalise(word.of(text));
        for (i, word) in words.iter().enumerate() {
            if let Some(first) = words[..i].iter().find(|first| name(first) == name(word)) {
                let kind = PackRule::DuplicateInPack;
                return error(kind, &[*first, *word]);
            }
        }
        let Some(star) = words.iter().position(|word| word.of(text) == "*") else {
            let end = Span::new(text.len(), text.len());
            return error(PackRule::NoStar, &[end]);
        };
        let bad = |word: &&Span| word.of(text) != "*" && check_name(word.of(text)).is_err();
        if let Some(word) = words.iter().find(bad) {
            let name = word.of(text).into();
            return error(PackRule::BadNameInPack { name }, &[*word]);
        }
        Ok(Self { text, words, star })
    }

    /// How many axes stand before the `*`.
    ///
    /// ```
    /// assert_eq!(einrs::Packing::parse("a b *")?.before(), 2);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn before(&self) -> usize {
        self.star
    }

    /// How many axes stand after the `*`.
    ///
    /// ```
    /// assert_eq!(einrs::Packing::parse("a b *")?.after(), 0);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn after(&self) -> usize {
        self.words.len() - 1 - self.star
    }

    /// Says which tensor does not go with the pattern, or with the first one.
    ///
    /// ```
    /// let packing = einrs::Packing::parse("a *")?;
    /// assert!(packing.check_pack(&[vec![2, 3], vec![2]]).is_ok());
    /// assert!(packing.check_pack(&[vec![2, 3], vec![4]]).is_err());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn check_pack(&self, shapes: &[Vec<i64>]) -> Result<(), Error> {
        let at_least = self.words.len() - 1;
        for (index, shape) in shapes.iter().enumerate() {
            let ndim = shape.len();
            if ndim < at_least {
                let kind = PackRule::TooFewAxes { index, at_least, ndim };
                return Err(self.error(kind, &[self.all()]));
            }
            for (i, word) in self.words.iter().enumerate().filter(|(i, _)| *i != self.star) {
                // From the end for what stands after the star.
                let length = |shape: &Vec<i64>| {
                    if i < self.star { shape[i] } else { shape[shape.len() + i - self.words.len()] }
                };
                let (first, other) = (length(&shapes[0]), length(shape));
                if first != other {
                    let name = word.of(self.text).into();
                    let kind = PackRule::PackMismatch { name, first, other: (index, other) };
                    return Err(self.error(kind, &[*word]));
                }
            }
        }
        Ok(())
    }

    /// Where the pieces of a tensor of this shape begin and end, for the shapes that take the
    /// place of the `*`; a -1 in one of them is whatever is left.
    ///
    /// ```
    /// use einrs::{Packing, Piece};
    /// let packing = Packing::parse("a *")?;
    /// let pieces = packing.unpack(&[2, 10], &[vec![3], vec![-1, 2], vec![]])?;
    /// assert_eq!(pieces[1], Piece { start: 3, stop: 9, unknown: 3 });
    /// assert_eq!(pieces[2].start, 9);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn unpack(&self, shape: &[i64], packed: &[Vec<i64>]) -> Result<Vec<Piece>, Error> {
        let (expected, ndim) = (self.words.len(), shape.len());
        if expected != ndim {
            let kind = PackRule::WrongPackedRank { expected, ndim };
            return Err(self.error(kind, &[self.all()]));
        }
        let split = pieces(shape[self.star], packed.iter().map(Vec::as_slice));
        split.map_err(|kind| self.error(kind, &[self.words[self.star]]))
    }

    fn all(&self) -> Span {
        // There is at least the star.
        Span::new(self.words[0].start, self.words[self.words.len() - 1].end)
    }

    #[cold]
    fn error(&self, kind: impl Into<ErrorKind>, spans: &[Span]) -> Error {
        Error::new(kind, self.text, spans)
    }
}

/// One piece of an axis, and what -1 stands for in its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub start: i64,
    /// Where it ends.
    pub stop: i64,
    /// The length that is given as -1; -1 if none is.
    pub unknown: i64,
}

impl Piece {
    /// The shape of this piece with its unknown length.
    ///
    /// ```
    /// let piece = einrs::Piece { start: 0, stop: 6, unknown: 3 };
    /// assert_eq!(*piece.sizes(&[2, -1]), [2, 3]);
    /// ```
    #[must_use]
    pub fn sizes(&self, packed: &[i64]) -> Sizes {
        let mut sizes = Sizes::new();
        sizes.fill(packed.iter().map(|size| if *size == -1 { self.unknown } else { *size }));
        sizes
    }
}

/// Splits an axis of this length: the one place where an unknown length is found.
///
/// ```
/// let pieces = einrs::pieces(6, [&[2, 2][..], &[-1]].into_iter()).unwrap();
/// assert_eq!((pieces[1].start, pieces[1].stop, pieces[1].unknown), (4, 6, 2));
/// ```
pub fn pieces<'s>(
    length: i64,
    shapes: impl Iterator<Item = &'s [i64]>,
) -> Result<Vec<Piece>, PackRule> {
    let mut pieces = Vec::with_capacity(8);
    let (mut total, mut unknown): (i64, Option<(usize, i64)>) = (0, None);
    for (i, shape) in shapes.enumerate() {
        let (mut known, mut open) = (1_i64, 0);
        for &size in shape {
            match size {
                -1 => open += 1,
                ..0 => return Err(PackRule::NegativeInShape { length: size }),
                _ => known = known.checked_mul(size).ok_or(PackRule::ShapeOverflow)?,
            }
        }
        if open + i32::from(unknown.is_some()) > 1 && open > 0 {
            return Err(PackRule::TwoUnknownLengths);
        }
        let start = total;
        if open == 0 {
            total = total.checked_add(known).ok_or(PackRule::ShapeOverflow)?;
        } else {
            unknown = Some((i, known));
        }
        pieces.push(Piece { start, stop: total, unknown: -1 });
    }
    let cannot = PackRule::CannotSplit { length, total, unknown: unknown.is_some() };
    let Some((i, product)) = unknown else {
        return if total == length { Ok(pieces) } else { Err(cannot) };
    };
    let rest = length - total;
    if rest < 0 {
        return Err(cannot);
    }
    if product == 0 || rest % product != 0 {
        return Err(PackRule::UnknownNotDivisible { rest, product });
    }
    pieces[i].unknown = rest / product;
    pieces[i].stop += rest;
    for piece in &mut pieces[i + 1..] {
        piece.start += rest;
        piece.stop += rest;
    }
    Ok(pieces)
}

fn words(text: &str) -> impl Iterator<Item = Span> {
    let start_of = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    text.split_whitespace().map(move |word| {
        let start = start_of(word);
        Span::new(start, start + word.len())
    })
}

/// Why a text is no pattern of `pack` and `unpack`, or does not go with the shapes.
///
/// ```
/// use einrs::{Packing, PackRule};
/// let error = Packing::parse("a b").unwrap_err();
/// assert_eq!(error.kind(), &PackRule::NoStar.into());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackRule {
    /// A name, or the `*`, stands twice.
    DuplicateInPack,
    /// No `*`.
    NoStar,
    /// A word that is no axis name.
    BadNameInPack {
        /// The word.
        name: String,
    },
    /// A tensor with fewer axes than the pattern names.
    TooFewAxes {
        /// Which tensor.
        index: usize,
        /// How many it names.
        at_least: usize,
        /// The rank of the tensor.
        ndim: usize,
    },
    /// A tensor to unpack whose rank is not that of the pattern.
    WrongPackedRank {
        /// The rank that is described.
        expected: usize,
        /// The rank of the tensor.
        ndim: usize,
    },
    /// Tensors to pack whose named axes have different lengths.
    PackMismatch {
        /// The axis.
        name: String,
        /// The first tensor's length.
        first: i64,
        /// The tensor that has another length, and that.
        other: (usize, i64),
    },
    /// Shapes that hold more than one -1.
    TwoUnknownLengths,
    /// A length below -1.
    NegativeInShape {
        /// The length.
        length: i64,
    },
    /// Shapes that multiply to more than 64 bits.
    ShapeOverflow,
    /// Shapes whose lengths do not add up to that of the axis.
    CannotSplit {
        /// The length of the axis.
        length: i64,
        /// What the shapes add up to, but for the one with -1.
        total: i64,
        /// Whether one of them holds -1.
        unknown: bool,
    },
    /// What is left for the shape with -1 is no multiple of its other lengths.
    UnknownNotDivisible {
        /// What is left.
        rest: i64,
        /// The product of the other lengths.
        product: i64,
    },
}
