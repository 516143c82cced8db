// `--demo` as an unprivileged user: real runs on this machine, the first in two clicks.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page, TestInfo } from '@playwright/test';
import { NOBODY, expect, signIn, test } from '../fixtures/console.ts';
import { Folder } from '../fixtures/folder.ts';
import { phase } from '../fixtures/run-page.ts';
import { Server, binary } from '../fixtures/server.ts';
import { skip } from '../fixtures/skipped.ts';

/** The ids of the user and group `nobody`. */
const UNPRIVILEGED = 65534;

test.use({ storageState: NOBODY });

test('a demo cluster runs facts.yml as an unprivileged user', async ({ page, browser }, info) => {
  test.setTimeout(330_000);
  using folder = new Folder('demo');
  const [home, dataDir, program, ansible] = ['home', 'data', 'kubeonkube', 'ansible'].map((name) => join(folder.path, name));
  // The unprivileged user may not be able to read the build folder.
  chmodSync(folder.path, 0o755);
  copyFileSync(binary, program);
  const root = userInfo().uid === 0;
  const under = root ? ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] : [];
  for (const own of [home, dataDir]) {
    mkdirSync(own);
    if (root) chownSync(own, UNPRIVILEGED, UNPRIVILEGED);
  }
  const env = { HOME: home, KUBEONKUBE_ANSIBLE: ansibleFor(info, under, home, ansible) };
  await using server = await Server.start({ dataDir, program, under, more: ['--demo'], env });
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
  // The page would report the end of its server.
  await page.close();
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

/**
 * The folder with the programs of the other tests' ansible. It is copied to `copy` if that user can't reach it: below a folder that only
 * root may enter, such as /root. The server would install its own ansible from the network.
 */
function ansibleFor(info: TestInfo, under: string[], home: string, copy: string): string {
  const bin = process.env.KUBEONKUBE_ANSIBLE ?? '';
  if (bin === '') skip(info, 'KUBEONKUBE_ANSIBLE is not set');
  const runs = (folder: string) => {
    const [program, ...words] = [...under, join(folder, 'ansible-playbook'), '--version'];
    // It writes to its home folder.
    return spawnSync(program, words, { cwd: '/', env: { ...process.env, HOME: home } }).status === 0;
  };
  if (runs(bin)) return bin;
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(join(copy, 'bin'))) {
    const script = join(copy, 'bin', name);
    if (lstatSync(script).isFile()) writeFileSync(script, readFileSync(script, 'latin1').replaceAll(bin, join(copy, 'bin')), 'latin1');
  }
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  if (!runs(join(copy, 'bin'))) skip(info, `user ${UNPRIVILEGED} can't run the Python of ${bin}`);
  return join(copy, 'bin');
}
