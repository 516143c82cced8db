// A secret variable is typed once, used by runs, and never shown.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, runOwn } from '../fixtures/objects.ts';

const PLAYBOOK = `- hosts: localhost
  gather_facts: false
  connection: local
  become: false
  tasks:
    - name: Measure the phrase
      ansible.builtin.debug:
        msg: "{{ phrase | length }} characters: {{ phrase }}"
`;

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a secret variable is set, used by a run and deleted', async ({ page, visit, kube }) => {
    const cluster = `secret-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/clusters/${cluster}/configuration`);
    await page.getByRole('link', { name: 'Secret variables' }).click();
    await expect(page.getByText('The first variable creates a Secret.')).toBeVisible();
    const set = page.locator('#secret-set');
    await set.getByLabel('Name').fill('no-name');
    await set.getByLabel('Value').fill('correct-horse-battery');
    await page.getByRole('button', { name: 'Save the secret variable' }).click();
    await expect(page.getByText('A name has letters, digits')).toBeVisible();
    await expect(set.getByLabel('Name')).toHaveValue('no-name');
    expect(await page.content()).not.toContain('correct-horse');

    await set.getByLabel('Name').fill('phrase');
    await set.getByLabel('Value').fill('correct-horse-battery');
    await page.getByRole('button', { name: 'Save the secret variable' }).click();
    await expect(page.getByText('The secret variable is saved.')).toBeVisible();
    await expect(page.locator('li', { hasText: /^phrase$/ })).toBeVisible();
    await expect(set.getByLabel('Value')).toHaveValue('');
    expect(await page.content()).not.toContain('correct-horse');
    await set.getByLabel('Name').fill('phrase');
    await set.getByLabel('Value').fill('staple-horse-battery1');
    await page.getByRole('button', { name: 'Save the secret variable' }).click();
    await expect(set.getByLabel('Value'), 'a second value, too').toHaveValue('');
    const secret = await kube.get('Secret', `${cluster}-secret-vars`);
    expect(Buffer.from(secret.data.phrase, 'base64').toString()).toBe('staple-horse-battery1');

    await runOwn(kube, cluster, `${cluster}-1`, PLAYBOOK);
    expect((await kube.ended(`${cluster}-1`)).status).toMatchObject({ status: 'Succeeded' });
    const log = await (await page.request.get(`/operations/${cluster}-1/log.txt`)).text();
    expect(log).toContain('21 characters: ');
    expect(log).not.toContain('-horse-');

    await page.locator('#secret-delete').getByLabel('Name').selectOption('phrase');
    await page.getByRole('button', { name: 'Delete the secret variable' }).click();
    await expect(page.getByText('The secret variable was deleted.')).toBeVisible();
    await expect(page.locator('#secret-delete')).toHaveCount(0);
    expect((await kube.get('Secret', `${cluster}-secret-vars`)).data ?? {}).toEqual({});
  });
});
