//! Reaching into the running lab from outside: programs, and connections.

use std::{
    fs::File,
    io::Read,
    net::{SocketAddr, TcpStream},
    os::fd::AsFd,
    process::Command,
    thread,
    time::Duration,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::{
    error::{Doing, Error},
    namespaces::Namespaces,
};

/// The way into the lab's namespaces.
#[derive(Debug, Clone, Copy)]
pub struct Inside(pub(crate) Namespaces);

impl Inside {
    /// A program inside the lab, in the root folder: it sees the lab's network, processes and mounts, and all files of
    /// this computer. Paths must be absolute.
    pub fn command(&self, program: &str) -> Command {
        self.0.command(program)
    }

    /// A connection to an address of the lab, for the caller outside. The socket is made by a thread that enters the
    /// lab's network; once made, a socket stays in the network it was made in.
    pub fn connect(&self, to: SocketAddr, within: Duration) -> Result<TcpStream, Error> {
        let network = self.0.network();
        let thread = thread::spawn(move || {
            let file = File::open(&network).doing(|| format!("open {}", network.display()))?;
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                .doing(|| "enter the lab's network".to_owned())?;
            TcpStream::connect_timeout(&to, within).doing(|| format!("connect to {to}"))
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// What a server says before it is asked.
    pub(crate) fn first_words(&self, from: SocketAddr, within: Duration) -> Result<String, String> {
        let mut stream = self.connect(from, within).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(within)).map_err(|error| error.to_string())?;
        let mut words = [0; 64];
        let read = stream.read(&mut words).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&words[..read]).into_owned())
    }
}
