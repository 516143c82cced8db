import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

// Tests that install Kubernetes on the lab's machines. They run inside the lab (`cargo xtask lab shell`), one after the other.
export default defineConfig(base, {
  testDir: 'machines',
  outputDir: 'test-results/machines',
  timeout: 2_700_000,
  workers: 1,
});
