//! Checks plans: each row of `cases.tsv` gives its plan, and any plan means what its pattern says.

mod draw;
mod rows;
mod table;

use draw::{Drawn, calls};
use einrs::{Op, Pattern, Plan, Recipe, Strided, Style};
use proptest::prelude::*;
use rows::rows;
use table::Call;

const TABLE: &str = include_str!("cases.tsv");
const LEAN: Style = Style { reduce_in_place: true, fold_new_axes: true, join_axes: true };
const EINOPS: Style = Style::einops();

#[test]
fn every_row_gives_its_plan() {
    let mut wrong = Vec::new();
    for [op, pattern, shape, lengths, plan, output, einops] in rows(TABLE) {
        let call = Call::read([&op, &pattern, &shape, &lengths]);
        let einops = if einops == "=" { &plan } else { &einops };
        for (style, plan) in [(Style::default(), &plan), (EINOPS, einops)] {
            let made = call.run(style);
            if made.as_ref() != Ok(&[plan.clone(), output.clone()]) {
                wrong.push(format!("{op} {pattern}: {plan} [{output}], but {made:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn the_steps_of_a_plan_do_what_its_pattern_says(call in calls()) {
        let strides = row_major(&call.shape());
        let tensor = Array::new(&call.shape(), &strides);
        for style in [LEAN, EINOPS] {
            let recipe = lowered(&call, style);
            let plan = bound(&recipe, &call);
            let result = tensor.clone().replay(&recipe, &plan);
            prop_assert_eq!(&*plan.output(), call.output());
            prop_assert_eq!(&result.shape, &call.output());
            prop_assert_eq!(result.elements, meaning(&call, &strides), "{}", plan);
        }
    }

    #[test]
    fn no_step_is_idle(call in calls()) {
        for style in [LEAN, EINOPS] {
            let recipe = lowered(&call, style);
            let plan = bound(&recipe, &call);
            prop_assert!(!recipe.permute.as_ref().is_some_and(|axes| axes.is_sorted()), "{}", plan);
            prop_assert!(recipe.reduce.as_ref().is_none_or(|axes| !axes.is_empty()));
            prop_assert!(recipe.expand.as_ref().is_none_or(|expand| !expand.new.is_empty()));
            let dims: Vec<Vec<usize>> = recipe.inputs.iter().map(|dim| dim.axes().collect()).collect();
            prop_assert!(!recipe.split.as_ref().is_some_and(|split| split.iter().eq(&dims)), "{}", plan);
        }
    }

    #[test]
    fn a_view_holds_the_elements_that_its_pattern_says(
        call in calls().prop_filter("a reduction is no view", |call| call.op != Op::Reduce),
        memory in memory(),
    ) {
        let strides = memory.strides(&call.shape());
        let wanted = meaning(&call, &strides).concat();
        let mut view = Strided::default();
        for style in [LEAN, EINOPS] {
            let recipe = lowered(&call, style);
            let plan = bound(&recipe, &call);
            if plan.layout(&strides, 1, &mut view) {
                prop_assert_eq!(&*view.shape, call.output());
            } else {
                prop_assert_eq!(as_view(&call.output(), &wanted), None, "{}", plan);
            }
            prop_assert_eq!(addressed(&view), wanted.as_slice(), "{}", plan);
            if recipe.has_whole_inputs() {
                let planned = (plan.layout(&strides, 1, &mut view), view.clone());
                let unplanned = recipe.layout_of_whole(&call.shape(), &strides, 1, &mut view);
                prop_assert_eq!((unplanned, view.clone()), planned, "{}", plan);
            }
            plan.elements(&strides, 1, &mut view);
            prop_assert_eq!(addressed(&view), wanted.as_slice(), "{}", plan);
        }
    }

    #[test]
    fn what_is_reduced_is_split_and_permuted(call in calls(), memory in memory()) {
        let strides = memory.strides(&call.shape());
        let mut view = Strided::default();
        for style in [LEAN, EINOPS] {
            let recipe = lowered(&call, style);
            let plan = bound(&recipe, &call);
            let mut array = Array::new(&call.shape(), &strides);
            array.split_and_permute(&recipe, &plan);
            plan.moved(&call.shape(), &strides, 1, &mut view);
            prop_assert_eq!(&*view.shape, array.shape);
            prop_assert_eq!(addressed(&view), array.elements.concat(), "{}", plan);
        }
    }
}

fn lowered(call: &Drawn, style: Style) -> Recipe {
    let pattern = Pattern::parse(&call.pattern).expect(&call.pattern);
    pattern.lower(call.op, &call.names(), call.shape().len(), style).expect(&call.pattern)
}

fn bound<'r>(recipe: &'r Recipe, call: &Drawn) -> Plan<'r> {
    recipe.bind(&call.shape(), &call.lengths()).expect(&call.pattern)
}

/// For each element of the result the offsets of the elements it is made of, by nothing but the
/// definition: an element is known by its index along each axis.
fn meaning(call: &Drawn, strides: &[i64]) -> Vec<Vec<i64>> {
    let mut steps = vec![0; call.sizes.len()];
    for (dim, stride) in call.inputs.iter().zip(strides) {
        let mut step = *stride;
        for axis in dim.iter().rev() {
            steps[*axis] = step;
            step *= call.sizes[*axis];
        }
    }
    let kept = call.outputs.concat();
    let mut reduced = call.inputs.concat();
    reduced.retain(|axis| !kept.contains(axis));
    let walk = |axes: &[usize]| {
        let pick = |of: &[i64]| axes.iter().map(|axis| of[*axis]).collect::<Vec<_>>();
        offsets(&pick(&call.sizes), &pick(&steps))
    };
    let parts = walk(&reduced);
    walk(&kept).iter().map(|start| parts.iter().map(|part| start + part).collect()).collect()
}

/// The offset of each element of a view, in row-major order.
fn addressed(view: &Strided) -> Vec<i64> {
    offsets(&view.shape, &view.strides)
}

fn offsets(shape: &[i64], strides: &[i64]) -> Vec<i64> {
    let offset = |index: &Vec<i64>| index.iter().zip(strides).map(|(i, s)| i * s).sum();
    indices(shape).iter().map(offset).collect()
}

/// The index of each element, in row-major order.
fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![vec![]], |outer, size| {
        let extended = |index: Vec<i64>| (0..*size).map(move |i| [&index[..], &[i]].concat());
        outer.into_iter().flat_map(extended).collect()
    })
}

