//! A drawing of letters, each with its ink: the same letters with colours and without.

use console::{Color, Style};

/// How a letter is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ink {
    /// Colour of the letter, of the 256 of a terminal; `None` is the terminal's own.
    pub letter: Option<u8>,
    /// Colour behind it.
    pub ground: Option<u8>,
    /// Fat.
    pub is_bold: bool,
    /// With a line under it.
    pub is_underlined: bool,
}

/// Letters in rows.
#[derive(Debug, Clone, Default)]
pub struct Canvas {
    rows: Vec<Vec<(char, Ink)>>,
}

impl Ink {
    /// Returns the ink of a letter of this colour.
    pub const fn letter(colour: u8) -> Self {
        Self { letter: Some(colour), ground: None, is_bold: false, is_underlined: false }
    }

    /// Returns `text` in this ink; without colours as it is.
    pub fn paint(self, text: &str, has_colours: bool) -> String {
        if !has_colours || self == Self::default() {
            return text.to_owned();
        }
        let mut style = Style::new().force_styling(true);
        if let Some(colour) = self.letter {
            style = style.fg(Color::Color256(colour));
        }
        if let Some(colour) = self.ground {
            style = style.bg(Color::Color256(colour));
        }
        if self.is_bold {
            style = style.bold();
        }
        if self.is_underlined {
            style = style.underlined();
        }
        style.apply_to(text).to_string()
    }
}

impl Canvas {
    /// Writes `text` from this row and column on, over whatever was there.
    pub fn write(&mut self, row: usize, column: usize, text: &str, ink: Ink) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, vec![]);
        }
        let letters = &mut self.rows[row];
        let end = column + text.chars().count();
        if letters.len() < end {
            letters.resize(end, (' ', Ink::default()));
        }
        for (place, letter) in letters[column..].iter_mut().zip(text.chars()) {
            *place = (letter, ink);
        }
    }

    /// Returns the drawing, each row ended by a line feed.
    pub fn render(&self, has_colours: bool) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for run in row.chunk_by(|one, other| one.1 == other.1) {
                let letters: String = run.iter().map(|(letter, _)| *letter).collect();
                line += &run[0].1.paint(&letters, has_colours);
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_same_with_colours_and_without() {
        let mut canvas = Canvas::default();
        canvas.write(1, 2, "ab", Ink::letter(4));
        canvas.write(1, 3, "c", Ink { is_bold: true, ..Ink::default() });
        canvas.write(0, 0, "x ", Ink::default());
        assert_eq!(canvas.render(false), "x\n  ac\n");
        let coloured = canvas.render(true);
        assert!(coloured.contains("\u{1b}[38;5;4ma\u{1b}[0m\u{1b}[1mc\u{1b}[0m"), "{coloured:?}");
        assert_eq!(console::strip_ansi_codes(&coloured), "x\n  ac\n");
    }
}
