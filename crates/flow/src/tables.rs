//! Policy for the tables of a model.

/// Policy for the tables of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Create missing tables and add missing indexes before the first call.
    Made,
    /// Tables must already exist; calls fail otherwise.
    Expected,
}
