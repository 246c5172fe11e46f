//! The games whose networks this program can play, and how such networks see them.

use std::ops::RangeInclusive;

use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, PlaneShape};
use shared::game::Game;
use shared::game::dama::{Dama, Move};
use shared::game::hive::Hive;

/// A game that networks see in one of several ways, which the shape of a network tells.
pub trait Shown: Game + Default {
    /// What the game is called.
    const NAME: &'static str;
    /// One of the ways to see it.
    type View: Copy + std::fmt::Debug + PartialEq;
    /// How it is shown.
    type Encoding: Encoding<Game = Self>;

    /// Returns the view of a network with these planes and so many policy indices, `None` if there is none.
    fn view(planes: PlaneShape, policy_size: usize) -> Option<Self::View>;
    /// Returns how the game is shown in this view.
    fn encoding(&self, view: Self::View) -> Self::Encoding;
}

impl Shown for Hive {
    const NAME: &'static str = "Hive";
    /// Side of the frame.
    type View = u8;
    type Encoding = HiveEncoding;

    fn view(planes: PlaneShape, _policy_size: usize) -> Option<u8> {
        const FRAMES: RangeInclusive<u8> = HiveEncoding::FRAMES;
        u8::try_from(planes.rows).ok().filter(|frame| FRAMES.contains(frame))
    }

    fn encoding(&self, frame: u8) -> HiveEncoding {
        HiveEncoding::new(*self, frame)
    }
}

impl Shown for Dama {
    const NAME: &'static str = "Italian draughts";
    type View = PolicyCoding;
    type Encoding = DamaEncoding;

    fn view(_planes: PlaneShape, policy_size: usize) -> Option<PolicyCoding> {
        let coding = if policy_size == Move::COUNT { PolicyCoding::Lossless } else { PolicyCoding::From4 };
        (coding.size() == policy_size).then_some(coding)
    }

    fn encoding(&self, coding: PolicyCoding) -> DamaEncoding {
        DamaEncoding::new(*self, coding)
    }
}
