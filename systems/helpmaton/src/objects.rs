//! Where contents are that do not fit into items: files of documents, long bodies of webhooks.
//!
//! [`Objects`] is what the system needs of an object store. [`Memory`] and [`Directory`] come with it, for tests and for one machine; a program on
//! DynamoDB gives one on S3, whose PutObject, GetObject, DeleteObject and ListObjectsV2 are the four methods.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use keyform::execute::BoxFuture;

/// An object store. Keys are texts with `/` between their parts.
pub trait Objects: Send + Sync {
    /// Stores an object, whatever was there.
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>>;

    /// An object, if it is there.
    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>>;

    /// Deletes an object, if it is there.
    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>>;

    /// Deletes all objects whose keys begin with a prefix that ends with `/`.
    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>>;
}

/// An object store gave no answer; why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectsFailed(pub String);

impl std::fmt::Display for ObjectsFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the object store failed: {}", self.0)
    }
}

impl std::error::Error for ObjectsFailed {}

impl From<ObjectsFailed> for keyform::server::FlowError {
    fn from(error: ObjectsFailed) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Objects in memory. Clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Memory {
    /// The keys of all objects, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.with(|objects| objects.keys().cloned().collect())
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Vec<u8>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn done<T: Send + 'static>(answer: T) -> BoxFuture<'static, Result<T, ObjectsFailed>> {
    Box::pin(std::future::ready(Ok(answer)))
}

impl Objects for Memory {
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.with(|objects| objects.insert(key.to_owned(), content));
        done(())
    }

    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>> {
        done(self.with(|objects| objects.get(key).cloned()))
    }

    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.with(|objects| objects.remove(key));
        done(())
    }

    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.with(|objects| objects.retain(|key, _| !key.starts_with(prefix)));
        done(())
    }
}

/// Objects as files of a directory.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// In this directory, which is made when it is needed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
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
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, ObjectsFailed>> {
        let path = self.path(key);
        Box::pin(async move {
            let path = path?;
            let worked = tokio::task::spawn_blocking(move || work(&path)).await;
            let worked = worked.map_err(|error| ObjectsFailed(error.to_string()))?;
            worked.map_err(|error| ObjectsFailed(error.to_string()))
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

/// Writes a file beside its place and puts it there as a whole, so that nobody reads half of it. When it is done, a power cut takes nothing back.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent)?;
    let beside = path.with_extension("writing");
    let mut file = File::create(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    File::open(parent)?.sync_all()
}

impl Objects for Directory {
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(key, move |path| write_whole(path, &content))
    }

    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>> {
        self.work(key, |path| if_there(std::fs::read(path)))
    }

    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(key, |path| if_there(std::fs::remove_file(path)).map(drop))
    }

    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.work(prefix, |path| if_there(std::fs::remove_dir_all(path)).map(drop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn behaves(objects: &dyn Objects) {
        objects.put("a/b/one", b"1".to_vec()).await.expect("put");
        objects.put("a/b/two", b"2".to_vec()).await.expect("put");
        objects.put("a/c/one", b"3".to_vec()).await.expect("put");
        objects.put("a/b/one", b"4".to_vec()).await.expect("put");
        assert_eq!(objects.get("a/b/one").await, Ok(Some(b"4".to_vec())));
        objects.delete("a/b/one").await.expect("deleted");
        objects.delete("a/b/one").await.expect("deleted again");
        assert_eq!(objects.get("a/b/one").await, Ok(None));
        objects.delete_all("a/b/").await.expect("deleted");
        objects.delete_all("a/b/").await.expect("deleted again");
        assert_eq!(objects.get("a/b/two").await, Ok(None));
        assert_eq!(objects.get("a/c/one").await, Ok(Some(b"3".to_vec())));
    }

    #[tokio::test]
    async fn memory_and_directory_behave_alike() {
        behaves(&Memory::default()).await;
        let path = std::env::temp_dir().join(format!("keyform-objects-{}", keyform::Uuid::fresh().as_str()));
        let directory = Directory::new(&path);
        behaves(&directory).await;
        for key in ["../x", "a//b", "/etc/passwd", "a/./b", ""] {
            assert!(directory.get(key).await.is_err(), "{key}");
        }
        std::fs::remove_dir_all(&path).expect("removed");
    }
}
