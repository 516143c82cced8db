// The server is killed during a run. The run continues, the page reconnects, and nothing is lost.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTION_LOST, alive, expect, test } from '../fixtures/console.ts';
import { Folder } from '../fixtures/folder.ts';
import { makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { phase, readAll, says, saysItAll } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

/** Lines that the script prints in all. The gate reads fewer. */
const LINES = process.env.KUBEONKUBE_FULL ? 23_000 : 5000;

test('a script survives the server, and no line is lost or doubled', async ({ page, visit, server, kube, expected }) => {
  expected.push(CONNECTION_LOST);
  using talker = new Talker();
  await makeCluster(kube, 'killed');
  await run(kube, 'killed', 'killed-1', { script: talker.script });
  await visit('/operations/killed-1');
  await says(page, talker.say(1000));
  await page.evaluate(() => ((window as any).same = true));

  await server.stop('SIGKILL');
  await expect(page.getByText(/^Disconnected since \d\d:\d\d:\d\d, retrying$/)).toBeVisible();
  talker.say(1000);
  await server.startAgain();
  await alive(page);
  await says(page, 2000);
  await says(page, talker.say(1000));
  // Kill the server again while it reads the log.
  talker.say(LINES - 3000);
  await server.stop('SIGKILL');
  await server.startAgain();
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
  await expect(page.getByText(new RegExp(`^Log complete, ${LINES / 1000},00\\d lines$`))).toBeVisible();
  expect(await page.evaluate(() => (window as any).same), 'the page was never reloaded').toBe(true);
  await saysItAll(page, LINES);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a script survives the server, and no line is lost', async ({ page, visit, server, kube }) => {
    using talker = new Talker();
    await makeCluster(kube, 'killed-plain');
    await run(kube, 'killed-plain', 'killed-plain-1', { script: talker.script });
    talker.say(100);
    await expect(async () => {
      await visit('/operations/killed-plain-1');
      await says(page, 100, 1000);
    }).toPass({ timeout: 60_000 });
    await server.stop('SIGKILL');
    talker.say(50);
    talker.end();
    await server.startAgain();
    expect((await kube.ended('killed-plain-1')).status).toMatchObject({ status: 'Succeeded' });
    await page.reload();
    await expect(page.getByText(/^Log complete, 15\d lines$/)).toBeVisible();
    const said = (await page.getByRole('log').locator('.tx').allTextContents()).filter((line) => /^line \d+$/.test(line));
    expect(said).toEqual(Array.from({ length: 150 }, (_, index) => `line ${index + 1}`));
  });
});

test('a playbook survives the server and succeeds', async ({ page, visit, server, kube, expected }) => {
  expected.push(CONNECTION_LOST);
  using folder = new Folder('sign');
  const sign = join(folder.path, 'sign');
  const task = (name: string, what: string) => `    - name: ${name}\n      ${what}\n`;
  const playbook = `- hosts: all\n  gather_facts: false\n  tasks:\n${task('Before', 'ansible.builtin.ping:')}${task('Wait for the sign', `ansible.builtin.wait_for: {path: ${sign}, sleep: 1}`)}${task('After', 'ansible.builtin.ping:')}`;
  await makeCluster(kube, 'killed-ansible');
  await runOwn(kube, 'killed-ansible', 'killed-ansible-1', playbook);
  await visit('/operations/killed-ansible-1');
  await expect(page.getByText('“Wait for the sign” runs on m1.')).toBeVisible();
  await server.stop('SIGKILL');
  // It ends while the server is down.
  writeFileSync(sign, '');
  await server.startAgain();
  await expect(phase(page, 'Succeeded')).toBeVisible();
  await expect(page.getByText('play.yml: 1 host, 3 tasks ok, 0 changed.')).toBeVisible();
  await expect(page.getByText(/Log complete/)).toBeVisible();
  const lines = [...(await readAll(page)).values()];
  for (const name of ['Before', 'Wait for the sign', 'After']) {
    expect(lines.filter((line) => line.startsWith(`TASK [${name}]`)), name).toHaveLength(1);
  }
});
