import { defineConfig } from '@playwright/test';

// The browser of this machine: nothing is downloaded. Two workers, each with its own server.
export default defineConfig({
  testDir: 'tests',
  // Each stage clears its output folder, so the two stages have different ones.
  outputDir: `test-results/${process.env.KUBEONKUBE_IN_PARTS ? 'released' : 'browser'}`,
  // Deadlines, not pauses. They are long, so that tests don't fail on a slow machine.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  workers: 2,
  fullyParallel: false,
  retries: 0, // `cargo xtask test` repeats failed tests, when nothing else runs
  reporter: [['list'], ['./fixtures/failed.ts']],
  use: {
    actionTimeout: 60_000,
    // Otherwise the browser draws the sign of a running operation sixty times a second.
    contextOptions: { reducedMotion: 'reduce' },
    viewport: { width: 1440, height: 900 },
    // Traces take a third of the processors, so only repeated tests have them.
    trace: process.env.KUBEONKUBE_AGAIN ? 'retain-on-failure' : 'off',
    launchOptions: {
      executablePath: process.env.KUBEONKUBE_CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
    },
  },
});
