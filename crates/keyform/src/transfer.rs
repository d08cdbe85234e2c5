//! Copies tables between stores, and exports them to files and back.

pub use keyform_transfer::{
    Checkpoint, Copier, CopyError, CopyReport, CopySettings, Export, Fingerprint, Follow, Format, Import, Mortal,
    Phase, Progress, export, fingerprint, import, like,
};
