//! The benchmarks of the server, in one program so that it is linked once: `cargo xtask bench` runs them by name.

mod fanout;
mod kubelet;
mod measure;
mod memory;
mod pages;
mod status;
mod turns;

#[tokio::main]
async fn main() {
    // Cargo adds `--bench`.
    let names: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    assert!(
        !names.is_empty(),
        "name what to measure: pages, status, turns, memory or fanout (`cargo xtask bench` does)"
    );
    for name in names {
        match name.as_str() {
            "pages" => pages::run().await,
            "status" => status::run().await,
            "turns" => turns::run().await,
            "memory" => memory::run().await,
            "fanout" => fanout::run().await,
            _ => panic!("there is no benchmark `{name}`"),
        }
    }
}
