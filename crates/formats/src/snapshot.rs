//! Snapshots: a compact image of a tokenizer, for pickling and for comparing tokenizers.
//!
//! Look here when a pickle is refused. An image is written by one version of jeton and read by the
//! same format version only; to keep a tokenizer, save it in a published format.

use sha2::{Digest, Sha256};

use jeton_models::stages::Stages;
use jeton_text::error::{Error, ErrorKind, Result};

/// What an image begins with: a mark, then the version of the format.
const MARK: &[u8] = b"jeton\0";

/// Goes up with every change to a type that [`Stages`] holds.
const VERSION: u8 = 1;

/// The image of a tokenizer of these stages. Equal tokenizers have equal images.
///
/// # Errors
/// A tokenizer that cannot be written down; none that can be built today.
pub fn write(stages: &Stages) -> Result<Vec<u8>> {
    stages.ask_for_room(256);
    let mut image = MARK.to_vec();
    image.push(VERSION);
    postcard::to_extend(stages, image)
        .map_err(|error| Error::new(ErrorKind::Unsupported, error.to_string()))
}

/// The stages of the tokenizer that an image is of.
///
/// # Errors
/// What is no image, or one of another version.
pub fn read(image: &[u8]) -> Result<Stages> {
    let broken = |message: String| Error::new(ErrorKind::Format, message).at("tokenizer image");
    let Some((&version, stages)) = image.strip_prefix(MARK).and_then(<[u8]>::split_first) else {
        return Err(broken("this is not an image of a tokenizer".to_owned()));
    };
    if version != VERSION {
        return Err(
            broken(format!("version {version}, this jeton reads {VERSION}"))
                .hint("load the tokenizer from its file again"),
        );
    }
    match postcard::take_from_bytes::<Stages>(stages) {
        Ok((stages, [])) => Ok(stages),
        Ok((_, rest)) => Err(broken(format!("{} bytes after its end", rest.len()))),
        Err(error) => Err(broken(format!("it is damaged: {error}"))),
    }
}

/// A hash of everything that a tokenizer is: equal for equal tokenizers, on every machine.
///
/// # Errors
/// As [`write()`].
pub fn fingerprint(stages: &Stages) -> Result<[u8; 32]> {
    write(stages).map(|image| Sha256::digest(image).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpt2;

    const VOCAB: &[u8] = br#"{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}"#;

    fn pair() -> Stages {
        gpt2::read(VOCAB, b"a b\n", "merges.txt".as_ref()).unwrap()
    }

    fn image() -> Vec<u8> {
        write(&pair()).unwrap()
    }

    #[test]
    fn an_image_gives_the_tokenizer_back() {
        let stages = read(&image()).unwrap();
        assert_eq!(stages, pair());
        assert_eq!(write(&stages).unwrap(), image());
    }

    #[test]
    fn damaged_images_are_refused() {
        let whole = image();
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "cut at {length}");
        }
        let message = |image: &[u8]| read(image).unwrap_err().to_string();
        assert_eq!(
            message(b"junk"),
            "tokenizer image: this is not an image of a tokenizer"
        );
        assert_eq!(
            message(b"jeton\0\xff"),
            "tokenizer image: version 255, this jeton reads 1 (load the tokenizer from its file again)"
        );
        assert_eq!(
            message(&[whole.as_slice(), b"x"].concat()),
            "tokenizer image: 1 bytes after its end"
        );
        // Every byte changed in turn: an error or another tokenizer, but no panic.
        for at in MARK.len() + 1..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = read(&damaged);
            }
        }
    }

    #[test]
    fn a_long_list_that_is_not_there_takes_no_memory() {
        // No added tokens announced as 2^60 of them.
        let mut image = [MARK, &[VERSION]].concat();
        image.extend([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
        assert!(read(&image).is_err());
    }
}
