//! Games that trained networks play, and how each network sees the board.

use std::fmt::Debug;

use super::GameSpec;
use crate::encoding::Encoding;
use crate::encoding::dama::{DamaEncoding, PolicyCoding};
use crate::encoding::hive::HiveEncoding;
use crate::game::Heuristic;
use crate::game::dama::Dama;
use crate::game::hive::Hive;

/// A game that networks see in one of several ways, which the specification in a network's file says.
pub trait NetworkGame: Heuristic + Default {
    /// What the game is called.
    const NAME: &'static str;
    /// One of the ways to see it.
    type View: Copy + Debug + PartialEq + Send + Sync;
    /// How it is shown.
    type Encoding: Encoding<Game = Self>;
    /// The way to see it where no network says another.
    const USUAL_VIEW: Self::View;
    /// The exploration (c_puct) with which networks of this game play best, where nobody sets another.
    const EXPLORATION: f32;

    /// Returns how the game is shown in this view.
    fn encoding(&self, view: Self::View) -> Self::Encoding;
    /// Returns the game seen so, as learners and workers tell it each other.
    fn spec(&self, view: Self::View) -> GameSpec;
    /// Returns the view in which `spec` shows the game, `None` if it is another game.
    fn view_of(spec: &GameSpec) -> Option<Self::View>;
}

impl NetworkGame for Hive {
    const NAME: &'static str = "Hive";
    /// Side of the frame.
    type View = u8;
    type Encoding = HiveEncoding;
    const USUAL_VIEW: u8 = HiveEncoding::FRAME_DEFAULT;
    // Measured: docs/training.md, "How far a search of Hive explores".
    const EXPLORATION: f32 = 1.25;

    fn encoding(&self, frame: u8) -> HiveEncoding {
        HiveEncoding::new(*self, frame)
    }

    fn spec(&self, frame: u8) -> GameSpec {
        GameSpec::Hive { rules: *self.rules(), frame }
    }

    fn view_of(spec: &GameSpec) -> Option<u8> {
        if let GameSpec::Hive { frame, .. } = spec { Some(*frame) } else { None }
    }
}

impl NetworkGame for Dama {
    const NAME: &'static str = "Italian draughts";
    type View = PolicyCoding;
    type Encoding = DamaEncoding;
    const USUAL_VIEW: PolicyCoding = PolicyCoding::Lossless;
    // 81.5 % of the points against `mcts:400` where 2.5 had 64 % (docs/training.md).
    const EXPLORATION: f32 = 1.0;

    fn encoding(&self, coding: PolicyCoding) -> DamaEncoding {
        DamaEncoding::new(*self, coding)
    }

    fn spec(&self, policy: PolicyCoding) -> GameSpec {
        GameSpec::Dama { rules: *self.rules(), policy }
    }

    fn view_of(spec: &GameSpec) -> Option<PolicyCoding> {
        if let GameSpec::Dama { policy, .. } = spec { Some(*policy) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<G: NetworkGame>(view: G::View) {
        assert_eq!(G::view_of(&G::default().spec(view)), Some(view));
    }

    #[test]
    fn a_specification_says_how_the_board_is_seen() {
        check::<Hive>(8);
        check::<Hive>(Hive::USUAL_VIEW);
        check::<Dama>(PolicyCoding::Lossless);
        check::<Dama>(PolicyCoding::From4);
        assert_eq!(Hive::view_of(&Dama::default().spec(PolicyCoding::From4)), None);
    }
}
