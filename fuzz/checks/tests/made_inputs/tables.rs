//! Endgame tables: one man against one, the smallest that there is.

use tables::{TableSet, encode, solve};

use super::{Input, cut_off};

pub fn inputs() -> Vec<Input> {
    let class = "MvM".parse().expect("a class");
    // Men that become kings lead to tables that are needed first.
    let mut tables = TableSet::default();
    for class in tables::classes_of(2) {
        let table = solve(class, &tables, &mut |_| {});
        tables.insert(table);
    }
    let whole = encode(tables.table(class).expect("it was solved"));
    let mut damaged = whole.clone();
    damaged[100] ^= 1;
    vec![
        ("endgame_table/cut_off", cut_off(&whole, 1)),
        ("endgame_table/damaged", damaged),
        ("endgame_table/man_against_man", whole),
    ]
}
