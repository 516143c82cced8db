// The list of operations: filter, phase and sort are in the URL.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run } from '../fixtures/objects.ts';

bothWays((script) => {
  const cluster = script ? 'ran-js' : 'ran-plain';
  const names = async (page: Page) => {
    const paths = await page.getByRole('region', { name: 'Operations' }).getByRole('rowheader').getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
    return paths.map((path) => path.replace(`/operations/${cluster}-`, ''));
  };

  test('filter, phase and sort are kept in the URL', async ({ page, visit, kube }) => {
    await makeCluster(kube, cluster);
    for (const [name, action] of [['old', 'echo b'], ['bad', 'exit 3'], ['new', 'echo a']]) {
      await run(kube, cluster, `${cluster}-${name}`, { script: action });
      const { metadata } = await kube.ended(`${cluster}-${name}`);
      // The submission time has a resolution of one second.
      await expect.poll(() => Date.now() - Date.parse(String(metadata.creationTimestamp))).toBeGreaterThanOrEqual(1000);
    }
    await visit('/operations');
    const filter = page.getByRole('searchbox', { name: 'Filter by name, cluster or action' });
    await filter.fill(cluster);
    await filter.press('Enter');
    await expect(page).toHaveURL(`/operations?q=${cluster}`);
    await expect.poll(() => names(page)).toEqual(['new', 'bad', 'old']);
    await expect(page.getByRole('columnheader', { name: 'Submitted' })).toHaveAttribute('aria-sort', 'descending');

    const phases = page.getByRole('navigation', { name: 'Which operations' });
    await phases.getByRole('link', { name: 'Failed' }).click();
    await expect(page).toHaveURL(`/operations?q=${cluster}&phase=failed`);
    await expect.poll(() => names(page)).toEqual(['bad']);
    await expect(phases.getByRole('link', { name: 'Failed' })).toHaveAttribute('aria-current', 'true');
    await phases.getByRole('link', { name: 'Cancelled' }).click();
    await expect(page.getByText('No operation matches')).toBeVisible();
    await page.goBack();
    await phases.getByRole('link', { name: 'Succeeded' }).click();
    // The links of the columns have the phase, too.
    await expect.poll(() => names(page)).toEqual(['new', 'old']);
    await page.getByRole('columnheader', { name: 'Action' }).getByRole('link').click();
    await expect(page).toHaveURL(`/operations?q=${cluster}&phase=succeeded&sort=action`);
    await expect.poll(() => names(page)).toEqual(['new', 'old']);
    await page.getByRole('columnheader', { name: 'Action' }).getByRole('link').click();
    await expect(page).toHaveURL(`/operations?q=${cluster}&phase=succeeded&sort=-action`);
    await expect.poll(() => names(page)).toEqual(['old', 'new']);
    await expect(page.getByRole('columnheader', { name: 'Action' })).toHaveAttribute('aria-sort', 'descending');

    await visit(`/operations?q=echo&cluster=${cluster}&sort=-submitted`);
    await expect.poll(() => names(page)).toEqual(['old', 'new']);
    await expect(filter).toHaveValue('echo');
    await page.getByRole('link', { name: `Cluster ${cluster}` }).click();
    await expect(page).toHaveURL('/operations?q=echo&sort=-submitted');
    await visit(`/clusters/${cluster}/operations?phase=failed`);
    await expect.poll(() => names(page)).toEqual(['bad']);
  });
});

test('the ages in the list go on, also after it was loaded again', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'ages');
  await run(kube, 'ages', 'ages-1', { script: 'echo' });
  await kube.ended('ages-1');
  await page.clock.install();
  await visit('/operations?q=ages');
  const ages = (name: string) => page.getByRole('row').filter({ has: page.locator(`a[href$="/${name}"]`) }).locator('time').first();
  await expect(ages('ages-1')).toHaveText(/^(just now|\d+ s ago)$/);
  await page.clock.fastForward(180_000);
  await expect(ages('ages-1')).toHaveText(/^[34] min ago$/);
  // A row that stays is not made again with the others.
  await run(kube, 'ages', 'ages-2', { script: 'echo' });
  await expect(ages('ages-2')).toBeVisible();
  await page.clock.fastForward(120_000);
  await expect(ages('ages-1')).toHaveText(/^[5-7] min ago$/);
});
