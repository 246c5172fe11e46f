//! The libraries of libtorch as a wheel can carry them into a process that also imports PyTorch.
//!
//! PyTorch brings a libtorch of its own, of any version. maturin gives the libraries in a wheel names of their own, and
//! Python keeps the symbols of a module apart from those of others, except those that are `STB_GNU_UNIQUE`: the dynamic
//! linker takes the first one of that name in the whole process. libtorch has its table of operators in one of them, so the
//! second libtorch would register each operator a second time and end the process. Here they become ordinary symbols.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Those with such symbols.
const LIBRARIES: [&str; 2] = ["libtorch_cpu.so", "libc10.so"];

/// A section that holds the symbols for the dynamic linker (`SHT_DYNSYM`), as the ABI of System V, chapter 4, lays it out.
const DYNAMIC_SYMBOLS: u32 = 11;
/// Bindings of a symbol, in the upper half of `st_info`.
const GLOBAL: u8 = 1;
const GNU_UNIQUE: u8 = 10;

/// Makes the libraries in `to` of those in `from`, unless they are there and as new.
pub fn prepare(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for name in LIBRARIES {
        let (source, made) = (from.join(name), to.join(name));
        let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
        if matches!((changed(&source), changed(&made)), (Ok(source), Ok(made)) if source < made) {
            continue;
        }
        let mut bytes = fs::read(&source).with_context(|| format!("read {}", source.display()))?;
        let count =
            make_ordinary(&mut bytes).with_context(|| format!("{} is no library of 64 bits", source.display()))?;
        println!("xtask: {name}: {count} symbols are no longer unique in the process");
        let part = to.join(format!("{name}.part"));
        fs::write(&part, bytes).with_context(|| format!("write {}", part.display()))?;
        fs::rename(&part, &made).with_context(|| format!("rename {}", part.display()))?;
    }
    Ok(())
}

/// Turns the unique symbols of an ELF file into global ones and returns how many there were; `None` if it is no such file.
fn make_ordinary(elf: &mut [u8]) -> Option<usize> {
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (sections, size, count) = (word(elf, 40)?, short(elf, 58)?, short(elf, 60)?);
    let mut changed_count = 0;
    for section in (0..count).map(|number| sections + number * size) {
        if u32::from_le_bytes(*elf.get(section + 4..)?.first_chunk()?) != DYNAMIC_SYMBOLS {
            continue;
        }
        let (start, length, entry) = (word(elf, section + 24)?, word(elf, section + 32)?, word(elf, section + 56)?);
        for symbol in elf.get_mut(start..start.checked_add(length)?)?.chunks_exact_mut(entry.max(8)) {
            if symbol[4] >> 4 == GNU_UNIQUE {
                symbol[4] = GLOBAL << 4 | symbol[4] & 15;
                changed_count += 1;
            }
        }
    }
    Some(changed_count)
}

fn word(elf: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*elf.get(at..)?.first_chunk()?)).ok()
}

fn short(elf: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(*elf.get(at..)?.first_chunk()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a header, one section of symbols with these `st_info`, and its header.
    fn library(infos: &[u8]) -> Vec<u8> {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        for info in infos {
            let mut symbol = [0; 24];
            symbol[4] = *info;
            elf.extend(symbol);
        }
        let sections = elf.len() as u64;
        elf[40..48].copy_from_slice(&sections.to_le_bytes());
        elf[58..60].copy_from_slice(&64_u16.to_le_bytes());
        elf[60..62].copy_from_slice(&1_u16.to_le_bytes());
        let mut section = [0; 64];
        section[4..8].copy_from_slice(&DYNAMIC_SYMBOLS.to_le_bytes());
        section[24..32].copy_from_slice(&64_u64.to_le_bytes());
        section[32..40].copy_from_slice(&(24 * infos.len() as u64).to_le_bytes());
        section[56..64].copy_from_slice(&24_u64.to_le_bytes());
        elf.extend(section);
        elf
    }

    #[test]
    fn unique_symbols_become_global_and_keep_their_type() {
        let mut elf = library(&[0x12, 0xa1, 0x21, 0xa6]);
        assert_eq!(make_ordinary(&mut elf), Some(2));
        assert_eq!(elf, library(&[0x12, 0x11, 0x21, 0x16]));
    }

    #[test]
    fn what_is_no_library_is_left_alone() {
        assert_eq!(make_ordinary(&mut b"#!/bin/sh".to_vec()), None);
        let mut elf = library(&[0xa1]);
        elf.truncate(80);
        assert_eq!(make_ordinary(&mut elf), None);
    }
}
