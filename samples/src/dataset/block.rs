//! A block: whole games in bytes, after a head with length and checksum.
//!
//! Nothing here reads or writes a file, and no bytes make it panic.

use shared::encoding::{Ending, Outlook};
use shared::game::{Outcome, Side};
use shared::record::{PolicyTarget, PolicyTargetError, Sample};
use xxhash_rust::xxh3::xxh3_64;

use super::{DataSetGame, take};
use crate::buffer::compact::{pack_target, unpack_target};

/// First bytes of a block.
pub(super) const MAGIC: [u8; 4] = *b"ALVB";
/// Bytes of a block's head.
pub(super) const HEAD_BYTES: usize = 32;
/// Bytes of the head that its checksum is of.
const CHECKED_BYTES: usize = 24;
/// Most bytes of games in one block: one game never takes so many.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1 << 28;

/// Flags of a game: bits 0-1 who won, bit 2 cut off, bit 3 begun from an endgame.
const WHITE_WON: u8 = 1;
const BLACK_WON: u8 = 2;
const CUT_OFF: u8 = 4;
const FROM_ENDGAME: u8 = 8;
/// Flags of a sample.
const BLACK_TO_MOVE: u8 = 1;
const SEARCHED: u8 = 2;
const WITH_OUTLOOK: u8 = 4;
const WITH_ENDING: u8 = 8;

/// The head of a block: what is known before its games are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub payload_length: u32,
    pub game_count: u32,
    pub sample_count: u32,
    pub checksum: u64,
}

/// Why bytes are not a block.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum BlockError {
    #[error("the checksum of a block differs")]
    Checksum,
    #[error("a block contradicts itself")]
    Contradiction,
    #[error(transparent)]
    PolicyTarget(#[from] PolicyTargetError),
}

/// A position of a game is too large to be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {index}: its {what} takes {byte_count} bytes, at most 65,535 can be written")]
pub struct TooLarge {
    index: usize,
    what: &'static str,
    byte_count: usize,
}

impl Head {
    /// Makes the head of a block with these games.
    pub fn of(payload: &[u8], game_count: u32, sample_count: u32) -> Self {
        Self { payload_length: payload.len() as u32, game_count, sample_count, checksum: xxh3_64(payload) }
    }

    pub fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.payload_length.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.game_count.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.sample_count.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.checksum.to_le_bytes());
        let own = xxh3_64(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// Reads a head; `None` if these bytes are not a head.
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (checked, own) = bytes.split_at(CHECKED_BYTES);
        let mut rest = checked.strip_prefix(&MAGIC).filter(|_| own == xxh3_64(checked).to_le_bytes())?;
        let mut number = || take(&mut rest).map(u32::from_le_bytes);
        let (payload_length, game_count, sample_count) = (number()?, number()?, number()?);
        let checksum = u64::from_le_bytes(take(&mut rest)?);
        let is_small = payload_length as usize <= PAYLOAD_BYTES_MAX;
        is_small.then_some(Self { payload_length, game_count, sample_count, checksum })
    }

    /// Reads the games behind this head.
    ///
    /// # Errors
    /// [`BlockError::Checksum`] if they are not what was written; another [`BlockError`] if they are no games.
    pub fn games(self, payload: &[u8]) -> Result<Vec<DataSetGame>, BlockError> {
        if payload.len() != self.payload_length as usize || xxh3_64(payload) != self.checksum {
            return Err(BlockError::Checksum);
        }
        let mut rest = payload;
        let mut games = Vec::new();
        while !rest.is_empty() {
            games.push(read_game(&mut rest)?);
        }
        let sample_count: usize = games.iter().map(|game| game.samples.len()).sum();
        let is_complete = (games.len(), sample_count) == (self.game_count as usize, self.sample_count as usize);
        if is_complete { Ok(games) } else { Err(BlockError::Contradiction) }
    }
}

