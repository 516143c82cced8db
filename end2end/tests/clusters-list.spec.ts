// The list of clusters: filter and sort in the URL, live updates, keyboard.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run } from '../fixtures/objects.ts';
import { Talker } from '../fixtures/talker.ts';
import type { Page } from '@playwright/test';

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const names = (page: Page) => page.getByRole('region', { name: 'Clusters' }).getByRole('rowheader').allTextContents();

bothWays((script) => {
  const prefix = script ? 'listed-js' : 'listed-plain';

  test('filter and sort are kept in the URL', async ({ page, visit, kube }) => {
    await makeCluster(kube, `${prefix}-a`, { hosts: localHosts('m1') });
    await makeCluster(kube, `${prefix}-b`, { hosts: localHosts('m1', 'm2', 'm3') });
    await makeCluster(kube, `${prefix}-c`, { hosts: localHosts('m1', 'm2') });
    await visit('/clusters');
    const filter = page.getByRole('searchbox', { name: 'Filter by name, label or version' });
    await filter.fill(prefix);
    await filter.press('Enter');
    await expect(page).toHaveURL(`/clusters?q=${prefix}`);
    await expect(page.getByRole('rowheader')).toHaveCount(3);
    const sort = page.getByRole('columnheader', { name: 'Nodes' }).getByRole('link');
    // The page writes its links after its URL.
    await expect(sort).toHaveAttribute('href', new RegExp(`q=${prefix}`));
    await sort.click();
    await expect(page).toHaveURL(`/clusters?q=${prefix}&sort=nodes`);
    await expect.poll(() => names(page)).toEqual([`${prefix}-b`, `${prefix}-c`, `${prefix}-a`]);
    await expect(page.getByRole('columnheader', { name: 'Nodes' })).toHaveAttribute('aria-sort', 'descending');
    await page.getByRole('columnheader', { name: 'Nodes' }).getByRole('link').click();
    await expect(page).toHaveURL(`/clusters?q=${prefix}&sort=-nodes`);
    await expect.poll(() => names(page)).toEqual([`${prefix}-a`, `${prefix}-c`, `${prefix}-b`]);
    await expect(page.getByRole('columnheader', { name: 'Nodes' })).toHaveAttribute('aria-sort', 'ascending');

    await page.goBack();
    await expect.poll(() => names(page)).toEqual([`${prefix}-b`, `${prefix}-c`, `${prefix}-a`]);
    await visit(`/clusters?q=${prefix}-c&sort=-name`);
    await expect.poll(() => names(page)).toEqual([`${prefix}-c`]);
    await expect(filter).toHaveValue(`${prefix}-c`);
    await visit(`/clusters?q=nothing-is-called-so`);
    await expect(page.getByText('No cluster matches')).toBeVisible();
    await page.getByRole('link', { name: 'Show all clusters' }).click();
    await expect(page).toHaveURL('/clusters');
  });
});

test('the list follows a run that was started elsewhere', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'news', { hosts: localHosts('m1') });
  await visit('/clusters?q=news');
  await expect(row(page, 'news')).toContainText('Nothing run yet');
  await page.evaluate(() => ((window as any).same = true));
  using talker = new Talker();
  await run(kube, 'news', 'news-1', { script: talker.script });
  await expect(row(page, 'news')).toContainText(/Running/);
  await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /news ·/ })).toBeVisible();
  talker.end();
  await expect(row(page, 'news')).toContainText('Last run OK');
  await makeCluster(kube, 'news-2');
  await expect(row(page, 'news-2')).toBeVisible();
  expect(await page.evaluate(() => (window as any).same), 'the page was never reloaded').toBe(true);
});

test('keys filter, move and go', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'keys-1');
  await makeCluster(kube, 'keys-2');
  await visit('/clusters?q=keys&sort=name');
  await page.keyboard.press('/');
  const filter = page.getByRole('searchbox', { name: 'Filter by name, label or version' });
  await expect(filter).toBeFocused();
  // Inside a text field, keys are not commands.
  await page.keyboard.press('End');
  await page.keyboard.type('-2go');
  await expect(filter).toHaveValue('keys-2go');
  await expect(page).toHaveURL(/q=keys-2go/);
  await filter.fill('keys');
  await expect(page.getByRole('rowheader')).toHaveCount(2);
  // A count that arrives later draws its row again.
  for (const name of ['keys-1', 'keys-2']) await expect(row(page, name).locator('[data-label="Nodes"]')).toHaveText('1');
  await filter.blur();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await expect(page.getByRole('link', { name: 'keys-1', exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/clusters/keys-1');
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await expect(page).toHaveURL('/operations');
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await expect(page).toHaveURL('/clusters');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeHidden();
});
