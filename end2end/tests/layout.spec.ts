// What fits where: status on a phone, the log of a failed run, aligned conditions, tables that show that they scroll.
import type { Page } from '@playwright/test';
import { FakeCluster } from '../fixtures/cluster.ts';
import { bothWays, expect, test } from '../fixtures/console.ts';
import type { Kube } from '../fixtures/kube.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { log, phase } from '../fixtures/run-page.ts';

const PHONE = { width: 375, height: 812 };
const LONG = 'a-host-with-a-rather-long-name.example.com';

/** Creates a cluster with long names, a run that succeeded, and one that failed on each host for another reason. All tests share it. */
async function furnish(kube: Kube): Promise<void> {
  const hosts = [LONG, 'b', 'c', 'd', 'e', 'f', 'g'];
  test.slow(); // ansible on seven hosts
  await makeCluster(kube, 'fits', { hosts: localHosts(...hosts) });
  await run(kube, 'fits', 'fits-facts', { playbook: 'facts.yml' });
  // No known cause: hosts with the same cause would be one row.
  const text = 'The index of the package mirror is older than the one of the day before (mirror 4711)\\n';
  await runOwn(kube, 'fits', 'fits-failed', [
    '- name: Prepare the machines', '  hosts: all', '  gather_facts: false', '  tasks:',
    '    - {name: Look at the machines, ansible.builtin.debug: }',
    '    - name: Install the packages that the container runtime needs',
    `      ansible.builtin.fail: {msg: "{{ inventory_hostname }}: ${text.repeat(8)}"}`, '',
  ].join('\n'));
  for (const run of ['failed', 'facts']) await kube.ended(`fits-${run}`, 200_000);
}

/** The statuses of lists that are not completely on screen. */
const offScreen = (page: Page) => page.locator('.rows .st').evaluateAll((all) => all.filter((status) => {
  const { left, right, width } = status.getBoundingClientRect();
  return width > 0 && (left < 0 || right > innerWidth);
}).map((status) => status.textContent));

bothWays(() => {
  test('every status is on screen at 375 px', async ({ page, visit, kube }) => {
    await page.setViewportSize(PHONE);
    await furnish(kube);
    for (const path of ['/clusters', '/clusters/fits', '/clusters/fits/nodes', '/operations', '/operations/fits-failed?tab=hosts']) {
      await visit(path);
      await expect(page.locator('.rows .st').first(), path).toBeVisible();
      expect(await offScreen(page), path).toEqual([]);
    }
    // The words of a card have their labels.
    await visit('/operations/fits-facts?tab=results');
    const labels = await page.locator('.rows td').evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
    expect(labels.filter((label) => label === 'none')).toEqual([]);
    expect(labels.join()).toContain('Kernel');
  });

  test('the chosen filter is on screen at 375 px', async ({ page, visit, kube }) => {
    await page.setViewportSize(PHONE);
    await makeCluster(kube, 'chosen');
    /** The chosen links of the page that are not completely on screen, or cut off by an element around them. */
    const hidden = () => page.getByRole('main').locator('a[aria-current]').evaluateAll((links) => links.filter((link) => {
      const { left, right, top, bottom } = link.getBoundingClientRect();
      const isCovered = (x: number) => !link.contains(document.elementFromPoint(x, (top + bottom) / 2));
      return left < 0 || right > innerWidth || isCovered(left + 2) || isCovered(right - 2);
    }).map((link) => link.textContent));
    const phases = ['', 'running', 'queued', 'failed', 'succeeded', 'cancelled', 'restored'];
    const views = [
      ...phases.map((phase) => `/operations?phase=${phase}`),
      '/clusters/chosen/operations?phase=restored',
      '/clusters?show=running',
      '/clusters/chosen/nodes',
      '/clusters/chosen/configuration?show=ssh',
    ];
    for (const path of views) {
      await visit(path);
      await expect(page.getByRole('main').locator('a[aria-current]').last(), path).toBeAttached();
      expect(await hidden(), path).toEqual([]);
    }
  });

  test('the log of a failed run begins within 1.5 screens', async ({ page, visit, kube }) => {
    await page.setViewportSize(PHONE);
    await furnish(kube);
    await visit('/operations/fits-failed');
    await expect(page.getByRole('alert').filter({ hasText: 'Install the packages' })).toBeVisible();
    await expect(page.locator('.reason-others li')).toHaveCount(6);
    const top = () => log(page).evaluate((log) => log.getBoundingClientRect().top + scrollY);
    expect(await top()).toBeLessThanOrEqual(1.5 * PHONE.height);
    // The causes are long enough: without the limits of their heights, the log begins later.
    for (const part of ['.reason pre', '.reason-others']) {
      const before = await top();
      await page.locator(part).evaluate((part) => (part.style.maxHeight = 'none'));
      expect(await top(), part).toBeGreaterThan(before);
    }
    expect(await top()).toBeGreaterThan(1.5 * PHONE.height);
  });
});

