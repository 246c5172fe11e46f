//! Games whose networks are known by their shape: which game they play, and how they see it.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use super::dama::{DamaEncoding, PolicyCoding};
use super::hive::HiveEncoding;
use super::{Encoding, PlaneShape};
use crate::game::Appraise;
use crate::game::catalog::GameSpec;
use crate::game::dama::{Dama, Move};
use crate::game::hive::Hive;

/// A game that networks see in one of several ways, which the shape of a network tells.
pub trait Shown: Appraise + Default {
    /// What the game is called.
    const NAME: &'static str;
    /// One of the ways to see it.
    type View: Copy + Debug + PartialEq + Send + Sync;
    /// How it is shown.
    type Encoding: Encoding<Game = Self>;
    /// The way to see it where no network says another.
    const USUAL_VIEW: Self::View;

    /// Returns the view of a network with these planes and so many policy indices, `None` if there is none.
    fn view(planes: PlaneShape, policy_size: usize) -> Option<Self::View>;
    /// Returns how the game is shown in this view.
    fn encoding(&self, view: Self::View) -> Self::Encoding;
    /// Returns the game seen so, as learners and workers tell it each other.
    fn spec(&self, view: Self::View) -> GameSpec;
    /// Returns the view in which `spec` shows the game, `None` if it is another game.
    fn view_of(spec: &GameSpec) -> Option<Self::View>;
}

impl Shown for Hive {
    const NAME: &'static str = "Hive";
    /// Side of the frame.
    type View = u8;
    type Encoding = HiveEncoding;
    const USUAL_VIEW: u8 = HiveEncoding::FRAME_DEFAULT;

    fn view(planes: PlaneShape, _policy_size: usize) -> Option<u8> {
        const FRAMES: RangeInclusive<u8> = HiveEncoding::FRAMES;
        u8::try_from(planes.rows).ok().filter(|frame| FRAMES.contains(frame))
    }

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

impl Shown for Dama {
    const NAME: &'static str = "Italian draughts";
    type View = PolicyCoding;
    type Encoding = DamaEncoding;
    const USUAL_VIEW: PolicyCoding = PolicyCoding::Lossless;

    fn view(_planes: PlaneShape, policy_size: usize) -> Option<PolicyCoding> {
        let coding = if policy_size == Move::COUNT { PolicyCoding::Lossless } else { PolicyCoding::From4 };
        (coding.size() == policy_size).then_some(coding)
    }

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

/// Returns the game that a network with these planes and so many policy indices plays, by its usual rules; `None` if it
/// is none of those that are known so.
#[must_use]
pub fn game_of_network(planes: PlaneShape, policy_size: usize) -> Option<GameSpec> {
    fn of<G: Shown>(planes: PlaneShape, policy_size: usize) -> Option<GameSpec> {
        let view = G::view(planes, policy_size)?;
        let encoding = G::default().encoding(view);
        let is_it = encoding.plane_shape() == planes && encoding.policy_size() == policy_size;
        is_it.then(|| encoding.game().spec(view))
    }
    of::<Hive>(planes, policy_size).or_else(|| of::<Dama>(planes, policy_size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<G: Shown>(view: G::View) {
        let encoding = G::default().encoding(view);
        let spec = game_of_network(encoding.plane_shape(), encoding.policy_size()).expect("a known game");
        assert_eq!(spec, G::default().spec(view));
        assert_eq!(G::view_of(&spec), Some(view));
    }

    #[test]
    fn a_network_tells_its_game() {
        check::<Hive>(8);
        check::<Hive>(Hive::USUAL_VIEW);
        check::<Dama>(PolicyCoding::Lossless);
        check::<Dama>(PolicyCoding::From4);
        assert_eq!(game_of_network(PlaneShape { planes: 2, rows: 3, columns: 3 }, 9), None);
        assert_eq!(Hive::view_of(&Dama::default().spec(PolicyCoding::From4)), None);
    }
}
