//! What keeps the wasm small.
//!
//! This page is for a Leptos developer who has never seen code splitting. It explains the four things in this folder and
//! the rules that follow for a new page.
//!
//! # The problem
//!
//! A Leptos app is usually one wasm file with the code of all pages. As one file, each first load of this console was
//! 525 KB (Brotli, with 8 KB of HTML). The goal is 350 KB, and `cargo xtask bench size` measures every page against it.
//! `docs/benchmarks.md` has the figures, `docs/adr/0009` the decision.
//!
//! # Split points ([`split_point`])
//!
//! A split point is a function at which a release cuts the wasm. The code that only this function needs becomes a
//! *chunk*, a file that the browser loads before it calls the function. Calling a split point is therefore `async`, and
//! the function takes no arguments: what it shows comes from the URL or from Leptos context. There are two lists of split
//! points: [`crate::pages`] (one for each route) and [`crate::run::pieces`].
//!
//! Only a release and the site of the browser tests are cut (cargo feature `split`, `xtask/src/site/split.rs`). With
//! `cargo xtask run` all code is in one file, and loading succeeds at once.
//!
//! # Why a page's chunk is loaded before hydration
//!
//! Hydration walks the server's HTML and the app's views side by side, and it needs the code of every view on the page.
//! So `crate::hydrate` first loads the chunk of the page that the server rendered and hydrates afterwards. The document
//! already requests that chunk beside the main wasm, so this costs no extra round trip. On a later navigation the router
//! loads the chunk of the next page while the old page stays on screen.
//!
//! # Pieces ([`piece`])
//!
//! A piece is a section of a page that isn't needed at first: a tab, or the question before a cancel. It has a chunk of
//! its own. The server renders a piece as plain HTML inside `<div class="piece">`. In the browser that `<div>` is an
//! empty element to Leptos: hydration skips what is in it, so the server's HTML stays visible and its links and forms
//! work as they do without JavaScript. A piece is *activated* when what it shows may change or needs the browser. Only
//! then its chunk is loaded, the server's HTML is removed, and the component renders in its place.
//!
//! Rules for a piece:
//! - It creates no resources. The server and the browser number resources in the order of their creation. The server would
//!   count those of a piece, and the browser would not until the piece is activated, so all later numbers would differ.
//!   The test `pieces_create_no_resources` checks this.
//! - Its component takes no props. It reads what it needs from context.
//! - Its HTML must stay correct until the piece is activated. Pass an `active` signal that turns true as soon as the content
//!   may change.
//! - Its links to lines of the log are `rel="external"`. Otherwise the router would handle a click on the server's HTML as a
//!   navigation, and the page would never learn which line was asked for.
//!
//! # Adding a page
//!
//! 1. Add the route in `app.rs`, with `view=Page::…`.
//! 2. Add a line in `pages.rs`: the variant, the name of the chunk, the names of its two generated functions, and the
//!    component. A chunk `cluster_…` contains what `cluster`, the page around it, needs as well.
//! 3. Add the path in `Page::at`. A test compares it with the routes.
//! 4. Run `cargo xtask bench size`.
//!
//! # Type erasure ([`erased`])
//!
//! Every closure and every list in a `view!` has a distinct type, and each type gets a separate copy of the code that
//! builds, updates and hydrates it. The functions in [`erased`] give all of them one type.
//!
//! # One way to read JSON ([`json_reader`])
//!
//! serde's derive compiles two readers for each struct. [`json_reader`] needs only the smaller one.

pub(crate) mod erased;
pub(crate) mod json_reader;
pub(crate) mod piece;
pub(crate) mod split_point;
