//! Files: read whole, and written so that a reader sees the old file or the new one, never a part.

mod beside;

pub use beside::create_beside;
use beside::{Beside, is_stream};

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::interrupt::poll;

/// Bytes of the largest file of a tokenizer that is read: those that are published have some forty
/// million.
pub const LARGEST: u64 = 1 << 30;

/// The contents of a file.
///
/// # Errors
/// As [`open`]; a file that is larger than `limit`, in bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let read_error = |error| file_error(path, "read", &error);
    let file = open(path)?;
    let too_large = || {
        let message = format!("this file has more than {limit} bytes, the most that is read");
        Error::new(ErrorKind::File, message).at(path.display().to_string())
    };
    let size = file.metadata().map_err(read_error)?.len();
    if size > limit {
        return Err(too_large());
    }
    let mut contents = Vec::new();
    let reserved = contents.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
    reserved.map_err(|_| read_error(io::ErrorKind::OutOfMemory.into()))?;
    // It may grow meanwhile, and those of the system say that they are empty.
    let mut beginning = file.take(limit.saturating_add(1));
    beginning.read_to_end(&mut contents).map_err(read_error)?;
    if contents.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(contents)
}

/// Opens a file to read it.
///
/// # Errors
/// A file that does not exist or cannot be read; a path that is no file: a folder, a pipe that may have
/// no writer, a device that may have no end.
pub fn open(path: &Path) -> Result<File> {
    let read_error = |error| file_error(path, "read", &error);
    refuse_other_kinds(path, &fs::metadata(path).map_err(read_error)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // If it was replaced since then, opening it does not wait.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path).map_err(read_error)?;
    let found = file.metadata().map_err(read_error)?;
    refuse_other_kinds(path, &found)?;
    if found.is_dir() {
        return Err(read_error(io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Refuses what is neither a file nor a folder, of which the system says what it is.
fn refuse_other_kinds(path: &Path, found: &fs::Metadata) -> Result<()> {
    let kind = found.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    let message = format!(
        "{}: this is {}, and not a file",
        path.display(),
        named(kind)
    );
    Err(Error::new(ErrorKind::File, message).hint("write what it holds to a file, and load that"))
}

/// What a thing is called that is no file and no folder.
#[cfg(unix)]
fn named(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// What a thing is called that is no file and no folder.
#[cfg(not(unix))]
fn named(_: fs::FileType) -> &'static str {
    "a device"
}

/// Puts `contents` at `path`: written beside it, flushed to the disk, then renamed into place.
///
/// A file that is already there keeps its permissions, and a symbolic link stays one: the file it
/// points at is replaced. A device or a pipe is written to as it is, never replaced by a file. An
/// interrupt is noticed until the first file is renamed, here and wherever several files are written.
///
/// # Errors
/// A folder that does not exist or cannot be written to. The old file is then untouched.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    Beside::write(path, contents)?.put()
}

/// Writes `beginning` to `path`, then the file `rest` from `start` on, in the manner of [`write()`]. The rest
/// may be larger than memory.
///
/// # Errors
/// As [`write()`]; a file that cannot be read.
pub fn write_and_copy(path: &Path, beginning: &[u8], rest: &Path, start: u64) -> Result<()> {
    /// Bytes that are copied between two polls for an interrupt.
    const AT_ONCE: u64 = 1 << 26;
    let mut source = open(rest)?;
    let sought = source.seek(SeekFrom::Start(start));
    sought.map_err(|error| file_error(rest, "read", &error))?;
    let write_error = |error| file_error(path, "written", &error);
    if is_stream(path) {
        let message = "this is a pipe or a device; a model is written only to a file";
        return Err(Error::new(ErrorKind::File, message).at(path.display().to_string()));
    }
    let (beside, mut file) = Beside::create(path).map_err(write_error)?;
    file.write_all(beginning).map_err(write_error)?;
    loop {
        poll();
        let copied = io::copy(&mut (&mut source).take(AT_ONCE), &mut file);
        if copied.map_err(write_error)? == 0 {
            break;
        }
    }
    file.sync_all().map_err(write_error)?;
    beside.put()
}

/// What lies in a folder, in no order.
///
/// # Errors
/// A folder that cannot be read.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let read_error = |error| file_error(folder, "read", &error);
    let entries = fs::read_dir(folder).map_err(read_error)?;
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(read_error))
        .collect()
}

/// Creates the folder `path`, and those above it, if it does not exist.
///
/// # Errors
/// A file in its place, or a folder above that cannot be written to.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| file_error(path, "made", &error))
}

/// What went wrong when a file was to be read, written or made; an [`Error`] that a reader put inside keeps
/// its words.
pub fn file_error(path: &Path, what: &str, error: &io::Error) -> Error {
    let place = path.display().to_string();
    let inner = error.get_ref();
    if let Some(inner) = inner.and_then(|inner| inner.downcast_ref::<Error>()) {
        return inner.clone().at(place);
    }
    match error.kind() {
        io::ErrorKind::NotFound if what == "read" => {
            Error::new(ErrorKind::FileMissing, "there is no such file").at(place)
        }
        io::ErrorKind::NotFound => {
            Error::new(ErrorKind::FileMissing, "its folder does not exist").at(place)
        }
        _ => Error::new(ErrorKind::File, format!("cannot be {what}: {error}")).at(place),
    }
}

/// Writes files into a folder, by their names, which may begin with that of a folder within; the
/// folders are made. Each file is written beside its place; then all are renamed.
///
/// # Errors
/// A folder that cannot be made or written to; the old files are then untouched.
pub fn write_into(folder: &Path, files: Vec<(impl AsRef<Path>, Vec<u8>)>) -> Result<()> {
    let files = files.into_iter();
    let files: Vec<_> = files
        .map(|(name, contents)| (folder.join(name), contents))
        .collect();
    make_folder(folder)?;
    for (path, _) in &files {
        path.parent().map_or(Ok(()), make_folder)?;
    }
    write_all(&files)
}

/// Writes files, each beside its place; then renames them all. What is a pipe or a device is written to
/// first, so that nothing lies beside anything while a pipe has no reader.
///
/// # Errors
/// As [`write()`]. A folder in the place of one leaves all as they were.
pub fn write_all(files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.is_dir()) {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(file_error(path, "written", &error));
    }
    let (streams, others): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is_stream(path));
    let mut written = Vec::with_capacity(files.len());
    for (path, contents) in streams.into_iter().chain(others) {
        written.push(Beside::write(path, contents)?);
    }
    poll();
    written.into_iter().try_for_each(Beside::put)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test, removed afterwards.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("jeton-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn writing_replaces_and_leaves_nothing_behind() {
        let folder = Folder::new("file");
        let path = folder.0.join("x.tiktoken");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path, LARGEST).unwrap(), b"two");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = Folder::new("links");
        let (path, link) = (folder.0.join("x"), folder.0.join("link"));
        write(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&path, LARGEST).unwrap(), b"two");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_stays_a_link() {
        use std::os::unix::fs::symlink;

        let folder = Folder::new("dangling");
        let link = folder.0.join("link");
        symlink("other", folder.0.join("between")).unwrap();
        symlink("between", &link).unwrap();
        write(&link, b"one").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&folder.0.join("other"), LARGEST).unwrap(), b"one");

        symlink("round", folder.0.join("round")).unwrap();
        write(&folder.0.join("round"), b"two").unwrap_err();
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 4);
    }

    #[test]
    fn a_folder_in_the_place_of_one_file_leaves_all_as_they_were() {
        let folder = Folder::new("mixed");
        write(&folder.0.join("a"), b"old").unwrap();
        make_folder(&folder.0.join("b")).unwrap();
        let files = ["a", "b"].map(|name| (name.to_owned(), b"new".to_vec()));
        write_into(&folder.0, files.into()).unwrap_err();
        assert_eq!(read(&folder.0.join("a"), LARGEST).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
    }

    #[test]
    fn every_name_that_a_file_can_have_is_accepted() {
        let folder = Folder::new("long");
        let path = folder.0.join("x".repeat(255));
        write(&path, b"one").unwrap();
        assert_eq!(read(&path, LARGEST).unwrap(), b"one");
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_is_not_replaced_by_a_file() {
        use std::os::unix::{fs::FileTypeExt, net::UnixListener};

        let folder = Folder::new("socket");
        let path = folder.0.join("x.json");
        let _listener = UnixListener::bind(&path).unwrap();
        write(&path, b"one").unwrap_err();
        assert!(fs::metadata(&path).unwrap().file_type().is_socket());
    }

    #[test]
    fn only_files_are_read_and_only_so_much() {
        let folder = Folder::new("large");
        let path = folder.0.join("x");
        write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err().to_string();
        assert!(error.ends_with("x: this file has more than 4 bytes, the most that is read"));
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        read(&path, LARGEST).unwrap_err();
        read(&folder.0, LARGEST).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn planted_files_are_neither_opened_nor_followed() {
        use std::os::unix::fs::symlink;

        let folder = Folder::new("planted");
        let (target, precious) = (folder.0.join("x"), folder.0.join("precious"));
        write(&precious, b"kept").unwrap();
        let (first, _) = create_beside(&target).unwrap();
        let name = first.file_name().unwrap().to_str().unwrap();
        let number: u64 = name.split(['-', '.']).nth(3).unwrap().parse().unwrap();
        for later in number + 1..number + 200 {
            let name = format!(".jeton-{}-{later}.tmp", std::process::id());
            symlink(&precious, folder.0.join(name)).unwrap();
        }
        write(&target, b"new").unwrap();
        assert_eq!(read(&target, LARGEST).unwrap(), b"new");
        assert_eq!(read(&precious, LARGEST).unwrap(), b"kept");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = Folder::new("missing");
        let path = folder.0.join("absent").join("x");
        let error = read(&path, LARGEST).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileMissing);
        assert!(error.to_string().ends_with("x: there is no such file"));
        let error = write(&path, b"").unwrap_err();
        assert!(error.to_string().ends_with("x: its folder does not exist"));
    }
}
