//! Input planes by what they hold: the numbers that are not 0, each with its place, and the planes that hold one number.
//!
//! A position of Hive in a frame of 16 is 6,144 numbers, of which some 80 are not 0 or all of a plane's. These travel;
//! whoever computes fills the planes in.

use super::PlaneShape;
use super::input::extend_ends;

/// Input planes of B positions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparsePlanes {
    /// Where the planes that are not uniform hold another number than 0, `plane * H * W + cell`, of all positions end to
    /// end. A place that comes twice in a position has the same number both times.
    pub places: Vec<u16>,
    /// The number at each of `places`, same length.
    pub numbers: Vec<f32>,
    /// Where those of position b end in `places`: B numbers, rising.
    pub ends: Vec<u32>,
    /// The planes that hold one number each, the same in every cell ([`super::Encoding::uniform_planes`]).
    pub uniform_planes: &'static [u8],
    /// Their numbers, f32 `[B, uniform planes]`.
    pub uniform_numbers: Vec<f32>,
}

impl SparsePlanes {
    /// Returns B, the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all positions, keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Forgets all but the first `position_count` positions, and what belongs to a position that is not ended.
    pub fn truncate(&mut self, position_count: usize) {
        self.ends.truncate(position_count);
        let count = self.ends.last().map_or(0, |&end| end as usize);
        self.places.truncate(count);
        self.numbers.truncate(count);
        self.uniform_numbers.truncate(self.ends.len() * self.uniform_planes.len());
    }

    /// Appends a number other than 0 to the position that is being written.
    pub fn put(&mut self, place: usize, number: f32) {
        self.put_all([(place, number)]);
    }

    /// Appends several numbers other than 0 to the position that is being written.
    pub fn put_all<const N: usize>(&mut self, marks: [(usize, f32); N]) {
        self.places.extend(marks.map(|(place, _)| place as u16));
        self.numbers.extend(marks.map(|(_, number)| number));
    }

    /// Ends the position that is being written, with the numbers of its uniform planes.
    pub fn end(&mut self, uniform_numbers: &[f32]) {
        self.uniform_numbers.extend_from_slice(uniform_numbers);
        self.ends.push(u32::try_from(self.places.len()).expect("a batch has fewer than 2^32 numbers"));
    }

    /// Appends all positions of `other`, which has the same uniform planes.
    pub fn append(&mut self, other: &Self) {
        self.places.extend_from_slice(&other.places);
        self.numbers.extend_from_slice(&other.numbers);
        self.uniform_numbers.extend_from_slice(&other.uniform_numbers);
        extend_ends(&mut self.ends, &other.ends);
    }

    /// Returns where the numbers of position `index` lie in `places`.
    #[must_use]
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        super::input::range(&self.ends, index)
    }

    /// Writes the planes of position `index` in full, f32 [C, H, W], whatever `planes` held before.
    pub fn write(&self, index: usize, shape: PlaneShape, planes: &mut [f32]) {
        let (cell_count, uniform_count) = (shape.rows * shape.columns, self.uniform_planes.len());
        planes.fill(0.0);
        for (place, number) in self.range(index).map(|mark| (self.places[mark], self.numbers[mark])) {
            planes[usize::from(place)] = number;
        }
        let uniform_numbers = &self.uniform_numbers[index * uniform_count..(index + 1) * uniform_count];
        for (plane, number) in self.uniform_planes.iter().zip(uniform_numbers) {
            planes[usize::from(*plane) * cell_count..(usize::from(*plane) + 1) * cell_count].fill(*number);
        }
    }

    /// Returns the planes of all positions in full, f32 [B, C, H, W].
    #[must_use]
    pub fn to_dense(&self, shape: PlaneShape) -> Vec<f32> {
        let mut planes = vec![0.0; self.len() * shape.len()];
        for (index, planes) in planes.chunks_mut(shape.len().max(1)).enumerate() {
            self.write(index, shape, planes);
        }
        planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_written_in_full_and_a_position_that_was_not_ended_is_forgotten() {
        let shape = PlaneShape { planes: 3, rows: 1, columns: 2 };
        let mut planes = SparsePlanes { uniform_planes: &[1], ..SparsePlanes::default() };
        planes.put(0, 1.0);
        planes.put(5, -0.5);
        planes.end(&[0.25]);
        planes.end(&[0.0]);
        let dense = [1.0, 0.0, 0.25, 0.25, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(planes.to_dense(shape), dense);
        let before = planes.clone();
        planes.put(1, 1.0);
        planes.truncate(2);
        assert_eq!(planes, before);
        planes.truncate(1);
        assert_eq!(planes.to_dense(shape), dense[..6]);
    }
}
