//! A pattern, an operation, the names of given lengths and a rank to a [`Recipe`]: names die here.

use std::ops::Range;

use crate::parse::normalise;
use crate::pattern::{Axis, AxisKind};
use crate::recipe::{Expand, Factors, Input, Length};
use crate::{Error, Given, Pattern, Recipe, Style};

/// What is done with the axes.
///
/// ```
/// use einrs::{Op, Pattern, Style};
/// let pattern = Pattern::parse("a b -> a")?;
/// assert!(pattern.lower(Op::Reduce, &[], 2, Style::default()).is_ok());
/// assert!(pattern.lower(Op::Rearrange, &[], 2, Style::default()).is_err());
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Every axis stands on both sides.
    Rearrange,
    /// Axes missing on the right are reduced.
    Reduce,
    /// Axes missing on the left are new.
    Repeat,
}

impl Pattern<'_> {
    /// Applies the rules of `op` for lengths given under `names` and a tensor of `ndim` dimensions.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let pattern = Pattern::parse("h w -> h w c")?;
    /// let recipe = pattern.lower(Op::Repeat, &["c"], 2, Style::default())?;
    /// assert_eq!(
    ///     recipe.bind(&[4, 5], &[3]).unwrap().to_string(),
    ///     "split [4, 5, 1]; expand [4, 5, 3]",
    /// );
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn lower(
        &self,
        op: Op,
        names: &[&str],
        ndim: usize,
        style: Style,
    ) -> Result<Recipe, Error> {
        self.check_sides(op)?;
        if op == Op::Repeat {
            self.check_new_lengths(names)?;
        }
        let ellipsis_rank = self.ellipsis_rank(ndim)?;
        self.check_given(names)?;
        let axes = Axes::of(self, names, ellipsis_rank);
        let inputs = self.inputs(&axes)?;
        let ellipsis = self.left.ellipsis().map(|_| (axes.ellipsis_dim, ellipsis_rank));
        Ok(Steps::plan(&axes, style).into_recipe(axes, inputs, ellipsis))
    }

    fn inputs(&self, axes: &Axes<'_>) -> Result<Vec<Input>, Error> {
        let unknown = |axis: &usize| axes.lengths[*axis] == Length::Inferred;
        let mut inputs = Vec::with_capacity(axes.dims.len());
        for dim in &axes.dims {
            let mut inferred = dim.clone().filter(unknown);
            let (first, second) = (inferred.next(), inferred.next());
            if let (Some(first), Some(second)) = (first, second) {
                return Err(self.two_unknown(axes, dim.clone(), [first, second]));
            }
            inputs.push(Input { first: dim.start, count: dim.len(), inferred: first });
        }
        Ok(inputs)
    }

    #[cold]
    fn two_unknown(&self, axes: &Axes<'_>, dim: Range<usize>, first_two: [usize; 2]) -> Error {
        let written = |id: usize| axes.written[id].expect("only named axes can be inferred twice");
        let group = self.left.dims.iter().find(|group| {
            (group.span.start..group.span.end).contains(&written(first_two[0]).span.start)
        });
        let unknown = dim.filter(|axis| axes.lengths[*axis] == Length::Inferred);
        let kind = Given::TwoUnknown {
            group: group.map_or("", |group| group.span.of(self.text)).into(),
            axes: unknown.map(|id| written(id).to_string()).collect(),
        };
        self.error(kind, first_two.map(|id| written(id).span))
    }
}

/// The elementary axes: those of the input in the order they are written, then the new ones.
struct Axes<'p> {
    lengths: Vec<Length>,
    /// The axis as written; none for the axes of an ellipsis.
    written: Vec<Option<&'p Axis<'p>>>,
    /// The axes of each input dimension.
    dims: Vec<Range<usize>>,
    /// The axes that an ellipsis stands for.
    ellipsis: Range<usize>,
    /// The input dimension at which the ellipsis starts.
    ellipsis_dim: usize,
    /// How many axes belong to the input.
    left: usize,
    /// The axes of each output dimension.
    groups: Vec<Vec<usize>>,
}

impl<'p> Axes<'p> {
    fn of(pattern: &'p Pattern<'_>, names: &[&str], ellipsis_rank: usize) -> Self {
        let mut axes = Self {
            lengths: Vec::with_capacity(8),
            written: Vec::with_capacity(8),
            dims: Vec::with_capacity(8),
            ellipsis: 0..0,
            ellipsis_dim: 0,
            left: 0,
            groups: Vec::with_capacity(8),
        };
        axes.read_left(pattern, names, ellipsis_rank);
        axes.left = axes.lengths.len();
        axes.read_right(pattern, names);
        axes
    }

