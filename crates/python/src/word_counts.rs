//! Counting the words of a corpus, and the class of the counts.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use jeton_core::format::huggingface;
use jeton_core::model;
use jeton_core::model::WordLevel;
use jeton_core::text::InvalidUtf8;
use jeton_core::train::corpus;
use jeton_core::train::corpus::{Corpus, CorpusOptions, Next, PATIENCE};
use jeton_core::train::word_counts;
use jeton_core::train::word_counts::{CountingOptions, FirstStages, MemoryBudget, WordMemory};
use jeton_core::vocab::Vocab;
use jeton_core::{Error, ErrorKind};
use once_cell::race::OnceBox;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::documents::{Unit, corpus_options, places_of};
use crate::errors::{Failure, Outcome, guard};
use crate::parameters::number;
use crate::pool;
use crate::signals::abandonable;
use crate::stages;
use crate::text::Text;

/// Counts the words that the first stages of a tokenizer make of texts, batch after batch.
#[pyclass(frozen, module = "jeton._core")]
pub struct WordCounter {
    /// Taken out by `finish`.
    core: Mutex<Option<word_counts::WordCounter>>,
}

impl WordCounter {
    /// The counter, for one thread at a time. Nobody waits for it: in a forked child, a thread that is
    /// gone may have it.
    fn core(&self) -> jeton_core::Result<MutexGuard<'_, Option<word_counts::WordCounter>>> {
        self.core.try_lock().map_err(|_| {
            let message = "the counter is counting in another thread, or failed there";
            Error::new(ErrorKind::Argument, message).hint("make one for each thread")
        })
    }
}

impl From<word_counts::WordCounter> for WordCounter {
    fn from(core: word_counts::WordCounter) -> Self {
        let core = Mutex::new(Some(core));
        Self { core }
    }
}

/// How much memory is needed: in any case, for each word, and for each byte of one.
pub type Needs = (u64, u64, u64);

/// A budget of this many bytes, the folder for what does not fit, and what words need.
pub fn budget(bytes: u64, folder: PathBuf, needs: Needs) -> MemoryBudget {
    let (fixed, per_word, per_byte) = needs;
    let needs = WordMemory {
        fixed,
        per_word,
        per_byte,
    };
    MemoryBudget {
        bytes,
        folder,
        needs,
    }
}

#[pymethods]
impl WordCounter {
    /// A counter of the words that `cutting` makes.
    #[new]
    fn new(
        py: Python<'_>,
        cutting: Cutting,
        max_word_length: Option<usize>,
        min_word_count: u64,
        memory: Option<u64>,
        temp_dir: PathBuf,
        needs: Needs,
    ) -> PyResult<Self> {
        guard(py, || {
            let options = CountingOptions {
                max_word_length,
                min_word_count,
                memory: memory.map(|bytes| budget(bytes, temp_dir, needs)),
            };
            let stages = cutting.stages()?;
            let core = pool::install(py, || word_counts::WordCounter::new(stages, options))?;
            Ok(Self {
                core: Mutex::new(Some(core)),
            })
        })
    }

    /// Counts the words of a batch of texts, on all cores, of which the first has the number `first`
    /// in the corpus; returns how many bytes they have. `errors` says what happens to lone
    /// surrogates.
    fn count(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyList>,
        first: u64,
        errors: &str,
    ) -> PyResult<u64> {
        guard(py, || {
            let errors: InvalidUtf8 = errors.parse()?;
            let strings: Vec<_> = texts.iter().collect();
            let texts = strings.iter().zip(first..).map(|(string, number)| {
                let text = Text::of("each text of the corpus", string)?;
                match (text, errors) {
                    (text @ (Text::Valid(_) | Text::Converted(_)), _)
                    | (text, InvalidUtf8::Replace) => Ok(text),
                    (Text::Mended(_), InvalidUtf8::Strict) => Err(Failure::Core(
                        Error::new(
                            ErrorKind::Argument,
                            format!("text {number} of data is not valid Unicode: it has a lone surrogate"),
                        )
                        .hint("set errors=\"replace\" or errors=\"ignore\"")
                        .parameter("errors"),
                    )),
                    (Text::Mended(mended), InvalidUtf8::Ignore) => {
                        Ok(Text::Mended(mended.without_surrogates(string.cast()?)?))
                    }
                }
            });
            let texts = texts.collect::<Outcome<Vec<_>>>()?;
            let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
            pool::install(py, || match self.core()?.as_mut() {
                Some(core) => core.count(&texts),
                None => Ok(()),
            })??;
            Ok(texts.iter().map(|text| text.len() as u64).sum())
        })
    }

