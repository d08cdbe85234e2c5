//! The algebra of key templates.