/// Appends a game to the games of a block.
///
/// # Errors
/// [`TooLarge`] if a position does not fit; `payload` is then as before.
pub(super) fn write_game(game: &DataSetGame, payload: &mut Vec<u8>) -> Result<(), TooLarge> {
    let start = payload.len();
    let result = match game.outcome {
        Outcome::Draw => 0,
        Outcome::Win(Side::White) => WHITE_WON,
        Outcome::Win(Side::Black) => BLACK_WON,
    };
    let flags = [(game.is_cut_off, CUT_OFF), (game.is_from_endgame, FROM_ENDGAME)];
    payload.push(flags.iter().fold(result, |flags, (is_set, flag)| if *is_set { flags | flag } else { flags }));
    payload.extend(game.ply_count.to_le_bytes());
    payload.extend((game.samples.len() as u32).to_le_bytes());
    let mut target = Vec::new();
    for (index, sample) in game.samples.iter().enumerate() {
        target.clear();
        pack_target(sample.policy_target.pairs(), &mut target);
        let length = |what, bytes: &[u8]| {
            u16::try_from(bytes.len()).map_err(|_| TooLarge { index, what, byte_count: bytes.len() })
        };
        let lengths =
            length("packed form", &sample.packed).and_then(|packed| Ok((packed, length("policy target", &target)?)));
        let (packed_length, target_length) = lengths.inspect_err(|_| payload.truncate(start))?;
        let side = if sample.side == Side::Black { BLACK_TO_MOVE } else { 0 };
        let ending = sample.outlook.and_then(|outlook| outlook.ending);
        let flags = [
            (sample.search_value.is_some(), SEARCHED),
            (sample.outlook.is_some(), WITH_OUTLOOK),
            (ending.is_some(), WITH_ENDING),
        ];
        payload.push(flags.iter().fold(side, |flags, (is_set, flag)| if *is_set { flags | flag } else { flags }));
        payload.extend(packed_length.to_le_bytes());
        payload.extend(target_length.to_le_bytes());
        payload.extend(sample.search_value.map(f32::to_le_bytes).iter().flatten());
        payload.extend(sample.outlook.map(|outlook| outlook.movers.to_le_bytes()).iter().flatten());
        if let Some(Ending { plies_left, counts }) = ending {
            payload.extend(plies_left.to_le_bytes());
            payload.extend(counts);
        }
        payload.extend_from_slice(&sample.packed);
        payload.extend_from_slice(&target);
    }
    Ok(())
}

fn read_game(rest: &mut &[u8]) -> Result<DataSetGame, BlockError> {
    let [flags] = take(rest).ok_or(BlockError::Contradiction)?;
    let outcome = match flags & !(CUT_OFF | FROM_ENDGAME) {
        0 => Outcome::Draw,
        WHITE_WON => Outcome::Win(Side::White),
        BLACK_WON => Outcome::Win(Side::Black),
        _ => return Err(BlockError::Contradiction),
    };
    let mut number = || take(rest).map(u32::from_le_bytes).ok_or(BlockError::Contradiction);
    let (ply_count, sample_count) = (number()?, number()?);
    // Collected one by one: no memory is allocated for a count that a damaged file states.
    let samples = (0..sample_count).map(|_| read_sample(rest, outcome)).collect::<Result<_, _>>()?;
    let (is_cut_off, is_from_endgame) = (flags & CUT_OFF != 0, flags & FROM_ENDGAME != 0);
    Ok(DataSetGame { outcome, is_from_endgame, is_cut_off, ply_count, samples })
}

fn read_sample(rest: &mut &[u8], outcome: Outcome) -> Result<Sample, BlockError> {
    let [flags] = take(rest).ok_or(BlockError::Contradiction)?;
    let mut length = || take(rest).map(u16::from_le_bytes).map(usize::from).ok_or(BlockError::Contradiction);
    let (packed_length, target_length) = (length()?, length()?);
    let search_value = match flags & SEARCHED {
        0 => None,
        _ => Some(take(rest).map(f32::from_le_bytes).ok_or(BlockError::Contradiction)?),
    };
    let outlook = match flags & (WITH_OUTLOOK | WITH_ENDING) {
        0 => None,
        WITH_ENDING => return Err(BlockError::Contradiction),
        kept => Some(read_outlook(rest, kept & WITH_ENDING != 0).ok_or(BlockError::Contradiction)?),
    };
    let is_value = search_value.is_none_or(|value| (-1.0..=1.0).contains(&value));
    if flags & !(BLACK_TO_MOVE | SEARCHED | WITH_OUTLOOK | WITH_ENDING) != 0 || !is_value {
        return Err(BlockError::Contradiction);
    }
    let (bytes, after) = rest.split_at_checked(packed_length + target_length).ok_or(BlockError::Contradiction)?;
    *rest = after;
    let (packed, target) = bytes.split_at(packed_length);
    let mut pairs = Vec::new();
    unpack_target(target, &mut pairs);
    let side = if flags & BLACK_TO_MOVE == 0 { Side::White } else { Side::Black };
    Ok(Sample {
        packed: packed.to_vec(),
        side,
        policy_target: PolicyTarget::from_bytes(&pairs)?,
        outcome_value: outcome.value_for(side).get(),
        search_value,
        outlook,
    })
}

