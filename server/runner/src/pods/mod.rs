//! The kubelet of the only node: turns each pod into a run, and writes into the pod's status how the run goes.

mod cleanup; // removes processes, folders and keys of runs that have ended
mod container; // pure: the container's command and environment
mod kubelet; // watches pods and gives each one a worker
mod lifecycle; // the steps of a worker: start, supervise, finish
mod start; // first step: slot, ansible, root folder, shim
mod status; // pure: the status that each step writes
mod supervise; // second step: waits for the end of the run, and stops it when asked
mod volumes; // the pod's volumes as files below its root
mod worker; // the state of one pod, which the steps share

pub(crate) use self::kubelet::run;