    /// Counts the words of the lines of a file that begin within a range of its bytes, on all cores.
    fn count_part(
        &self,
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        stop: u64,
        field: Option<String>,
        errors: &str,
    ) -> PyResult<()> {
        guard(py, || {
            let options = CorpusOptions {
                field,
                errors: errors.parse()?,
                ..CorpusOptions::default()
            };
            let part = || Corpus::open_part(&path, &(start..stop), options);
            self.count_corpus(py, &py.detach(part)?, None, None)
        })
    }

    /// Counts the words of files, on all cores. Calls `watch`, if there is one, with how many bytes
    /// of text were counted, and how many of the files were read; and `dropped` with the place and
    /// reason of each record and line that was left out, which happens only if it is set.
    #[expect(clippy::too_many_arguments, reason = "one for each option of Python")]
    fn count_files(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        field: Option<String>,
        errors: &str,
        unit: Unit,
        dropped: Option<&Bound<'_, PyAny>>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        guard(py, || {
            let options = corpus_options(field, errors, unit, dropped.is_some())?;
            let corpus = py.detach(|| Corpus::open(&paths, options))?;
            self.count_corpus(py, &corpus, dropped, watch)
        })
    }

    /// The counts; the counter is empty afterwards. And how many words were split, how many rare
    /// ones left out, and how often those occur.
    fn finish(&self, py: Python<'_>) -> PyResult<(WordCounts, [u64; 3])> {
        guard(py, || {
            let counter = self.core()?.take();
            let Some(counter) = counter else {
                return Err(Error::new(ErrorKind::Argument, "the counter is finished").into());
            };
            let counted = pool::install(py, || counter.finish())??;
            let notes = [counted.cut, counted.rare, counted.rare_total];
            Ok((counted.counts.into(), notes))
        })
    }

    /// Forgets all counts.
    fn discard(&self) {
        drop(self.core().ok().and_then(|mut core| core.take()));
    }
}

impl WordCounter {
    /// Counts the words of a corpus, and looks for Ctrl-C between its blocks.
    fn count_corpus(
        &self,
        py: Python<'_>,
        corpus: &Corpus,
        dropped: Option<&Bound<'_, PyAny>>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<()> {
        let threads = pool::install(py, rayon::current_num_threads)?;
        let mut blocks = match self.core()?.as_ref() {
            Some(core) => corpus.read(threads, core),
            None => return Ok(()),
        };
        loop {
            let block = match py.detach(|| blocks.step(PATIENCE))? {
                Next::Item(block) => block,
                Next::Waiting => {
                    py.check_signals()?;
                    continue;
                }
                Next::End => return Ok(()),
            };
            let left_out = pool::install(py, || match self.core()?.as_mut() {
                Some(core) => block.count(core),
                None => Ok(Vec::new()),
            })??;
            py.check_signals()?;
            if let Some(dropped) = dropped {
                for place in places_of(left_out) {
                    dropped.call1(place)?;
                }
            }
            if let Some(watch) = watch {
                let progress = blocks.progress();
                watch.call1((progress.text, progress.read))?;
            }
        }
    }
}

/// What makes words of texts.
#[derive(FromPyObject)]
pub enum Cutting {
    /// Stages: JSON in the shape of a `tokenizer.json` without a model, and whether the model sees
    /// bytes as they are.
    Stages((String, bool)),
    /// Nothing: words are what lies between these ASCII characters.
    Between(Vec<u8>),
}

impl Cutting {
    pub fn stages(&self) -> Outcome<FirstStages> {
        let (json, is_raw) = match self {
            Self::Between(separators) => return Ok(FirstStages::between(separators)),
            Self::Stages((json, is_raw)) => (json, *is_raw),
        };
        let stages = stages::read_around_model(json, is_raw)?;
        Ok(FirstStages::new(
            stages.added_tokens,
            stages.normalizer,
            stages.pre_tokenizer,
        )?)
    }
}

/// The distinct words of a corpus with their counts.
#[pyclass(frozen, module = "jeton._core")]
pub struct WordCounts {
    pub(crate) core: word_counts::WordCounts,
    /// The words in the order of their bytes, once one is looked for.
    order: OnceBox<Vec<u32>>,
}

impl From<word_counts::WordCounts> for WordCounts {
    fn from(core: word_counts::WordCounts) -> Self {
        Self {
            core,
            order: OnceBox::new(),
        }
    }
}

#[pymethods]
impl WordCounts {
    /// The words from number `start` to `end`, in the order in which they first occurred.
    fn words(&self, start: usize, end: usize) -> Vec<(&str, u64)> {
        let end = end.min(self.core.len());
        (start..end).filter_map(|at| self.core.get(at)).collect()
    }

