// Every page: no axe violation in light and dark, no sideways scrolling on a phone, and readable without JavaScript.
import { NOBODY, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import type { Kube } from '../fixtures/kube.ts';
import { isRight } from '../fixtures/looks.ts';

const LONG = 'a-host-with-a-rather-long-name.example.com';

/** Path, heading and some content of every page, and of every page state that looks different. */
const PAGES: [string, string, string | RegExp][] = [
  ['/clusters', 'Clusters', 'pages-broken'],
  ['/clusters?q=nothing-matches', 'Clusters', 'No cluster matches'],
  ['/clusters/_new', 'Register a cluster', 'Generate a new key pair'],
  ['/clusters/pages', 'pages', /Succeeded\s*facts\.yml/],
  ['/clusters/pages?registered=1', 'pages', 'pages is registered'],
  ['/clusters/pages/create', 'pages', 'No machine is a control plane'],
  ['/clusters/pages/upgrade?to=1.35.9', 'pages', 'Supported until'],
  ['/clusters/pages/nodes', 'pages', LONG],
  ['/clusters/pages/nodes?q=nothing-matches', 'pages', 'No host matches'],
  ['/clusters/pages/operations', 'pages', 'task “Check”: no room'],
  ['/clusters/pages/configuration', 'pages', LONG],
  ['/clusters/pages/configuration?show=variables', 'pages', 'kube_version: 1.34.4'],
  ['/clusters/pages/configuration?show=secrets', 'pages', 'Set a secret variable'],
  ['/clusters/pages/configuration?show=ssh', 'pages', 'SSH'],
  ['/clusters/pages/unregister', 'pages', 'The machines are not touched'],
  ['/clusters/pages-broken', 'pages-broken', 'hosts.yml'],
  ['/clusters/pages-broken/nodes', 'pages-broken', 'The inventory can\'t be read'],
  ['/operations', 'Operations', 'task “Check”: no room'],
  ['/operations?phase=cancelled&q=nothing-matches', 'Operations', 'No operation matches'],
  ['/operations/_new', 'Run an operation', 'Gather facts'],
  ['/operations/pages-facts', 'facts.yml on pages', `ok: [${LONG}]`],
  ['/operations/pages-facts?tab=hosts', 'facts.yml on pages', LONG],
  ['/operations/pages-facts?tab=results', 'facts.yml on pages', 'GiB'],
  ['/operations/pages-facts?tab=inputs', 'facts.yml on pages', 'kube_version: 1.34.4'],
  ['/operations/pages-failed', 'play.yml on pages', 'no room'],
  ['/operations/pages-script', /./.source, 'red green yellow'],
  ['/settings', 'Settings', 'standalone'],
];
/** Paths of things that don't exist, and what their pages say. */
const LOST: [string, string][] = [
  ['/nowhere', 'Page not found'],
  ['/clusters/not-there', 'There is no cluster called “not-there”'],
  ['/clusters/not-there/nodes', 'There is no cluster called “not-there”'],
  ['/operations/not-there', 'There is no operation called “not-there”'],
];

let furnished: Promise<void> | undefined;

/** Creates what the pages show, once for each worker. */
function furnish(kube: Kube): Promise<void> {
  return (furnished ??= create(kube));
}

async function create(kube: Kube): Promise<void> {
  await makeCluster(kube, 'pages', { hosts: localHosts('m1', LONG), variables: 'kube_version: 1.34.4\n' });
  await makeCluster(kube, 'pages-broken', { hosts: 'all: [oops\n' });
  await run(kube, 'pages', 'pages-facts', { playbook: 'facts.yml' });
  await runOwn(kube, 'pages', 'pages-failed', '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Check\n      ansible.builtin.fail: {msg: "no room"}\n');
  await run(kube, 'pages', 'pages-script', { script: `printf '\\033[0;31mred\\033[0m \\033[0;32mgreen\\033[0m \\033[1;33myellow\\033[0m \\033[0;34mblue\\033[0m \\033[0;35mmagenta\\033[0m \\033[0;36mcyan\\033[0m \\033[1;30mblack\\033[0m ${'long '.repeat(80)}\\n'` });
  for (const name of ['pages-facts', 'pages-failed', 'pages-script']) await kube.ended(name);
}

// Each worker takes the next page.
test.describe.configure({ mode: 'parallel' });

for (const [path, heading, content] of PAGES) {
  test(`${path} is accessible and fits a phone`, async ({ page, visit, kube }) => {
    await furnish(kube);
    await visit(path);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(new RegExp(heading));
    await expect(page.getByRole('main')).toContainText(content);
    await isRight(page);
  });
}

test('pages for missing things are accessible and fit a phone', async ({ page }) => {
  for (const [path, words] of LOST) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
    await expect(page.getByText(words).first(), path).toBeVisible();
    await isRight(page);
  }
});

test('reviews, refusals and conflicts are accessible, too', async ({ page, visit, kube }) => {
  test.slow(); // six states
  await makeCluster(kube, 'pages-states');
  const review = page.getByRole('button', { name: 'Review' });

  await visit('/clusters/_new');
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

  await visit('/operations/_new?cluster=pages-states&action=ping.yml');
  await review.click();
  await expect(page.getByRole('region', { name: 'Review' })).toBeVisible();
  await isRight(page);

  await visit('/clusters/pages-states/configuration');
  await page.getByLabel('Inventory, YAML').fill('all: [');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await expect(page.getByLabel('Lines with the problem')).toBeVisible();
  await isRight(page);
  await page.getByLabel('Inventory, YAML').fill(localHosts('m1', 'm2'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  await expect(page.getByRole('region', { name: 'Changes to the inventory' })).toBeVisible();
  await isRight(page);
  await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'pages-states-hosts' }, data: { 'hosts.yml': localHosts('m1', 'm3') } });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('region', { name: 'Both versions' })).toBeVisible();
  await isRight(page);
});

test.describe('signed out', () => {
  test.use({ storageState: NOBODY });

  test('the sign-in page is accessible and fits a phone', async ({ page, server }) => {
    for (const path of ['/login', server.anotherLink(), '/login?token=spent']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
      await isRight(page);
    }
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('every page is readable', async ({ page, kube }) => {
    await furnish(kube);
    for (const [path, heading, content] of PAGES) {
      const answer = await page.goto(path);
      expect(answer!.status(), path).toBe(200);
      await expect(page.getByRole('heading', { level: 1 }), path).toHaveText(new RegExp(heading));
      await expect(page).toHaveTitle(/ · kubeonkube$/);
      await expect(page.getByRole('main'), path).toContainText(content);
    }
    for (const [path, words] of LOST) {
      const answer = await page.goto(path);
      expect(answer!.status(), path).toBe(404);
      await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
      await expect(page.getByText(words).first(), path).toBeVisible();
    }
  });
});
