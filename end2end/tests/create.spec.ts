// Creating a cluster: from the form to the page that checks, plans and runs. Nothing listens at port 1, so no run changes a machine.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, ownNetwork, runOwn } from '../fixtures/objects.ts';

const GROUPS = '  children:\n    kube_control_plane:\n      hosts:\n        cp1:\n    kube_node:\n      hosts:\n        w1:\n';

/** A control plane and a worker that don't answer, at addresses that begin with `network`. */
const hostsIn = (network: string) => `all:
  hosts:
    cp1: {ansible_host: ${network}1, ansible_port: 1, ansible_user: ops}
    w1: {ansible_host: ${network}2, ansible_port: 1, ansible_user: ops}
${GROUPS}`;

async function fillMachine(page: Page, number: number, name: string, address: string, role: string): Promise<void> {
  await page.getByLabel(`Name of machine ${number}`).fill(name);
  await page.getByLabel(`Address of machine ${number}`).fill(address);
  await page.getByLabel(`User of machine ${number}`).fill('ops');
  await page.getByLabel(`Port of machine ${number}`).fill('1');
  await page.getByLabel(`Role of machine ${number}`).selectOption(role);
}

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  /** Without JavaScript, the page has to be loaded again to show news. */
  async function shows(page: Page, text: string): Promise<void> {
    await expect(async () => {
      if (!script) await page.reload();
      await expect(page.getByRole('main')).toContainText(text, { timeout: 1000 });
    }).toPass({ timeout: 120_000 });
  }

  test('a new cluster is registered, checked and created', async ({ page, visit, kube }) => {
    test.slow(); // two runs
    const [name, network] = [`create-${ending}`, ownNetwork()];
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await expect(page.getByLabel('Create a Kubernetes cluster')).toBeChecked();
    await fillMachine(page, 1, 'cp1', `${network}1`, 'control_plane');
    await fillMachine(page, 2, 'w1', `${network}2`, 'control_plane');
    await page.getByLabel('Kubernetes version').selectOption('1.33.13');
    await page.getByLabel('Network of pods').fill('127.0.0.0/16');
    await page.getByLabel('Variables, YAML').fill('# ours\nkube_version: 1.34.4 # for now\n');
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText('There are 2 control planes (cp1, w1).')).toBeVisible();
    await expect(page.getByText(`The address ${network}1 of cp1 is in the network of pods, 127.0.0.0/16.`)).toBeVisible();

    await page.getByLabel('Role of machine 2').selectOption('worker');
    await page.getByLabel('Network of pods').fill('');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText('kube_version: 1.33.13 # for now');
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}/create?registered=1`);
    const saved = (await kube.get('ConfigMap', `${name}-vars-conf`)).data['group_vars.yml'];
    expect(saved).toBe('# ours\nkube_version: 1.33.13 # for now\nkube_pods_subnet: 10.233.64.0/18\nkube_service_addresses: 10.233.0.0/18\n');

    const main = page.getByRole('main');
    await expect(main).toContainText(`${name} is registered`);
    await expect(main).toContainText(/ssh-ed25519 AAAA/);
    await expect(main).toContainText('No host key is confirmed');
    await expect(main).toContainText('v1.33.13');
    await expect(main).toContainText('The machines have not been checked.');
    await expect(page.getByRole('row', { name: /^cp1/ })).toContainText('Control plane and etcd');
    await page.getByRole('button', { name: 'Check the machines' }).click();
    await expect(page).toHaveURL(/checked=precheck-/);
    await shows(page, '2 machines have problems');
    await expect(page.getByRole('region', { name: 'Results of the check' }).getByRole('row', { name: /^w1/ })).toContainText('Unreachable');
    await expect(main).toContainText('The last check found problems on cp1 and w1.');

    await page.getByRole('button', { name: 'Create the cluster' }).click();
    await expect(page).toHaveURL(/created=cluster-/);
    await shows(page, 'Creating the cluster failed on cp1 and w1.');
    await expect(main).toContainText(`${network}2 port 1: Connection refused`);
    await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible();
    const operation = (await kube.list('ClusterOperation')).find((o) => o.spec.cluster === name && o.spec.action === 'cluster.yml');
    expect(operation.spec.extraArgs).toBeUndefined();

    await visit(`/clusters/${name}`);
    await page.getByRole('link', { name: 'Create the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}/create`);
  });

  test('after a run that creates, the page shows what is next', async ({ page, visit, kube }) => {
    const cluster = `made-${ending}`;
    await makeCluster(kube, cluster, { hosts: hostsIn(ownNetwork()) });
    await visit(`/clusters/${cluster}`);
    await expect(page.getByRole('link', { name: 'Create the cluster' })).toBeVisible();

    // In place of the playbook, one of the same name that changes nothing.
    const playbook = '- {hosts: localhost, gather_facts: false, tasks: [{debug: {msg: "made"}}]}\n';
    await runOwn(kube, cluster, `${cluster}-1`, playbook, { action: 'cluster.yml' });
    await kube.ended(`${cluster}-1`);
    await visit(`/clusters/${cluster}/create`);
    await expect(page.getByRole('main')).toContainText(`${cluster} was created.`);
    await expect(page.getByRole('button', { name: 'Create the cluster' })).toHaveCount(0);
    await visit(`/clusters/${cluster}`);
    await expect(page.getByRole('link', { name: 'Create the cluster' })).toHaveCount(0);
  });

  test('an existing cluster is only registered', async ({ page, visit, kube }) => {
    const name = `existing-${ending}`;
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Manage an existing cluster').check();
    await expect(page.getByLabel('Kubernetes version')).toBeHidden();
    await fillMachine(page, 1, 'cp1', '127.0.0.1', 'control_plane');
    await fillMachine(page, 2, 'cp2', '127.0.0.2', 'control_plane');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}?registered=1`);
    await expect(page.getByRole('link', { name: 'Create the cluster' })).toHaveCount(0);
    expect((await kube.get('ConfigMap', `${name}-vars-conf`)).data['group_vars.yml']).toBe('');
  });
});

test('a plan with a broken inventory offers no check', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'unplanned', { hosts: 'all:\n  hosts:\n    cp1: [oops\n' });
  await visit('/clusters/unplanned/create');
  await expect(page.getByRole('alert').or(page.locator('.alert')).filter({ hasText: "The inventory can't be used." }).first()).toBeVisible();
  await expect(page.getByText('Correct the plan first.')).toHaveCount(3);
  await expect(page.getByText('No machine is reached over SSH')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Check the machines' })).toHaveCount(0);
});
