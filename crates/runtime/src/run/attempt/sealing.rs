//! Supplies the cipher of encrypted fields. Each attempt uses the same salt, so that a retry sends the same bytes.

use std::sync::Arc;

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::RunError;
use crate::seal;

#[derive(Debug)]
pub(super) struct Sealing;

impl Step for Sealing {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let ring = attempt.of.runner.settings.field_keys.as_ref();
        if let Some((ring, salt)) = ring.zip(attempt.fixed.salt.as_ref()) {
            attempt.state.inputs.sealing = Some(Arc::new(seal::Sealing { ring, salt: salt.clone() }));
        }
        Hook::pass()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use keyform_core::AttributeValue;
    use keyform_language::bind::SealedField;

    use super::Sealing;
    use crate::run::RunSettings;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, now};
    use crate::seal::{FieldKey, Keyring};

    const MODEL: &str = r#"
        model vault
        table Vault { key pk }
        entity Secret in Vault {
          key "SECRET#{name}"
          name:  slug(1..20)
          value: string(1..100) encrypted
        }
        write keep(name, value) { create Secret {} else Taken }
    "#;

    #[test]
    fn every_attempt_of_a_call_seals_to_the_same_bytes() {
        let field_keys = Some(Arc::new(Keyring::of(FieldKey::new([7; 32]))));
        let arguments = [("name", "a".into()), ("value", "b".into())];
        let rig = Rig::of(MODEL, "keep", &arguments, RunSettings { field_keys, ..RunSettings::default() });
        let seal = |fixed| {
            let mut attempt = rig.reading(fixed);
            now(Sealing.read(&mut attempt).result()).unwrap();
            let key = [("pk".to_owned(), AttributeValue::from("SECRET#a"))].into();
            let field = SealedField { table: "Vault", key: &key, entity: "Secret", field: "value" };
            attempt.state.inputs.sealing.unwrap().seal(&field, &"b".into())
        };
        let (first, second) = (rig.fixed(), rig.fixed());
        assert_eq!(seal(&first), seal(&first));
        assert_ne!(seal(&first), seal(&second), "two calls use different nonces");
    }

    #[test]
    fn a_model_without_keys_gets_no_cipher() {
        let rig = Rig::new("close", &[("name", "a".into())]);
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed);
        now(Sealing.read(&mut attempt).result()).unwrap();
        assert!(attempt.state.inputs.sealing.is_none());
    }
}
