// Unregistering a cluster: records kept or deleted, machines untouched.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { Talker } from '../fixtures/talker.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('unregistering keeps records and objects of others', async ({ page, visit, kube }) => {
    const cluster = `leave-${ending}`;
    await makeCluster(kube, cluster);
    await run(kube, cluster, `${cluster}-1`, { script: 'echo hello' });
    await kube.ended(`${cluster}-1`);
    await visit(`/clusters/${cluster}`);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'Unregister…' }).click();
    await expect(page.getByText('The machines are not touched')).toBeVisible();
    await expect(page.locator('.menu'), 'the menu is closed on the next page').not.toHaveAttribute('open');
    await page.getByLabel(/^Type .* to confirm$/).fill('leave-it');
    await page.getByRole('button', { name: 'Unregister' }).click();
    await expect(page.getByLabel(/^Type .* to confirm$/)).toHaveAttribute('aria-invalid', 'true');
    await expect(page.getByLabel(/^Type .* to confirm$/)).toHaveValue('leave-it');
    await kube.get('Cluster', cluster);

    await page.getByLabel(/^Type .* to confirm$/).fill(cluster);
    await page.getByRole('button', { name: 'Unregister' }).click();
    await expect(page).toHaveURL('/clusters');
    await expect(page.getByRole('rowheader', { name: cluster, exact: true })).toHaveCount(0);
    await kube.get('ConfigMap', `${cluster}-hosts`);
    await visit(`/operations/${cluster}-1`);
    await expect(page.getByRole('log')).toContainText('hello');
    await visit(`/clusters/${cluster}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByRole('alert')).toContainText('There is no cluster');
  });

  test('records are deleted on request', async ({ page, visit, kube }) => {
    const cluster = `forget-${ending}`;
    await makeCluster(kube, cluster);
    await run(kube, cluster, `${cluster}-1`, { script: 'echo hello' });
    await kube.ended(`${cluster}-1`);
    await visit(`/clusters/${cluster}/unregister`);
    await page.getByLabel('Delete them').check();
    await page.getByLabel(/^Type .* to confirm$/).fill(cluster);
    await page.getByRole('button', { name: 'Unregister' }).click();
    await expect(page).toHaveURL('/clusters');
    await kube.until(`the records of ${cluster} go`, 60_000, async () => {
      const left = (await kube.list('ClusterOperation')).filter((o) => o.spec.cluster === cluster);
      return left.length === 0 || undefined;
    });
  });

  test('a cluster with a running operation is not unregistered', async ({ page, visit, kube }) => {
    const cluster = `busy-${ending}`;
    using talker = new Talker();
    await makeCluster(kube, cluster);
    await run(kube, cluster, `${cluster}-1`, { script: talker.script });
    await kube.condition(`${cluster}-1`, 'Running');
    await visit(`/clusters/${cluster}/unregister`);
    await page.getByLabel(/^Type .* to confirm$/).fill(cluster);
    await page.getByRole('button', { name: 'Unregister' }).click();
    await expect(page.getByRole('alert').filter({ hasText: `${cluster}-1` })).toBeVisible();
    await expect(page.getByLabel(/^Type .* to confirm$/)).toHaveValue(cluster);
    await kube.get('Cluster', cluster);
    talker.end();
    await kube.ended(`${cluster}-1`);
  });
});
