// Pages behind a real nginx, which may not pass on everything.
import type { Page } from '@playwright/test';
import { CONNECTION_LOST, alive, expect, test } from '../fixtures/console.ts';
import { Nginx, nginxProgram } from '../fixtures/nginx.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { phase, says } from '../fixtures/run-page.ts';
import { Server } from '../fixtures/server.ts';
import { skip } from '../fixtures/skipped.ts';
import { Talker } from '../fixtures/talker.ts';

const HOST = 'proxy_set_header Host $http_host;';
/** The lines of docs/install.md. */
const ALL = ['proxy_http_version 1.1;', HOST, 'proxy_set_header Upgrade $http_upgrade;', 'proxy_set_header Connection $http_connection;'];

test.beforeEach(({}, info) => {
  if (nginxProgram() === undefined) skip(info, 'nginx is missing');
});

const indicator = (page: Page, text: RegExp) => page.getByRole('status').filter({ hasText: text });

test('without WebSockets a page asks for changes, up to the end', async ({ page, server, kube, expected }) => {
  test.slow(); // several pauses between questions
  expected.push(CONNECTION_LOST);
  using talker = new Talker();
  await makeCluster(kube, 'proxied');
  await run(kube, 'proxied', 'proxied-1', { script: talker.script });
  await kube.condition('proxied-1', 'Running');
  await using nginx = await Nginx.start(nginxProgram()!, server.listens, [HOST]);
  await page.goto(`${nginx.url}/operations/proxied-1`);
  await expect(indicator(page, /^No live updates since \d\d:\d\d:\d\d$/)).toBeVisible();
  await says(page, talker.say(5), 60_000);
  await expect(page.getByText('so far, no live updates')).toBeVisible();
  await expect(page.getByText(/^Complete so far/)).toHaveCount(0);
  await expect(page.getByRole('alert').filter({ hasText: 'A proxy between this browser and the server' })).toBeVisible({ timeout: 60_000 });
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText(/^Log complete, \d+ lines$/)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText(/took/)).toBeVisible();
  expect(server.log().split('\n').filter((line) => line.includes("a proxy doesn't pass them on")), 'the log').toHaveLength(1);
});

test('with the lines of the documentation a page is live', async ({ page, server, kube, expected }) => {
  // nginx ends before the page.
  expected.push(CONNECTION_LOST);
  await makeCluster(kube, 'passed-on');
  await using nginx = await Nginx.start(nginxProgram()!, server.listens, ALL);
  await page.goto(`${nginx.url}/clusters/passed-on/configuration?show=variables`);
  await alive(page);
  await page.getByLabel('Variables, YAML').fill('a: 1\n');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
});

test('a refusal names the host that arrived and the one expected', async ({ request }) => {
  await using server = await Server.start({ more: ['--public-url', 'https://console.example.com'] });
  await using nginx = await Nginx.start(nginxProgram()!, server.listens);
  const refused = await request.get(nginx.url, { headers: { Host: 'console.example.com' } });
  expect(refused.status()).toBe(421);
  const text = await refused.text();
  for (const part of [`"${server.listens}"`, 'https://console.example.com', 'proxy_set_header Host $http_host']) expect(text).toContain(part);
});
