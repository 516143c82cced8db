// A release is one file that contains the site.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, NOBODY, test } from '../fixtures/console.ts';
import { root } from '../fixtures/server.ts';

test.use({ storageState: NOBODY });

test('a release serves its own site, compressed and cacheable', async ({ page }) => {
  test.skip(!process.env.KUBEONKUBE_IN_PARTS, 'in this build the site is read from disk');
  expect(existsSync(join(root, 'target/site')), 'the built site has been moved away').toBe(false);
  const asked = page.waitForResponse(/\/assets\/app-\w+\.wasm$/);
  await page.goto('/login');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const headers = await (await asked).allHeaders();
  expect(headers['content-encoding']).toBe('br');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});
