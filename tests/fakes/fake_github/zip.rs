//! A zip archive with one file, not compressed: GitHub gives the logs of a run so.

pub(crate) fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    let size = |len: usize| u32::try_from(len).unwrap_or_default().to_le_bytes();
    let name_size = u16::try_from(name.len()).unwrap_or_default().to_le_bytes();
    // Version, flags, way of compression, time and date; checksum, both sizes, length of the name.
    let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    facts.extend(checksum(content).to_le_bytes());
    facts.extend([size(content.len()), size(content.len())].concat());
    facts.extend(name_size);
    let mut all = [b"PK\x03\x04", &facts[..], &[0, 0], name.as_bytes(), content].concat();
    let directory = all.len();
    all.extend([b"PK\x01\x02\x14\x00", &facts[..], &[0; 16], name.as_bytes()].concat());
    let end = [size(all.len() - directory), size(directory)].concat();
    all.extend([b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &end[..], &[0, 0]].concat());
    all
}

/// CRC-32.
fn checksum(content: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    };
    !content.iter().fold(!0, step)
}
