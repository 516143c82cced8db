// Pages of running and queued operations: no axe violation in light and dark, and they fit a phone.
import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/console.ts';
import type { Kube } from '../fixtures/kube.ts';
import { isRight } from '../fixtures/looks.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { log, phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

// Each worker takes the next.
test.describe.configure({ mode: 'parallel' });

/** A script that runs until the talker ends it, and a second operation behind it. */
async function runAndQueue(kube: Kube, cluster: string, talker: Talker): Promise<void> {
  await makeCluster(kube, cluster);
  await run(kube, cluster, `${cluster}-1`, { script: talker.script });
  await kube.condition(`${cluster}-1`, 'Running');
  await run(kube, cluster, `${cluster}-2`, { script: 'echo next' });
  await kube.condition(`${cluster}-2`, 'Queued');
}

/** Ends both operations, so that no run outlives the server. */
async function endBoth(kube: Kube, cluster: string, talker: Talker): Promise<void> {
  talker.end();
  await kube.ended(`${cluster}-2`);
}

const question = (page: Page) => page.getByText('Cancel…');

test('a running page and its stop dialog are accessible', async ({ page, visit, kube }) => {
  test.slow(); // several states
  using talker = new Talker();
  await runAndQueue(kube, 'live-run', talker);
  await visit('/operations/live-run-1');
  await says(page, talker.say(200));
  await expect(phase(page, 'Running')).toBeVisible();
  await isRight(page);

  await question(page).click();
  await expect(page.getByRole('button', { name: 'Stop the run' })).toBeVisible();
  await isRight(page);
  await expect(page.getByRole('button', { name: 'Stop the run' }), 'also on a phone').toBeInViewport({ ratio: 1 });
  await question(page).click();

  await log(page).evaluate((scroller) => (scroller.scrollTop = 0));
  const pill = page.getByRole('button', { name: '1,234 new lines' });
  talker.say(1234);
  await expect(pill).toBeVisible();
  await isRight(page);
  await expect(pill).toBeVisible();
  await endBoth(kube, 'live-run', talker);
});

test('a run shows its end even if loading it failed once', async ({ page, visit, kube, expected }) => {
  expected.push(/ERR_FAILED/);
  using talker = new Talker();
  await runAndQueue(kube, 'live-cut', talker);
  await visit('/operations/live-cut-2');
  await expect(phase(page, 'Queued')).toBeVisible();
  let failed = Infinity;
  page.on('requestfailed', () => (failed = Date.now()));
  await page.route('**/api/load_operation*', (route) => route.abort());
  await endBoth(kube, 'live-cut', talker);
  // Updates of one operation are at most 250 ms apart, so the last one has been requested by now.
  await expect.poll(() => Date.now() - failed).toBeGreaterThan(700);
  await page.unroute('**/api/load_operation*');
  await expect(phase(page, 'Succeeded')).toBeVisible();
});

test('queued and cancelled runs are accessible', async ({ page, visit, kube }) => {
  test.slow(); // several states
  using talker = new Talker();
  await runAndQueue(kube, 'live-queue', talker);
  await visit('/operations/live-queue-2');
  await expect(phase(page, 'Queued')).toBeVisible();
  await isRight(page);
  await question(page).click();
  await page.getByRole('button', { name: 'Remove from queue' }).click();
  await expect(phase(page, 'Cancelled')).toBeVisible();
  await isRight(page);
  talker.end();
  await kube.ended('live-queue-1');
});

test('busy list, refused unregistering and help are accessible', async ({ page, visit, kube }) => {
  test.slow(); // several states
  using talker = new Talker();
  await runAndQueue(kube, 'live-busy', talker);
  await visit('/operations?q=live-busy');
  await expect(page.getByRole('row', { name: /^Running/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^Queued/ })).toBeVisible();
  await isRight(page);

  await visit('/clusters/live-busy/unregister');
  await page.getByLabel(/^Type .* to confirm$/).fill('live-busy');
  await page.getByRole('button', { name: 'Unregister' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'live-busy-1' })).toBeVisible();
  await isRight(page);

  await visit('/operations/live-busy-1');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  await isRight(page);
  await endBoth(kube, 'live-busy', talker);
});