test('conditions are aligned in columns', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'aligned');
  await run(kube, 'aligned', 'aligned-1', { playbook: 'ping.yml' });
  await kube.ended('aligned-1');
  await visit('/clusters/aligned');
  // The names differ in length.
  await expect(page.locator('.conditions .st')).toHaveText(['Last operation succeeded', 'Inputs ready']);
  for (const column of ['.st', '.grow']) {
    const lefts = await page.locator(`.conditions ${column}`).evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left));
    expect(new Set(lefts).size, column).toBe(1);
  }
});

test('a table that is too wide shows that it scrolls', async ({ page, visit, kube }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await furnish(kube);
  await visit('/operations/fits-facts?tab=results');
  const table = page.getByRole('region', { name: 'Facts' });
  expect(await table.evaluate((table) => table.scrollWidth > table.clientWidth)).toBe(true);
  const shadows = await table.evaluate((table) => getComputedStyle(table).backgroundImage.split('linear-gradient').length - 1);
  expect(shadows).toBe(4);
});

test('lists fit at 1280 and 1440 px, also with long names and live nodes', async ({ page, visit, kube }) => {
  await furnish(kube);
  const api = await new FakeCluster().start();
  try {
    const long = 'customer-4711-production-kubernetes-frankfurt-07';
    api.versions = { ...api.versions, [LONG]: 'v1.35.9' };
    await api.isFor(kube, long);
    await makeCluster(kube, long, { hosts: localHosts(LONG, 'cp1', 'w1') });
    const { apiVersion, kind, spec } = await kube.get('Cluster', long);
    await kube.apply({ apiVersion, kind, metadata: { name: long, labels: { team: 'platform-engineering', region: 'eu-central' } }, spec });
    await expect(async () => {
      await visit(`/clusters/${long}/nodes`);
      await expect(page.getByText('Nodes read from the cluster')).toBeVisible({ timeout: 1_000 });
    }).toPass({ timeout: 60_000 });
    for (const [path, name] of [[`/clusters/${long}/nodes`, 'Hosts'], ['/clusters', 'Clusters'], ['/operations', 'Operations']]) {
      for (const [width, height] of [[1280, 720], [1440, 900]] as const) {
        await page.setViewportSize({ width, height });
        await visit(path!);
        const list = page.getByRole('region', { name, exact: true });
        await expect(list.locator('tbody tr').nth(1), path).toBeVisible();
        if (name === 'Hosts') await expect(list.getByRole('columnheader', { name: 'Last run' })).toBeVisible();
        expect(await list.evaluate((list) => list.scrollWidth - list.clientWidth), `${path} at ${width} px`).toBe(0);
      }
    }
    // On a phone, a card leaves out what its cluster doesn't have.
    await page.setViewportSize(PHONE);
    await visit('/clusters');
    const version = (cluster: string) => page.getByRole('row', { name: new RegExp(`^${cluster}`) }).locator('[data-label="Version"]');
    await expect(version(long)).toBeVisible();
    await expect(version('fits')).toHaveText('–');
    await expect(version('fits')).toBeHidden();
  } finally {
    api.stop();
  }
});

test('the question before a cancel fits a phone', async ({ page, visit, kube }) => {
  await page.setViewportSize(PHONE);
  await makeCluster(kube, 'asks');
  await runOwn(kube, 'asks', 'asks-1', '- {hosts: all, gather_facts: false, tasks: [{name: Wait, command: sleep 600}]}\n');
  await visit('/operations/asks-1');
  // A question that is open when the run starts is closed, because it differs then.
  await expect(phase(page, 'Running')).toBeVisible();
  await page.getByText('Cancel…').click();
  await expect(page.locator('.confirm-body')).toBeInViewport({ ratio: 1 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await kube.ended('asks-1');
});
