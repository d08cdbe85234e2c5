//! Reads the items that the request depends on: those whose unique values the write changes or removes, and deleted
//! ones that others refer to by a field outside the key.

use keyform_core::operation::GetItem;
use keyform_language::bind::{self, Inputs};

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
        inputs.current.push((table, key, item.map(|item| item.to_attributes())));
    }
    Ok(())
}
