//! Models in files, served on a store, and reloaded when the files change.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform_check::Checked;
use keyform_core::{Execute, World};
use keyform_engine::Database;
use keyform_flow::Tables;
use keyform_language::Severity;
use keyform_language::bind::unnamed_table;
use keyform_language::bookkeeping::MODELS;
use keyform_language::diagnostic::render;
use keyform_language::schema::Target;
use keyform_live::handle::HandleError;
use keyform_runtime::accept::{Accepted, NotAccepted};
use keyform_runtime::run::{RunError, RunSettings, Runner};
use keyform_server::{Difference, Models, Served};

use crate::application::Application;

/// Models loaded from files. Tables are created before a model's first call.
///
/// ```
/// use keyform::server::{Server, ServerSettings};
/// use keyform::{Database, ModelFiles};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("notes.kf");
/// std::fs::write(&file, "model notes\n\ntable Notes { key pk }\n")?;
/// let database = Database::in_memory();
/// let files = ModelFiles::open(&[file], &database, Default::default())?;
/// let settings = ServerSettings { port: 0, models: files.models(), ..ServerSettings::default() };
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
    /// Set for the model of an application, which is compiled in and never reloaded.
    fixed: bool,
    runner: Runner,
    /// Text of the last read, valid or not; `None` if the file could not be read.
    text: Option<String>,
    /// Name under which the model is served.
    name: String,
}

/// Store and settings that models run with.
#[derive(Clone)]
pub struct Ground {
    /// Store of the models' tables.
    pub store: Arc<dyn Execute>,
    /// Policy for missing tables.
    pub tables: Tables,
    /// Variables, cursor key, field keys, and limitations of the store.
    pub settings: RunSettings,
    /// Clock, timer and randomness of the models.
    pub world: Arc<dyn World>,
    /// Serve models of files although they name handlers, because another program runs these. A file has no code, so
    /// such a model is refused otherwise.
    pub external_handlers: bool,
}

/// Result of reloading a changed file.
#[derive(Debug)]
pub enum Reload {
    /// The new version is served.
    Changed {
        /// Path of the model file.
        file: PathBuf,
        /// Name of the model.
        model: String,
        /// Changes between the two versions.
        difference: Difference,
    },
    /// The new version is invalid; the previous one is still served.
    Kept {
        /// Path of the model file.
        file: PathBuf,
        /// Reason for rejecting the new version.
        error: ModelFileError,
    },
}

/// Reason why a model cannot be served.
#[derive(Debug)]
pub enum ModelFileError {
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The model has errors; contains the rendered diagnostics.
    Findings(PathBuf, String),
    /// A table name has a variable without a value.
    Variable(PathBuf, String),
    /// Another file has a model with the same name.
    Twice(PathBuf, String),
    /// The model has encrypted fields and no keys are configured.
    Unrunnable(PathBuf, RunError),
    /// The model has no name, and therefore no path.
    Nameless(PathBuf),
    /// The store has items of another version of the model, and this one breaks them.
    NotAccepted(PathBuf, Arc<NotAccepted>),
    /// Nothing implements this handler of the model: a file has no code.
    Handler(PathBuf, String),
    /// Code and model of an application do not name the same handlers.
    Handlers(PathBuf, HandleError),
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(file, why) => write!(f, "cannot read {}: {why}", file.display()),
            Self::Findings(file, findings) => write!(f, "{} has errors:\n{}", file.display(), findings.trim_end()),
            Self::Variable(file, table) => {
                write!(f, "{}: the table name {table} has a variable without a value", file.display())
            }
            Self::Twice(file, name) => write!(f, "{}: another file also has a model {name}", file.display()),
            Self::Unrunnable(file, why) => write!(f, "{}: {why}", file.display()),
            Self::NotAccepted(file, why) => write!(f, "{}: {why}", file.display()),
            Self::Nameless(file) => write!(f, "{}: the model has no name: begin with `model NAME`", file.display()),
            Self::Handler(file, name) => write!(
                f,
                "{}: nothing implements the handler `{name}`, because a model file has no code: serve the model from a \
                program that registers it with `Application::handler`, or remove `-> handler {name}`",
                file.display()
            ),
            Self::Handlers(file, error) => write!(f, "{}: {error}", file.display()),
        }
    }
}

impl std::error::Error for ModelFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(_, error) => Some(error),
            Self::Unrunnable(_, error) => Some(error),
            Self::NotAccepted(_, why) => Some(why.as_ref()),
            Self::Handlers(_, error) => Some(error),
            Self::Findings(..) | Self::Variable(..) | Self::Twice(..) | Self::Nameless(_) | Self::Handler(..) => None,
        }
    }
}

impl ModelFiles {
    /// Loads models that run on an embedded database. `variables` are the values of variables in table names.
    ///
    /// # Errors
    /// A file cannot be read, or a model cannot be served.
    pub fn open(
        paths: &[PathBuf],
        database: &Database,
        variables: BTreeMap<String, String>,
    ) -> Result<Self, ModelFileError> {
        let (store, world) = (Arc::new(database.clone()), keyform_world::system());
        let settings = RunSettings { variables, cursor_key: world.random(), ..RunSettings::default() };
        Self::open_on(paths, Ground { store, tables: Tables::Made, settings, world, external_handlers: false })
    }

    /// Loads models that run on any store, such as DynamoDB.
    ///
    /// # Errors
    /// A file cannot be read, or a model cannot be served.
    pub fn open_on(paths: &[PathBuf], ground: Ground) -> Result<Self, ModelFileError> {
        let mut files = Self { files: Vec::new(), models: Models::default(), ground };
        for path in paths {
            files.add_file(path)?;
        }
        Ok(files)
    }

