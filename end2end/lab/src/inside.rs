//! Runs programs inside the lab and makes connections into it.

use std::fs::File;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::{Doing, Error};
use crate::namespaces::Namespaces;

/// Access to the lab's namespaces.
#[derive(Debug, Clone, Copy)]
pub struct Inside(pub(crate) Namespaces);

impl Inside {
    /// A program inside the lab. It has the lab's network, processes and mounts, and all files of this computer. It starts in
    /// the root folder, so paths must be absolute.
    pub fn command(&self, program: &str) -> Command {
        self.0.command(program)
    }

    /// A connection from outside to an address of the lab. A thread enters the lab's network namespace and makes the socket.
    /// A socket stays in the namespace in which it was made.
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

    /// The first bytes that a server sends on its own, such as sshd's banner.
    pub(crate) fn first_words(&self, from: SocketAddr, within: Duration) -> Result<String, String> {
        let mut stream = self.connect(from, within).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(within)).map_err(|error| error.to_string())?;
        let mut words = [0; 64];
        let read = stream.read(&mut words).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&words[..read]).into_owned())
    }
}
