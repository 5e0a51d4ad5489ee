//! Checks the strided copy against one element at a time, for any shape, strides and item size.

#[path = "../src/copy.rs"]
mod copy;

use copy::copy_strided;
use proptest::prelude::*;

const ITEMS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// What surrounds the target, and is in it before the copy.
const UNTOUCHED: u8 = 0xEE;
const MARGIN: usize = 3;

/// A view in bytes and the memory it lies in.
#[derive(Debug)]
struct View {
    shape: Vec<i64>,
    strides: Vec<i64>,
    item: usize,
    memory: Vec<u8>,
    /// Where in the memory its first element is.
    start: usize,
}

impl View {
    fn new(shape: Vec<i64>, strides: Vec<i64>, item: usize) -> Self {
        let reach = |sign: i64| -> usize {
            let ends = shape.iter().zip(&strides).map(|(n, stride)| stride * (n - 1).max(0));
            let reach: i64 = ends.filter(|end| end.signum() == sign).sum();
            usize::try_from(reach.abs()).expect("small")
        };
        let (start, size) = (reach(-1), reach(-1) + reach(1) + item);
        let memory = (0..size).map(|i| u8::try_from(i * 37 % 233).expect("below 233")).collect();
        Self { shape, strides, item, memory, start }
    }

    fn elements(&self) -> usize {
        usize::try_from(self.shape.iter().product::<i64>()).expect("small")
    }

    /// The bytes of the elements in row-major order, one element at a time.
    fn expected(&self) -> Vec<u8> {
        let mut index = vec![0; self.shape.len()];
        let mut bytes = Vec::new();
        for _ in 0..self.elements() {
            let offset: i64 = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
            let at = self.start.checked_add_signed(isize::try_from(offset).expect("small"));
            let at = at.expect("within the memory");
            bytes.extend(&self.memory[at..at + self.item]);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < self.shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        bytes
    }

    /// What the copy says and what is then in the target, margins included.
    fn copied(&self) -> (bool, Vec<u8>) {
        let mut target = vec![UNTOUCHED; self.elements() * self.item + 2 * MARGIN];
        // SAFETY: the memory holds every element, see `new`; the target holds as many bytes as
        // they have between its margins; they are two vectors.
        let copied = unsafe {
            let to = target.as_mut_ptr().add(MARGIN);
            let from = self.memory.as_ptr().add(self.start);
            copy_strided(to, from, &self.shape, &self.strides, self.item)
        };
        (copied, target)
    }

    fn is_copied(&self) -> bool {
        let margin = [UNTOUCHED; MARGIN];
        self.copied() == (true, [&margin, &*self.expected(), &margin].concat())
    }

    fn is_refused(&self) -> bool {
        let (copied, target) = self.copied();
        !copied && target.iter().all(|byte| *byte == UNTOUCHED)
    }
}

fn row_major(shape: &[i64], item: usize) -> Vec<i64> {
    let item = i64::try_from(item).expect("small");
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<i64>() * item).collect()
}

fn item() -> impl Strategy<Value = usize> {
    prop::sample::select(&ITEMS)
}

fn shape() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![1 => Just(0), 20 => 1..5i64], 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn any_strides_are_followed(
        shape in shape(),
        strides in prop::collection::vec(prop_oneof![Just(0), -70..70i64], 5),
        item in item(),
    ) {
        let strides = strides[..shape.len()].to_vec();
        let view = View::new(shape, strides, item);
        prop_assert!(view.is_copied());
    }

    /// Row-major memory with axes swapped, reversed, thinned out or broadcast: most neighbours
    /// can be joined.
    #[test]
    fn axes_that_can_be_joined_are_followed(
        shape in shape(),
        factors in prop::collection::vec(prop::sample::select(vec![1, 1, 1, 1, -1, 2, 0]), 5),
        swap in any::<[prop::sample::Index; 2]>(),
        item in item(),
    ) {
        let mut strides = row_major(&shape, item);
        strides.iter_mut().zip(factors).for_each(|(stride, factor)| *stride *= factor);
        let mut shape = shape;
        if !shape.is_empty() {
            let [a, b] = swap.map(|index| index.index(shape.len()));
            shape.swap(a, b);
            strides.swap(a, b);
        }
        let view = View::new(shape, strides, item);
        prop_assert!(view.is_copied());
    }
}

#[test]
fn up_to_16_axes_are_walked() {
    // Of equal strides no neighbours can be joined.
    assert!(View::new(vec![2; 16], vec![1; 16], 1).is_copied());
    assert!(View::new(vec![2; 17], vec![1; 17], 1).is_refused());
}

#[test]
fn axes_that_can_be_joined_and_units_are_not_counted() {
    let shape = vec![2; 14];
    for item in ITEMS {
        let mut strides = row_major(&shape, item);
        assert!(View::new(shape.clone(), strides.clone(), item).is_copied());
        strides.extend([99; 20]);
        let units = [&shape[..], &[1; 20]].concat();
        assert!(View::new(units, strides, item).is_copied());
    }
    let broadcast = View::new(vec![2; 17], vec![0; 17], 4);
    assert!(broadcast.is_copied());
}

#[test]
fn a_scalar_and_an_empty_view_are_copied() {
    for item in ITEMS {
        assert!(View::new(vec![], vec![], item).is_copied());
        assert!(View::new(vec![3, 0, 2], vec![5, 6, 7], item).is_copied());
        assert!(View::new(vec![0], vec![i64::MIN], item).is_copied());
    }
}

#[test]
fn items_of_other_sizes_are_refused() {
    for item in [0, 3, 5, 12, 24, 64] {
        assert!(View::new(vec![2, 3], vec![200, 64], item).is_refused());
    }
}
