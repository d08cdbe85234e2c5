//! Models in files, served on a store, and read again when the files change.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform_core::Execute;
use keyform_engine::Database;
use keyform_language::bind::table_name;
use keyform_language::diagnostic::render;
use keyform_language::{Checked, Severity};
use keyform_runtime::run::{RunError, Runner, Settings};
use keyform_server::{Difference, Models, Served, Tables};

use crate::application::Application;
use crate::cursor_key;
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
    ground: Ground,
}

struct ModelFile {
    path: PathBuf,
    /// A text that is part of a program is never read again.
    fixed: bool,
    runner: Runner,
    /// What was read last, good or bad; nothing if it could not be read.
    text: Option<String>,
    /// The name under which the file's model is served.
    name: String,
}

/// Where models run.
#[derive(Clone)]
pub struct Ground {
    /// The store.
    pub store: Arc<dyn Execute>,
    /// Whether their tables are made for them.
    pub tables: Tables,
    /// Variables, the key of cursors, and what the store lacks.
    pub settings: Settings,
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
    /// The model cannot run here: it has encrypted fields, and there are no keys for them.
    Unrunnable(PathBuf, RunError),
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
            Self::Unrunnable(file, why) => write!(f, "{}: {why}", file.display()),
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
        let settings = Settings { variables, cursor_key: cursor_key::random(), ..Settings::default() };
        Self::open_on(paths, Ground { store: Arc::new(database.clone()), tables: Tables::Made, settings })
    }

    /// Reads models that run on any store: on DynamoDB, for one.
    ///
    /// # Errors
    /// A file that cannot be read, or a model that cannot be served.
    pub fn open_on(paths: &[PathBuf], ground: Ground) -> Result<Self, ModelFileError> {
        let mut files = Self { files: Vec::new(), models: Models::default(), ground };
        for path in paths {
            files.add_file(path)?;
        }
        Ok(files)
    }

    /// Serves the model of one more file.
    ///
    /// # Errors
    /// It cannot be read, or not be served.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ModelFileError> {
        let text = read(path)?;
        let runner = self.ground.runner(path, &text)?;
        let served = Served::new(runner.clone(), self.ground.tables);
        self.add(
            ModelFile { path: path.to_owned(), fixed: false, name: served.name().to_owned(), runner, text: Some(text) },
            served,
        )
    }

    /// What runs each of the models.
    pub fn runners(&self) -> impl Iterator<Item = &Runner> {
        self.files.iter().map(|file| &file.runner)
    }

    /// Serves one more application, with its flows. Its jobs and handlers are for the caller to start.
    ///
    /// # Errors
    /// Another model has its name.
    pub fn add_application(&mut self, application: &Application) -> Result<(), ModelFileError> {
        let (name, runner) = (application.name().to_owned(), application.runner().clone());
        self.add(ModelFile { path: PathBuf::from(&name), fixed: true, name, runner, text: None }, application.served())
    }

    fn add(&mut self, file: ModelFile, served: Served) -> Result<(), ModelFileError> {
        if self.models.names().contains(&file.name) {
            return Err(ModelFileError::Twice(file.path, file.name));
        }
        self.models.put(served);
        self.files.push(file);
        Ok(())
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
        for number in (0..self.files.len()).filter(|number| !self.files[*number].fixed).collect::<Vec<_>>() {
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
        let runner = self.ground.runner(path, text)?;
        let name = runner.checked().model.name.clone();
        let renamed = name != self.files[number].name;
        if renamed && self.models.names().contains(&name) {
            return Err(ModelFileError::Twice(path.to_owned(), name));
        }
        let difference = self.models.put(Served::new(runner.clone(), self.ground.tables));
        self.files[number].runner = runner;
        if renamed {
            self.models.remove(&self.files[number].name);
            self.files[number].name.clone_from(&name);
        }
        Ok((name, difference))
    }
}

impl Ground {
    fn runner(&self, path: &Path, text: &str) -> Result<Runner, ModelFileError> {
        let checked = Checked::read(text);
        if checked.has_errors() {
            return Err(ModelFileError::Findings(path.to_owned(), findings(path, &checked)));
        }
        if checked.model.name.is_empty() {
            return Err(ModelFileError::Nameless(path.to_owned()));
        }
        self.check_variables(path, &checked)?;
        let runner = Runner::new(Arc::new(checked), self.store.clone(), Arc::new(System), self.settings.clone());
        runner.map_err(|error| ModelFileError::Unrunnable(path.to_owned(), error))
    }

    fn check_variables(&self, path: &Path, checked: &Checked) -> Result<(), ModelFileError> {
        match unnamed_table(checked, &self.settings.variables) {
            Some(name) => Err(ModelFileError::Variable(path.to_owned(), name)),
            None => Ok(()),
        }
    }
}

/// The name of a table in which a variable has no value, if there is one.
#[must_use]
pub fn unnamed_table(checked: &Checked, variables: &BTreeMap<String, String>) -> Option<String> {
    checked.model.tables.iter().map(|table| table_name(table, variables)).find(|name| name.contains('{'))
}

impl fmt::Debug for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground").field("tables", &self.tables).finish_non_exhaustive()
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
