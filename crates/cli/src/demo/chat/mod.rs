//! `keyform demo chat`: a terminal client of the discord system. [`keyform_discord::chat`] contains the chat logic;
//! this module handles the terminal and the connection.
//!
//! 1. `remote` calls patterns and flows over HTTP.
//! 2. [`crate::live`] subscribes to live reads over WebSocket and resumes them after a lost connection.
//! 3. The main loop handles typed lines, received events and the presence timer.

mod remote;

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use keyform::SystemWorld;
use keyform_core::world::Ticks;
use keyform_discord::chat::{Chat, Said, Visitor};
use keyform_discord::connections::HEARTBEAT_EVERY;
use keyform_discord::sample;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::live::Heard;
use crate::output;

use remote::Remote;

const MORE: &str = "Start a server with `keyform serve --in-memory --demo`, then this command in two other terminals: \
    --name ada in one, --name grace in the other. They know each other and see each other's messages as they are \
    written. Any other name registers a new user, who joins with an invite code from /invite. /help lists the \
    commands.";

pub(crate) fn command() -> Command {
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("chat")
        .about("Chat with users in other terminals")
        .arg(text("url", "URL").default_value("http://127.0.0.1:8000").help("URL of the server"))
        .arg(text("name", "NAME").help("Displayed name [default: the user name on this machine]"))
        .arg(text("email", "EMAIL").help("E-mail address of the account [default: NAME@example.com]"))
        .arg(
            text("password", "PASSWORD")
                .help("Password of the account [default: derived from the name, for trying it out]"),
        )
        .after_help(MORE)
}

pub(crate) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let visitor = visitor(arguments)?;
    let url = arguments.get_one::<String>("url").map(String::as_str).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(chat(url, &visitor))?;
    // Do not wait for the thread that reads standard input; it ends with the process.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn visitor(arguments: &ArgMatches) -> Result<Visitor, Failure> {
    let given = |name: &str| arguments.get_one::<String>(name).cloned();
    let name = given("name").or_else(|| std::env::var("USER").ok()).filter(|name| !name.trim().is_empty());
    let name = name.ok_or_else(|| Failure::new("no user name: pass --name NAME"))?;
    let plain: String = name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let email = given("email").unwrap_or_else(|| sample::email(&plain));
    let password = given("password").unwrap_or_else(|| sample::password(&plain));
    Ok(Visitor { name, email, password })
}

async fn chat(url: &str, visitor: &Visitor) -> Result<(), Failure> {
    let (remote, mut heard) = Remote::new(url)?;
    remote.check().await?;
    let (mut chat, lines) = Chat::enter(remote, visitor).await?;
    show(&lines)?;
    let mut typed = typed_lines();
    let mut heartbeat = Ticks::after_interval(Arc::new(SystemWorld), HEARTBEAT_EVERY);
    loop {
        tokio::select! {
            line = typed.recv() => match line {
                None => break,
                Some(line) => {
                    erase(&line)?;
                    match chat.line(&line).await {
                        Said::Lines(lines) => show(&lines)?,
                        Said::Quit => break,
                    }
                }
            },
            Some(heard) = heard.recv() => match heard {
                Heard::Message(message) => show(&chat.hear(&message).await)?,
                Heard::Lost(why) => show(&[format!("* {why}; reconnecting")])?,
                Heard::Again => show(&["* connected again".to_owned()])?,
                Heard::End(why) => return Err(Failure::new(why)),
            },
            () = heartbeat.tick() => {
                if let Err(trouble) = chat.heartbeat().await {
                    show(&[format!("! {trouble}")])?;
                }
            }
        }
    }
    // A connection that is not closed expires after ten minutes.
    chat.leave().await.unwrap_or_default();
    Ok(())
}

fn show(lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() { Ok(()) } else { output::line(&lines.join("\n")) }
}

/// Returns the lines of standard input until its end.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Erases the typed line from the screen, because the message comes back with a number.
fn erase(line: &str) -> Result<(), Failure> {
    let is_message = !line.trim().is_empty() && !line.trim_start().starts_with('/');
    if is_message && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return output::part("\u{1b}[1A\u{1b}[2K");
    }
    Ok(())
}
