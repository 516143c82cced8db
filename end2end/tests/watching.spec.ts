// What a running operation shows besides its log: whether it may be stopped, and whether its cluster answers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeCluster } from '../fixtures/cluster.ts';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { Talker } from '../fixtures/talker.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('each second without an answer is shown, also after the run', async ({ page, visit, kube }) => {
    const cluster = `answers-${ending}`;
    const api = await new FakeCluster().start();
    let status = 200;
    const service = createServer((_, answer) => answer.writeHead(status).end());
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}/healthz`;
    using talker = new Talker();
    try {
      await api.isFor(kube, cluster);
      await makeCluster(kube, cluster);
      await visit(`/clusters/${cluster}/upgrade`);
      await page.getByLabel('A service to request as well').fill('shop.example.com');
      await page.getByRole('button', { name: 'Save the address' }).click();
      await expect(page.getByText('An address begins with http:// or https://').first()).toBeVisible();
      await page.getByLabel('A service to request as well').fill(address);
      await page.getByRole('button', { name: 'Save the address' }).click();
      await expect(page.getByText('Saved', { exact: true })).toBeVisible();
      expect((await kube.get('Cluster', cluster)).spec.probeURL).toBe(address);

      await run(kube, cluster, `${cluster}-1`, { script: talker.script });
      await visit(`/operations/${cluster}-1`);
      const watched = page.getByRole('region', { name: 'Stopping and availability' });
      const strip = (label: string) => watched.getByRole('img', { name: label });
      // Without JavaScript, the page loads again by itself every ten seconds.
      await expect(strip('Kubernetes API')).toHaveAccessibleName(/: ([1-9]\d*) of \1 requests? answered$/);
      await expect(strip(address)).toHaveAccessibleName(/answered$/);
      status = 503;
      await expect(watched.getByText(/requests failed for .*It answers 503\./)).toBeVisible();
      await expect(strip(address)).toHaveAccessibleName(/1 outage, \d+ s$/);
      await expect(strip('Kubernetes API')).toHaveAccessibleName(/answered$/);
      status = 200;
      api.stop();
      await expect(watched.getByText(/requests failed for .*can't be reached/)).toBeVisible();
      await api.start();

      talker.end();
      await kube.ended(`${cluster}-1`);
      await visit(`/operations/${cluster}-1`);
      await expect(strip('Kubernetes API')).toHaveAccessibleName(/1 outage, \d+ s$/);
      await expect(watched.getByText('one request per second').first()).toBeVisible();
    } finally {
      api.stop();
      service.close();
    }
  });

  test('the question before a cancel says whether it is safe', async ({ page, visit, kube }) => {
    const cluster = `safe-${ending}`;
    const folder = mkdtempSync(join(tmpdir(), 'kubeonkube-python-'));
    const [pipe, python] = [join(folder, 'pipe'), join(folder, 'python')];
    execFileSync('mkfifo', ['-m', '600', pipe]);
    // A Python that starts when the test allows it.
    writeFileSync(python, `#!/bin/sh\nread _ < ${pipe}\nexec /usr/bin/python3 "$@"\n`);
    chmodSync(python, 0o755);
    const descriptor = openSync(pipe, 'r+');
    try {
      await makeCluster(kube, cluster, { hosts: `all: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: ${python}}}}\n` });
      await run(kube, cluster, `${cluster}-1`, { playbook: 'ping.yml' });
      await visit(`/operations/${cluster}-1`);
      const watched = page.getByRole('region', { name: 'Stopping and availability' });
      await expect(watched).toContainText('Safe to stop now. It changes nothing.');
      // Without JavaScript, the page loads again by itself, which closes the question.
      if (script) await page.getByText('Cancel…').click();
      await expect(page.locator('.confirm-body')).toContainText('Safe to stop now. It changes nothing.');
      writeSync(descriptor, '\n'.repeat(20));
      await kube.ended(`${cluster}-1`);
    } finally {
      closeSync(descriptor);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
