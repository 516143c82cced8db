//! The page of one run: why it failed or what it does, its tasks, its log, its hosts, its results, its inputs.
//!
//! The server renders all of it (the last 200 lines of the log included), so it reads without JavaScript. In the browser
//! the same views go on with what the socket tells; the log then holds a window of rows over a store of lines.

pub mod ansi;
mod cancel;
mod functions;
mod head;
mod hosts;
mod inputs;
mod log_panel;
mod log_row;
mod log_store;
mod mark;
mod missing_lines;
mod outcomes;
mod page;
mod reason;
mod scroller;
mod selection;
mod sentences;
mod state;
mod tabs;
mod task_tree;
mod task_words;
mod totals;
mod window;

pub use cancel::CancelForm;
pub use hosts::HostsTab;
pub use inputs::InputsTab;
pub use outcomes::OutcomesTab;
pub use page::RunPage;
pub use reason::ReasonAlert;
pub use task_tree::TaskList;