fn read_outlook(rest: &mut &[u8], with_ending: bool) -> Option<Outlook> {
    let movers = u32::from_le_bytes(take(rest)?);
    let ending = match with_ending {
        false => None,
        true => Some(Ending { plies_left: u16::from_le_bytes(take(rest)?), counts: take(rest)? }),
    };
    Some(Outlook { movers, ending })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Games as a run might have played them.
    pub fn games() -> impl Strategy<Value = Vec<DataSetGame>> {
        prop::collection::vec(game(), 0..6)
    }

    pub fn game() -> impl Strategy<Value = DataSetGame> {
        let outcome = prop::sample::select(vec![Outcome::Draw, Outcome::Win(Side::White), Outcome::Win(Side::Black)]);
        let visits = prop::collection::btree_map(any::<u16>(), 1u32..=65_535, 1..20);
        let packed = prop::collection::vec(any::<u8>(), 0..40);
        let ending = any::<(u16, [u8; 4])>().prop_map(|(plies_left, counts)| Ending { plies_left, counts });
        let outlook = (any::<u32>(), prop::option::of(ending)).prop_map(|(movers, ending)| Outlook { movers, ending });
        let searched = prop::option::of(-1.0f32..=1.0);
        let sample = (packed, any::<bool>(), visits, searched, prop::option::of(outlook));
        (outcome, any::<(bool, bool)>(), any::<u32>(), prop::collection::vec(sample, 0..12)).prop_map(
            |(outcome, (is_from_endgame, is_cut_off), ply_count, samples)| {
                let sample = |(packed, is_black, visits, search_value, outlook)| {
                    let side = if is_black { Side::Black } else { Side::White };
                    let policy_target = PolicyTarget::from_visits(visits).expect("visited");
                    let outcome_value = outcome.value_for(side).get();
                    Sample { packed, side, policy_target, outcome_value, search_value, outlook }
                };
                {
                    let samples = samples.into_iter().map(sample).collect();
                    DataSetGame { outcome, is_from_endgame, is_cut_off, ply_count, samples }
                }
            },
        )
    }

    fn written(games: &[DataSetGame]) -> (Head, Vec<u8>) {
        let mut payload = Vec::new();
        games.iter().for_each(|game| write_game(game, &mut payload).expect("small games"));
        let sample_count = games.iter().map(|game| game.samples.len()).sum::<usize>();
        (Head::of(&payload, games.len() as u32, sample_count as u32), payload)
    }

    proptest! {
        #[test]
        fn games_come_back_as_they_were(games in games()) {
            let (head, payload) = written(&games);
            prop_assert_eq!(Head::read(&head.to_bytes()), Some(head));
            prop_assert_eq!(head.games(&payload), Ok(games));
        }

        #[test]
        fn rubbish_is_refused_and_never_panics(payload in prop::collection::vec(any::<u8>(), 0..200), counts in any::<(u32, u32)>()) {
            // The checksum agrees: what is behind it must still make sense.
            let head = Head::of(&payload, counts.0, counts.1);
            if let Ok(games) = head.games(&payload) {
                prop_assert_eq!(games.len(), counts.0 as usize);
            }
        }

        #[test]
        fn a_changed_byte_is_found(games in games(), at in any::<prop::sample::Index>(), bit in 0..8) {
            let (head, mut payload) = written(&games);
            let mut bytes = head.to_bytes();
            bytes[at.index(HEAD_BYTES)] ^= 1_u8 << bit;
            prop_assert_eq!(Head::read(&bytes), None);
            if !payload.is_empty() {
                let at = at.index(payload.len());
                payload[at] ^= 1_u8 << bit;
                prop_assert_eq!(head.games(&payload), Err(BlockError::Checksum));
            }
        }
    }

    #[test]
    fn a_position_that_is_too_large_is_named_and_nothing_is_appended() {
        let policy_target = PolicyTarget::from_visits([(1, 1)]).expect("visited");
        let sample = |byte_count| Sample {
            packed: vec![0; byte_count],
            side: Side::White,
            policy_target: policy_target.clone(),
            outcome_value: 0.0,
            search_value: None,
            outlook: None,
        };
        let samples = vec![sample(3), sample(70_000)];
        let game =
            DataSetGame { outcome: Outcome::Draw, is_from_endgame: false, is_cut_off: false, ply_count: 2, samples };
        let mut payload = vec![7];
        let error = write_game(&game, &mut payload).expect_err("too large");
        assert!(error.to_string().starts_with("position 1: its packed form takes 70000 bytes"), "{error}");
        assert_eq!(payload, [7]);
    }
}
