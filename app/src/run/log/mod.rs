//! The tab with the log: the task list on the left, the lines on the right.
//!
//! [`panel`] puts the tab together. [`store`] holds the lines that are in the browser, [`window`] computes which of them are
//! on screen, [`scroll_position`] keeps the log at its end while lines are added, [`scroller`] renders the rows, and
//! [`missing_lines`] loads lines that are about to come on screen. [`row`] renders one line, with colours from [`ansi`] and [`mark`].

mod ansi;
mod mark;
mod missing_lines;
mod pages;
pub(super) mod panel;
mod row;
mod scroll_position;
mod scroller;
mod selection_bar;
pub(super) mod store;
pub(super) mod task_list;
mod task_words;
mod window;
