//! Computes the table of a class, once those that its captures and promotions lead to are there.
//!
//! Positions whose men stand alike are connected by moves of kings alone, and are solved together by retrograde analysis
//! (Thompson 1986): `kings`. A move of a man leads to men that stand further forward, so all ways of the men to stand are
//! taken from the furthest back to the start; those that are equally far are independent, and several threads solve them.

mod kings;

use rayon::prelude::*;

use crate::class::{Class, Men};
use crate::set::{ClassTable, TableSet};
use kings::{KingsSolver, Solved};

/// Bytes of solved positions that wait until they are written to the table.
const WAITING_BYTES_MAX: usize = 32 << 20;
/// Ways of the men to stand that wait at most, and at least.
const WAITING_COUNTS: std::ops::RangeInclusive<usize> = 64..=1 << 16;

/// Returns the table of `class`. `known` has the tables of all classes that its captures and promotions lead to; `progress`
/// gets the number of positions solved since it was last called. Uses the threads of the present pool of rayon.
pub fn solve(class: Class, known: &TableSet, progress: &mut (dyn FnMut(u64) + Send)) -> ClassTable {
    let mut table = ClassTable::empty(class);
    // A class whose sides have the same pieces holds each position twice, once turned: one of the two is solved.
    let is_needed = |men: &Men| !class.is_symmetric() || class.men_index(*men) <= class.men_index(men.turned());
    let mut all: Vec<Men> = class.all_men().into_iter().filter(is_needed).collect();
    all.sort_by_key(|men| std::cmp::Reverse(men.advance()));
    let waiting = (WAITING_BYTES_MAX / (2 * class.kings_count())).clamp(*WAITING_COUNTS.start(), *WAITING_COUNTS.end());
    for equally_far in all.chunk_by(|one, other| one.advance() == other.advance()) {
        for men in equally_far.chunks(waiting) {
            let solved: Vec<Solved> = men
                .par_iter()
                .map_init(|| KingsSolver::new(class, known), |solver, men| solver.solve(*men, &table))
                .collect();
            solved.iter().zip(men).for_each(|(solved, men)| write(&mut table, *men, solved));
            progress((men.len() * class.kings_count() * class.sides().len()) as u64);
        }
    }
    table
}

/// Copies the positions with these men to their places.
fn write(table: &mut ClassTable, men: Men, [white, black]: &Solved) {
    let class = table.class();
    let first = class.men_index(men) * class.kings_count();
    table.bytes_mut()[first..][..white.len()].copy_from_slice(white);
    if !class.is_symmetric() {
        table.bytes_mut()[class.half() + first..][..black.len()].copy_from_slice(black);
        return;
    }
    let turned = men.turned();
    let turned_first = class.men_index(turned) * class.kings_count();
    let mut index = 0;
    kings::each(class, men, |white_kings, black_kings| {
        let place = class.kings_index(turned, black_kings.reverse_bits(), white_kings.reverse_bits());
        table.bytes_mut()[turned_first + place] = black[index];
        index += 1;
    });
}

#[cfg(test)]
mod tests;
