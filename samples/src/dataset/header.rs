//! The start of a data set: what it is, of which game, and how much there should be.

use serde_json::Error as JsonError;
use shared::DOMAIN_VERSION;
use shared::catalog::GameSpec;
use xxhash_rust::xxh3::xxh3_64;

use super::{DataSetCounts, take};

/// First bytes of a data set.
pub(super) const MAGIC: [u8; 8] = *b"ALVSAMPL";
/// Version of the layout of header, blocks and games.
const FORMAT: u32 = 3;
/// The same layout, with positions of Hive of types with fewer expansions than the specification has.
const FORMAT_OF_TYPES: u32 = 4;
/// Both of before positions could have an outlook; of them nothing else differs.
const FORMATS_WITHOUT_OUTLOOK: [u32; 2] = [1, 2];
/// Bytes in front of the game's specification.
pub(super) const FIXED_BYTES: usize = 44;
/// Bytes in front of the checksum.
const CHECKED_BYTES: usize = 36;
/// Longest specification that is read.
const SPEC_BYTES_MAX: usize = 1 << 16;
/// Stands for the counts of a file that was never finished.
const UNFINISHED: u64 = u64::MAX;

/// The header of a data set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    /// The game, by its rules and its encoding.
    pub spec: GameSpec,
    /// Whether there are positions of Hive of types with fewer expansions: older programs refuse such a file.
    pub has_smaller_types: bool,
    /// How much was written; `None` if the writer did not finish.
    pub counts: Option<DataSetCounts>,
}

/// Why a file is not a data set that can be read.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// It begins with other bytes.
    #[error("not a data set: it does not begin with ALVSAMPL")]
    Magic,
    /// It was written in another format.
    #[error("data set of format {0}, this program reads 1 to {FORMAT_OF_TYPES}: export it again")]
    Format(u32),
    /// It was written with other rules, encodings or packed forms.
    #[error("data set of encoding version {0}, this program has {DOMAIN_VERSION}: export it again")]
    Encoding(u32),
    /// It ends inside its header.
    #[error("cut off inside its header: nothing of it can be read")]
    CutOff,
    /// The checksum of its header differs.
    #[error("its header is damaged: nothing of it can be read")]
    Damaged,
    /// Its game is not in the catalog.
    #[error("data set of a game that this program does not know")]
    Game(#[source] JsonError),
}

impl Header {
    /// Returns the header in bytes: as many, whatever the counts.
    ///
    /// # Errors
    /// None in practice: every specification can be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, JsonError> {
        let spec = serde_json::to_vec(&self.spec)?;
        let counts = self.counts.unwrap_or(DataSetCounts { games: UNFINISHED, samples: UNFINISHED });
        let mut bytes = MAGIC.to_vec();
        let format = if self.has_smaller_types { FORMAT_OF_TYPES } else { FORMAT };
        bytes.extend(format.to_le_bytes());
        bytes.extend(DOMAIN_VERSION.to_le_bytes());
        bytes.extend(counts.games.to_le_bytes());
        bytes.extend(counts.samples.to_le_bytes());
        bytes.extend((spec.len() as u32).to_le_bytes());
        let checksum = checksum(&bytes, &spec);
        bytes.extend(checksum.to_le_bytes());
        bytes.extend(spec);
        Ok(bytes)
    }

    /// Returns the length of the header that begins with `fixed`, the first [`FIXED_BYTES`] of a file.
    ///
    /// # Errors
    /// [`HeaderError::Magic`], [`HeaderError::Format`] or [`HeaderError::Encoding`] if it is another file,
    /// [`HeaderError::CutOff`] or [`HeaderError::Damaged`] if the header is not intact.
    pub fn length(fixed: &[u8]) -> Result<usize, HeaderError> {
        let mut rest = fixed.strip_prefix(&MAGIC).ok_or(HeaderError::Magic)?;
        let mut number = || take(&mut rest).map(u32::from_le_bytes).ok_or(HeaderError::CutOff);
        let (format, domain_version) = (number()?, number()?);
        if !(FORMATS_WITHOUT_OUTLOOK[0]..=FORMAT_OF_TYPES).contains(&format) {
            return Err(HeaderError::Format(format));
        }
        if domain_version != DOMAIN_VERSION {
            return Err(HeaderError::Encoding(domain_version));
        }
        let mut rest = rest.get(16..).ok_or(HeaderError::CutOff)?;
        let length = u32::from_le_bytes(take(&mut rest).ok_or(HeaderError::CutOff)?) as usize;
        if length > SPEC_BYTES_MAX { Err(HeaderError::Damaged) } else { Ok(FIXED_BYTES + length) }
    }

    /// Reads a whole header.
    ///
    /// # Errors
    /// As [`Header::length`], and [`HeaderError::Game`] if the game is unknown.
    pub fn read(bytes: &[u8]) -> Result<Self, HeaderError> {
        if Self::length(bytes)? > bytes.len() {
            return Err(HeaderError::CutOff);
        }
        let (fixed, spec) = bytes.split_at(FIXED_BYTES);
        let (checked, found) = fixed.split_at(CHECKED_BYTES);
        if found != checksum(checked, spec).to_le_bytes() {
            return Err(HeaderError::Damaged);
        }
        let is_format = |format: u32| checked[MAGIC.len()..].starts_with(&format.to_le_bytes());
        let has_smaller_types = is_format(FORMAT_OF_TYPES) || is_format(FORMATS_WITHOUT_OUTLOOK[1]);
        let mut counts = &checked[16..];
        let mut count = || take(&mut counts).map(u64::from_le_bytes).ok_or(HeaderError::Damaged);
        let counts = DataSetCounts { games: count()?, samples: count()? };
        let is_finished = counts.games != UNFINISHED;
        let spec = serde_json::from_slice(spec).map_err(HeaderError::Game)?;
        Ok(Self { spec, has_smaller_types, counts: is_finished.then_some(counts) })
    }
}

