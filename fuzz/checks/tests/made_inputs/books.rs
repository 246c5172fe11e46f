//! Opening books: some first moves of draughts.

use book::{BookBuilder, OpeningWalk, encode};
use shared::catalog::NetworkGame;
use shared::game::dama::Dama;
use shared::game::{Game, Outcome, Side};

use super::{Input, cut_off};

pub fn inputs() -> Vec<Input> {
    let dama = Dama::default();
    let encoding = dama.encoding(Dama::USUAL_VIEW);
    let mut builder = BookBuilder::default();
    for (texts, outcome) in [
        (["21-17", "9-13"], Outcome::Win(Side::White)),
        (["21-17", "12-16"], Outcome::Draw),
        (["22-19", "12-16"], Outcome::Win(Side::Black)),
    ] {
        let mut walk = OpeningWalk::new(&encoding, 16);
        for text in texts {
            let mv = dama.parse_move(walk.position(), text).expect("a legal move");
            walk.play(mv, true);
        }
        builder.add(&walk.into_steps(), outcome);
    }
    let whole = encode(&builder.finish(&dama, 16, 1).expect("a book"));
    let mut damaged = whole.clone();
    damaged[120] ^= 1;
    vec![("book/cut_off", cut_off(&whole, 1)), ("book/damaged", damaged), ("book/first_moves", whole)]
}
