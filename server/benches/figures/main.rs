//! The benchmarks of the server. `cargo xtask bench` runs them by name. They are one program, so that it is linked once.

#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod fanout;
mod kubelet;
mod measure;
mod memory;
mod pages;
mod search;
#[path = "../../tests/start/mod.rs"]
mod start;
mod status;
mod turns;

#[tokio::main]
async fn main() {
    // cargo adds the argument `--bench`.
    let names: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    assert!(!names.is_empty(), "name a benchmark: pages, status, turns, memory, fanout or search");
    for name in names {
        match name.as_str() {
            "pages" => pages::run().await,
            "status" => status::run().await,
            "turns" => turns::run().await,
            "memory" => memory::run().await,
            "fanout" => fanout::run().await,
            "search" => search::run().await,
            _ => panic!("there is no benchmark `{name}`"),
        }
    }
}