fn checksum(checked: &[u8], spec: &[u8]) -> u64 {
    xxh3_64(&[checked, spec].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::encoding::dama::PolicyCoding;
    use shared::game::dama::DamaRules;

    fn header(counts: Option<DataSetCounts>) -> Header {
        let spec = GameSpec::Dama { rules: DamaRules::default(), policy: PolicyCoding::From4 };
        Header { spec, has_smaller_types: false, counts }
    }

    #[test]
    fn a_header_comes_back_as_it_was() {
        let unfinished = header(None).to_bytes().expect("a header");
        let finished = header(Some(DataSetCounts { games: 3, samples: 70 }));
        let bytes = finished.to_bytes().expect("a header");
        assert_eq!(unfinished.len(), bytes.len(), "one is written over the other");
        assert_eq!(Header::read(&bytes).expect("a header"), finished);
        assert_eq!(Header::read(&unfinished).expect("a header"), header(None));
        assert_eq!(bytes[8..12], 3_u32.to_le_bytes());
        let of_types = Header { has_smaller_types: true, ..header(None) };
        let bytes = of_types.to_bytes().expect("a header");
        assert_eq!(bytes[8..12], 4_u32.to_le_bytes());
        assert_eq!(Header::read(&bytes).expect("a header"), of_types);
    }

    #[test]
    fn headers_of_before_there_were_outlooks_are_read() {
        for (format, has_smaller_types) in [(1_u32, false), (2, true)] {
            let mut bytes = Header { has_smaller_types, ..header(None) }.to_bytes().expect("a header");
            bytes[8..12].copy_from_slice(&format.to_le_bytes());
            let sum = checksum(&bytes[..CHECKED_BYTES], &bytes[FIXED_BYTES..]);
            bytes[CHECKED_BYTES..FIXED_BYTES].copy_from_slice(&sum.to_le_bytes());
            assert_eq!(Header::read(&bytes).expect("a header").has_smaller_types, has_smaller_types);
        }
    }

    #[test]
    fn an_invalid_header_is_refused_by_name() {
        let bytes = header(None).to_bytes().expect("a header");
        let changed = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            Header::read(&bytes).expect_err("refused").to_string()
        };
        assert!(changed(0).contains("not a data set"));
        let zero = [&bytes[..8], &0_u32.to_le_bytes(), &bytes[12..]].concat();
        let refused = Header::read(&zero).expect_err("refused").to_string();
        assert!(refused.contains("format 0, this program reads 1 to 4"), "{refused}");
        assert!(changed(12).contains("encoding version"));
        assert!([16, 30, 40, FIXED_BYTES, bytes.len() - 1].iter().all(|at| changed(*at).contains("damaged")));
        for length in 0..bytes.len() {
            Header::read(&bytes[..length]).expect_err("cut off");
        }
    }
}
