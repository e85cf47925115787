//! Character classes of a block of 64 bytes, byte by byte, for any processor. The others are checked
//! against it.

use super::*;

pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Blocks) {
    let ascii = classes.ascii();
    for (i, bytes) in text.chunks(BLOCK).enumerate() {
        let least = |least: u8| which(bytes, |byte| byte >= least);
        let mut block = Block {
            lead: which(bytes, |byte| byte & 0xC0 != 0x80),
            lead2: least(0xC0),
            lead3: least(0xE0),
            lead4: least(0xF0),
            apostrophe: which(bytes, |byte| byte == b'\''),
            ..Block::default()
        };
        let mut class = one_by_one(classes, text, i * BLOCK, block.lead2);
        for (class, &byte) in class.iter_mut().zip(bytes) {
            if let Some(&of_ascii) = ascii.get(usize::from(byte)) {
                *class = of_ascii;
            }
        }
        block.fill(|bits| which(&class, |class| class & bits != 0));
        blocks.push(&block);
    }
}

/// Of which bytes this is true, as bits.
fn which(bytes: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    let bits = bytes.iter().map(|&byte| u64::from(is(byte)));
    bits.enumerate().fold(0, |all, (i, bit)| all | bit << i)
}
