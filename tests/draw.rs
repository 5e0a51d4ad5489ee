//! Turns random bytes into valid calls and what they mean: shared by `cases.rs` and `round_trip.rs`.

use std::slice::Iter;

use einrs::Op;
use proptest::prelude::*;

/// One for each axis that a call may have.
const NAMES: [&str; 9] = ["a", "b", "height", "x_1", "é", "高", "axis", "K2", "if"];
const SIZES: [i64; 8] = [2, 3, 1, 2, 5, 4, 1, 0];
const MAX_ELEMENTS: i64 = 300;

/// A call that must succeed. Its axes are numbered: those written on the left, those the ellipsis
/// stands for, the new ones.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) op: Op,
    /// In the form a pattern prints.
    pub(crate) pattern: String,
    pub(crate) given: Vec<(&'static str, i64)>,
    /// The length of each axis.
    pub(crate) sizes: Vec<i64>,
    /// The axes of each dimension of the tensor.
    pub(crate) inputs: Vec<Vec<usize>>,
    /// The axes of each dimension of the result.
    pub(crate) outputs: Vec<Vec<usize>>,
}

impl Drawn {
    pub(crate) fn shape(&self) -> Vec<i64> {
        self.inputs.iter().map(|dim| self.product(dim)).collect()
    }

    pub(crate) fn output(&self) -> Vec<i64> {
        self.outputs.iter().map(|dim| self.product(dim)).collect()
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.given.iter().map(|(name, _)| *name).collect()
    }

    pub(crate) fn lengths(&self) -> Vec<i64> {
        self.given.iter().map(|(_, length)| *length).collect()
    }

    fn product(&self, axes: &[usize]) -> i64 {
        axes.iter().map(|axis| self.sizes[*axis]).product()
    }
}

/// Valid calls of any operation. Fewer and smaller bytes make a simpler call, so that a failure
/// shrinks to one.
pub(crate) fn calls() -> impl Strategy<Value = Drawn> {
    proptest::collection::vec(any::<u8>(), 0..100).prop_map(|bytes| Builder::new(&bytes).build())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Axis(usize),
    Ellipsis,
}

/// A dimension as written; without parts it is `1` or, in brackets, `()`.
struct Group {
    parts: Vec<Part>,
    brackets: bool,
}

struct Builder<'b> {
    bytes: Iter<'b, u8>,
    op: Op,
    sizes: Vec<i64>,
    /// How each axis is written: a name or a number.
    texts: Vec<String>,
    /// The name of each axis that has one.
    names: Vec<Option<&'static str>>,
    ellipsis: Vec<usize>,
}

