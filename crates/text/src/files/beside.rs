//! A file that is written beside its place, then renamed into it; pipes and devices, which are written as they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::file_error;
use crate::error::Result;
use crate::interrupt::poll;

/// Bytes that are written between two polls for an interrupt.
const AT_ONCE: usize = 1 << 20;
/// Time between two tries to write to a pipe that has no reader, or a slow one.
const PIPE_WAIT: Duration = Duration::from_millis(2);

/// A file that is written beside its place and not yet renamed into it; dropped, it is removed.
#[derive(Debug)]
pub struct Beside {
    /// The file beside, or none where the place was written to as it is.
    temporary: Option<PathBuf>,
    target: PathBuf,
    path: PathBuf,
}

impl Beside {
    /// Writes `contents` beside `path`, or to it if it is a device or a pipe.
    ///
    /// # Errors
    /// A folder that is not there, or that cannot be written to.
    pub fn write(path: &Path, contents: &[u8]) -> Result<Self> {
        let write = || {
            if is_stream(path) {
                write_to_stream(path, contents)?;
                return Ok(Self {
                    temporary: None,
                    target: path.to_owned(),
                    path: path.to_owned(),
                });
            }
            let (beside, mut file) = Self::create(path)?;
            for part in contents.chunks(AT_ONCE) {
                file.write_all(part)?;
                poll();
            }
            file.sync_all()?;
            Ok(beside)
        };
        write().map_err(|error| file_error(path, "written", &error))
    }

    /// An empty file beside the one that `path` leads to.
    pub fn create(path: &Path) -> io::Result<(Self, File)> {
        let target = behind_links(path)?;
        let (temporary, file) = create_beside(&target)?;
        let beside = Self {
            temporary: Some(temporary),
            target,
            path: path.to_owned(),
        };
        Ok((beside, file))
    }

    /// Renames it into its place.
    ///
    /// # Errors
    /// A place that cannot be renamed to, such as a folder.
    pub fn put(mut self) -> Result<()> {
        match self.temporary.take() {
            None => Ok(()),
            Some(temporary) => fs::rename(&temporary, &self.target).map_err(|error| {
                self.temporary = Some(temporary);
                file_error(&self.path, "written", &error)
            }),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The failure that led here is the one to report.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Whether a path is that of a pipe or a device.
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|old| !old.is_file() && !old.is_dir())
}

/// Writes to a pipe or a device. An interrupt is noticed while the pipe has no reader.
fn write_to_stream(path: &Path, mut contents: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let mut stream = loop {
        match options.open(path) {
            Err(error) if has_no_reader(path, &error) => wait(),
            opened => break opened?,
        }
    };
    while !contents.is_empty() {
        match stream.write(&contents[..contents.len().min(AT_ONCE)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => contents = &contents[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        poll();
    }
    Ok(())
}

fn wait() {
    poll();
    std::thread::sleep(PIPE_WAIT);
}

/// Whether a pipe could not be opened for this reason; what else cannot be opened will never be.
#[cfg(target_os = "linux")]
fn has_no_reader(path: &Path, error: &io::Error) -> bool {
    let is_pipe = |file: fs::Metadata| std::os::unix::fs::FileTypeExt::is_fifo(&file.file_type());
    error.raw_os_error() == Some(libc::ENXIO) && fs::metadata(path).is_ok_and(is_pipe)
}

/// Elsewhere opening waits for a reader.
#[cfg(not(target_os = "linux"))]
fn has_no_reader(_: &Path, _: &io::Error) -> bool {
    false
}

/// The path behind all links, whether it exists or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    /// Links that are followed: as many as Linux follows.
    const LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            // It is no link, or is not there.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links lead from one to another"))
}

/// A new file in the folder of `target`, with the permissions of the file that it is to replace. No existing
/// file is opened, and no link is followed. The name is one that no other process or thread uses, and
/// short, so that it fits wherever a file does.
///
/// # Errors
/// A folder that is not there, or that cannot be written to; a path that names no file.
pub fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    if target.file_name().is_none() {
        let message = "the path names no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".jeton-{}-{number}.tmp", std::process::id());
        let temporary = target.with_file_name(name);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let file = opened?;
                let kept = fs::metadata(target)
                    .map_or(Ok(()), |old| file.set_permissions(old.permissions()));
                return match kept {
                    Ok(()) => Ok((temporary, file)),
                    Err(error) => fs::remove_file(&temporary).and(Err(error)),
                };
            }
        }
    }
}