    fn read_left(&mut self, pattern: &'p Pattern<'_>, names: &[&str], ellipsis_rank: usize) {
        for dim in &pattern.left.dims {
            let start = self.lengths.len();
            for axis in pattern.left.axes_of(dim) {
                if axis.kind == AxisKind::Ellipsis {
                    self.ellipsis_dim = self.dims.len();
                    self.ellipsis = start..start + ellipsis_rank;
                    self.lengths.resize(start + ellipsis_rank, Length::Inferred);
                    self.written.resize(start + ellipsis_rank, None);
                    self.dims.extend(self.ellipsis.clone().map(|id| id..id + 1));
                } else if axis.kind != AxisKind::Number(1) {
                    self.push(axis, names);
                }
            }
            if !pattern.left.axes_of(dim).iter().any(|axis| axis.kind == AxisKind::Ellipsis) {
                self.dims.push(start..self.lengths.len());
            }
        }
    }

    fn read_right(&mut self, pattern: &'p Pattern<'_>, names: &[&str]) {
        for dim in &pattern.right.dims {
            let mut group = Vec::with_capacity(dim.count);
            for axis in pattern.right.axes_of(dim) {
                match &axis.kind {
                    AxisKind::Ellipsis => group.extend(self.ellipsis.clone()),
                    AxisKind::Number(1) => {}
                    AxisKind::Number(_) => group.push(self.push(axis, names)),
                    AxisKind::Name(name) => {
                        let known = self
                            .written
                            .iter()
                            .position(|left| left.is_some_and(|left| left.name() == Some(name)));
                        group.push(known.unwrap_or_else(|| self.push(axis, names)));
                    }
                }
            }
            let spreads = pattern.right.axes_of(dim).iter().any(|a| a.kind == AxisKind::Ellipsis);
            if spreads && !dim.group {
                self.groups.extend(group.into_iter().map(|axis| vec![axis]));
            } else {
                self.groups.push(group);
            }
        }
    }

    fn push(&mut self, axis: &'p Axis<'p>, names: &[&str]) -> usize {
        let given = |name: &str| names.iter().position(|given| normalise(given) == name);
        self.lengths.push(match &axis.kind {
            AxisKind::Number(length) => Length::Fixed(*length),
            AxisKind::Name(name) => given(name).map_or(Length::Inferred, Length::Given),
            AxisKind::Ellipsis => Length::Inferred,
        });
        self.written.push(Some(axis));
        self.lengths.len() - 1
    }
}

/// Input axes that travel together: neighbours in one input dimension that stay neighbours, in
/// the same order, in one output dimension. Reduced axes are never joined, since a callable
/// reduction sees each of them.
struct Runs {
    all: Vec<Range<usize>>,
    /// What each output dimension is made of.
    groups: Vec<Vec<Item>>,
    /// What each input dimension is made of.
    inputs: Factors,
    /// Whether some input dimension is not exactly one run.
    splits: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Run(usize),
    New(usize),
}

impl Runs {
    fn of(axes: &Axes<'_>, join: bool) -> Self {
        let mut place = vec![None; axes.lengths.len()];
        for (group, members) in axes.groups.iter().enumerate() {
            for (position, axis) in members.iter().enumerate() {
                place[*axis] = Some((group, position));
            }
        }
        let follows = |axis: usize| match (place[axis - 1], place[axis]) {
            (Some((group, position)), Some(next)) => join && next == (group, position + 1),
            _ => false,
        };
        let mut runs: Vec<Range<usize>> = Vec::with_capacity(axes.left);
        let mut splits = false;
        for dim in &axes.dims {
            let before = runs.len();
            for axis in dim.clone() {
                match runs.last_mut().filter(|_| axis > dim.start && follows(axis)) {
                    Some(run) => run.end = axis + 1,
                    None => runs.push(axis..axis + 1),
                }
            }
            splits |= runs.len() - before != 1;
        }
        let item = |axis: &usize| {
            if *axis >= axes.left {
                return Some(Item::New(*axis));
            }
            runs.iter().position(|run| run.start == *axis).map(Item::Run)
        };
        let groups = axes.groups.iter().map(|group| group.iter().filter_map(item).collect());
        let groups = groups.collect();
        let inputs = axes.dims.iter().cloned().collect();
        Self { all: runs, groups, inputs, splits }
    }

