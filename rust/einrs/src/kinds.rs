//! The kinds of errors: which rule was broken, and by what. `sentences.rs` words them.

/// Why a text is not a pattern.
///
/// ```
/// let error = einrs::Pattern::parse("a -> a -> a").unwrap_err();
/// assert_eq!(error.kind(), &einrs::Syntax::TwoArrows.into());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Longer than [`MAX_BYTES`](crate::MAX_BYTES).
    TooLong,
    /// More axes or dimensions on a side than [`MAX_AXES`](crate::MAX_AXES).
    TooManyAxes,
    /// Nothing but white space.
    Empty,
    /// No `->`.
    NoArrow,
    /// A second `->`.
    TwoArrows,
    /// A character that has no meaning in a pattern.
    UnknownCharacter {
        /// The character.
        character: char,
    },
    /// A bracket inside brackets.
    NestedBracket,
    /// A `)` without its `(`.
    UnopenedBracket,
    /// A `(` without its `)`.
    UnclosedBracket,
    /// Dots that are not exactly three in a row.
    StrayDot,
    /// A second ellipsis on one side.
    SecondEllipsis,
    /// A word that is neither a number nor a Python identifier.
    NotAnIdentifier {
        /// The word.
        name: String,
    },
    /// A name that starts or ends with an underscore.
    OuterUnderscore {
        /// The name.
        name: String,
    },
    /// An anonymous axis of length 0.
    ZeroAxis,
    /// A number that does not fit 64 bits.
    HugeNumber {
        /// The number as written.
        digits: String,
    },
    /// A name that stands twice on one side.
    Duplicate {
        /// The name.
        name: String,
    },
}

/// Why an operation or a rank does not go with a pattern.
///
/// ```
/// use einrs::{Op, Pattern, Rule, Style};
/// let error = Pattern::parse("a -> a")?.lower(Op::Rearrange, &[], 2, Style::default()).unwrap_err();
/// assert_eq!(error.kind(), &Rule::WrongRank { expected: 1, at_least: false, ndim: 2 }.into());
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An ellipsis on the right without one on the left.
    EllipsisOnlyRight,
    /// An ellipsis inside brackets on the left.
    EllipsisInLeftGroup,
    /// A number other than 1 in a rearrangement.
    NumberInRearrange,
    /// Axes that stand on one side of a rearrangement only.
    OneSided {
        /// The axes, in the order they are written.
        axes: Vec<String>,
        /// A name on the other side that the first was probably meant to be.
        near: Option<String>,
    },
    /// Axes that stand on the left of a repeat only.
    LostInRepeat {
        /// The axes, in the order they are written.
        axes: Vec<String>,
    },
    /// Axes that stand on the right of a reduction only.
    NewInReduce {
        /// The axes, in the order they are written.
        axes: Vec<String>,
        /// A name on the left that the first was probably meant to be.
        near: Option<String>,
    },
    /// A tensor of another rank than the left side describes.
    WrongRank {
        /// The rank that is described.
        expected: usize,
        /// Whether an ellipsis allows more.
        at_least: bool,
        /// The rank of the tensor.
        ndim: usize,
    },
    /// A rank above [`MAX_RANK`](crate::MAX_RANK).
    HugeRank {
        /// The rank of the tensor.
        ndim: usize,
    },
}

/// Why what is given with a pattern, lengths and a reduction, does not go with it.
///
/// ```
/// use einrs::{Given, Op, Pattern, Style};
/// let pattern = Pattern::parse("a -> a b")?;
/// let error = pattern.lower(Op::Repeat, &[], 1, Style::default()).unwrap_err();
/// let needs = Given::NeedsLength { axes: vec!["b".into()], near: None };
/// assert_eq!(error.kind(), &needs.into());
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// New axes of a repeat whose lengths are not given.
    NeedsLength {
        /// The axes, in the order they are written.
        axes: Vec<String>,
        /// A given name that the first was probably meant to be.
        near: Option<String>,
    },
    /// Two axes of one group whose lengths are both unknown.
    TwoUnknown {
        /// The group as written.
        group: String,
        /// The axes without a length.
        axes: Vec<String>,
    },
    /// A length given for something that cannot be an axis name.
    BadLengthName {
        /// The name as given.
        name: String,
    },
    /// A length given for a name that the pattern does not have.
    UnusedLength {
        /// The name as given.
        name: String,
        /// A name in the pattern that it was probably meant to be.
        near: Option<String>,
    },
    /// Two given names that are the same after normalisation.
    LengthTwice {
        /// The name.
        name: String,
    },
    /// A length that is not an integer.
    LengthType {
        /// The axis.
        name: String,
        /// The type that was given.
        given: String,
    },
    /// A length that does not fit 64 bits.
    HugeLength {
        /// The axis.
        name: String,
        /// The length as given.
        length: String,
    },
    /// A reduction that does not exist.
    UnknownReduction {
        /// The name as given.
        name: String,
        /// The reduction that it was probably meant to be.
        near: Option<String>,
    },
}

/// Why sizes do not go with a pattern. Small and free of text, so that the warm path can return
/// it; [`Recipe::explain`](crate::Recipe::explain) makes an [`Error`] of it.
///
/// ```
/// use einrs::{Misfit, Op, Pattern, Style};
/// let recipe = Pattern::parse("(a b) -> a b")?.lower(Op::Rearrange, &["a"], 1, Style::default())?;
/// assert_eq!(
///     recipe.bind(&[7], &[2]).unwrap_err(),
///     Misfit::NotDivisible { dim: 0, length: 7, product: 2 },
/// );
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The known axes of a dimension do not multiply to its length.
    Mismatch {
        /// The dimension of the input.
        dim: usize,
        /// Its length.
        length: i64,
        /// The product of its axes.
        product: i64,
    },
    /// The length of a dimension is no multiple of its known axes.
    NotDivisible {
        /// The dimension of the input.
        dim: usize,
        /// Its length.
        length: i64,
        /// The product of its known axes.
        product: i64,
    },
    /// An axis has to be inferred from a dimension whose other axes have length 0.
    ZeroDivisor {
        /// The dimension of the input.
        dim: usize,
        /// Its length.
        length: i64,
    },
    /// A given length is negative.
    NegativeLength {
        /// Which of the given lengths.
        given: usize,
        /// Its value.
        length: i64,
    },
    /// A dimension of the tensor says that its length is negative.
    NegativeDimension {
        /// The dimension of the input.
        dim: usize,
        /// Its length.
        length: i64,
    },
    /// The axes of an input dimension multiply to more than 64 bits.
    InputOverflow {
        /// The dimension of the input.
        dim: usize,
    },
    /// The axes of an output dimension multiply to more than 64 bits.
    OutputOverflow {
        /// The dimension of the output.
        dim: usize,
    },
    /// The result of a repeat has more elements than 64 bits count.
    TooManyElements,
}
