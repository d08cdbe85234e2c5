//! The application on a command line. Data is kept in the folder `lending-data`.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use keyform::{Database, Date, Ulid};
use lending::model::{AddMemberInput, AddThingInput, BorrowError, Lending};

const USAGE: &str = "lending new-person
lending PERSON found CLUB-NAME YOUR-NAME
lending PERSON clubs
lending PERSON invite CLUB OTHER-PERSON THEIR-NAME
lending PERSON add CLUB THING-NAME [TAG…]
lending PERSON things CLUB
lending PERSON borrow CLUB THING UNTIL
lending PERSON give-back CLUB THING
lending PERSON overdue CLUB";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    let [person, command, rest @ ..] = words else {
        match words {
            ["new-person"] => println!("{}", Ulid::fresh()),
            _ => println!("{USAGE}"),
        }
        return Ok(());
    };
    let database = Database::open("lending-data")?;
    let person: Ulid = person.parse()?;
    let seen = lending::seen_by(&lending::open(&database).await?, &person);
    act(&seen, &person, command, rest).await
}

async fn act(seen: &Lending, person: &Ulid, command: &str, rest: &[&str]) -> Result<(), Box<dyn Error>> {
    match (command, rest) {
        ("found", [name, founder]) => println!("club {}", seen.found_club(name, founder).await?.club_id),
        ("clubs", []) => {
            for member in seen.clubs_of(person).all().await? {
                println!("{} as {} ({})", member.club_id, member.name, member.role);
            }
        }
        ("invite", [club, other, name]) => {
            let member = seen.add_member(AddMemberInput::new(club.parse()?, other.parse()?, *name)).await?;
            println!("{} is a member", member.name);
        }
        ("add", [club, name, tags @ ..]) => {
            let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            let input = AddThingInput { tags: Some(tags), ..AddThingInput::new(club.parse()?, *name) };
            println!("thing {}", seen.add_thing(input).await?.thing_id);
        }
        ("things", [club]) => {
            let mut things = seen.things(&club.parse()?).items();
            while let Some(thing) = things.next().await {
                let thing = thing?;
                let place = thing.due.map_or_else(|| "on its shelf".to_owned(), |due| format!("lent until {due}"));
                println!("{} {}: {place}", thing.thing_id, thing.name);
            }
        }
        ("borrow", [club, thing, until]) => borrow(seen, club, thing, until).await?,
        ("give-back", [club, thing]) => {
            println!("{} is back", seen.give_back(&club.parse()?, &thing.parse()?).await?.name);
        }
        ("overdue", [club]) => {
            for thing in lending::overdue(seen, &club.parse()?, Date::today()).await? {
                println!("{} {}", thing.thing_id, thing.name);
            }
        }
        _ => println!("{USAGE}"),
    }
    Ok(())
}

async fn borrow(seen: &Lending, club: &str, thing: &str, until: &str) -> Result<(), Box<dyn Error>> {
    let (club, thing) = (club.parse()?, thing.parse()?);
    match seen.borrow(&club, &thing, until.parse()?).await {
        Ok(thing) => println!("{} is yours until {until}", thing.name),
        // Each refusal is a variant, so the compiler ensures that every one has a message.
        Err(BorrowError::AlreadyLent) => println!("lent to someone else"),
        Err(BorrowError::UnknownThing) => println!("the club has no such thing"),
        Err(BorrowError::NotAMember) => println!("only members borrow"),
        Err(error @ (BorrowError::Conflict(_) | BorrowError::Failed(_))) => return Err(error.into()),
    }
    Ok(())
}
