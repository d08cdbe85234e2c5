//! Storage for contents that do not fit into items: files of documents, long webhook bodies.
//!
//! [`Objects`] is the interface of an object store. [`Memory`] and [`Directory`] are for tests and single machines; a
//! program on DynamoDB provides one on S3, where the four methods are PutObject, GetObject, DeleteObject and
//! ListObjectsV2.

mod directory;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use keyform::execute::BoxFuture;

pub use directory::Directory;

/// Object store. Keys consist of parts separated by `/`.
pub trait Objects: Send + Sync {
    /// Stores an object, replacing an existing one.
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>>;

    /// Returns an object, if it exists.
    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>>;

    /// Deletes an object, if it exists.
    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>>;

    /// Deletes all objects whose keys begin with a prefix that ends with `/`.
    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>>;
}

/// Failure of an object store, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectsFailed(pub String);

impl std::fmt::Display for ObjectsFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the object store failed: {}", self.0)
    }
}

impl std::error::Error for ObjectsFailed {}

impl From<ObjectsFailed> for keyform::flow::FlowError {
    fn from(error: ObjectsFailed) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Objects in memory. Clones share the store.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Memory {
    /// Returns the keys of all objects, in order.
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
        behaves(&Directory::new(&path)).await;
        std::fs::remove_dir_all(&path).expect("removed");
    }
}