    /// Adds the model of another file.
    ///
    /// # Errors
    /// The file cannot be read, or the model cannot be served.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ModelFileError> {
        let text = read(path)?;
        let runner = self.ground.runner(path, &text)?;
        let served = Served::new(runner.clone(), self.ground.tables);
        self.add(
            ModelFile { path: path.to_owned(), fixed: false, name: served.name().to_owned(), runner, text: Some(text) },
            served,
        )
    }

    /// Returns the runners of all models.
    pub fn runners(&self) -> impl Iterator<Item = &Runner> {
        self.files.iter().map(|file| &file.runner)
    }

    /// Adds an application with its flows. The caller must start its jobs and handlers.
    ///
    /// # Errors
    /// Another model has the same name, or a handler has no code.
    pub fn add_application(&mut self, application: &Application) -> Result<(), ModelFileError> {
        let handlers = application.check_handlers();
        handlers.map_err(|error| ModelFileError::Handlers(PathBuf::from(application.name()), error))?;
        let (name, runner) = (application.name().to_owned(), application.runner().clone());
        self.add(ModelFile { path: PathBuf::from(&name), fixed: true, name, runner, text: None }, application.served())
    }

    fn add(&mut self, file: ModelFile, served: Served) -> Result<(), ModelFileError> {
        if self.models.names().contains(&file.name) {
            return Err(ModelFileError::Twice(file.path, file.name));
        }
        self.ground.accept(&file.path, &file.runner)?;
        self.models.put(served);
        self.files.push(file);
        Ok(())
    }

    /// Returns the models, for the settings of a server.
    #[must_use]
    pub fn models(&self) -> Models {
        self.models.clone()
    }

    /// Rereads the files and serves changed models. An invalid version is reported once, and the previous one stays in
    /// service.
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
        let runner = self.ground.cautious().runner(path, text)?;
        let name = runner.checked().model.name.clone();
        let renamed = name != self.files[number].name;
        if renamed && self.models.names().contains(&name) {
            return Err(ModelFileError::Twice(path.to_owned(), name));
        }
        self.ground.accept(path, &runner)?;
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
        self.check_handlers(path, &checked)?;
        let runner = Runner::new(Arc::new(checked), self.store.clone(), self.world.clone(), self.settings.clone());
        runner.map_err(|error| ModelFileError::Unrunnable(path.to_owned(), error))
    }

    /// Returns the ground for a reload. It never accepts a breaking model: the permission was given for the model of the
    /// start, and every later mistake in the file would lose items.
    fn cautious(&self) -> Self {
        Self { settings: RunSettings { accept_breaking: false, ..self.settings.clone() }, ..self.clone() }
    }

    /// Makes sure that the store accepts a model before it is served.
    fn accept(&self, path: &Path, runner: &Runner) -> Result<(), ModelFileError> {
        let accepted = blocking(async {
            if self.tables == Tables::Made {
                runner.create_model_table().await?;
            }
            runner.accept().await
        });
        match accepted {
            Ok(accepted) => {
                report(&runner.checked().model.name, accepted);
                Ok(())
            }
            Err(RunError::NotAccepted(why)) => Err(ModelFileError::NotAccepted(path.to_owned(), why)),
            Err(error) => Err(ModelFileError::Unrunnable(path.to_owned(), error)),
        }
    }

    fn check_handlers(&self, path: &Path, checked: &Checked) -> Result<(), ModelFileError> {
        let handler = checked.model.consumers.iter().find_map(|consumer| match &consumer.target {
            Target::Handler(name) => Some(name),
            Target::Live(..) => None,
        });
        match handler.filter(|_| !self.external_handlers) {
            Some(name) => Err(ModelFileError::Handler(path.to_owned(), name.clone())),
            None => Ok(()),
        }
    }

    fn check_variables(&self, path: &Path, checked: &Checked) -> Result<(), ModelFileError> {
        match unnamed_table(&checked.model, &self.settings.variables) {
            Some(name) => Err(ModelFileError::Variable(path.to_owned(), name)),
            None => Ok(()),
        }
    }
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

/// Logs what the store now has as the accepted model.
fn report(model: &str, accepted: Accepted) {
    match accepted {
        Accepted::First => tracing::info!(model, "the store has accepted the model"),
        Accepted::Compatible => tracing::info!(model, "the store has accepted the new version of the model"),
        Accepted::Older => {
            tracing::info!(model, "the store has a newer version of the model, compatible with this one")
        }
        Accepted::Breaking => tracing::warn!(model, "accepted explicitly, although it breaks existing items"),
        Accepted::Unrecorded => tracing::warn!(
            model,
            "the store has no table {MODELS}, so the model is not compared with the one that its items were written \
            with: `keyform deploy apply` creates the table"
        ),
        Accepted::Same => {}
    }
}

/// Runs a future to its end on a thread of its own, because the caller may or may not be inside a runtime.
fn blocking<T: Send>(work: impl Future<Output = Result<T, RunError>> + Send) -> Result<T, RunError> {
    let run = || match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => Err(RunError::NotRunnable(format!("cannot start a runtime: {error}"))),
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn read(path: &Path) -> Result<String, ModelFileError> {
    fs::read_to_string(path).map_err(|error| ModelFileError::Unreadable(path.to_owned(), error))
}

fn findings(path: &Path, checked: &Checked) -> String {
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|found| found.severity == Severity::Error).cloned().collect();
    render::text(&checked.source, &path.display().to_string(), &errors, false)
}
