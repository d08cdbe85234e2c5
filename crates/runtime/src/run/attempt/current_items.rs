//! Reads the items that the request depends on: those whose unique values the write changes or removes, and deleted
//! ones that others refer to by a field outside the key.

use keyform_core::operation::GetItem;
use keyform_language::bind::{self, CurrentItem, Inputs};

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::{RunError, Runner};

#[derive(Debug)]
pub(super) struct CurrentItems;

impl Step for CurrentItems {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let (runner, write) = (attempt.of.runner, attempt.of.write);
        let inputs = &mut attempt.state.inputs;
        match bind::read_first(&runner.checked.model, write, inputs) {
            Err(error) => Hook::Ready(Err(error.into())),
            Ok(reads) if reads.is_empty() => Hook::pass(),
            Ok(reads) => Hook::wait(read_current(runner, reads, inputs)),
        }
    }
}

async fn read_current(runner: &Runner, reads: Vec<GetItem>, inputs: &mut Inputs<'_>) -> Result<(), RunError> {
    for GetItem { table, key, .. } in reads {
        let item = runner.current(table.clone(), key.clone()).await?;
        let item = item.map(|item| item.to_attributes());
        inputs.current.push(CurrentItem { table, key, item });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use keyform_core::Operation;

    use super::{CurrentItem, CurrentItems};
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, attributes, got, now};

    #[test]
    fn an_item_whose_unique_value_changes_is_read_consistently() {
        let stored = attributes(&[("pk", "USER#a".into()), ("email", "old@example.com".into())]);
        let rig = Rig::new("changeEmail", &[("name", "a".into()), ("email", "new@example.com".into())])
            .answers([got(Some(&stored))]);
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed);
        now(CurrentItems.read(&mut attempt).result()).unwrap();
        let key = attributes(&[("pk", "USER#a".into()), ("sk", "META".into())]);
        assert_eq!(attempt.state.inputs.current, [CurrentItem { table: "Main".to_owned(), key, item: Some(stored) }]);
        assert!(matches!(rig.requests().as_slice(), [Operation::GetItem(get)] if get.consistent));
    }

    #[test]
    fn a_write_without_unique_values_reads_nothing() {
        let rig = Rig::new("pay", &[("name", "a".into()), ("amount", 1.into())]);
        let fixed = rig.fixed();
        now(CurrentItems.read(&mut rig.reading(&fixed)).result()).unwrap();
        assert!(rig.requests().is_empty());
    }
}