fn row_major(shape: &[i64]) -> Vec<i64> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
}

/// The strides under which elements at these offsets are a view, if there are any.
fn as_view(shape: &[i64], wanted: &[i64]) -> Option<Vec<i64>> {
    let one_step = row_major(shape);
    let stride = |axis: usize| match usize::try_from(one_step[axis]) {
        Ok(next) if shape[axis] > 1 => wanted.get(next).map_or(0, |offset| offset - wanted[0]),
        _ => 0,
    };
    let strides: Vec<i64> = (0..shape.len()).map(stride).collect();
    (offsets(shape, &strides) == wanted).then_some(strides)
}

/// How a tensor lies in memory.
#[derive(Clone, Debug)]
enum Memory {
    RowMajor,
    ColumnMajor,
    /// Row-major with gaps, as slices have, and some axes reversed or broadcast.
    Sliced(Vec<i64>),
    Any(Vec<i64>),
}

fn memory() -> impl Strategy<Value = Memory> {
    let numbers = |range| proptest::collection::vec(range, 16);
    prop_oneof![
        1 => Just(Memory::RowMajor),
        1 => Just(Memory::ColumnMajor),
        1 => numbers(-1..3i64).prop_map(Memory::Sliced),
        2 => numbers(-9..10i64).prop_map(Memory::Any),
    ]
}

