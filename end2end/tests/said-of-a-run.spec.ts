// What is said of runs that are only a check, reach only some machines, or stop early.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, runOwn } from '../fixtures/objects.ts';
import { phase } from '../fixtures/run-page.ts';

const play = (name: string, hosts: string, task: string, more = '') =>
  `- name: ${name}\n  hosts: ${hosts}\n  gather_facts: false\n${more}  tasks:\n    - {name: Do it, ${task}}\n`;

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a check is called so before and after', async ({ page, visit, kube }) => {
    const cluster = `check-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('n1', 'n2') });
    await visit(`/operations/_new?cluster=${cluster}&action=ping.yml`);
    await page.getByLabel('Extra arguments').fill('-CDln2');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText('It is only a check');
    await expect(review.getByRole('heading', { name: 'On at most 1 machine' })).toBeVisible();
    await expect(review.locator('.tag')).toHaveText(['n2']);

    await page.getByRole('textbox', { name: 'Limit' }).fill('n1');
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText('The extra arguments also have a limit')).toBeVisible();

    await runOwn(kube, cluster, `${cluster}-1`, play('All', 'all', 'ansible.builtin.copy: {dest: /nowhere/at/all, content: x}'), { extraArgs: '--chec' });
    await runOwn(kube, cluster, `${cluster}-2`, play('All', 'all', 'ansible.builtin.file: {path: /tmp/kubeonkube-check, state: touch}'), { extraArgs: '-C' });
    const { status } = await kube.ended(`${cluster}-2`);
    expect(status).toMatchObject({ action: 'play.yml (check only)', message: 'play.yml: 2 hosts, 2 tasks ok, 2 would change.' });
    await visit(`/operations/${cluster}-2`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`play.yml (check only) on ${cluster}`);
    await expect(page.getByText('play.yml: 2 hosts, 2 tasks ok, 2 would change.')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Progress' })).toContainText('2 would change');
    await visit(`/operations/${cluster}-2?tab=hosts`);
    await expect(page.getByRole('row', { name: 'n1' })).toContainText('Would change');
    await visit(`/operations?cluster=${cluster}`);
    await expect(page.getByRole('row').filter({ hasText: '(check only)' })).toHaveCount(2);
  });

  test('a play without hosts makes a success a warning', async ({ page, visit, kube }) => {
    const cluster = `unmatched-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('n1') });
    const book = play('Prepare', 'all', 'ansible.builtin.command: "true"') + play('Upgrade the workers', 'workers', 'ansible.builtin.command: "true"');
    await runOwn(kube, cluster, `${cluster}-1`, book);
    const { status } = await kube.ended(`${cluster}-1`);
    expect(status).toMatchObject({ status: 'Succeeded', reason: 'PlayMatchedNoHost' });
    const sentence = 'The play “Upgrade the workers” matched no host: the inventory has no “workers”.';
    expect(status.conditions.find(({ type }: { type: string }) => type === 'Complete').message).toContain(sentence);
    await visit(`/operations/${cluster}-1`);
    await expect(phase(page, 'Succeeded, with a warning')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Progress' })).toContainText(sentence);
    await visit('/clusters');
    await expect(page.getByRole('row', { name: cluster })).not.toContainText('Last run OK');
  });

  test('a roll that stops early offers the rest', async ({ page, visit, kube }) => {
    const cluster = `roll-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('n1', 'n2', 'n3', 'n4') });
    const roll = play('Prepare', 'all', 'ansible.builtin.command: "true"')
      + play('Roll', 'all', 'ansible.builtin.command: "test {{ inventory_hostname }} = n1"', '  serial: 1\n');
    await runOwn(kube, cluster, `${cluster}-1`, roll);
    const { status } = await kube.ended(`${cluster}-1`);
    expect(status.message).toContain('1 failed task, 0 of 4 hosts unreachable');
    expect(status.message).toContain('Not finished: n3, n4.');
    await visit(`/operations/${cluster}-1`);
    await expect(page.getByRole('alert').first()).toContainText('1 of 4 hosts failed. Not finished: n3 and n4.');
    await visit(`/operations/${cluster}-1?tab=hosts`);
    await expect(page.getByRole('row', { name: 'n3' })).toContainText('Not finished');
    await visit(`/operations/${cluster}-1`);
    await page.getByRole('link', { name: 'Retry on remaining hosts…' }).click();
    await expect(page.getByRole('textbox', { name: 'Limit' })).toHaveValue('n2,n3,n4');
  });
});