impl<'b> Builder<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let mut bytes = bytes.iter();
        let op = match bytes.next().map_or(0, |byte| byte % 3) {
            0 => Op::Rearrange,
            1 => Op::Reduce,
            _ => Op::Repeat,
        };
        Self {
            bytes,
            op,
            sizes: Vec::new(),
            texts: Vec::new(),
            names: Vec::new(),
            ellipsis: Vec::new(),
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % limit)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 1
    }

    fn build(mut self) -> Drawn {
        let left = self.left_parts();
        let right = self.right_parts(&left);
        let left = self.groups(&left, true);
        let right = self.groups(&right, false);
        let given = self.given(&left);
        let written = [&left, &right].map(|side| {
            let dims: Vec<String> = side.iter().map(|group| self.written(group)).collect();
            dims.join(" ")
        });
        Drawn {
            op: self.op,
            pattern: written.join(" -> ").trim().into(),
            given,
            inputs: self.dims(&left),
            outputs: self.dims(&right),
            sizes: self.sizes,
        }
    }

    fn left_parts(&mut self) -> Vec<Part> {
        let count = self.below(6);
        let mut parts: Vec<Part> = (0..count).map(|_| Part::Axis(self.axis(false))).collect();
        if let Some(rank) = [None, Some(1), Some(2), Some(0), None, None][self.below(6)] {
            self.ellipsis = (0..rank).map(|_| self.axis(true)).collect();
            let place = self.below(count + 1);
            parts.insert(place, Part::Ellipsis);
        }
        parts
    }

    /// What stays of the left side and what is new, in any order.
    fn right_parts(&mut self, left: &[Part]) -> Vec<Part> {
        let mut parts = left.to_vec();
        if self.op == Op::Reduce {
            parts.retain(|_| self.below(3) != 1);
            for axis in left.iter().filter(|part| !parts.contains(part)) {
                self.make_anonymous(*axis);
            }
        }
        if self.op == Op::Repeat {
            for _ in 0..self.below(3) {
                let new = Part::Axis(self.axis(false));
                self.make_anonymous(new);
                parts.push(new);
            }
        }
        for i in 0..parts.len() {
            let other = i + self.below(parts.len() - i);
            parts.swap(i, other);
        }
        parts
    }

    fn axis(&mut self, in_ellipsis: bool) -> usize {
        let room = MAX_ELEMENTS / self.sizes.iter().product::<i64>().max(1);
        let size = SIZES[self.below(SIZES.len())].min(room);
        let name = NAMES[self.sizes.len()];
        self.sizes.push(size);
        self.texts.push(name.into());
        self.names.push((!in_ellipsis).then_some(name));
        self.sizes.len() - 1
    }

    /// Sometimes writes an axis that stands on one side only as a number.
    fn make_anonymous(&mut self, part: Part) {
        if let Part::Axis(axis) = part
            && self.sizes[axis] > 1
            && self.chance()
        {
            self.texts[axis] = self.sizes[axis].to_string();
            self.names[axis] = None;
        }
    }

    /// Puts parts into dimensions, with units between them. On the left the ellipsis stands alone.
    fn groups(&mut self, parts: &[Part], is_left: bool) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for part in parts {
            if self.below(6) == 5 {
                let brackets = self.chance();
                groups.push(Group { parts: Vec::new(), brackets });
            }
            let alone = is_left && *part == Part::Ellipsis;
            let joins = self.chance() && !alone;
            if let Some(group) = groups.last_mut().filter(|group| group.brackets && joins) {
                group.parts.push(*part);
                continue;
            }
            let brackets = self.chance() && !alone;
            groups.push(Group { parts: vec![*part], brackets });
        }
        groups
    }

    /// The lengths of the new axes, and of all axes of each input dimension but at most one.
    fn given(&mut self, left: &[Group]) -> Vec<(&'static str, i64)> {
        let mut inferred: Vec<usize> = self.ellipsis.clone();
        for group in left {
            let named: Vec<usize> =
                group.parts.iter().filter_map(|part| self.named(*part)).collect();
            let Some(axis) = named.get(self.below(named.len() + 1)) else { continue };
            let others = group.parts.iter().filter(|part| **part != Part::Axis(*axis));
            // Nothing can be inferred beside a length of 0.
            if others.map(|part| self.size(*part)).product::<i64>() != 0 {
                inferred.push(*axis);
            }
        }
        let mut known: Vec<usize> = (0..self.sizes.len()).collect();
        known.retain(|axis| !inferred.contains(axis));
        if self.chance() {
            known.reverse();
        }
        known.into_iter().filter_map(|axis| Some((self.names[axis]?, self.sizes[axis]))).collect()
    }

    fn named(&self, part: Part) -> Option<usize> {
        match part {
            Part::Axis(axis) => self.names[axis].map(|_| axis),
            Part::Ellipsis => None,
        }
    }

    fn size(&self, part: Part) -> i64 {
        match part {
            Part::Axis(axis) => self.sizes[axis],
            Part::Ellipsis => 1,
        }
    }

    fn written(&self, group: &Group) -> String {
        let parts: Vec<&str> = group
            .parts
            .iter()
            .map(|part| match part {
                Part::Axis(axis) => self.texts[*axis].as_str(),
                Part::Ellipsis => "...",
            })
            .collect();
        match (group.brackets, parts.is_empty()) {
            (true, _) => format!("({})", parts.join(" ")),
            (false, true) => "1".into(),
            (false, false) => parts.join(" "),
        }
    }

    fn dims(&self, groups: &[Group]) -> Vec<Vec<usize>> {
        let mut dims = Vec::new();
        for group in groups {
            if group.parts == [Part::Ellipsis] && !group.brackets {
                dims.extend(self.ellipsis.iter().map(|axis| vec![*axis]));
                continue;
            }
            dims.push(
                group
                    .parts
                    .iter()
                    .flat_map(|part| match part {
                        Part::Axis(axis) => vec![*axis],
                        Part::Ellipsis => self.ellipsis.clone(),
                    })
                    .collect(),
            );
        }
        dims
    }
}
