// `--demo` as an unprivileged user: real runs on this machine, the first in two clicks.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { NOBODY, expect, signIn, test } from '../fixtures/console.ts';
import { Folder } from '../fixtures/folder.ts';
import { phase } from '../fixtures/run-page.ts';
import { Server, binary } from '../fixtures/server.ts';

/** The ids of the user and group `nobody`. */
const UNPRIVILEGED = 65534;

test.use({ storageState: NOBODY });

test('a demo cluster runs facts.yml as an unprivileged user', async ({ page, browser }) => {
  test.setTimeout(330_000);
  using home = new Folder('demo');
  const [dataDir, program] = [join(home.path, 'data'), join(home.path, 'kubeonkube')];
  mkdirSync(dataDir);
  // The unprivileged user may not be able to read the build folder.
  chmodSync(home.path, 0o755);
  copyFileSync(binary, program);
  const root = userInfo().uid === 0;
  const under = root ? ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] : [];
  if (root) chownSync(dataDir, UNPRIVILEGED, UNPRIVILEGED);
  await using server = await Server.start({ dataDir, program, under, more: ['--demo'], env: { HOME: dataDir, ...ansibleFor(under) } });
  await signIn(page, server, server.anotherLink());
  await openDemo(page);
  await page.getByRole('button', { name: 'Run ping.yml' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('ping.yml on demo');
  await expect(phase(page, 'Succeeded')).toBeVisible({ timeout: 150_000 });
  await page.goto(`${server.url}/clusters`);
  await runsFacts(page);
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const noScript = await plain.newPage();
  await signIn(noScript, server, server.anotherLink());
  await runsFacts(noScript, true);
  await plain.close();
});

const openDemo = (page: Page) => page.getByRole('rowheader', { name: 'demo', exact: true }).getByRole('link').click();

/** Runs `facts.yml` through the form; `plain`: without JavaScript. */
async function runsFacts(page: Page, plain = false): Promise<void> {
  await openDemo(page);
  await page.getByRole('link', { name: 'Run an operation' }).click();
  await page.getByText('Gather facts').click();
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/operations\/(?!new)[a-z0-9-]+$/);
  await expect(async () => {
    if (plain) await page.reload();
    await expect(phase(page, 'Succeeded')).toBeVisible({ timeout: plain ? 1000 : 150_000 });
  }).toPass({ timeout: 150_000 });
  await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Results' }).click();
  await expect(page.getByRole('region', { name: 'Facts' }).getByRole('row', { name: 'this-machine' })).toContainText('GiB');
}

/** The ansible of the other tests if that user may run it. Otherwise the server installs its own with the system's Python. */
function ansibleFor(under: string[]): NodeJS.ProcessEnv {
  const there = process.env.KUBEONKUBE_ANSIBLE;
  const [program, ...words] = [...under, join(there ?? '', 'ansible-playbook'), '--version'];
  const runs = there && spawnSync(program, words).status === 0;
  return runs ? {} : { KUBEONKUBE_ANSIBLE: '', PATH: '/usr/local/bin:/usr/bin:/bin' };
}
