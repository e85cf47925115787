//! Random segmentation, reproducible by a seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use jeton_text::error::{Error, ErrorKind, Result};

/// The options of random segmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The probability of leaving a merge out, 0 to 1; unset means that none is.
    pub dropout: Option<f32>,
    /// How much a better segmentation is preferred, where one is drawn from all: 0 not at all, 1 as
    /// the model says. For a SentencePiece BPE, the probability of leaving a merge out. Unset means
    /// no drawing.
    pub alpha: Option<f32>,
    /// Draw only from this many of the best segmentations; unset means from all.
    pub nbest_size: Option<usize>,
    /// What the random numbers start from: the same seed gives the same tokens. Unset means a
    /// fresh one for each call.
    pub seed: Option<u64>,
}

impl Sampling {
    /// Refuses to draw without a seed where the platform has no random numbers to start from: in the page
    /// of a browser.
    ///
    /// # Errors
    /// There is no seed there.
    pub fn check_seed(&self) -> Result<()> {
        if HAS_FRESH_SEEDS || self.seed.is_some() || *self == Self::default() {
            return Ok(());
        }
        let message = "segmentation at random needs a seed in this build for WebAssembly";
        Err(Error::new(ErrorKind::Unsupported, message).parameter("seed"))
    }
}

const HAS_FRESH_SEEDS: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn fresh() -> ChaCha8Rng {
    ChaCha8Rng::from_os_rng()
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn fresh() -> ChaCha8Rng {
    unreachable!("refused before: there is no seed")
}

/// The random numbers of one call, and its options.
pub struct Sampler {
    sampling: Sampling,
    numbers: Option<ChaCha8Rng>,
}

impl Sampler {
    /// A sampler by these options.
    pub fn new(sampling: Sampling) -> Self {
        Self {
            sampling,
            numbers: None,
        }
    }

    /// The probability of leaving a merge out; unset means that none is.
    pub fn dropout(&self) -> Option<f32> {
        self.sampling.dropout
    }

    /// How much a better segmentation is preferred, where one is to be drawn.
    pub fn alpha(&self) -> Option<f32> {
        self.sampling.alpha
    }

    /// From how many of the best segmentations to draw; unset means from all.
    pub fn nbest_size(&self) -> Option<usize> {
        self.sampling.nbest_size
    }

    /// A number from 0 up to but not including 1.
    pub fn draw(&mut self) -> f32 {
        let seed = self.sampling.seed;
        self.numbers
            .get_or_insert_with(|| match seed {
                Some(seed) => ChaCha8Rng::seed_from_u64(seed),
                None => fresh(),
            })
            .random()
    }
}
