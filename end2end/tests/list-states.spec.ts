// The states of a list: loading, error, stale. (Empty lists: every-page.spec.ts and the app's page tests.)
import type { Locator, Page, Route } from '@playwright/test';
import { expect, test } from '../fixtures/console.ts';
import type { Kube } from '../fixtures/kube.ts';
import { isRight } from '../fixtures/looks.ts';
import { localHosts, makeCluster, run } from '../fixtures/objects.ts';

type List = {
  what: string;
  /** The URL from which the list loads its data. */
  data: RegExp;
  /** Creates what the list needs besides a cluster. */
  prepare?: (kube: Kube, cluster: string) => Promise<void>;
  /** Another page, and the link there that opens the list. */
  from: (cluster: string) => string;
  link: (page: Page) => Locator;
  /** The name of the list's table. */
  table: string;
  /** A row that exists from the start, and a row that `change` adds. */
  rows: [RegExp, RegExp];
  change: (kube: Kube, cluster: string) => Promise<void>;
  /** Makes loading fail, and the sentence that the page shows then. */
  fail: (route: Route) => Promise<void>;
  sentence: string;
};

const inMain = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });

const LISTS: List[] = [
  {
    what: 'clusters',
    data: /\/api\/load_clusters/,
    from: () => '/settings',
    link: (page) => inMain(page, 'Clusters'),
    table: 'Clusters',
    rows: [/states-clusters /, /states-clusters-2 /],
    change: (kube, cluster) => makeCluster(kube, `${cluster}-2`),
    fail: (route) => route.abort('connectionrefused'),
    sentence: 'The server can\'t be reached. Check that it is running, then try again.',
  },
  {
    what: 'operations',
    data: /\/api\/load_operations/,
    prepare: async (kube, cluster) => {
      await run(kube, cluster, `${cluster}-1`, { script: 'echo first' });
      await kube.ended(`${cluster}-1`);
    },
    from: () => '/settings',
    link: (page) => inMain(page, 'Operations'),
    table: 'Operations',
    rows: [/echo first .*states-operations/, /echo second .*states-operations/],
    change: async (kube, cluster) => {
      await run(kube, cluster, `${cluster}-2`, { script: 'echo second' });
      await kube.ended(`${cluster}-2`);
    },
    // A proxy answers with its own page while the server restarts.
    fail: (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    sentence: 'The server\'s answer can\'t be read. It may be restarting. Try again.',
  },
  {
    what: 'nodes',
    data: /\/api\/load_nodes/,
    from: (cluster) => `/clusters/${cluster}`,
    link: (page) => page.getByRole('navigation', { name: 'Cluster', exact: true }).getByRole('link', { name: 'Nodes' }),
    table: 'Hosts',
    rows: [/m1/, /m2/],
    change: async (kube, cluster) => {
      const metadata = { namespace: 'default', name: `${cluster}-hosts` };
      await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'hosts.yml': localHosts('m1', 'm2') } });
    },
    fail: (route) => route.fulfill({ status: 500, json: 'internal' }),
    sentence: 'Something went wrong in kubeonkube itself. The server\'s log has the details.',
  },
];

/** The opacity of an element `ms` after it appeared: sets its animation to that time. */
const opacityAt = (shown: Locator, ms: number) => shown.evaluate((node, ms) => {
  const [appears] = node.getAnimations();
  appears.pause();
  appears.currentTime = ms;
  return getComputedStyle(node).opacity;
}, ms);

/** The effective opacity: the product over the element and its ancestors. */
const opacity = (shown: Locator) => shown.evaluate((node) => {
  let opacity = 1;
  for (let at: Element | null = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
  return opacity;
});

for (const list of LISTS) {
  test(`${list.what}: skeleton, error, and dimmed stale rows`, async ({ page, visit, kube, expected }) => {
    expected.push(/Failed to load resource/);
    const cluster = `states-${list.what}`;
    await makeCluster(kube, cluster);
    await list.prepare?.(kube, cluster);
    // The skeleton pulses unless reduced motion is set.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const table = page.getByRole('region', { name: list.table, exact: true });
    const [first, second] = list.rows.map((name) => table.getByRole('row', { name }));
    const skeleton = page.getByRole('status', { name: 'Loading' });
    const alert = page.getByRole('main').getByRole('alert');
    /** Presses the link, unless a late live update has reloaded the list already. */
    const tryAgain = (row: Locator) => expect(async () => {
      const again = alert.getByRole('link', { name: 'Try again' });
      if (await again.count()) await again.click({ timeout: 1000 });
      await expect(row).toBeVisible({ timeout: 1000 });
    }).toPass();

    await visit(list.from(cluster));
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(list.data, async (route) => {
      await held;
      await list.fail(route);
    });
    await list.link(page).click();
    await expect(skeleton).toHaveCSS('opacity', '1');
    expect([await opacityAt(skeleton, 299), await opacityAt(skeleton, 301)], 'it appears after 300 ms').toEqual(['0', '1']);
    await expect(table).toHaveCount(0);

    answer();
    await expect(alert).toContainText(list.sentence);
    await expect(alert).not.toContainText('the last successful load');
    await expect(skeleton).toHaveCount(0);
    await expect(table).toHaveCount(0);

    await page.unroute(list.data);
    await tryAgain(first);
    await expect(alert).toHaveCount(0);
    expect(await opacity(first)).toBe(1);

    // A live update arrives, but the new data can't be loaded.
    await page.route(list.data, list.fail);
    await list.change(kube, cluster);
    await expect(alert).toContainText(list.sentence);
    await expect(alert).toContainText('The values below are from the last successful load.');
    await expect(first).toBeVisible();
    await expect(second).toHaveCount(0);
    expect(await opacity(first), 'old rows are dimmed').toBeLessThan(1);
    expect(await opacity(alert), 'the message about them is not').toBe(1);

    await isRight(page);

    await page.unroute(list.data);
    await tryAgain(second);
    await expect(alert).toHaveCount(0);
    expect(await opacity(first)).toBe(1);
  });
}
