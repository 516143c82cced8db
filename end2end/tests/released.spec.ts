// A release is one file: its site is in it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, NOBODY, test } from '../fixtures/console.ts';
import { root } from '../fixtures/server.ts';

test.use({ storageState: NOBODY });

test('a release carries its site, compressed, to be kept for ever', async ({ page }) => {
  test.skip(!process.env.KUBEONKUBE_IN_PARTS, 'in this build the site is read from disk');
  expect(existsSync(join(root, 'target/site')), 'the site that was built is away').toBe(false);
  const asked = page.waitForResponse(/\/assets\/app-\w+\.wasm$/);
  await page.goto('/login');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const headers = await (await asked).allHeaders();
  expect(headers['content-encoding']).toBe('br');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});
