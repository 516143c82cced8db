// What the form can run: a script, a playbook from a ConfigMap, and an earlier operation again.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import type { Kube, Resource } from '../fixtures/kube.ts';
import { makeCluster } from '../fixtures/objects.ts';
import { log, phase } from '../fixtures/run-page.ts';

/** Reviews and submits the form. Returns the operation after it has ended, with its page open. */
async function submitted(page: Page, kube: Kube): Promise<Resource> {
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByRole('region', { name: 'Review' }).getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/operations\/(?!new)[a-z0-9-]+$/);
  const operation = await kube.ended(page.url().split('/').pop()!);
  await page.reload();
  return operation;
}

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a typed script runs unchanged', async ({ page, visit, kube }) => {
    const cluster = `kinds-script-${ending}`;
    const lines = `# two lines\necho "<b>it's $((40 + 2))</b>"`;
    await makeCluster(kube, cluster);
    await visit(`/operations/_new?cluster=${cluster}`);
    await expect(page.getByLabel('Script', { exact: true })).toBeHidden();
    await page.getByText('A shell script').click();
    await page.getByLabel('Script', { exact: true }).fill(lines);
    // A script doesn't run on the machines, so it has no limit.
    await expect(page.getByLabel('Limit', { exact: true })).toBeHidden();
    const operation = await submitted(page, kube);
    expect(operation.spec).toMatchObject({ cluster, actionType: 'shell', action: lines });
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(log(page).getByText('<b>it\'s 42</b>', { exact: true })).toBeVisible();
  });

  test('a playbook from a ConfigMap runs, and runs again', async ({ page, visit, kube }) => {
    const cluster = `kinds-map-${ending}`;
    const source = { namespace: 'default', name: `${cluster}-books` };
    const playbook = '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Speak\n      ansible.builtin.debug: {msg: "{{ word }}"}\n';
    const word = '{"word": "it\'s two"}';
    await makeCluster(kube, cluster);
    await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: source, data: { 'site.yml': playbook } });
    await visit(`/operations/_new?cluster=${cluster}`);
    await page.getByText('From a ConfigMap', { exact: true }).click();
    await page.getByLabel('ConfigMap', { exact: true }).selectOption(`default/${source.name}`);
    // With JavaScript the keys follow the ConfigMap.
    if (!script) await page.getByRole('button', { name: 'Reload the lists' }).click();
    await page.getByLabel('Key', { exact: true }).selectOption('site.yml');
    await page.getByLabel('Limit', { exact: true }).fill('m1');
    await page.getByLabel('Extra arguments').fill(`-e\n${word}`);
    const first = await submitted(page, kube);
    expect(first.spec).toMatchObject({ cluster, actionType: 'playbook', action: 'site.yml', actionSource: 'configmap', actionSourceRef: source });
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(log(page)).toContainText('"msg": "it\'s two"');

    await page.getByRole('link', { name: 'Run again…' }).click();
    await expect(page).toHaveURL(`/operations/_new?again=${first.metadata.name}`);
    await expect(page.getByRole('radio', { name: 'From a ConfigMap' })).toBeChecked();
    await expect(page.getByLabel('Extra arguments')).toHaveValue(`-e\n${word}`);
    const second = await submitted(page, kube);
    expect(second.metadata.name).not.toBe(first.metadata.name);
    expect(second.spec).toMatchObject(first.spec);
    expect(second.status).toMatchObject({ status: 'Succeeded' });
  });
});
