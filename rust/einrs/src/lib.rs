//! Tensor patterns to plans: `text -> Pattern -> Recipe -> Plan`.
//!
//! ```
//! use einrs::{Op, Pattern, Style};
//!
//! let pattern = Pattern::parse("b (h d) -> b h d")?; // text
//! let recipe = pattern.lower(Op::Rearrange, &["h"], 2, Style::default())?; // + rules and rank
//! let plan = recipe.bind(&[2, 12], &[3]).unwrap(); // + numbers
//! assert_eq!(plan.to_string(), "merge [2, 3, 4]");
//! # Ok::<(), einrs::Error>(())
//! ```
//!
//! Three smaller grammars stand beside it: [`Einsum`] rewrites named axes in single letters,
//! [`Packing`] says where `unpack` cuts, [`ShapeNames`] which dimension has which name. [`EinMix`]
//! puts the first and rearrangements together.
//!
//! [`Pattern`] is faithful to the text and prints back. [`Recipe`] has no names and a fixed rank.
//! [`Plan`] has numbers: at most five steps, in fixed order, each absent where it is idle. A
//! strided framework asks [`Plan::layout`] whether the result is a view.
#![forbid(unsafe_code)]

mod caret;
mod einmix;
mod einsum;
mod error;
mod kinds;
mod lower;
mod near;
mod packing;
mod parse;
mod pattern;
mod plan;
mod recipe;
mod rules;
mod sentences;
mod shape_names;
mod sizes;
mod span;
mod strided;

pub use einmix::{EinMix, EinMixRule};
pub use einsum::{Einsum, EinsumRule};
pub use error::{Error, ErrorKind};
pub use kinds::{Given, Misfit, Rule, Syntax};
pub use lower::Op;
pub use near::nearest;
pub use packing::{PackRule, Packing, Piece, pieces};
pub use parse::{MAX_AXES, MAX_BYTES};
pub use pattern::Pattern;
pub use plan::Plan;
pub use recipe::{Expand, Factors, Input, Length, Recipe, Style};
pub use rules::MAX_RANK;
pub use shape_names::{ShapeNames, ShapeRule};
pub use sizes::Sizes;
pub use span::Span;
pub use strided::Strided;
