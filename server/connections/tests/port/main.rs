//! A port with limits of a fraction of a second, and clients that are silent, slow or many.

mod lasting;
mod many;
mod silent;
mod slow;
mod stop;
mod world;
