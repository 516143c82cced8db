//! The tab with the log: the task list on the left, the lines on the right.
//!
//! [`panel`] puts the tab together. [`store`] holds the lines that are in the browser, [`window`] computes which of them are
//! on screen, [`scroll_position`] keeps the log at its end while lines are added, [`scroller`] renders the lines, and
//! [`missing_lines`] loads lines that are about to come on screen. [`anchor`] keeps lines in place, [`selected_lines`] scrolls to
//! the selection, [`line_keys`] moves between line numbers, and [`task_in_view`] scrolls the task list along. [`row`] renders one
//! line, with colours from [`ansi`] and [`mark`]. [`wrapping`] counts the rows of long
//! and hidden lines, and [`folds`] hides the lines of plays and tasks. [`tools`] are the controls in the bar
//! above, and [`find`] looks for text and for the lines of a host.

mod anchor;
pub(super) mod ansi;
pub(super) mod find;
pub(super) mod folds;
mod line_keys;
mod mark;
mod missing_lines;
mod pages;
pub(super) mod panel;
mod row;
mod scroll_position;
mod scroller;
mod selected_lines;
pub(super) mod selection_bar;
pub(super) mod store;
mod task_in_view;
pub(super) mod task_list;
pub(super) mod task_words;
pub(super) mod tools;
mod window;
mod wrapping;
