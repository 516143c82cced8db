//! Kills the server many times, at random moments, while runs are submitted, start, run and end.

use std::env;
use std::future::pending;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::timeout;

use crate::run::Run;
use crate::world::{World, eventually};

/// The variable with the seed that repeats an earlier test run.
const SEED: &str = "KUBEONKUBE_TEST_SEED";
/// The number of unfinished runs at any time. Some of them run, others are queued.
const UNFINISHED: usize = 6;
/// Every eighth run is a playbook, the others are scripts.
const PLAYBOOK_EVERY: usize = 8;

pub(crate) struct Storm {
    kills: usize,
    random: StdRng,
    submitted: Vec<Run>,
    /// Submitted without an answer yet: it may have been stored or not.
    next: Option<Run>,
}

impl Storm {
    /// `seed` is used unless the environment has one.
    pub(crate) fn of(kills: usize, seed: u64) -> Self {
        let seed = env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(seed);
        println!("{SEED}={seed}");
        Self { kills, random: StdRng::seed_from_u64(seed), submitted: Vec::new(), next: None }
    }

    /// Kills the server; returns the submitted runs. Afterwards no server is running.
    pub(crate) async fn run(mut self, world: &mut World) -> Vec<Run> {
        // Otherwise the first kills would hit an idle server.
        self.submit_more(world).await;
        for kill in 0..self.kills {
            if kill > 0 {
                world.spawn();
            }
            // Some kills hit a server that starts, the others one with a running operation.
            let hits_a_start = self.random.random_bool(0.3);
            if !hits_a_start {
                world.answers().await;
            }
            let milliseconds = self.random.random_range(0..500);
            let submitting = async {
                self.submit_more(world).await;
                pending::<()>().await;
            };
            let _ = timeout(Duration::from_millis(milliseconds), submitting).await;
            if !hits_a_start {
                self.some_run(world).await;
            }
            world.kill().await;
        }
        println!("{} kills, {} operations", self.kills, self.submitted.len());
        world.start().await;
        if let Some(run) = self.next.take() {
            world.submit(&run).await;
            self.submitted.push(run);
        }
        world.kill().await;
        self.submitted
    }

    /// Submits operations until one is running. On a busy machine, all may have ended while the server started.
    async fn some_run(&mut self, world: &World) {
        eventually("an operation to run", async || {
            self.submit_more(world).await;
            self.is_any_running(world).then_some(())
        })
        .await;
    }

    fn is_any_running(&self, world: &World) -> bool {
        self.submitted.iter().any(|run| world.starts(run) > 0 && !world.has_ended(run))
    }

    /// May be dropped at any moment. Then the next call submits the same run again, as a client does after a lost connection.
    async fn submit_more(&mut self, world: &World) {
        while self.submitted.iter().filter(|run| !world.has_ended(run)).count() < UNFINISHED {
            if self.next.is_none() {
                self.next = Some(self.make_run(world));
            }
            if let Some(run) = &self.next {
                world.submit(run).await;
            }
            self.submitted.extend(self.next.take());
        }
    }

    fn make_run(&mut self, world: &World) -> Run {
        let n = self.submitted.len();
        let (name, cluster) = (format!("run-{n}"), &world.clusters()[n % world.clusters().len()]);
        if n % PLAYBOOK_EVERY == 1 {
            Run::playbook(&name, cluster, self.random.random_range(5..20))
        } else {
            Run::shell(&name, cluster, self.random.random_range(10..60))
        }
    }
}
