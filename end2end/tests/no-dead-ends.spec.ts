// A page never leaves the user without a next step: lists to choose from, links to the editor that fixes a problem, and a question
// before typed text is lost.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run } from '../fixtures/objects.ts';

const PLAYBOOK = '- hosts: all\n  gather_facts: false\n  tasks: []\n';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('ConfigMap and key are chosen from those that exist', async ({ page, visit, kube }) => {
    const cluster = `chosen-${ending}`;
    await makeCluster(kube, cluster);
    const books = (name: string, data: object) => kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data });
    await books(`${cluster}-books`, { 'site.yml': PLAYBOOK, 'readme': 'about', 'fix.sh': 'true' });
    await books(`${cluster}-more`, { 'more.yml': PLAYBOOK });
    const [source, key] = [page.getByLabel('ConfigMap', { exact: true }), page.getByLabel('Key', { exact: true })];
    const reload = async () => (script ? undefined : page.getByRole('button', { name: 'Reload the lists' }).click());
    const offered = (list: typeof key) => list.locator('option:not([value=""])').allTextContents();

    await visit(`/operations/_new?cluster=${cluster}`);
    await page.getByText('From a ConfigMap', { exact: true }).click();
    expect(await offered(source)).toContain(`default/${cluster}-books`);
    // The inputs of clusters hold no playbook.
    expect((await offered(source)).filter((name) => /-(hosts|vars)$/.test(name))).toEqual([]);
    await expect(key).toHaveAccessibleDescription(/Choose a ConfigMap first/);
    await source.selectOption(`default/${cluster}-books`);
    await reload();
    await expect.poll(() => offered(key)).toEqual(['fix.sh', 'site.yml', 'readme']);
    await key.selectOption('site.yml');
    // The keys follow the ConfigMap, and a key of the other one doesn't stay.
    await source.selectOption(`default/${cluster}-more`);
    await reload();
    await expect.poll(() => offered(key)).toContain('more.yml');
    if (script) await expect(key).toHaveValue('');
    await key.selectOption('more.yml');
    // Enter reviews the form and doesn't reload the lists.
    await page.getByLabel('Limit', { exact: true }).press('Enter');
    await expect(page.getByRole('region', { name: 'Review' })).toContainText('more.yml');
    await expect(source).toHaveValue(`default/${cluster}-more`);
    await expect(key).toHaveValue('more.yml');

    // One that is created meanwhile is listed after a reload.
    await books(`${cluster}-late`, { 'late.yml': PLAYBOOK });
    await page.getByRole('button', { name: 'Reload the lists' }).click();
    await expect.poll(() => offered(source)).toContain(`default/${cluster}-late`);
  });

  test('an empty list of ConfigMaps says what to do', async ({ page, visit, kube }) => {
    const [cluster, namespace] = [`bare-${ending}`, `bare-${ending}`];
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const ref = (name: string) => ({ namespace, name });
    await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref('hosts'), data: { 'hosts.yml': localHosts('m1') } });
    await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref('vars'), data: { 'group_vars.yml': '' } });
    await kube.apply({ apiVersion: 'kubeonkube.clay.io/v1alpha1', kind: 'Cluster', metadata: { name: cluster }, spec: { hostsConfRef: ref('hosts'), varsConfRef: ref('vars') } });
    await visit(`/operations/_new?cluster=${cluster}`);
    await page.getByText('From a ConfigMap', { exact: true }).click();
    await expect(page.getByLabel('ConfigMap', { exact: true })).toHaveAccessibleDescription(new RegExp(`kubectl create configmap NAME -n ${namespace}`));
  });

  test('only playbooks that can run here can be chosen', async ({ page, visit, kube }) => {
    await makeCluster(kube, `offers-${ending}`);
    await visit(`/operations/_new?cluster=offers-${ending}`);
    await expect(page.getByRole('radio', { name: 'Another playbook' })).toBeDisabled();
    await expect(page.getByText('This server has only these playbooks.')).toBeVisible();
    await page.getByText('Advanced:').click();
    await expect(page.getByLabel('Run before')).toHaveAccessibleDescription(/ping\.yml, facts\.yml/);
  });

  test('the error of one kind goes when another is chosen', async ({ page, visit, kube }) => {
    const cluster = `kinds-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/operations/_new?cluster=${cluster}`);
    await page.getByText('From a ConfigMap', { exact: true }).click();
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    const problem = page.getByRole('alert').filter({ hasText: /invalid/ });
    await expect(problem).toBeVisible();
    await page.getByText('A shell script').click();
    await expect(problem).toBeHidden();

    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(`kinds-new-${ending}`);
    await page.getByLabel('Name of machine 1').fill('m1');
    await page.getByLabel('Use an existing key').check();
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await expect(problem).toBeVisible();
    await page.getByLabel('Generate a new key pair').check();
    await expect(problem).toBeHidden();
  });

  test('alerts about inputs link to the editor that fixes them', async ({ page, visit, kube }) => {
    const cluster = `fix-${ending}`;
    await makeCluster(kube, cluster, { hosts: 'all: [oops\n' });
    await kube.until('the inventory is reported', 30_000, async () => {
      const conditions = (await kube.get('Cluster', cluster)).status?.clusterConditions ?? [];
      return conditions.some((c: { type: string; status: string }) => c.type === 'InputsReady' && c.status === 'False') || undefined;
    });
    const opensInventory = async () => {
      await expect(page).toHaveURL(`/clusters/${cluster}/configuration`);
      await expect(page.getByLabel('Inventory, YAML')).toHaveValue('all: [oops\n');
    };
    await visit(`/clusters/${cluster}`);
    await page.getByRole('link', { name: 'Open the inventory' }).first().click();
    await opensInventory();
    await visit(`/clusters?q=${cluster}`);
    await page.getByRole('row').filter({ hasText: cluster }).getByRole('link', { name: /inventory/ }).click();
    await opensInventory();
    await visit(`/operations/_new?cluster=${cluster}&action=ping.yml`);
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.getByRole('link', { name: 'Open the inventory' }).click();
    await opensInventory();

    await run(kube, cluster, `${cluster}-1`, { playbook: 'ping.yml' });
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    await page.getByRole('link', { name: 'Open the inventory' }).click();
    await opensInventory();

    await makeCluster(kube, `${cluster}-key`, { key: 'replace me' });
    await kube.until('the key is reported', 30_000, async () => {
      const conditions = (await kube.get('Cluster', `${cluster}-key`)).status?.clusterConditions ?? [];
      return conditions.some((c: { reason: string }) => c.reason === 'PrivateKeyInvalid') || undefined;
    });
    await visit(`/clusters/${cluster}-key`);
    await page.getByRole('link', { name: 'Open SSH access' }).first().click();
    await expect(page).toHaveURL(`/clusters/${cluster}-key/configuration?show=ssh`);
    await expect(page.getByRole('heading', { name: 'Replace the private key' })).toBeVisible();
  });

  test('saved host keys ask for no operation', async ({ page, visit, kube }) => {
    const cluster = `saved-keys-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/clusters/${cluster}/configuration?show=ssh`);
    await page.getByLabel('Host keys, known_hosts format').fill('# none yet\n');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Runs use these host keys from now on.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Run an operation to apply it' })).toHaveCount(0);
  });

  test('the save bar stays in view beside a long inventory', async ({ page, visit, kube }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    const cluster = `long-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts(...Array.from({ length: 200 }, (_, n) => `m${n}`)) });
    await visit(`/clusters/${cluster}/configuration`);
    const review = page.getByRole('button', { name: 'Review changes' });
    await expect(review).toBeInViewport({ ratio: 1 });
    await page.getByLabel('Inventory, YAML').fill(`# ours\n${localHosts('m1')}` + '# more\n'.repeat(300));
    await review.click();
    // The review, with its difference, is above the text.
    await expect(page.getByRole('region', { name: 'Changes to save' })).toBeVisible();
    await page.evaluate(() => window.scrollTo(0, 0));
    await expect(page.getByRole('button', { name: 'Save' })).toBeInViewport({ ratio: 1 });
  });

  test('a row opens wherever it is clicked', async ({ page, visit, kube }) => {
    const cluster = `row-${ending}`;
    await makeCluster(kube, cluster);
    await run(kube, cluster, `${cluster}-1`, { playbook: 'ping.yml' });
    await kube.ended(`${cluster}-1`);
    const row = page.getByRole('row').filter({ hasText: cluster });
    /** Clicks at the end of a cell, where no text is. */
    const besideText = async (cell: ReturnType<Page['getByRole']>) => {
      const box = (await cell.boundingBox())!;
      await page.mouse.click(box.x + box.width - 3, box.y + box.height / 2);
    };
    await visit(`/clusters?q=${cluster}`);
    await besideText(row.getByRole('cell').nth(1));
    await expect(page).toHaveURL(`/clusters/${cluster}`);
    // A link inside the row keeps its own page.
    await visit(`/clusters?q=${cluster}`);
    await row.getByRole('link', { name: /ping\.yml/ }).click();
    await expect(page).toHaveURL(`/operations/${cluster}-1`);
    await visit(`/operations?q=${cluster}`);
    await besideText(row.getByRole('cell').first());
    await expect(page).toHaveURL(`/operations/${cluster}-1`);
    await visit(`/operations?q=${cluster}`);
    await row.getByRole('link', { name: cluster, exact: true }).click();
    await expect(page).toHaveURL(`/clusters/${cluster}`);
    // The keyboard reaches the same links, one stop for each.
    await visit(`/clusters?q=${cluster}`);
    await row.getByRole('link', { name: cluster, exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`/clusters/${cluster}`);
  });

  test('Unregister is in the menu More, not beside the button', async ({ page, visit, kube }) => {
    const cluster = `menu-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/clusters/${cluster}`);
    const unregister = page.getByRole('link', { name: 'Unregister…' });
    await expect(page.getByRole('link', { name: 'Run an operation' })).toBeVisible();
    await expect(unregister).toBeHidden();
    await page.getByText('More', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect(unregister).toBeVisible();
    await page.keyboard.press('Tab');
    await expect(page.getByRole('link', { name: 'Upgrade…' })).toBeFocused();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`/clusters/${cluster}/unregister`);
  });

  test('an unknown address keeps the navigation', async ({ page }) => {
    await page.goto('/nowhere/at/all');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Operations' }).click();
    await expect(page).toHaveURL('/operations');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Operations');
  });
});
