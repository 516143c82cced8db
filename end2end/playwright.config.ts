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
  retries: 0, // a flaky test is a bug to find
  reporter: [['list'], ['./fixtures/failed.ts']],
  use: {
    actionTimeout: 60_000,
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.KUBEONKUBE_CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
    },
  },
});
