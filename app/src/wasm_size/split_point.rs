//! Split points: functions at which a release cuts the wasm. The [module above](super) explains them.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt;
use leptos::prelude::*;

/// Why a chunk could not be loaded.
#[cfg(feature = "split")]
pub(crate) use wasm_split_helpers::SplitLoaderError as LoadError;

/// Without `split` all code is in one file, so loading can't fail.
#[cfg(not(feature = "split"))]
pub(crate) type LoadError = std::convert::Infallible;

/// One of the views that `split_points!` lists.
pub(crate) trait SplitPoint: Copy + Send + Sync + 'static {
    /// The name of its chunk in the site's manifest.
    fn chunk(self) -> &'static str;

    /// Loads the chunk.
    async fn load(self) -> Result<(), LoadError>;

    /// Loads the chunk and makes the view.
    async fn open(self) -> Result<AnyView, LoadError>;

    /// The loaded chunks of its list, one bit each, and the bit of this one.
    fn loaded(self) -> (&'static AtomicU32, u32);

    /// Loads the chunk and remembers that it is here.
    ///
    /// # Errors
    /// The chunk can't be loaded. The next call tries again.
    async fn fetch(self) -> Result<(), LoadError> {
        self.load().await?;
        let (chunks, bit) = self.loaded();
        chunks.fetch_or(bit, Ordering::Relaxed);
        Ok(())
    }

    /// The view, if its chunk is here. It must not poll `open` to find out: that would start a load without waiting for it.
    fn open_now(self) -> Option<AnyView> {
        let (chunks, bit) = self.loaded();
        let is_here = cfg!(not(feature = "split")) || chunks.load(Ordering::Relaxed) & bit != 0;
        is_here.then(|| self.open().now_or_never())??.ok()
    }
}

/// Declares an enum of split points (at most 32), one line each: the variant, the name of its chunk, the names of the two
/// functions by which the splitter knows it, and the component that it shows.
///
/// The chunk's name tells `xtask/src/site/split.rs` what to put into its file: `cluster_nodes` is delivered together with
/// what `cluster` needs; a name that ends in `_piece` is delivered alone, because the page around it is loaded already.
macro_rules! split_points {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident;
        $($point:ident: $chunk:ident, $load:ident, $open:ident => $view:path;)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name { $($point),* }

        impl $crate::wasm_size::split_point::SplitPoint for $name {
            fn chunk(self) -> &'static str {
                match self { $(Self::$point => stringify!($chunk)),* }
            }

            async fn load(self) -> Result<(), $crate::wasm_size::split_point::LoadError> {
                match self { $(Self::$point => $load().await),* }
            }

            async fn open(self) -> Result<leptos::prelude::AnyView, $crate::wasm_size::split_point::LoadError> {
                match self { $(Self::$point => $open().await),* }
            }

            fn loaded(self) -> (&'static std::sync::atomic::AtomicU32, u32) {
                static LOADED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
                (&LOADED, 1 << self as u32)
            }
        }

        $(
            #[cfg(feature = "split")]
            #[wasm_split_helpers::wasm_split($chunk, fallible, preload($load))]
            fn $open() -> Result<leptos::prelude::AnyView, $crate::wasm_size::split_point::LoadError> {
                Ok(leptos::prelude::IntoAny::into_any($view()))
            }

            #[cfg(not(feature = "split"))]
            async fn $open() -> Result<leptos::prelude::AnyView, $crate::wasm_size::split_point::LoadError> {
                Ok(leptos::prelude::IntoAny::into_any($view()))
            }

            #[cfg(not(feature = "split"))]
            async fn $load() -> Result<(), $crate::wasm_size::split_point::LoadError> {
                Ok(())
            }
        )*
    };
}
pub(crate) use split_points;
