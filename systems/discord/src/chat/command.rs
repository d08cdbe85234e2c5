//! Parses the commands of the chat client.

/// Help text of the chat client.
pub const HELP: &str = "\
text is sent to the channel; messages have numbers, and lines that begin with a slash are commands:
  /join CODE            join a server with an invite code, and go there
  /invite [USES]        create an invite code for this server
  /servers              the servers you are in          /server NAME    go to another
  /channels             the channels of this server     /channel NAME   go to another
  /new-server NAME      create a server                 /new-channel NAME   create a channel
  /who                  who is in this server           /leave          leave it
  /react N EMOJI        react to message N   /unreact N EMOJI
  /edit N TEXT          replace message N               /delete N
  /read                 mark everything here as read    /unread         unread messages elsewhere
  /search TEXT          search this channel
  /help   /quit";

/// Parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Sends a message to the channel.
    Say(&'a str),
    /// Joins a server.
    Join(&'a str),
    /// Creates an invite for a number of people.
    Invite(Option<u32>),
    /// Lists the own servers.
    Servers,
    /// Switches to a server.
    Server(&'a str),
    /// Creates a server.
    NewServer(&'a str),
    /// Lists the channels.
    Channels,
    /// Switches to a channel.
    Channel(&'a str),
    /// Creates a channel.
    NewChannel(&'a str),
    /// Lists the members.
    Who,
    /// Leaves the server.
    Leave,
    /// Adds a reaction to a message.
    React(usize, &'a str),
    /// Removes a reaction.
    Unreact(usize, &'a str),
    /// Edits a message.
    Edit(usize, &'a str),
    /// Deletes a message.
    Delete(usize),
    /// Marks the channel as read.
    Read,
    /// Lists unread channels.
    Unread,
    /// Searches for a text.
    Search(&'a str),
    /// Shows the help.
    Help,
    /// Ends the client.
    Quit,
    /// Empty line.
    Nothing,
}

impl<'a> Command<'a> {
    /// Parses a line.
    ///
    /// # Errors
    /// The usage of the command.
    pub fn read(line: &'a str) -> Result<Self, String> {
        let line = line.trim();
        let Some(command) = line.strip_prefix('/') else {
            return Ok(if line.is_empty() { Self::Nothing } else { Self::Say(line) });
        };
        // A double slash sends a message that begins with a slash.
        if command.starts_with('/') {
            return Ok(Self::Say(command));
        }
        let (name, rest) = split(command);
        match name {
            "join" => text(rest, "/join CODE").map(Self::Join),
            "invite" if rest.is_empty() => Ok(Self::Invite(None)),
            "invite" => match rest.parse() {
                Ok(uses) if uses > 0 => Ok(Self::Invite(Some(uses))),
                _ => Err("/invite, or /invite USES with the number of people it is for".to_owned()),
            },
            "servers" => Ok(Self::Servers),
            "server" => text(rest, "/server NAME").map(Self::Server),
            "new-server" => text(rest, "/new-server NAME").map(Self::NewServer),
            "channels" => Ok(Self::Channels),
            "channel" => text(rest, "/channel NAME").map(|name| Self::Channel(name.trim_start_matches('#'))),
            "new-channel" => text(rest, "/new-channel NAME").map(|name| Self::NewChannel(name.trim_start_matches('#'))),
            "who" => Ok(Self::Who),
            "leave" => Ok(Self::Leave),
            "react" => numbered(rest, "/react N EMOJI").map(|(number, emoji)| Self::React(number, emoji)),
            "unreact" => numbered(rest, "/unreact N EMOJI").map(|(number, emoji)| Self::Unreact(number, emoji)),
            "edit" => numbered(rest, "/edit N TEXT").map(|(number, text)| Self::Edit(number, text)),
            "delete" => number(rest).map(Self::Delete).ok_or_else(|| usage("/delete N")),
            "read" => Ok(Self::Read),
            "unread" => Ok(Self::Unread),
            "search" => text(rest, "/search TEXT").map(Self::Search),
            "help" | "?" => Ok(Self::Help),
            "quit" | "exit" | "q" => Ok(Self::Quit),
            other => Err(format!("unknown command /{other}: /help lists all commands")),
        }
    }
}

/// Splits off the first word.
fn split(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

fn text<'a>(rest: &'a str, usage_text: &str) -> Result<&'a str, String> {
    if rest.is_empty() { Err(usage(usage_text)) } else { Ok(rest) }
}

fn number(text: &str) -> Option<usize> {
    text.trim_start_matches('#').parse().ok()
}

fn numbered<'a>(rest: &'a str, usage_text: &str) -> Result<(usize, &'a str), String> {
    let (first, rest) = split(rest);
    match number(first) {
        Some(number) if !rest.is_empty() => Ok((number, rest)),
        _ => Err(usage(usage_text)),
    }
}

fn usage(text: &str) -> String {
    format!("usage: {text}; N is the number before the message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        for (line, command) in [
            ("hello there ", Command::Say("hello there")),
            ("//etc is a folder", Command::Say("/etc is a folder")),
            ("  ", Command::Nothing),
            ("/join abc", Command::Join("abc")),
            ("/invite", Command::Invite(None)),
            ("/invite 3", Command::Invite(Some(3))),
            ("/channel #general", Command::Channel("general")),
            ("/new-server The Loom", Command::NewServer("The Loom")),
            ("/react #12 👍", Command::React(12, "👍")),
            ("/edit 3  a new  text", Command::Edit(3, "a new  text")),
            ("/delete 4", Command::Delete(4)),
            ("/quit", Command::Quit),
        ] {
            assert_eq!(Command::read(line), Ok(command), "{line}");
        }
        for (line, why) in [
            ("/join", "/join CODE"),
            ("/react 👍", "/react N EMOJI"),
            ("/edit 3", "/edit N TEXT"),
            ("/invite all", "USES"),
            ("/dance", "unknown command /dance"),
        ] {
            let said = Command::read(line).expect_err(line);
            assert!(said.contains(why), "{line}: {said}");
        }
    }
}
