//! Stopping on a signal. Runs are not stopped: they are processes of their own and continue.

use std::{io, process};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on SIGTERM or SIGINT. A second signal ends the process at once.
pub fn on_signals(stop: CancellationToken) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        let name = either(&mut terminate, &mut interrupt).await;
        tracing::info!(signal = name, "stopping; runs continue");
        stop.cancel();
        either(&mut terminate, &mut interrupt).await;
        tracing::warn!("second signal: ending at once");
        process::exit(130);
    });
    Ok(())
}

async fn either(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
