//! The console: forms, cookies, addresses and heads.

use form_urlencoded::Serializer;
use mutation::{Mutator, cases};

use super::Watcher;
use super::samples::{ADDRESSES, FORMS};
use super::wire::{Request, Target};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fuzz_the_console() {
    let server = Server::start(&[]).await;
    if server.has_no_pages("fuzz_the_console").await {
        return;
    }
    let target = Target::console(&server).await;
    let mut watcher = Watcher::new(&server, &target);
    let ordinary = target.get("/clusters");
    for mut mutator in cases("fuzz_the_console") {
        let request = request(&target, &mut mutator);
        watcher.sends(&request, &ordinary).await;
    }
    watcher.check("the last request");
}

fn request(target: &Target, mutator: &mut Mutator) -> Request {
    let mut request = match mutator.below(8) {
        0..=3 => form(target, mutator),
        4 => function(target, mutator),
        _ => {
            let address = *mutator.pick(ADDRESSES);
            let path = if mutator.one_in(2) { mutator.text(address).replace(' ', "+") } else { address.to_owned() };
            target.get(&format!("/{}", path.trim_start_matches('/')))
        }
    };
    if mutator.one_in(3) {
        request.change_head(mutator);
    }
    if mutator.one_in(10) {
        let cookie = request.headers.iter_mut().find(|(name, _)| name == "cookie");
        if let Some((_, cookie)) = cookie {
            *cookie = mutator.text(cookie);
        }
    }
    request
}

/// A form as a page without JavaScript sends it, in one of both encodings.
fn form(target: &Target, mutator: &mut Mutator) -> Request {
    let (page, sample) = *mutator.pick(FORMS);
    let mut fields: Vec<(String, String)> = Vec::new();
    for (name, value) in sample {
        match mutator.below(8) {
            0 => {}
            1 => fields.push((mutator.text(name), (*value).to_owned())),
            2 | 3 => fields.push(((*name).to_owned(), mutator.text(value))),
            4 => fields.extend([((*name).to_owned(), (*value).to_owned()), ((*name).to_owned(), mutator.word())]),
            _ => fields.push(((*name).to_owned(), (*value).to_owned())),
        }
    }
    let plain = "application/x-www-form-urlencoded";
    if mutator.one_in(4) {
        let parts: String = fields.iter().map(|(name, value)| part(name, value)).collect();
        return target.request(
            "POST",
            page,
            "multipart/form-data; boundary=X",
            mutator.bytes(format!("{parts}--X--\r\n").as_bytes()),
        );
    }
    let body = Serializer::new(String::new()).extend_pairs(&fields).finish();
    let body = if mutator.one_in(6) { mutator.bytes(body.as_bytes()) } else { body.into_bytes() };
    target.request("POST", page, plain, body)
}

fn part(name: &str, value: &str) -> String {
    format!("--X\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

/// A server function as the page's script calls it. `scan_host_keys` is left out, because it connects to the machines that it is given.
fn function(target: &Target, mutator: &mut Mutator) -> Request {
    const FUNCTIONS: &[(&str, &str)] = &[
        ("/api/review_operation", "cluster=prod&kind=playbook&playbook=ping.yml&name=a"),
        ("/api/review_cluster", "name=a&pasted=m1+127.0.0.1&ssh=none"),
        ("/api/review_change", "cluster=prod&document=variables&version=1&text=a%3A+1"),
        ("/api/cancel_operation", "name=a"),
        ("/api/unregister_cluster", "cluster=a&confirm=a&records=keep"),
        ("/api/set_sidebar", "sidebar=closed&next=%2F"),
    ];
    let (path, body) = *mutator.pick(FUNCTIONS);
    target.request("POST", path, "application/x-www-form-urlencoded", mutator.bytes(body.as_bytes()))
}
