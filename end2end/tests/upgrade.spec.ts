// Upgrading a cluster. Nothing listens at port 1, so no run changes a machine.
import { FakeCluster } from '../fixtures/cluster.ts';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, runOwn } from '../fixtures/objects.ts';

const HOSTS = `all:
  vars: {ansible_host: 127.0.0.1, ansible_port: 1, ansible_user: ops}
  children:
    kube_control_plane: {hosts: {cp1: }}
    kube_node: {hosts: {w1: , w2: }}
`;
const VARIABLES = '# Frankfurt\nkube_version: 1.35.9   # tested\n';

/** In place of the playbook, one with the same plays that changes nothing: w1 fails, and w2 is not reached. */
const PLAYBOOK = `
- {name: Upgrade the control planes, hosts: kube_control_plane, connection: local, gather_facts: false, serial: 1, tasks: [{name: Upgrade kubeadm, debug: {msg: done}}]}
- name: Upgrade the workers
  hosts: kube_node
  connection: local
  gather_facts: false
  any_errors_fatal: true
  serial: 1
  tasks: [{name: Drain the node, fail: {msg: PodDisruptionBudget default/web blocks it}}]
`;

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('an upgrade is planned, fails half-way and is continued', async ({ page, visit, server, kube }) => {
    const cluster = `upgrade-${ending}`;
    const api = await new FakeCluster().start();
    try {
      await api.isFor(kube, cluster);
      await makeCluster(kube, cluster, { hosts: HOSTS, variables: VARIABLES });
      const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
      /** Loads the page until the cluster was read. */
      const open = (path: string, shows: string) => expect(async () => {
        await visit(path);
        await expect(page.getByText(shows).first()).toBeVisible({ timeout: 1_000 });
      }).toPass({ timeout: 60_000 });

      await open(`/clusters/${cluster}`, 'Upgrade to 1.36.4');
      await page.getByRole('link', { name: 'Upgrade to 1.36.4' }).click();
      await expect(page.getByText('Running: 1.35.9, read from the cluster')).toBeVisible();
      await expect(row('1.37.2')).toContainText('Needs 1.36 first');
      await expect(row('1.36.4')).toContainText('Chosen');
      await expect(row('cp1')).toContainText('The Kubernetes API is away for a while.');
      await expect(page.getByText('cp1 is the only control plane')).toBeVisible();
      await page.getByRole('link', { name: 'Choose 1.36.5' }).click();
      await expect(page.getByRole('button', { name: 'Upgrade to 1.36.5' })).toBeVisible();
      await expect(page.getByText('1.36.5 has not been run by the tests')).toBeVisible();
      await page.getByLabel('Another version').fill('1.38.0');
      await page.getByRole('button', { name: 'Show' }).click();
      await expect(page.getByText('1.38.0 can\'t be chosen. Needs 1.36 first')).toBeVisible();
      await expect(page.getByRole('button', { name: /^Upgrade to/ })).toHaveCount(0);
      expect((await kube.get('ConfigMap', `${cluster}-vars`)).data['group_vars.yml']).toBe(VARIABLES);

      await runOwn(kube, cluster, `${cluster}-up`, PLAYBOOK, { action: 'upgrade-cluster.yml', extraArgs: '-e kube_version=1.36.4' });
      await kube.ended(`${cluster}-up`);
      api.versions.cp1 = 'v1.36.4';
      await visit(`/clusters/${cluster}/upgrade`);
      await expect(page.getByText('The upgrade to 1.36.4: failed')).toBeVisible();
      await expect(row('cp1')).toContainText('Done');
      await expect(row('w1')).toContainText('Drain the node: PodDisruptionBudget default/web blocks it');
      await expect(row('w2')).toContainText('Not reached');
      // The page proposes nothing before the cluster is read again. That is 30 seconds after the last time, or when the server starts.
      await page.goto('about:blank');
      await server.stop();
      await server.startAgain();
      await open(`/clusters/${cluster}/upgrade`, 'kube_version changed from 1.35.9 to 1.36.4');
      await page.getByRole('button', { name: 'Continue the upgrade to 1.36.4' }).click();

      // The real playbook reaches no machine.
      await expect(page).toHaveURL(new RegExp(`/clusters/${cluster}/upgrade\\?run=upgrade-cluster-`));
      await expect(page.getByRole('link', { name: 'Log and tasks' })).toBeVisible();
      expect((await kube.get('ConfigMap', `${cluster}-vars`)).data['group_vars.yml']).toBe(VARIABLES.replace('1.35.9', '1.36.4'));
      const name = new URL(page.url()).searchParams.get('run')!;
      expect((await kube.get('ClusterOperation', name)).spec.extraArgs).toBe('-e kube_version=1.36.4');
      await kube.ended(name);
    } finally {
      api.stop();
    }
  });
});

test('nothing is offered for a cluster without control planes', async ({ page, visit, kube }) => {
  const hosts = 'all: {children: {kube_node: {hosts: {w1: {ansible_host: 127.0.0.1, ansible_port: 1}}}}}\n';
  await makeCluster(kube, 'headless', { hosts, variables: VARIABLES });
  await visit('/clusters/headless/upgrade');
  await expect(page.getByText('The inventory names no control plane, so nothing can be upgraded.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Upgrade to/ })).toHaveCount(0);
  await expect(page.getByRole('row', { name: /^w1/ })).toContainText('Stays as it is');
});