    fn factors_of(&self, item: Item) -> Range<usize> {
        match item {
            Item::Run(run) => self.all[run].clone(),
            Item::New(axis) => axis..axis + 1,
        }
    }
}

/// The five steps, over runs.
#[derive(Default)]
struct Steps {
    split: Option<Factors>,
    permute: Option<Vec<usize>>,
    reduce: Option<Vec<usize>>,
    expand: Option<Expand>,
    merge: bool,
}

impl Steps {
    fn plan(axes: &Axes<'_>, style: Style) -> Self {
        let runs = Runs::of(axes, style.join_axes);
        let items: Vec<Item> = runs.groups.iter().flatten().copied().collect();
        let mut steps = Self::default();
        if runs.splits {
            steps.split = Some(runs.all.iter().cloned().collect());
        }
        steps.move_and_reduce(&items, runs.all.len(), style);
        steps.expand(&runs, &items, style);
        steps.merge = runs.groups.iter().any(|group| group.len() != 1);
        let moves = steps.permute.is_some() || steps.reduce.is_some() || steps.expand.is_some();
        if !moves && style.join_axes {
            // Without a move in between one reshape does both. Where einops reshapes to and fro it
            // returns a new view, never the tensor itself, and so do we.
            let grouped = axes.dims.iter().any(|dim| dim.len() != 1)
                || axes.groups.iter().any(|group| group.len() != 1);
            steps.split = None;
            steps.merge = grouped;
        }
        steps
    }

    fn move_and_reduce(&mut self, items: &[Item], runs: usize, style: Style) {
        let kept = items.iter().filter_map(|item| match item {
            Item::Run(run) => Some(*run),
            Item::New(_) => None,
        });
        let mut order: Vec<usize> = kept.collect();
        let kept = order.len();
        let reduced: Vec<usize> = (0..runs).filter(|run| !order.contains(run)).collect();
        if !reduced.is_empty() && style.reduce_in_place && order.is_sorted() {
            self.reduce = Some(reduced);
            return;
        }
        order.extend(&reduced);
        self.reduce = (!reduced.is_empty()).then(|| (kept..runs).collect());
        self.permute = (!order.is_sorted()).then_some(order);
    }

    fn expand(&mut self, runs: &Runs, items: &[Item], style: Style) {
        let is_new = |position: &usize| matches!(items[*position], Item::New(_));
        let new: Vec<usize> = (0..items.len()).filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let sizes = items.iter().map(|item| runs.factors_of(*item)).collect();
        if style.fold_new_axes {
            self.fold(runs, items, new.iter().copied().eq(0..new.len()));
        }
        let added = if style.fold_new_axes { Vec::new() } else { new.clone() };
        self.expand = Some(Expand { sizes, added, new });
    }

    /// Makes room for each new axis: in the first reshape; or in unit axes that the input has at
    /// the right places; or nowhere, since broadcasting by itself puts missing axes in front.
    fn fold(&mut self, runs: &Runs, items: &[Item], leads: bool) {
        let (split, permute) = self.with_units(runs, items);
        if split == runs.inputs {
            self.split = None;
        } else if leads {
            return;
        } else {
            self.split = Some(split);
        }
        self.permute = permute;
    }

    /// The first reshape and the permutation with a unit axis for each new one.
    fn with_units(&self, runs: &Runs, items: &[Item]) -> (Factors, Option<Vec<usize>>) {
        let unit = 0..0;
        if self.permute.is_none() {
            let factors = |item: &Item| match item {
                Item::Run(run) => runs.all[*run].clone(),
                Item::New(_) => unit.clone(),
            };
            return (items.iter().map(factors).collect(), None);
        }
        let mut next = runs.all.len();
        let source = |item: &Item| match item {
            Item::Run(run) => *run,
            Item::New(_) => {
                next += 1;
                next - 1
            }
        };
        let permute = items.iter().map(source).collect();
        let units = std::iter::repeat_n(unit, next - runs.all.len());
        (runs.all.iter().cloned().chain(units).collect(), Some(permute))
    }

    fn into_recipe(
        self,
        axes: Axes<'_>,
        inputs: Vec<Input>,
        ellipsis: Option<(usize, usize)>,
    ) -> Recipe {
        Recipe {
            lengths: axes.lengths,
            inputs,
            split: self.split,
            permute: self.permute,
            reduce: self.reduce,
            expand: self.expand,
            merge: self.merge,
            output: axes.groups.into_iter().collect(),
            ellipsis,
        }
    }
}
