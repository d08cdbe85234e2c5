//! Objects as files of a directory.
//!
//! An object is a file whose path is its key. It is written beside its path and renamed, so no reader sees half of it, and when [`put`](Objects::put) has answered it
//! survives a power cut: the file, its name and the folders above it are synced. Files are readable by their owner alone, and so are folders.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyform::execute::BoxFuture;

use super::{Objects, ObjectsFailed};

/// Attempts to write a file whose folder is removed at the same moment, because its last file was deleted.
const TRIES_MAX: u32 = 16;

/// Objects as files of a directory.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// In this directory, which is made when it is needed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Takes the rights of others to a directory that is there: it may have been made before its rights were looked after.
    pub(crate) fn close_to_others(&self) {
        #[cfg(unix)]
        {
            let rights = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            if let Err(why) = if_there(fs::set_permissions(&self.0, rights)) {
                tracing::warn!(directory = %self.0.display(), "others may be able to read documents: {why}");
            }
        }
    }

    /// Where an object is. Keys are made by this program; one that would lead out of the directory is refused all the same.
    fn path(&self, key: &str) -> Result<PathBuf, ObjectsFailed> {
        let parts = key.trim_end_matches('/').split('/');
        let is_plain =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0', ':']);
        if !parts.clone().all(is_plain) {
            return Err(ObjectsFailed(format!("`{key}` is no key of an object")));
        }
        Ok(parts.fold(self.0.clone(), |path, part| path.join(part)))
    }

    fn work<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(&Path, &Path) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, ObjectsFailed>> {
        let (root, path) = (self.0.clone(), self.path(key));
        Box::pin(async move {
            let path = path?;
            let worked = tokio::task::spawn_blocking(move || work(&root, &path)).await;
            let worked = worked.map_err(|error| ObjectsFailed(error.to_string()))?;
            worked.map_err(|error| ObjectsFailed(error.to_string()))
        })
    }
}

impl Objects for Directory {
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(key, move |_, path| write_whole(path, &content))
    }

    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>> {
        self.work(key, |_, path| if_there(fs::read(path)))
    }

    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(key, delete)
    }

    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(prefix, |_, path| match if_there(fs::remove_dir_all(path))? {
            Some(()) => sync_parent(path),
            None => Ok(()),
        })
    }
}

/// Nothing, if a file is not there.
fn if_there<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a file is while it is written.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".writing");
    PathBuf::from(name)
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match make_folders(parent(path)).and_then(|()| write_once(path, content)) {
            // Who deleted the last file of the folder has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES_MAX => tries += 1,
            written => return written,
        }
    }
}

fn write_once(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    // What a program that was killed has left there may have other rights.
    if_there(fs::remove_file(&beside))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_parent(path)
}

/// Makes the folders that are not there yet. Each is synced in the one above before a file goes in.
fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if folder != parent(folder) {
        make_folders(parent(folder))?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| sync_parent(folder)),
    }
}

/// Deletes a file, what an interrupted write left of it, and the folders that are empty without it.
fn delete(root: &Path, path: &Path) -> io::Result<()> {
    let there = [if_there(fs::remove_file(path))?, if_there(fs::remove_file(beside(path)))?];
    if there.iter().any(Option::is_some) {
        sync_parent(path)?;
    }
    let mut folder = parent(path);
    // A folder that another file is in stays: removing it is refused, whatever the reason.
    while folder != root && folder.starts_with(root) && fs::remove_dir(folder).is_ok() {
        folder = parent(folder);
    }
    Ok(())
}

/// The folder that a path is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Makes a name, or its absence, survive a power cut. A folder that is gone has no names.
fn sync_parent(path: &Path) -> io::Result<()> {
    match if_there(File::open(parent(path)))? {
        Some(folder) => folder.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        std::env::temp_dir().join(format!("keyform-objects-{}", keyform::Uuid::fresh().as_str()))
    }

    /// All files and folders below a folder, by their paths in it.
    fn all_below(root: &Path, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            found.push(path.strip_prefix(root).expect("below the root").display().to_string());
            found.extend(all_below(root, &path));
        }
        found.sort();
        found
    }

    #[tokio::test]
    async fn keys_that_lead_out_are_refused() {
        let path = folder();
        let directory = Directory::new(&path);
        for key in ["../x", "a//b", "/etc/passwd", "a/./b", ""] {
            assert!(directory.get(key).await.is_err(), "{key}");
        }
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn files_and_folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let path = folder();
        let directory = Directory::new(path.join("helpmaton"));
        directory.put("a/b/one", b"1".to_vec()).await.expect("put");
        let mode = |name: &str| path.join(name).metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(all_below(&path, &path), ["helpmaton", "helpmaton/a", "helpmaton/a/b", "helpmaton/a/b/one"]);
        for folder in ["", "helpmaton", "helpmaton/a", "helpmaton/a/b"] {
            assert_eq!(mode(folder), 0o700, "{folder}");
        }
        assert_eq!(mode("helpmaton/a/b/one"), 0o600);
        fs::set_permissions(path.join("helpmaton"), fs::Permissions::from_mode(0o755)).expect("set");
        directory.close_to_others();
        assert_eq!(mode("helpmaton"), 0o700);
        fs::remove_dir_all(&path).expect("removed");
    }

    #[tokio::test]
    async fn nothing_is_left_of_what_was_deleted_or_cut_short() {
        let path = folder();
        let directory = Directory::new(&path);
        for key in ["a/b/one", "a/b/two", "c/three"] {
            directory.put(key, b"1".to_vec()).await.expect("put");
        }
        fs::write(path.join("a/b/one.writing"), "ha").expect("written");
        directory.delete("a/b/one").await.expect("deleted");
        assert_eq!(all_below(&path, &path), ["a", "a/b", "a/b/two", "c", "c/three"]);
        directory.delete("a/b/two").await.expect("deleted");
        assert_eq!(all_below(&path, &path), ["c", "c/three"]);
        directory.delete("c/three").await.expect("deleted");
        assert_eq!(all_below(&path, &path), [""; 0], "the directory itself stays");
        fs::remove_dir_all(&path).expect("removed");
    }

    #[tokio::test]
    async fn a_folder_that_is_emptied_meanwhile_fails_no_write() {
        let path = folder();
        let directory = Directory::new(&path);
        let worker = |number: u32| {
            let directory = directory.clone();
            async move {
                for _ in 0..50 {
                    let key = format!("a/b/{number}");
                    directory.put(&key, b"1".to_vec()).await.expect("put");
                    assert_eq!(directory.get(&key).await, Ok(Some(b"1".to_vec())));
                    directory.delete(&key).await.expect("deleted");
                }
            }
        };
        let work: Vec<_> = (0..4).map(|number| tokio::spawn(worker(number))).collect();
        for done in work {
            done.await.expect("done");
        }
        assert_eq!(all_below(&path, &path), [""; 0]);
        fs::remove_dir_all(&path).expect("removed");
    }
}