impl Memory {
    fn strides(&self, shape: &[i64]) -> Vec<i64> {
        let mut strides = row_major(shape);
        match self {
            Self::RowMajor => {}
            Self::ColumnMajor => {
                let reversed: Vec<i64> = shape.iter().rev().copied().collect();
                strides = row_major(&reversed);
                strides.reverse();
            }
            Self::Sliced(gaps) => {
                strides.iter_mut().zip(gaps).for_each(|(stride, gap)| *stride *= gap);
            }
            Self::Any(any) => strides.copy_from_slice(&any[..shape.len()]),
        }
        strides
    }
}

/// A tensor whose elements say of which elements of the input they are made.
#[derive(Clone, Debug)]
struct Array {
    shape: Vec<i64>,
    elements: Vec<Vec<i64>>,
}

impl Array {
    fn new(shape: &[i64], strides: &[i64]) -> Self {
        let elements = offsets(shape, strides).into_iter().map(|offset| vec![offset]).collect();
        Self { shape: shape.to_vec(), elements }
    }

    fn replay(mut self, recipe: &Recipe, plan: &Plan<'_>) -> Self {
        self.split_and_permute(recipe, plan);
        if let Some(axes) = &recipe.reduce {
            self.reduce(axes);
        }
        if let (Some(expand), Some(shape)) = (&recipe.expand, plan.expand()) {
            self.expand(&shape, &expand.added);
        }
        if let Some(shape) = plan.merge() {
            self.reshape(&shape);
        }
        self
    }

    fn split_and_permute(&mut self, recipe: &Recipe, plan: &Plan<'_>) {
        if let Some(shape) = plan.split() {
            self.reshape(&shape);
        }
        if let Some(axes) = &recipe.permute {
            self.permute(axes);
        }
    }

    fn reshape(&mut self, shape: &[i64]) {
        assert_eq!(self.shape.iter().product::<i64>(), shape.iter().product());
        self.shape = shape.to_vec();
    }

    fn permute(&mut self, axes: &[usize]) {
        let shape = axes.iter().map(|axis| self.shape[*axis]).collect();
        self.rebuild(shape, |index| {
            let mut old = vec![0; index.len()];
            axes.iter().zip(index).for_each(|(axis, i)| old[*axis] = *i);
            old
        });
    }

    fn reduce(&mut self, axes: &[usize]) {
        let mut order: Vec<usize> = (0..self.shape.len()).filter(|a| !axes.contains(a)).collect();
        let kept = order.len();
        order.extend(axes);
        self.permute(&order);
        let reduced = self.shape.split_off(kept);
        let (kept, reduced) = (indices(&self.shape).len(), indices(&reduced).len());
        let part = |i: usize| self.elements[i * reduced..(i + 1) * reduced].concat();
        self.elements = (0..kept).map(part).collect();
    }

    /// Broadcasts, after unit axes are inserted at `added` or, by broadcasting itself, in front.
    fn expand(&mut self, shape: &[i64], added: &[usize]) {
        for position in added {
            self.shape.insert(*position, 1);
        }
        let missing = shape.len() - self.shape.len();
        self.shape.splice(0..0, vec![1; missing]);
        let old = self.shape.clone();
        self.rebuild(shape.to_vec(), |index| {
            let stays = |(i, size): (&i64, &i64)| if *size == 1 { 0 } else { *i };
            index.iter().zip(&old).map(stays).collect()
        });
    }

    /// Takes the element at each index from another one.
    fn rebuild(&mut self, shape: Vec<i64>, from: impl Fn(&[i64]) -> Vec<i64>) {
        let strides = row_major(&self.shape);
        let element = |index: Vec<i64>| {
            let place: i64 = from(&index).iter().zip(&strides).map(|(i, s)| i * s).sum();
            self.elements[usize::try_from(place).expect("an index")].clone()
        };
        self.elements = indices(&shape).into_iter().map(element).collect();
        self.shape = shape;
    }
}
