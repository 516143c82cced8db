// Changing a cluster's inputs: review, save, and conflicts.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster } from '../fixtures/objects.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';
  const hosts = async (kube: import('../fixtures/kube.ts').Kube, cluster: string) => (await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml'];

  test('an inventory is saved after a review of the difference', async ({ page, visit, kube }) => {
    const cluster = `edit-${ending}`;
    const [old, wanted] = [localHosts('m1', 'm2'), `# ours\n${localHosts('m1', 'm3')}`];
    await makeCluster(kube, cluster, { hosts: old });
    await visit(`/clusters/${cluster}/configuration`);
    const editor = page.getByLabel('Inventory, YAML');
    await expect(editor).toHaveValue(old);
    await editor.fill(wanted);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(page.getByRole('region', { name: 'Changes to save' })).toContainText(/m3/);
    const diff = page.getByRole('region', { name: 'Changes to the inventory' });
    await expect(diff).toContainText('+# ours');
    await expect(diff).toContainText(/-\s+m2:/);
    expect(await hosts(kube, cluster)).toBe(old);

    // Back to the editor: the text is unchanged.
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await expect(editor).toBeEditable();
    await expect(editor).toHaveValue(wanted);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(editor).not.toBeEditable();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
    await expect(editor).toHaveValue(wanted);
    expect(await hosts(kube, cluster)).toBe(wanted);
    await page.getByRole('link', { name: 'Nodes' }).click();
    await expect(page.getByRole('row', { name: 'm3' })).toBeVisible();
  });

  test('variables are saved like the inventory', async ({ page, visit, kube }) => {
    const cluster = `edit-vars-${ending}`;
    await makeCluster(kube, cluster, { variables: 'a: 1\n' });
    await visit(`/clusters/${cluster}/configuration?show=variables`);
    await page.getByLabel('Variables, YAML').fill('a: 1\nb: 2\n');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(page.getByRole('region', { name: 'Changes to the variables' })).toContainText('+b: 2');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
    expect((await kube.get('ConfigMap', `${cluster}-vars`)).data['group_vars.yml']).toBe('a: 1\nb: 2\n');
  });

  test('a conflict shows both versions, and either can be kept', async ({ page, visit, kube }) => {
    const cluster = `conflict-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('m1') });
    const [theirs, mine] = [localHosts('m1', 'theirs'), localHosts('m1', 'mine')];
    const meanwhile = (text: string) => kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: `${cluster}-hosts` }, data: { 'hosts.yml': text } });
    await visit(`/clusters/${cluster}/configuration`);
    const editor = page.getByLabel('Inventory, YAML');
    await editor.fill(mine);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(page.getByRole('button', { name: 'Save' })).toBeVisible();
    await meanwhile(theirs);
    await page.getByRole('button', { name: 'Save' }).click();

    const conflict = page.getByRole('region', { name: 'Both versions' });
    await expect(conflict).toContainText('theirs:');
    await expect(conflict).toContainText('mine:');
    await expect(editor).toHaveValue(mine);
    expect(await hosts(kube, cluster)).toBe(theirs);

    // Keep mine, after a review against the saved version.
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(page.getByRole('region', { name: 'Changes to the inventory' })).toContainText(/-\s+theirs:/);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
    expect(await hosts(kube, cluster)).toBe(mine);

    // Use the saved version.
    await editor.fill(localHosts('m1', 'again'));
    await meanwhile(theirs);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('link', { name: 'Discard mine, use saved version' }).click();
    await expect(editor).toHaveValue(theirs);
    await expect(page.getByRole('region', { name: 'Both versions' })).toHaveCount(0);
  });

  test('invalid YAML is refused with its line, and the text stays', async ({ page, visit, kube }) => {
    const cluster = `broken-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/clusters/${cluster}/configuration`);
    const text = 'all:\n  hosts:\n    m1:\n    m1:\n';
    await page.getByLabel('Inventory, YAML').fill(text);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await expect(page.getByLabel('Inventory, YAML')).toHaveAccessibleDescription(/line 4/);
    await expect(page.getByLabel('Lines with the problem')).toContainText('m1:');
    await expect(page.getByLabel('Inventory, YAML')).toHaveValue(text);
  });
});
