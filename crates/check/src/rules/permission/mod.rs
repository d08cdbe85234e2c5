//! Rules P01 to P12: permissions, and the items that they reach.

mod leak;
mod p01_unbound_item;
mod p02_chosen_authority;
mod p03_guard_without_caller;
mod p04_internal_argument;
mod p05_secret_argument;
mod p06_claim_type;
mod p07_idle_parameter;
mod p08_optional_scope;
mod p09_scope_filter;
mod p10_unscoped_private;
mod p11_permission_only;
mod p12_two_values;
mod p13_guard_argument;
mod p14_same_guards;
mod p15_guessable_bearer;

use crate::check::Rule;
use keyform_language::schema::Permission;

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &p01_unbound_item::RULE,
    &p02_chosen_authority::RULE,
    &p03_guard_without_caller::RULE,
    &p04_internal_argument::RULE,
    &p05_secret_argument::RULE,
    &p06_claim_type::RULE,
    &p07_idle_parameter::RULE,
    &p08_optional_scope::RULE,
    &p09_scope_filter::RULE,
    &p10_unscoped_private::RULE,
    &p11_permission_only::RULE,
    &p12_two_values::RULE,
    &p13_guard_argument::RULE,
    &p14_same_guards::RULE,
    &p15_guessable_bearer::RULE,
];

/// Returns true if external callers reach a pattern with this permission.
const fn is_open(allow: Option<&Permission>) -> bool {
    matches!(allow, Some(Permission::Public(_) | Permission::When(_)))
}
