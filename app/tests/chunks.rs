//! The wasm chunks that pages load.

mod fake;

use fake::{Fake, page};

#[tokio::test]
async fn a_document_requests_the_chunk_of_its_page_early() {
    let fake = Fake::default();
    let early = r#"early["/assets/run.bin"]=fetch("/assets/run.bin");"#;
    page(&fake, "/operations/ping-1").await.shows(early);
    page(&fake, "/operations").await.hides("run.bin");
    // The chunk of a piece is loaded after hydration.
    page(&fake, "/operations/ping-1?tab=hosts").await.shows(early).hides("run_hosts_piece");
}
