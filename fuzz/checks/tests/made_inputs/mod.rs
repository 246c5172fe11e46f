//! Inputs in binary formats: made here, so that they can be reviewed and follow the formats.

mod books;
mod messages;
#[cfg(feature = "torch")]
mod networks;
mod positions;
mod tables;

/// An input: the name of its check and its own, and its bytes.
pub type Input = (&'static str, Vec<u8>);

/// All inputs that are made.
pub fn all() -> Vec<Input> {
    let mut inputs = positions::inputs();
    inputs.extend(messages::inputs());
    inputs.extend(tables::inputs());
    inputs.extend(books::inputs());
    #[cfg(feature = "torch")]
    inputs.extend(networks::inputs());
    inputs
}

/// The bytes without the last ones.
fn cut_off(bytes: &[u8], count: usize) -> Vec<u8> {
    bytes[..bytes.len().saturating_sub(count)].to_vec()
}
