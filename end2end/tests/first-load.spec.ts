// The bytes of a first visit, as a browser counts them: page, style, script, wasm, data and response headers, compressed as they were sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { alive, expect, test } from '../fixtures/console.ts';
import { Folder } from '../fixtures/folder.ts';
import type { Kube } from '../fixtures/kube.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { log } from '../fixtures/run-page.ts';

test.skip(!process.env.KUBEONKUBE_IN_PARTS, 'only the files of a release are small');

/** Opens a path with an empty cache, and counts until the page is live and `complete`. In KB (1,000 bytes), with the largest requests. */
async function firstLoad(page: Page, path: string, complete: () => Promise<void>): Promise<{ kb: number; largest: string[] }> {
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  const urls = new Map<string, string>();
  const sizes = new Map<string, number>();
  const open = new Set<string>();
  client.on('Network.requestWillBeSent', ({ requestId, request }) => {
    urls.set(requestId, request.url.replace(/^\w+:\/\/[^/]+/, ''));
    open.add(requestId);
  });
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    sizes.set(urls.get(requestId) ?? requestId, encodedDataLength);
    open.delete(requestId);
  });
  await page.goto(path);
  await alive(page);
  await complete();
  await expect.poll(() => [...open].map((id) => urls.get(id)), 'requests that go on').toEqual([]);
  const bySize = [...sizes].sort(([, a], [, b]) => b - a);
  const kb = bySize.reduce((sum, [, bytes]) => sum + bytes, 0) / 1000;
  return { kb, largest: bySize.slice(0, 8).map(([url, bytes]) => `${(bytes / 1000).toFixed(1)} KB ${url}`) };
}

/** In KB. The goals are smaller (docs/benchmarks.md). */
const LIMIT = 420;

/** Checks the size, and prints its distance from the goal. */
async function isSmall(goal: number, page: Page, path: string, complete = async () => {}): Promise<void> {
  const { kb, largest } = await firstLoad(page, path, complete);
  console.log(`first load of ${path}: ${kb.toFixed(1)} KB, ${(kb - goal).toFixed(1)} KB from the goal`);
  expect(kb, largest.join('\n')).toBeLessThanOrEqual(LIMIT);
}

async function finished(kube: Kube, name: string, lines: number): Promise<string> {
  await makeCluster(kube, name);
  await run(kube, name, `${name}-1`, { script: `seq -f 'TASK [node-%.0f : check that the service answers]' ${lines}` });
  expect((await kube.ended(`${name}-1`)).status).toMatchObject({ status: 'Succeeded' });
  return `/operations/${name}-1`;
}

/** All rows on and near the screen have their text. */
const rowsHaveText = (page: Page) => async () => {
  await expect(log(page).locator('[id^="L"]:not(:has(time))')).toHaveCount(0);
};

test('a first visit to the clusters loads at most 420 KB', async ({ page, kube }) => {
  for (let number = 1; number <= 20; number += 1) await makeCluster(kube, `fleet-${number}`);
  await isSmall(330, page, '/clusters');
});

test('a first visit to a run loads at most 420 KB', async ({ page, kube }) => {
  await isSmall(350, page, await finished(kube, 'short', 1_000), rowsHaveText(page));
});

test('a first visit to a playbook that runs loads at most 420 KB', async ({ page, kube }) => {
  using folder = new Folder('busy');
  const end = join(folder.path, 'end');
  await makeCluster(kube, 'busy', { hosts: localHosts('m1', 'm2', 'm3') });
  const task = (number: number) => `    - {name: Prepare part ${number}, ansible.builtin.debug: {msg: part ${number}}}`;
  await runOwn(kube, 'busy', 'busy-1', [
    '- hosts: all', '  gather_facts: false', '  tasks:',
    ...Array.from({ length: 20 }, (_, number) => task(number + 1)),
    `    - {name: Wait for the end, ansible.builtin.wait_for: {path: ${end}}}`, '',
  ].join('\n'));
  await expect(async () => {
    await page.goto('/operations/busy-1');
    await expect(page.getByText('“Wait for the end” runs on')).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 60_000 });
  const context = await page.context().browser()!.newContext({ storageState: await page.context().storageState() });
  const fresh = await context.newPage();
  await isSmall(350, fresh, page.url(), rowsHaveText(fresh));
  await context.close();
  writeFileSync(end, '');
  await kube.ended('busy-1');
});

test('a first visit to 50,000 lines loads at most 420 KB', async ({ page, kube }) => {
  const path = await finished(kube, 'long', 50_000);
  await isSmall(400, page, path, rowsHaveText(page));
});

test('a link into 50,000 lines loads at most 420 KB', async ({ page, kube }) => {
  const path = await finished(kube, 'far', 50_000);
  await isSmall(400, page, `${path}#L25000`, rowsHaveText(page));
});
