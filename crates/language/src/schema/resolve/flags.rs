//! Resolves the flags of a field and checks that its type allows them.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, FlagKind};
use crate::schema::field::{Flags, Type, Unique};
use crate::span::Span;

use super::code;
use super::found::Found;

/// Resolves the flags of a field of this type. The names after `unique per` are resolved later.
pub(super) fn resolve(field: &ast::Field, kind: &Type, found: &mut Found) -> Flags {
    let mut flags = Flags::default();
    for flag in &field.flags {
        if !fits(&flag.kind, kind) {
            misfit(field, flag, found);
            continue;
        }
        if set(&mut flags, flag) {
            let message = format!("`{}` is {} twice", field.name.text, word(&flag.kind));
            found.error(code::REPEATED, flag.span, message);
        }
    }
    contradictions(&flags, &field.name, found);
    flags
}

/// Sets a flag; returns true if it was already set.
fn set(flags: &mut Flags, flag: &ast::Flag) -> bool {
    let place = match &flag.kind {
        FlagKind::Unique(_) => {
            return flags.unique.replace(Unique { per: Vec::new(), span: flag.span }).is_some();
        }
        FlagKind::Version => &mut flags.version,
        FlagKind::Created => &mut flags.created,
        FlagKind::Updated => &mut flags.updated,
        FlagKind::Immutable => &mut flags.immutable,
        FlagKind::Secret => &mut flags.secret,
        FlagKind::Encrypted => &mut flags.encrypted,
        FlagKind::Personal => &mut flags.personal,
        FlagKind::Id => &mut flags.id,
        FlagKind::Cascade => &mut flags.cascade,
        FlagKind::Restrict => &mut flags.restrict,
        FlagKind::Keep => &mut flags.keep,
        FlagKind::Snapshot => &mut flags.snapshot,
        FlagKind::Refresh => &mut flags.refresh,
        FlagKind::Internal => &mut flags.internal,
        FlagKind::Bearer => &mut flags.bearer,
        FlagKind::Grants => &mut flags.grants,
    };
    place.replace(flag.span).is_some()
}

fn fits(flag: &FlagKind, kind: &Type) -> bool {
    let plain = kind.resolved();
    if matches!(plain, Type::Unknown) && !matches!(kind, Type::Ref { .. } | Type::Copy { .. }) {
        return true;
    }
    match flag {
        FlagKind::Unique(_) => kind.is_text() || kind.is_numeric() || kind.is_bytes() || matches!(plain, Type::Unknown),
        FlagKind::Version => kind.is_bare_number() || matches!(plain, Type::Unknown),
        FlagKind::Created | FlagKind::Updated => kind.is_time() || matches!(plain, Type::Unknown),
        FlagKind::Cascade | FlagKind::Restrict | FlagKind::Keep | FlagKind::Grants => matches!(kind, Type::Ref { .. }),
        FlagKind::Bearer => kind.is_text() || matches!(plain, Type::Unknown),
        FlagKind::Snapshot | FlagKind::Refresh => matches!(kind, Type::Copy { .. }),
        FlagKind::Immutable
        | FlagKind::Secret
        | FlagKind::Encrypted
        | FlagKind::Personal
        | FlagKind::Id
        | FlagKind::Internal => true,
    }
}

fn misfit(field: &ast::Field, flag: &ast::Flag, found: &mut Found) {
    let (wanted, help) = match &flag.kind {
        FlagKind::Unique(_) => ("a string, a number or bytes", "remove `unique`, or use one of these types"),
        FlagKind::Version => ("a whole number", "make it `int version`"),
        FlagKind::Created | FlagKind::Updated => ("a point in time", "make it a `timestamp`"),
        FlagKind::Snapshot | FlagKind::Refresh => ("a `copy`", "write `copy Entity.field` as its type"),
        FlagKind::Bearer => ("a string", "use a text such as `string = token(32)`"),
        _ => ("a `ref`", "write `ref Entity` as its type"),
    };
    let message = format!("`{}` is not {wanted}, so it cannot be `{}`", field.name.text, word(&flag.kind));
    found.add(Diagnostic::error(code::FLAG, flag.span, message).also(field.kind.span, "its type").help(help));
}

fn contradictions(flags: &Flags, name: &ast::Name, found: &mut Found) {
    let pairs: [(Option<Span>, &str, Option<Span>, &str); 6] = [
        (flags.cascade, "cascade", flags.restrict, "restrict"),
        (flags.cascade, "cascade", flags.keep, "keep"),
        (flags.restrict, "restrict", flags.keep, "keep"),
        (flags.snapshot, "snapshot", flags.refresh, "refresh"),
        (flags.created, "created", flags.updated, "updated"),
        (flags.immutable, "immutable", flags.updated, "updated"),
    ];
    for (first, one, second, other) in pairs {
        if let (Some(first), Some(second)) = (first, second) {
            let message = format!("`{}` cannot be both `{one}` and `{other}`", name.text);
            found.add(
                Diagnostic::error(code::FLAG, second, message).also(first, "the other").help("remove one of them"),
            );
        }
    }
}

const fn word(flag: &FlagKind) -> &'static str {
    match flag {
        FlagKind::Unique(_) => "unique",
        FlagKind::Version => "version",
        FlagKind::Created => "created",
        FlagKind::Updated => "updated",
        FlagKind::Immutable => "immutable",
        FlagKind::Secret => "secret",
        FlagKind::Encrypted => "encrypted",
        FlagKind::Personal => "personal",
        FlagKind::Id => "id",
        FlagKind::Cascade => "cascade",
        FlagKind::Restrict => "restrict",
        FlagKind::Keep => "keep",
        FlagKind::Snapshot => "snapshot",
        FlagKind::Refresh => "refresh",
        FlagKind::Internal => "internal",
        FlagKind::Bearer => "bearer",
        FlagKind::Grants => "grants",
    }
}
