// The life of a cluster by hand: three machines of the lab, a browser, and nothing else.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/console.ts';
import { picture } from '../fixtures/picture.ts';
import { phase } from '../fixtures/run-page.ts';

/** Where the lab serves Kubernetes for machines (docs/lab.md). */
const RELEASES = 'http://10.77.0.1:8000';
/** How long one run may take on a busy computer. */
const RUN = 900_000;

/** The address of the lab's machine `m1`, `m2` and so on. */
const address = (machine: string) => `10.77.0.1${machine.slice(1)}`;

/** What machines of the lab need. The form adds the version. */
const variables = readFileSync(new URL('../lab/tests/engine/variables.yaml', import.meta.url), 'utf8')
  .replace('http://ARTIFACTS', RELEASES)
  .replace('kube_version: VERSION\n', '');

/** The versions of the catalogue that the lab serves, oldest first. */
async function served(): Promise<string[]> {
  const catalogue = JSON.parse(readFileSync(new URL('../../deploy/runner/playbooks/versions.json', import.meta.url), 'utf8'));
  const versions: string[] = catalogue.kubeonkube.minors.map(({ run }: { run: string | null }) => run).filter(Boolean);
  const answers = await Promise.all(versions.map((version) => fetch(`${RELEASES}/release/v${version}/SHA256SUMS`)));
  return versions.filter((_, n) => answers[n].ok);
}

/** What kubectl prints with this kubeconfig. */
function kubectl(kubeconfig: string, ...words: string[]): string {
  return execFileSync(process.env.KUBEONKUBE_TEST_KUBECTL!, ['--kubeconfig', kubeconfig, ...words], { encoding: 'utf8' });
}

/** Waits until the run on the page has succeeded. Prints how long that took. */
async function succeeds(page: Page, what: string): Promise<void> {
  await expect(page).toHaveURL(/\/operations\/[^_]/);
  const started = Date.now();
  await expect(phase(page, 'Succeeded').or(phase(page, 'Failed'))).toBeVisible({ timeout: RUN });
  console.log(`${((Date.now() - started) / 1000).toFixed(1)} s  ${what}`);
  await expect(phase(page, 'Succeeded')).toBeVisible();
}

test('a cluster is created, grown, upgraded, shrunk, repaired and reset', async ({ page, visit }) => {
  const versions = await served();
  const [oldest, newest] = [versions[0], versions.at(-1)!];
  if (process.env.KUBEONKUBE_LAB_UPGRADES) expect(versions.length, 'the lab serves two releases').toBe(2);

  await test.step('register two machines', async () => {
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill('first');
    await page.getByText('Or paste lines').click();
    await page.getByLabel('One machine per line').fill(`m1 root@${address('m1')} master etcd\nm2 root@${address('m2')} worker`);
    await page.getByLabel('Use an existing key').check();
    await page.getByLabel('Paste the private key').fill(readFileSync(process.env.LAB_KEY!, 'utf8'));
    await page.getByLabel('Kubernetes version').selectOption(oldest);
    await page.getByLabel('Variables, YAML').fill(variables);
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByRole('button', { name: 'Register the cluster' })).toBeVisible();
    await picture(page, 'register');
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL('/clusters/first/create?registered=1');
  });

  await test.step('confirm their host keys', async () => {
    await page.getByRole('link', { name: 'Scan and confirm the host keys' }).click();
    await page.getByRole('button', { name: 'Scan host keys' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('2 host keys confirmed.')).toBeVisible();
  });

  await test.step('check the machines and create the cluster', async () => {
    await visit('/clusters/first/create');
    await page.getByRole('button', { name: 'Check the machines' }).click();
    await expect(page.getByText('2 machines passed')).toBeVisible({ timeout: RUN });
    await picture(page, 'create');
    await page.getByRole('button', { name: 'Create the cluster' }).click();
    await page.getByRole('link', { name: 'Watch the run' }).click();
    await expect(page.getByRole('log')).toContainText('TASK [');
    await picture(page, 'create-run');
    await succeeds(page, 'create 1 + 1');
  });

  let kubeconfig = '';
  await test.step('it is healthy, and its kubeconfig works', async () => {
    await visit('/clusters/first/create');
    await expect(page.getByText(`first runs Kubernetes v${oldest} and is healthy.`)).toBeVisible();
    await visit('/clusters/first');
    await expect(page.getByText('2 of 2 ready')).toBeVisible();
    await picture(page, 'cluster');
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    kubeconfig = await file.path();
    expect(kubectl(kubeconfig, 'get', 'nodes', '-o', 'name')).toBe('node/m1\nnode/m2\n');
  });

  await test.step('add a node', async () => {
    await visit('/clusters/first/nodes');
    await page.getByRole('link', { name: 'Add nodes' }).click();
    await page.getByLabel('Name of machine 1').fill('m3');
    await page.getByLabel('Address of machine 1').fill(address('m3'));
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByRole('region', { name: 'Review' })).toContainText('--limit=m3');
    await picture(page, 'add-a-node');
    const clicked = Date.now();
    await page.getByRole('button', { name: 'Save and run' }).click();
    await expect(page.getByRole('log')).toContainText('PLAY [', { timeout: RUN });
    console.log(`${((Date.now() - clicked) / 1000).toFixed(1)} s  from the click to the first line of ansible`);
    await succeeds(page, 'add a node');
    await visit('/clusters/first/nodes');
    for (const name of ['m1', 'm2', 'm3']) await expect(page.getByRole('row', { name: new RegExp(`^${name}`) })).toContainText('Ready');
  });

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
      kubectl(kubeconfig, 'delete', 'poddisruptionbudget', 'held');
      await expect(page.getByText(`The upgrade to ${newest}: succeeded`)).toBeVisible({ timeout: RUN });
      for (const name of ['m1', 'm2', 'm3']) await expect(row(name)).toContainText(`v${newest}`);
      await page.getByRole('link', { name: 'Log and tasks' }).click();
      await succeeds(page, 'the end of an upgrade of 1 + 2');
      const strip = page.getByRole('region', { name: 'Stopping and availability' });
      await expect(strip.getByRole('img', { name: 'Kubernetes API' })).toHaveAccessibleName(/requests answered · \d+ outages?/);
      await expect(strip.getByText(/^After .*, requests failed for /).first()).toBeVisible();
      console.log(await strip.getByRole('img').first().getAttribute('aria-label'));
      await picture(page, 'upgrade-availability');
      await visit('/clusters/first');
      await expect(page.getByText(`v${newest}`).first()).toBeVisible();
      await expect(page.getByText('3 of 3 ready')).toBeVisible();
    });
  }

  await test.step('remove the node again', async () => {
    await visit('/clusters/first/nodes');
    await page.getByRole('link', { name: 'Remove… m3' }).click();
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
    await page.getByRole('button', { name: 'Save and run' }).click();
    await succeeds(page, 'replace a worker');
    await visit('/clusters/first/nodes');
    await expect(page.getByRole('row', { name: /^m3/ })).toContainText('Ready');
    await expect(page.getByRole('row', { name: /^m2/ })).toContainText('Removed from the cluster');
    await page.getByRole('link', { name: 'Remove from the inventory… m2' }).click();
    await page.getByRole('button', { name: 'Remove from the inventory' }).click();
    await expect(page.getByRole('row', { name: /^m2/ })).toHaveCount(0);
  });

  await test.step('reset the machines', async () => {
    await visit('/operations/_new?cluster=first&action=reset.yml');
    await page.getByLabel("Type the cluster's name to reset it").fill('first');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Submit' }).click();
    await succeeds(page, 'reset two machines');
  });
});
