//! Models in files, served on a database, and read again when the files change.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform_engine::Database;
use keyform_model::diagnostic::render;
use keyform_model::run::{Runner, Settings};
use keyform_model::{Checked, Severity};
use keyform_server::{Difference, Models, Served, Tables};

use crate::surroundings::System;

/// Models that are read from files. Tables are made before a model's first call.
///
/// ```
/// use keyform::server::{Server, Settings};
/// use keyform::{Database, ModelFiles};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("notes.kf");
/// std::fs::write(&file, "model notes\n\ntable Notes { key pk }\n")?;
/// let database = Database::in_memory();
/// let files = ModelFiles::open(&[file], &database, Default::default())?;
/// let settings = Settings { port: 0, models: files.models(), ..Settings::default() };
/// let running = keyform::serve(Server::bind(settings)?, &database)?;
/// println!("GET {}/v1/notes", running.url());
/// # Ok(())
/// # }
/// ```
pub struct ModelFiles {
    files: Vec<ModelFile>,
    models: Models,
    place: Place,
}

struct ModelFile {
    path: PathBuf,
    /// What was read last, good or bad; nothing if it could not be read.
    text: Option<String>,
    /// The name under which the file's model is served.
    name: String,
}

/// Where models run.
struct Place {
    database: Database,
    settings: Settings,
}

/// What came of reading a file again.
#[derive(Debug)]
pub enum Reload {
    /// The model is served as it stands now.
    Changed {
        /// The file.
        file: PathBuf,
        /// The model.
        model: String,
        /// What is different.
        difference: Difference,
    },
    /// The older version goes on being served.
    Kept {
        /// The file.
        file: PathBuf,
        /// Why.
        error: ModelFileError,
    },
}

/// Why a model cannot be served.
#[derive(Debug)]
pub enum ModelFileError {
    /// The file cannot be read.
    Unreadable(PathBuf, String),
    /// The model has errors; this is the text of the findings.
    Findings(PathBuf, String),
    /// A table's name has a variable without a value.
    Variable(PathBuf, String),
    /// Another file has a model of the same name.
    Twice(PathBuf, String),
    /// The model has no name, and so no path.
    Nameless(PathBuf),
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(file, why) => write!(f, "cannot read {}: {why}", file.display()),
            Self::Findings(file, findings) => write!(f, "{} has errors:\n{}", file.display(), findings.trim_end()),
            Self::Variable(file, table) => {
                write!(
                    f,
                    "{}: the table name {table} has a variable without a value: give --set NAME=VALUE",
                    file.display()
                )
            }
            Self::Twice(file, name) => write!(f, "{}: another file has a model {name} already", file.display()),
            Self::Nameless(file) => write!(f, "{}: the model has no name: begin with `model NAME`", file.display()),
        }
    }
}

impl std::error::Error for ModelFileError {}

impl ModelFiles {
    /// Reads models. `variables` are what the variables in the names of tables stand for.
    ///
    /// # Errors
    /// A file that cannot be read, or a model that cannot be served.
    pub fn open(
        paths: &[PathBuf],
        database: &Database,
        variables: BTreeMap<String, String>,
    ) -> Result<Self, ModelFileError> {
        let mut cursor_key = [0; 32];
        getrandom::fill(&mut cursor_key).expect("the operating system has randomness");
        let settings = Settings { variables, cursor_key, without_transactions: false };
        let place = Place { database: database.clone(), settings };
        let mut files = Self { files: Vec::new(), models: Models::default(), place };
        for path in paths {
            let text = read(path)?;
            let served = files.place.served(path, &text)?;
            let name = served.name().to_owned();
            if files.models.names().contains(&name) {
                return Err(ModelFileError::Twice(path.clone(), name));
            }
            files.models.put(served);
            files.files.push(ModelFile { path: path.clone(), text: Some(text), name });
        }
        Ok(files)
    }

    /// The models, for the settings of a server.
    #[must_use]
    pub fn models(&self) -> Models {
        self.models.clone()
    }

    /// Reads the files again, and serves what has changed. A version that cannot be served leaves the older one in its place, and is told
    /// once.
    pub fn reload(&mut self) -> Vec<Reload> {
        let mut events = Vec::new();
        for number in 0..self.files.len() {
            let path = self.files[number].path.clone();
            let text = read(&path);
            if self.files[number].text.as_deref() == text.as_deref().ok() {
                continue;
            }
            self.files[number].text = text.as_ref().ok().cloned();
            let served = text.and_then(|text| self.replacing(number, &path, &text));
            events.push(match served {
                Ok((model, difference)) => Reload::Changed { file: path, model, difference },
                Err(error) => Reload::Kept { file: path, error },
            });
        }
        events
    }

    fn replacing(&mut self, number: usize, path: &Path, text: &str) -> Result<(String, Difference), ModelFileError> {
        let served = self.place.served(path, text)?;
        let name = served.name().to_owned();
        let renamed = name != self.files[number].name;
        if renamed && self.models.names().contains(&name) {
            return Err(ModelFileError::Twice(path.to_owned(), name));
        }
        let difference = self.models.put(served);
        if renamed {
            self.models.remove(&self.files[number].name);
            self.files[number].name.clone_from(&name);
        }
        Ok((name, difference))
    }
}

impl Place {
    fn served(&self, path: &Path, text: &str) -> Result<Served, ModelFileError> {
        let checked = Checked::read(text);
        if checked.has_errors() {
            return Err(ModelFileError::Findings(path.to_owned(), findings(path, &checked)));
        }
        if checked.model.name.is_empty() {
            return Err(ModelFileError::Nameless(path.to_owned()));
        }
        self.check_variables(path, &checked)?;
        let store = Arc::new(self.database.clone());
        let runner = Runner::new(Arc::new(checked), store, Arc::new(System), self.settings.clone());
        Ok(Served::new(runner.expect("the model has no errors"), Tables::Made))
    }

    fn check_variables(&self, path: &Path, checked: &Checked) -> Result<(), ModelFileError> {
        for table in &checked.model.tables {
            let mut name = table.physical.clone();
            for (variable, value) in &self.settings.variables {
                name = name.replace(&format!("{{{variable}}}"), value);
            }
            if name.contains('{') {
                return Err(ModelFileError::Variable(path.to_owned(), name));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ModelFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFiles").field("models", &self.models).finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<String, ModelFileError> {
    fs::read_to_string(path).map_err(|error| ModelFileError::Unreadable(path.to_owned(), error.to_string()))
}

fn findings(path: &Path, checked: &Checked) -> String {
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|found| found.severity == Severity::Error).cloned().collect();
    render::text(&checked.source, &path.display().to_string(), &errors, false)
}
