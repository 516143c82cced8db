// The life of a cluster by hand: three machines of the lab, a browser, and nothing else.
import { expect, test } from '../fixtures/console.ts';
import {
  addNode, address, confirmHostKeys, create, downloadKubeconfig, kubectl, openAction, register, resetCluster, RUN, servedVersions, submit, succeeds,
} from '../fixtures/machines.ts';
import { picture } from '../fixtures/picture.ts';
import { keepRecording } from '../fixtures/recorded.ts';
import { phase } from '../fixtures/run-page.ts';

test('a cluster is created, grown, upgraded, shrunk, repaired, restored and reset', async ({ page, visit, server }) => {
  const versions = await servedVersions();
  const [oldest, newest] = [versions[0], versions.at(-1)!];
  if (process.env.KUBEONKUBE_LAB_UPGRADES) expect(versions.length, 'the lab serves two releases').toBe(2);

  await register(page, visit, oldest);
  await confirmHostKeys(page);
  await create(page, visit, oldest);
  keepRecording(server, 'cluster');
  const kubeconfig = await downloadKubeconfig(page, visit);
  await addNode(page, visit);
  keepRecording(server, 'scale');

  if (oldest !== newest) {
    await test.step('upgrade it', async () => {
      // Its image is on every node.
      const images = kubectl(kubeconfig, 'get', 'nodes', '-o', 'jsonpath={.items[0].status.images[*].names[*]}').split(' ');
      kubectl(kubeconfig, 'create', 'deployment', 'held', `--image=${images.find((name) => /\/pause:/.test(name))}`);
      kubectl(kubeconfig, 'rollout', 'status', 'deployment/held', '--timeout=120s');
      kubectl(kubeconfig, 'create', 'poddisruptionbudget', 'held', '--selector=app=held', '--min-available=1');
      await visit(`/clusters/first/upgrade?to=${newest}`);
      await expect(page.getByRole('button', { name: `Upgrade to ${newest}` })).toBeEnabled();
      await picture(page, 'upgrade');
      await page.getByRole('button', { name: `Upgrade to ${newest}` }).click();
      const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
      await expect(page.getByText("Don't stop now")).toBeVisible({ timeout: RUN });
      await expect(page.getByText('Safe to stop after m1')).toBeVisible({ timeout: RUN });
      await expect(row('m1')).toContainText('Done', { timeout: RUN });
      // The budget holds a pod of a worker until it is gone.
      await expect(page.getByText(/Pod default\/held-.* is held by PodDisruptionBudget default\/held/)).toBeVisible({ timeout: RUN });
      await picture(page, 'upgrade-progress');
      await page.getByRole('link', { name: 'Log and tasks' }).click();
      const cancel = page.locator('details.confirm');
      await cancel.locator('summary').click();
      await expect(cancel).toContainText('Safe to stop after');
      await picture(page, 'stop-a-run');
      await page.goBack();
      kubectl(kubeconfig, 'delete', 'poddisruptionbudget', 'held');
      await expect(page.getByText(`The upgrade to ${newest}: succeeded`)).toBeVisible({ timeout: RUN });
      for (const name of ['m1', 'm2', 'm3']) await expect(row(name)).toContainText(`v${newest}`);
      await page.getByRole('link', { name: 'Log and tasks' }).click();
      await succeeds(page, 'the end of an upgrade of 1 + 2');
      keepRecording(server, 'upgrade-cluster');
      const strip = page.getByRole('region', { name: 'Stopping and availability' });
      await expect(strip.getByRole('img', { name: 'Kubernetes API' })).toHaveAccessibleName(/requests answered · \d+ outages?/);
      await expect(strip.getByText(/^After .*, requests failed for /).first()).toBeVisible();
      console.log(await strip.getByRole('img').first().getAttribute('aria-label'));
      await picture(page, 'upgrade-availability');
      await visit('/clusters/first');
      await expect(page.getByText(`v${newest}`).first()).toBeVisible();
      await expect(page.getByText('3 of 3 ready')).toBeVisible();
      await visit('/clusters');
      await expect(page.getByRole('row', { name: /^first/ })).toContainText(`v${newest}`);
      await picture(page, 'clusters');
    });
  }

  await test.step('a run that fails on one machine changes nothing', async () => {
    await visit('/operations/_new?cluster=first&action=ping.yml');
    await page.getByLabel('Extra arguments').fill('-e\n{"ansible_port": "{{ 1 if inventory_hostname == \'m3\' else 22 }}"}');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Submit' }).click();
    await expect(phase(page, 'Failed')).toBeVisible({ timeout: RUN });
    await expect(page.getByText('m3 was unreachable').first()).toBeVisible();
    await expect(page.getByRole('link', { name: 'Retry on failed hosts' })).toBeVisible();
    await picture(page, 'failed-run');
  });

  await test.step('remove the node again', async () => {
    await visit('/clusters/first/nodes');
    await page.getByRole('link', { name: 'Remove… m3' }).click();
    await expect(page.getByRole('button', { name: 'Remove m3' })).toBeVisible();
    await picture(page, 'remove');
    await page.getByRole('button', { name: 'Remove m3' }).click();
    await succeeds(page, 'remove a node');
    await visit('/clusters/first/nodes');
    await page.getByRole('link', { name: 'Remove from the inventory… m3' }).click();
    await page.getByRole('button', { name: 'Remove from the inventory' }).click();
    await expect(page).toHaveURL('/clusters/first/nodes');
    await expect(page.getByRole('row', { name: /^m3/ })).toHaveCount(0);
    await expect(page.getByRole('row', { name: /^m2/ })).toContainText('Ready');
  });

  await test.step('replace a worker by the removed machine', async () => {
    await page.getByRole('link', { name: 'Replace… m2' }).click();
    await page.getByLabel('Name of machine 1').fill('m3');
    await page.getByLabel('Address of machine 1').fill(address('m3'));
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByRole('region', { name: 'Review' })).toContainText('m3 joins first. Only when that has succeeded, m2 is removed.');
    await expect(page.getByRole('region', { name: 'Review' })).toContainText('m1 is asked, too. When the new machine has joined, m2 is drained and reset.');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await succeeds(page, 'replace a worker');
    await visit('/clusters/first/nodes');
    await expect(page.getByRole('row', { name: /^m3/ })).toContainText('Ready');
    await expect(page.getByRole('row', { name: /^m2/ })).toContainText('Removed from the cluster');
    await page.getByRole('link', { name: 'Remove from the inventory… m2' }).click();
    await page.getByRole('button', { name: 'Remove from the inventory' }).click();
    await expect(page.getByRole('row', { name: /^m2/ })).toHaveCount(0);
  });

  const namespaces = () => kubectl(kubeconfig, 'get', 'namespaces', '-o', 'name').split('\n');
  const [snapshot, restore] = await test.step('back it up', async () => {
    kubectl(kubeconfig, 'create', 'namespace', 'before-the-backup');
    await openAction(visit, 'etcd-backup.yml');
    await submit(page);
    await succeeds(page, 'back up etcd');
    const saved = page.getByRole('log').getByText(/m1:\/var\/backups\/kubeonkube\/etcd-\S+\.db, \d+ bytes, SHA-256/).first();
    await expect(saved).toBeVisible();
    kubectl(kubeconfig, 'create', 'namespace', 'after-the-backup');
    const file = /\/var\/\S+\.db/.exec((await saved.textContent())!)![0];
    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Results' }).click();
    await expect(page.getByRole('definition').filter({ hasText: file })).toBeVisible();
    return [file, (await page.getByRole('link', { name: 'Restore this snapshot…' }).getAttribute('href'))!];
  });

  await test.step('renew its certificates', async () => {
    const expiries = () => page.getByText(/^Expires in \d+ d$/).evaluateAll((shown) => shown.map((one) => one.closest('[title]')!.getAttribute('title')));
    await visit('/clusters/first');
    await expect.poll(expiries).not.toEqual([]);
    const before = await expiries();
    await openAction(visit, 'renew-certs.yml');
    await submit(page);
    await succeeds(page, 'renew the certificates');
    await visit('/clusters/first');
    await expect.poll(expiries).not.toEqual(before);
    expect(namespaces(), 'the kubeconfig still works').toContain('namespace/after-the-backup');
  });

  await test.step('restore it', async () => {
    await visit(restore);
    await expect(page.getByRole('textbox', { name: 'Snapshot' })).toHaveValue(snapshot);
    await page.getByLabel("Type the cluster's name to restore it").fill('frist');
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText("This isn't the cluster's name.")).toBeVisible();
    await expect(page.getByRole('button', { name: 'Submit' })).toHaveCount(0);
    await expect(page.getByRole('textbox', { name: 'Snapshot' })).toHaveValue(snapshot);
    await page.getByLabel("Type the cluster's name to restore it").fill('first');
    await submit(page);
    await succeeds(page, 'restore etcd');
    await expect(page.getByRole('log')).toContainText(`The cluster is as it was in ${snapshot}.`);
    const now = namespaces();
    expect(now).toContain('namespace/before-the-backup');
    expect(now).not.toContain('namespace/after-the-backup');
    await visit('/clusters/first');
    await expect(page.getByText('2 of 2 ready')).toBeVisible();
  });

  await resetCluster(page, visit);

  await test.step('it is as new', async () => {
    await visit('/clusters/first');
    await expect(page.getByText('No kubeconfig')).toBeVisible();
    await expect(page.getByText(/\d of \d ready/)).toHaveCount(0);
    await expect(page.getByRole('link', { name: 'Create the cluster' })).toBeVisible();
  });

  await test.step('a snapshot of the earlier cluster is refused', async () => {
    await openAction(visit, 'cluster.yml');
    await submit(page);
    await succeeds(page, 'create it again');
    await openAction(visit, 'etcd-restore.yml');
    await page.getByRole('textbox', { name: 'Snapshot' }).fill(snapshot);
    await page.getByLabel("Type the cluster's name to restore it").fill('first');
    await submit(page);
    await expect(phase(page, 'Failed')).toBeVisible({ timeout: RUN });
    await expect(page.getByText(/is a snapshot of another cluster/).first()).toBeVisible();
    await visit('/clusters/first');
    await expect(page.getByText('2 of 2 ready')).toBeVisible();
  });

  await resetCluster(page, visit);
});
