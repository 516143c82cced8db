// Stopping a run, and removing a queued one.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { log, phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a run is stopped, and a queued one is removed', async ({ page, visit, kube }) => {
    const cluster = `cancel-${ending}`;
    /** Without JavaScript, also waits until the next page has loaded. */
    const press = async (name: string) => {
      const answer = script ? undefined : page.waitForEvent('load');
      await page.getByRole('button', { name }).click();
      await answer;
    };
    using talker = new Talker();
    talker.say(3);
    await makeCluster(kube, cluster);
    await run(kube, cluster, `${cluster}-1`, { script: talker.script });
    await run(kube, cluster, `${cluster}-2`, { playbook: 'ping.yml' });

    await kube.condition(`${cluster}-2`, 'Queued');
    await visit(`/operations/${cluster}-2`);
    await expect(phase(page, 'Queued')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Progress' })).toContainText(`${cluster}-1`);
    await page.getByText('Cancel…').click();
    await press('Remove from queue');
    const withdrawn = await kube.ended(`${cluster}-2`);
    expect(withdrawn.status).toMatchObject({ status: 'Failed', reason: 'Cancelled' });
    expect(withdrawn.status.jobRef).toBeUndefined();
    if (!script) await page.reload();
    await expect(phase(page, 'Cancelled')).toBeVisible();

    await visit(`/operations/${cluster}-1`);
    if (script) await says(page, 3);
    else {
      // A page that reloads would close the question.
      await page.getByRole('link', { name: 'Stop reloading' }).click();
      await expect(page.getByRole('link', { name: 'Reload every 10 seconds' })).toBeVisible();
      await expect(page.locator('noscript meta')).toHaveCount(0);
    }
    await page.getByText('Cancel…').click();
    await expect(page.getByText('Stop this run? No new task starts')).toBeVisible();
    await press('Stop the run');
    if (!script) {
      await kube.ended(`${cluster}-1`);
      await page.reload();
    }
    await expect(phase(page, 'Cancelled')).toBeVisible();
    await expect(page.getByText('Cancel…')).toHaveCount(0);
    await expect(log(page)).toContainText('line 3');
    await expect(page.getByRole('link', { name: 'Run again…' })).toBeVisible();
  });

  test('a roll that is stopped offers the hosts that are left', async ({ page, visit, kube }) => {
    const cluster = `cancel-roll-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('n1', 'n2', 'n3') });
    await runOwn(kube, cluster, `${cluster}-1`, `- hosts: all\n  gather_facts: false\n  serial: 1\n  tasks:\n    - name: Roll\n      ansible.builtin.command: sleep 600\n      when: inventory_hostname != 'n1'\n`);
    /** Without JavaScript, the page has to be loaded again. */
    const shows = (text: string) => expect(async () => {
      if (!script) await page.reload();
      await expect(page.getByText(text)).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 60_000 });

    await visit(`/operations/${cluster}-1`);
    await shows('“Roll” runs on n2.');
    await page.getByText('Cancel…').click();
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await kube.ended(`${cluster}-1`);
    await shows('Run again on 2 remaining hosts…');
    await page.getByRole('link', { name: 'Run again on 2 remaining hosts…' }).click();
    await expect(page.getByRole('textbox', { name: 'Limit' })).toHaveValue('n2,n3');
  });
});

test('a real ansible that is stopped says which task ran where', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'cancel-ansible');
  await runOwn(kube, 'cancel-ansible', 'cancel-ansible-1', `- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Wait for a word\n      ansible.builtin.command: sleep 600\n`);
  await visit('/operations/cancel-ansible-1');
  await expect(page.getByText('“Wait for a word” runs on m1.')).toBeVisible();
  await page.getByText('Cancel…').click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await expect(phase(page, 'Cancelled')).toBeVisible();
  await expect(page.getByText(/cancelled while .*“Wait for a word” .* on m1/i)).toBeVisible();
});
