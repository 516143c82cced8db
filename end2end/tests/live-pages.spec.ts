// Pages of what goes on: as every page, they are right for axe in light and dark, and fit a phone.
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
async function goesOn(kube: Kube, cluster: string, talker: Talker): Promise<void> {
  await makeCluster(kube, cluster);
  await run(kube, cluster, `${cluster}-1`, { script: talker.script });
  await kube.condition(`${cluster}-1`, 'Running');
  await run(kube, cluster, `${cluster}-2`, { script: 'echo next' });
  await kube.condition(`${cluster}-2`, 'Queued');
}

/** Nothing is left behind that runs without its server. */
async function ends(kube: Kube, cluster: string, talker: Talker): Promise<void> {
  talker.end();
  await kube.ended(`${cluster}-2`);
}

const question = (page: Page) => page.getByText('Cancel…');

test('a run that goes on, the question whether to stop it, and the way back to its end are right', async ({ page, visit, kube }) => {
  test.slow(); // four looks at each state
  using talker = new Talker();
  await goesOn(kube, 'live-run', talker);
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
  await ends(kube, 'live-run', talker);
});

test('a run shows its end, though the question for it failed and nothing happens any more', async ({ page, visit, kube, expected }) => {
  expected.push(/ERR_FAILED/);
  using talker = new Talker();
  await goesOn(kube, 'live-cut', talker);
  await visit('/operations/live-cut-2');
  await expect(phase(page, 'Queued')).toBeVisible();
  let failed = Infinity;
  page.on('requestfailed', () => (failed = Date.now()));
  await page.route('**/api/load_operation*', (route) => route.abort());
  await ends(kube, 'live-cut', talker);
  // News of one operation are 250 ms apart at most: what came last has been asked about.
  await expect.poll(() => Date.now() - failed).toBeGreaterThan(700);
  await page.unroute('**/api/load_operation*');
  await expect(phase(page, 'Succeeded')).toBeVisible();
});

test('a run that waits, and one that was cancelled, are right', async ({ page, visit, kube }) => {
  test.slow(); // four looks at each state
  using talker = new Talker();
  await goesOn(kube, 'live-queue', talker);
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

test('a list of what runs and waits, the refusal to unregister its cluster, and the keys are right', async ({ page, visit, kube }) => {
  test.slow(); // four looks at each state
  using talker = new Talker();
  await goesOn(kube, 'live-busy', talker);
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
  await ends(kube, 'live-busy', talker);
});
