//! Requests to the console, as a browser's forms send them, through `kubectl port-forward`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command};
use std::time::Duration;

use lab::Lab;
use lab::wait::{PATIENCE, until};
use serde_json::Value;

pub(crate) struct Console {
    lab: Lab,
    forwarding: Child,
    port: u16,
    cookie: String,
}

pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Console {
    /// `forward` is `kubectl port-forward` without its last argument.
    pub(crate) fn open(lab: &Lab, mut forward: Command) -> Self {
        let said = tempfile::NamedTempFile::new().unwrap();
        let output = said.reopen().unwrap();
        // The kernel chooses a free port of the lab's loopback. A fixed one could still be in use by an earlier test.
        let forwarding = forward.arg(":7080").stdout(output.try_clone().unwrap()).stderr(output).spawn().unwrap();
        let mut console = Self { lab: lab.clone(), forwarding, port: 0, cookie: String::new() };
        console.port = until("the port of the port-forward", PATIENCE, || {
            let said = std::fs::read_to_string(said.path()).unwrap();
            port_in(&said).ok_or(said)
        })
        .unwrap();
        until("the console through the port-forward", PATIENCE, || match console.try_send("GET /healthz", "") {
            Ok(got) if got.status == 200 => Ok(()),
            Ok(got) => Err(got.head),
            Err(why) => Err(why),
        })
        .unwrap();
        console
    }

    pub(crate) fn sign_in(&mut self, token: &str) {
        let got = self.post("/login", &[("token", token)]);
        let cookie =
            got.head.lines().find_map(|line| line.to_lowercase().starts_with("set-cookie: ").then(|| &line[12..]));
        let cookie = cookie.unwrap_or_else(|| panic!("not signed in: {} {}", got.head, got.body));
        self.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    }

    /// The cookie of the session.
    pub(crate) fn session(&self) -> String {
        self.cookie.clone()
    }

    /// Continues a session.
    pub(crate) fn resume(&mut self, session: String) {
        self.cookie = session;
    }

    pub(crate) fn get(&self, path: &str) -> Got {
        self.try_send(&format!("GET {path}"), "").unwrap()
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let got = self.get(path);
        serde_json::from_str(&got.body).unwrap_or_else(|_| panic!("{path}: {} {}", got.head, got.body))
    }

    /// Posts a form.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Got {
        let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.try_send(&format!("POST {path}"), &pairs.join("&")).unwrap()
    }

    /// Reviews an operation with these fields, and submits what was reviewed.
    pub(crate) fn submit(&self, typed: &[(&str, &str)]) -> Got {
        let review = self.post("/operations/_new", &[typed, &[("form", "review_operation")]].concat());
        let hidden = |name: &str| {
            let field = review.body.split("<input").find(|field| field.contains(&format!("name=\"{name}\"")));
            let value = field.and_then(|field| field.split("value=\"").nth(1)?.split('"').next());
            value.unwrap_or_else(|| panic!("no {name} in the review: {} {}", review.head, review.body)).to_owned()
        };
        let (reviewed, inputs) = (hidden("reviewed"), hidden("expected_inputs"));
        let confirmed = [("form", "submit_operation"), ("reviewed", &*reviewed), ("expected_inputs", &*inputs)];
        self.post("/operations/_new", &[typed, &confirmed].concat())
    }

    fn try_send(&self, what: &str, body: &str) -> Result<Got, String> {
        let port = self.port;
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = self.lab.connect(here, Duration::from_secs(5)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        // HTTP/1.0: the answer ends with the connection.
        let head = format!(
            "{what} HTTP/1.0\r\nhost: localhost:{port}\r\norigin: http://localhost:{port}\r\ncookie: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
            self.cookie,
            body.len()
        );
        let mut answer = Vec::new();
        stream.write_all((head + body).as_bytes()).map_err(|error| error.to_string())?;
        stream.read_to_end(&mut answer).map_err(|error| error.to_string())?;
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no status")?;
        Ok(Got { status, head: head.to_owned(), body: body.to_owned() })
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.forwarding.kill();
        let _ = self.forwarding.wait();
    }
}

/// The port in `Forwarding from 127.0.0.1:34567 -> 7080`.
fn port_in(said: &str) -> Option<u16> {
    said.lines().find_map(|line| line.strip_prefix("Forwarding from 127.0.0.1:")?.split(' ').next()?.parse().ok())
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}
