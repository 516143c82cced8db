// Every page: axe finds nothing in light and dark, nothing scrolls sideways on a phone, and all of it reads without JavaScript.
import type { Page } from '@playwright/test';
import { NOBODY, accessible, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import type { Kube } from '../fixtures/kube.ts';

/** Path and heading of every page, and of every state of one that looks different. */
const PAGES: [string, string][] = [
  ['/clusters', 'Clusters'],
  ['/clusters?q=nothing-matches', 'Clusters'],
  ['/clusters/new', 'Register a cluster'],
  ['/clusters/pages', 'pages'],
  ['/clusters/pages?registered=1', 'pages'],
  ['/clusters/pages/nodes', 'pages'],
  ['/clusters/pages/nodes?q=nothing-matches', 'pages'],
  ['/clusters/pages/operations', 'pages'],
  ['/clusters/pages/configuration', 'pages'],
  ['/clusters/pages/configuration?show=variables', 'pages'],
  ['/clusters/pages/configuration?show=ssh', 'pages'],
  ['/clusters/pages/unregister', 'pages'],
  ['/clusters/pages-broken', 'pages-broken'],
  ['/clusters/pages-broken/nodes', 'pages-broken'],
  ['/operations', 'Operations'],
  ['/operations?phase=cancelled&q=nothing-matches', 'Operations'],
  ['/operations/new', 'Run an operation'],
  ['/operations/pages-facts', 'facts.yml on pages'],
  ['/operations/pages-facts?tab=hosts', 'facts.yml on pages'],
  ['/operations/pages-facts?tab=results', 'facts.yml on pages'],
  ['/operations/pages-facts?tab=inputs', 'facts.yml on pages'],
  ['/operations/pages-failed', 'play.yml on pages'],
  ['/operations/pages-script', /./.source],
  ['/settings', 'Settings'],
];
const LOST: string[] = ['/nowhere', '/clusters/not-there', '/clusters/not-there/nodes', '/operations/not-there'];

/** What the pages show. */
async function furnish(kube: Kube): Promise<void> {
  await makeCluster(kube, 'pages', { hosts: localHosts('m1', 'a-host-with-a-rather-long-name.example.com'), variables: 'kube_version: 1.34.4\n' });
  await makeCluster(kube, 'pages-broken', { hosts: 'all: [oops\n' });
  await run(kube, 'pages', 'pages-facts', { playbook: 'facts.yml' });
  await runOwn(kube, 'pages', 'pages-failed', '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Check\n      ansible.builtin.fail: {msg: "no room"}\n');
  await run(kube, 'pages', 'pages-script', { script: `printf '\\033[0;31mred\\033[0m \\033[0;32mgreen\\033[0m \\033[1;33myellow\\033[0m \\033[0;34mblue\\033[0m \\033[0;35mmagenta\\033[0m \\033[0;36mcyan\\033[0m \\033[1;30mblack\\033[0m ${'long '.repeat(80)}\\n'` });
  for (const name of ['pages-facts', 'pages-failed', 'pages-script']) await kube.ended(name);
}

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 375, height: 740 };

/** Nothing of the page sticks out at the side, and if so, what. */
async function fits(page: Page): Promise<void> {
  const out = () => page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return '';
    const scrolls = (node: Element | null): boolean => node !== null && node !== document.body && (/auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
    const wide = [...document.querySelectorAll('body *')].filter((node) => node.getBoundingClientRect().right > clientWidth + 1 && !scrolls(node.parentElement));
    return `${scrollWidth} > ${clientWidth}: ${wide.slice(0, 5).map((node) => `${node.tagName}.${node.className}`).join(', ')}`;
  });
  await expect.poll(out).toBe('');
}

// Each worker takes the next page.
test.describe.configure({ mode: 'parallel' });

/** Right as it stands: for axe, and nothing sticks out, at a desk and on a phone. */
async function isRight(page: Page): Promise<void> {
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    await fits(page);
    await accessible(page);
  }
}

for (const [path, heading] of PAGES) {
  test(`${path} is accessible and fits a phone`, async ({ page, visit, kube }) => {
    await furnish(kube);
    await visit(path);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(new RegExp(heading));
    await isRight(page);
  });
}

test('what is not there is told on pages like all others', async ({ page }) => {
  for (const path of LOST) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
    await isRight(page);
  }
});

test('reviews, refusals and conflicts are pages like all others', async ({ page, visit, kube }) => {
  test.slow(); // six states, four looks at each
  await makeCluster(kube, 'pages-states');
  const review = page.getByRole('button', { name: 'Review' });

  await visit('/clusters/new');
  await page.getByLabel('Name', { exact: true }).fill('Not a name');
  await review.click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await isRight(page);
  await page.getByLabel('Name', { exact: true }).fill('fine');
  await page.getByLabel('Name of machine 1').fill('m1');
  await page.getByLabel('Address of machine 1').fill('192.0.2.1');
  await review.click();
  await expect(page.getByRole('region', { name: 'Review' })).toBeVisible();
  await isRight(page);

  await visit('/operations/new?cluster=pages-states&action=ping.yml');
  await review.click();
  await expect(page.getByRole('region', { name: 'Review' })).toBeVisible();
  await isRight(page);

  await visit('/clusters/pages-states/configuration');
  await page.getByLabel('Inventory, YAML').fill('all: [');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await expect(page.getByLabel('The lines it is about')).toBeVisible();
  await isRight(page);
  await page.getByLabel('Inventory, YAML').fill(localHosts('m1', 'm2'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  await expect(page.getByRole('region', { name: 'Changes of the inventory' })).toBeVisible();
  await isRight(page);
  await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'pages-states-hosts' }, data: { 'hosts.yml': localHosts('m1', 'm3') } });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('region', { name: 'Both versions' })).toBeVisible();
  await isRight(page);
});

test.describe('signed out', () => {
  test.use({ storageState: NOBODY });

  test('the sign-in page is a page like all others', async ({ page, server }) => {
    for (const path of ['/login', server.anotherLink(), '/login?token=spent']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
      await isRight(page);
    }
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('every page reads', async ({ page, kube }) => {
    await furnish(kube);
    for (const [path, heading] of PAGES) {
      const answer = await page.goto(path);
      expect(answer!.status(), path).toBe(200);
      await expect(page.getByRole('heading', { level: 1 }), path).toHaveText(new RegExp(heading));
      await expect(page).toHaveTitle(/ · kubeonkube$/);
    }
    for (const path of LOST) {
      const answer = await page.goto(path);
      expect(answer!.status(), path).toBe(404);
      await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
    }
  });
});
