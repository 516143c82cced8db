// What a person sees while a cluster is created, grown and upgraded. The runs were recorded on machines of the lab, and are played here.
import type { Page } from '@playwright/test';
import { FakeCluster } from '../fixtures/cluster.ts';
import { bothWays, expect, test as base } from '../fixtures/console.ts';
import { makeCluster, ownNetwork } from '../fixtures/objects.ts';
import { Recordings } from '../fixtures/recorded.ts';
import { phase } from '../fixtures/run-page.ts';

const test = base.extend<object, { recordings: Recordings }>({
  recordings: [async ({}, use) => {
    const recordings = new Recordings();
    await use(recordings);
    recordings.remove();
  }, { scope: 'worker' }],
  serverEnv: [async ({ recordings }, use) => use({ KUBEONKUBE_ANSIBLE: recordings.folder }), { scope: 'worker' }],
});

/** The versions of the recordings. */
const [OLD, NEW] = ['1.36.4', '1.37.2'];

const hostsIn = (network: string) => `all:
  vars: {ansible_port: 1, ansible_user: root}
  hosts:
    m1: {ansible_host: ${network}1}
    m2: {ansible_host: ${network}2}
  children:
    kube_control_plane: {hosts: {m1: }}
    etcd: {hosts: {m1: }}
    kube_node:
      hosts:
        m2:
`;

bothWays((script) => {
  test('a recorded cluster is created, grown and upgraded', async ({ page, visit, kube, recordings }) => {
    test.slow(); // three long runs
    const cluster = `recorded-${script ? 'js' : 'plain'}`;
    const network = ownNetwork();
    using api = await new FakeCluster({ m1: `v${OLD}`, m2: `v${OLD}` }).start();
    await makeCluster(kube, cluster, { hosts: hostsIn(network), variables: `kube_version: ${OLD}\n` });
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}\\b`) });
    const eachRow = (shows: (name: string) => Promise<void>) => expect(async () => {
      if (!script) await page.reload();
      for (const name of ['m1', 'm2', 'm3']) await shows(name);
    }).toPass({ timeout: 120_000 });

    await visit(`/clusters/${cluster}/create`);
    await page.getByRole('button', { name: 'Create the cluster' }).click();
    await page.getByRole('link', { name: 'Watch the run' }).click();
    recordings.playTo('cluster', 'TASK [');
    await shows(page, 'TASK [');
    await api.isFor(kube, cluster);
    recordings.playToEnd('cluster');
    await ends(page);
    await visit(`/clusters/${cluster}/create`);
    await shows(page, `${cluster} runs Kubernetes v${OLD} and is healthy.`);

    await visit(`/clusters/${cluster}/nodes`);
    await page.getByRole('link', { name: 'Add nodes' }).click();
    await page.getByLabel('Name of machine 1').fill('m3');
    await page.getByLabel('Address of machine 1').fill(`${network}3`);
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByRole('region', { name: 'Review' })).toContainText('--limit=m3');
    await page.getByRole('button', { name: 'Save and run' }).click();
    api.versions.m3 = `v${OLD}`;
    recordings.playToEnd('scale');
    await ends(page);
    await visit(`/clusters/${cluster}/nodes`);
    await eachRow((name) => expect(row(name)).toContainText('Ready', { timeout: 1_000 }));

    api.held = { m2: 'db-0' };
    await visit(`/clusters/${cluster}/upgrade?to=${NEW}`);
    await page.getByRole('button', { name: `Upgrade to ${NEW}` }).click();
    recordings.playTo('upgrade-cluster', '"name":"upgrade : Run kubeadm upgrade"', '"host_start"');
    await shows(page, "Don't stop now");
    recordings.playTo('upgrade-cluster', '"name":"upgrade : Drain the node"', '"host_start"');
    await shows(page, 'Safe to stop after m1');
    api.versions.m1 = `v${NEW}`;
    recordings.playTo('upgrade-cluster', '"name":"upgrade : Record the end"', '"name":"upgrade : Drain the node"', '"host_start"');
    await shows(page, 'Pod default/db-0 is held by PodDisruptionBudget default/db-0');
    await expect(row('m1')).toContainText('Done');
    api.held = {};
    api.versions = { m1: `v${NEW}`, m2: `v${NEW}`, m3: `v${NEW}` };
    recordings.playToEnd('upgrade-cluster');
    await shows(page, `The upgrade to ${NEW}: succeeded`);
    await eachRow((name) => expect(row(name)).toContainText(`v${NEW}`, { timeout: 1_000 }));
    await page.getByRole('link', { name: 'Log and tasks' }).click();
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await visit(`/clusters/${cluster}`);
    await shows(page, '3 of 3 ready');
  });

  /** Without JavaScript, the page has to be loaded again to show news. */
  async function shows(page: Page, text: string): Promise<void> {
    await expect(async () => {
      if (!script) await page.reload();
      await expect(page.getByRole('main')).toContainText(text, { timeout: 1_000 });
    }).toPass({ timeout: 120_000 });
  }

  async function ends(page: Page): Promise<void> {
    await expect(async () => {
      if (!script) await page.reload();
      await expect(phase(page, 'Succeeded')).toBeVisible({ timeout: 1_000 });
    }).toPass({ timeout: 120_000 });
  }
});