    /// How often a word occurs, if it does.
    fn find(&self, py: Python<'_>, word: &Bound<'_, PyString>) -> Option<u64> {
        // What is not valid Unicode is no word.
        let word = word.to_str().ok()?;
        let order = (self.order).get_or_init(|| Box::new(py.detach(|| self.core.sorted())));
        self.core.find(order, word)
    }

    /// Whether these are the same words in the same order, as often.
    fn equals(&self, py: Python<'_>, other: &Self) -> bool {
        py.detach(|| self.core == other.core)
    }

    /// What a file of these counts holds.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            Ok(PyBytes::new(py, &py.detach(|| self.core.to_bytes())?))
        })
    }

    /// The counts of a file that holds these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, image: &[u8]) -> PyResult<Self> {
        guard(py, || {
            let image = image.to_vec();
            let read = move || word_counts::WordCounts::from_bytes(&image);
            Ok(abandonable(py, read)??.into())
        })
    }

    /// How many words there are, each occurrence counted.
    fn total(&self) -> u64 {
        self.core.total()
    }

    /// The counts of these words.
    #[staticmethod]
    fn of(py: Python<'_>, items: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        guard(py, || {
            let counted = items.into_iter().map(|(word, count)| {
                let name = format!("the count of {word:?}");
                Ok((word, number(&name, "an int", &count)?))
            });
            let items = counted.collect::<Outcome<Vec<_>>>()?;
            let items = items.iter().map(|(word, count)| (word.as_str(), *count));
            Ok(word_counts::WordCounts::try_from_words(items)?.into())
        })
    }

    /// Both counts.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        guard(py, || {
            Ok(py.detach(|| self.core.merged(&other.core))?.into())
        })
    }

    /// Refuses words that `cutting` and `max_word_length` would not have made.
    fn check_counted_by(
        &self,
        py: Python<'_>,
        cutting: Cutting,
        max_word_length: Option<usize>,
    ) -> PyResult<()> {
        guard(py, || {
            let cutting = cutting.stages()?.cutting()?;
            Ok(py.detach(|| self.core.check_counted_by(&cutting, max_word_length))?)
        })
    }

    /// The words with at least this count.
    fn at_least(&self, py: Python<'_>, count: &Bound<'_, PyAny>) -> PyResult<Self> {
        guard(py, || {
            let least = number("count", "an int", count)?;
            Ok(py
                .detach(|| self.core.filtered(|_, count| count >= least))
                .into())
        })
    }

    /// Every count times a fraction, rounded; `None` if they become too large.
    fn scaled(&self, py: Python<'_>, numerator: u64, denominator: u64) -> PyResult<Option<Self>> {
        guard(py, || {
            Ok(py
                .detach(|| self.core.scaled(numerator, denominator))
                .map(Into::into))
        })
    }

    /// The bytes of all words, each as often as it occurs.
    fn text_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        guard(py, || Ok(py.detach(|| self.core.bytes())))
    }

    /// Refuses words that need more memory than there is.
    fn check_memory(&self, py: Python<'_>, memory: u64, needs: Needs) -> PyResult<()> {
        guard(py, || {
            let budget = budget(memory, PathBuf::new(), needs);
            Ok(py.detach(|| self.core.check_memory(&budget))?)
        })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        guard(py, || Ok(py.detach(|| self.core.save(&path))?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guard(py, || {
            Ok(abandonable(py, move || word_counts::WordCounts::load(&path))??.into())
        })
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }
}

/// The files at these paths, each once, and how many were named again.
#[pyfunction]
pub fn find_files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<(Vec<PathBuf>, u64)> {
    guard(py, || {
        let found = py.detach(|| corpus::find_files(&paths))?;
        Ok((found.files, found.repeated))
    })
}

/// The pre-tokenizer of a pattern, as JSON: of its name, or of an expression in tiktoken's dialect.
#[pyfunction]
pub fn pattern_pre_tokenizer(py: Python<'_>, pattern: &Bound<'_, PyString>) -> PyResult<String> {
    guard(py, || {
        let pre_tokenizer = jeton_core::pre_tokenizer::named::from_pattern(pattern.to_str()?)
            .map_err(|error| error.at("pattern").of_kind(ErrorKind::Argument))?;
        let nothing = model::Model::WordLevel(WordLevel::new(Vocab::default(), ""));
        let stages = jeton_core::Stages {
            pre_tokenizer: Some(pre_tokenizer),
            ..jeton_core::Stages::of_model(nothing)
        };
        Ok(huggingface::write_stages(&stages)?)
    })
}
