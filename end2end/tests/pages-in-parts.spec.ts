// A release loads the code of each page when it is needed: while it loads, and when loading fails.
import type { Page } from '@playwright/test';
import { alive, expect, test } from '../fixtures/console.ts';
import type { Kube } from '../fixtures/kube.ts';
import { makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

test.beforeEach(async ({ page }) => {
  const html = await (await page.request.get('/clusters')).text();
  const inParts = html.includes('.bin');
  if (process.env.KUBEONKUBE_IN_PARTS) expect(inParts, 'this is a release').toBe(true);
  test.skip(!inParts, 'in this build all pages are one file');
});

const heading = (name: string) => ({ level: 1, name, exact: true }) as const;

/** Holds requests for these files until the returned function is called. */
async function hold(page: Page, files: string | RegExp): Promise<() => void> {
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route(files, async (route) => {
    await held;
    await route.continue();
  });
  return go;
}

test('the old page stays until the next one has loaded', async ({ page, visit }) => {
  await visit('/clusters');
  const go = await hold(page, '**/assets/settings-*.bin');
  const asked = page.waitForRequest('**/assets/settings-*.bin');
  await page.getByRole('link', { name: 'Settings' }).click();
  await asked;
  await expect(page.getByRole('heading', heading('Clusters'))).toBeVisible();
  await expect(page).toHaveURL(/\/clusters$/);
  go();
  await expect(page.getByRole('heading', heading('Settings'))).toBeVisible();
  await expect(page).toHaveURL(/\/settings$/);
});

test('a page without code comes from the server after an upgrade', async ({ page, visit, expected }) => {
  expected.push(/settings-\w+\.bin/);
  await visit('/clusters');
  await page.evaluate(() => Object.assign(globalThis, { old: true }));
  await page.route('**/assets/settings-*.bin', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }), { times: 1 });
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('heading', heading('Settings'))).toBeVisible();
  await alive(page);
  await expect(page).toHaveURL(/\/settings$/);
  expect(await page.evaluate(() => 'old' in globalThis), 'the document is a new one').toBe(false);
  await page.goBack();
  await expect(page.getByRole('heading', heading('Clusters'))).toBeVisible();
});

test('a page whose code fails to load still works', async ({ page, kube, expected }) => {
  expected.push(/clusters-\w+\.bin/);
  await makeCluster(kube, 'parts');
  await page.route('**/assets/clusters-*.bin', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }));
  await page.goto('/clusters');
  await expect(page.getByRole('alert')).toContainText('can\'t be loaded');
  await page.getByRole('link', { name: 'parts', exact: true }).click();
  await expect(page.getByRole('heading', heading('parts'))).toBeVisible();
  await alive(page);
});

test.describe('a run', () => {
  const pinged = async (kube: Kube, name: string) => {
    await makeCluster(kube, name);
    await run(kube, name, `${name}-1`, { playbook: 'ping.yml' });
    expect((await kube.ended(`${name}-1`)).status).toMatchObject({ status: 'Succeeded' });
  };

  test('loads the code of a tab once, when the tab is opened', async ({ page, visit, kube }) => {
    await pinged(kube, 'tabs');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/-\w+\./, '.')));
    await visit('/operations/tabs-1');
    const parts = page.getByRole('navigation', { name: 'Parts of the run' });
    const hosts = page.getByRole('region', { name: 'Recap of every host' });
    expect(asked).toContain('/assets/run.bin');
    const tabs = () => asked.filter((path) => /_piece/.test(path) && !path.includes('_tasks_'));
    expect(tabs()).toEqual([]);
    for (const _ of [1, 2]) {
      await parts.getByRole('link', { name: 'Hosts' }).click();
      await expect(hosts.getByRole('row', { name: 'm1' })).toBeVisible();
      await parts.getByRole('link', { name: 'Log' }).click();
      await expect(hosts).toBeHidden();
    }
    expect(tabs()).toEqual(['/assets/run_hosts_piece.bin']);
  });

  test('reports missing code of a tab and retries on reopening', async ({ page, visit, kube, expected }) => {
    expected.push(/run_hosts_piece-\w+\.bin/);
    await pinged(kube, 'gone');
    await visit('/operations/gone-1');
    await page.route('**/assets/run_hosts_piece-*.bin', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }), { times: 1 });
    const parts = page.getByRole('navigation', { name: 'Parts of the run' });
    await parts.getByRole('link', { name: 'Hosts' }).click();
    await expect(page.getByRole('alert')).toContainText('can\'t be loaded');
    await expect(page.getByRole('link', { name: 'Reload the page' })).toHaveAttribute('href', '/operations/gone-1?tab=hosts');
    await parts.getByRole('link', { name: 'Log' }).click();
    await expect(page.getByRole('log')).toContainText('PLAY RECAP');
    await parts.getByRole('link', { name: 'Hosts' }).click();
    await expect(page.getByRole('region', { name: 'Recap of every host' })).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
  });

  test('opens at a tab, from the server and from another page', async ({ page, visit, kube }) => {
    await pinged(kube, 'direct');
    const inventory = page.getByRole('heading', { name: 'Inventory' });
    await visit('/operations/direct-1?tab=inputs');
    await expect(inventory).toBeVisible();
    await visit('/operations');
    await page.evaluate(() => {
      const link = document.querySelector<HTMLAnchorElement>('a[href="/operations/direct-1"]');
      link!.href += '?tab=inputs';
      link!.click();
    });
    await expect(inventory).toBeVisible();
    await expect(page).toHaveURL(/tab=inputs$/);
  });

  const failing = '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Fail\n      ansible.builtin.fail: {msg: "no room"}\n';
  const waiting = '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Wait\n      ansible.builtin.command: sleep 600\n';
  const tasks = (page: Page) => page.getByRole('navigation', { name: 'Tasks' });

  test('is live before its task list is, which then takes over', async ({ page, visit, kube }) => {
    await makeCluster(kube, 'tasks');
    await runOwn(kube, 'tasks', 'tasks-1', waiting);
    const go = await hold(page, '**/assets/run_tasks_piece-*.bin');
    await visit('/operations/tasks-1');
    await expect(page.getByText('“Wait” runs on m1.')).toBeVisible();
    await page.reload();
    await alive(page);
    const task = tasks(page).getByRole('link', { name: 'Wait' });
    await task.focus();
    const before = (await task.elementHandle())!;
    go();
    await expect.poll(() => before.evaluate((link) => link.isConnected), { message: 'the live list replaces it' }).toBe(false);
    await expect(task).toHaveCount(1);
    await expect(task, 'the keyboard stays where it was').toBeFocused();
    await page.getByText('Cancel…').click();
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await expect(phase(page, 'Cancelled')).toBeVisible();
    await expect(task).toContainText('stopped');
  });

  test('shows how tasks ended while another tab was open', async ({ page, visit, kube }) => {
    await makeCluster(kube, 'sight');
    await runOwn(kube, 'sight', 'sight-1', waiting);
    await visit('/operations/sight-1');
    await expect(page.getByText('“Wait” runs on m1.')).toBeVisible();
    await visit('/operations/sight-1?tab=hosts');
    await page.getByText('Cancel…').click();
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await expect(phase(page, 'Cancelled')).toBeVisible();
    await expect(page.getByText(/^1 task · 1 host · Log complete/)).toBeVisible();
    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Log' }).click();
    await expect(tasks(page).getByRole('link', { name: 'Wait' })).toContainText('stopped');
  });

  test('loads no code for tasks and reason after the end', async ({ page, visit, kube }) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/-\w+\./, '.')));
    for (const name of ['over', 'other']) {
      await makeCluster(kube, name);
      const play = failing.replace('no room', `no room on ${name}`).replace('tasks:\n', 'tasks:\n    - name: Work\n      ansible.builtin.debug:\n');
      await runOwn(kube, name, `${name}-1`, play);
      await kube.ended(`${name}-1`);
    }
    await visit('/operations/over-1');
    const reason = page.getByRole('alert').filter({ hasText: '“Fail” failed on m1' });
    await expect(reason).toContainText('no room on over');
    expect(asked.filter((path) => path.includes('_piece'))).toEqual([]);
    await reason.getByRole('link', { name: /^Go to line/ }).click();
    await expect(page.getByRole('region', { name: 'Selected lines' })).toContainText('no room on over');
    const failed = tasks(page).getByRole('link', { name: 'Fail' });
    await expect(failed).toHaveAttribute('aria-current', 'true');
    await tasks(page).getByRole('link', { name: 'Work' }).click();
    await expect(page.getByRole('region', { name: 'Selected lines' })).toContainText('TASK [Work]');
    await expect(failed).not.toHaveAttribute('aria-current');
    await expect(tasks(page).locator('[aria-current]')).toHaveCount(1);
    expect(asked).not.toContain('/assets/run_tasks_piece.bin');
    // Another run in the same document shows nothing of the first one.
    await page.evaluate(() => {
      const link = document.querySelector<HTMLAnchorElement>('nav[aria-label="Main"] a')!.cloneNode() as HTMLAnchorElement;
      link.href = '/operations/other-1';
      document.querySelector('main')!.append(link);
      link.click();
    });
    await expect(reason).toContainText('no room on other');
    await expect(page.getByText('no room on over')).toHaveCount(0);
    await expect(tasks(page).getByRole('link', { name: 'Fail' })).toHaveCount(1);
  });

  test('asks the current question even if its code loads late', async ({ page, visit, kube }) => {
    using talker = new Talker();
    talker.say(1);
    await makeCluster(kube, 'late');
    await run(kube, 'late', 'late-1', { script: talker.script });
    await runOwn(kube, 'late', 'late-2', waiting);
    await kube.condition('late-2', 'Queued');
    const go = await hold(page, '**/assets/run_cancel_piece-*.bin');
    await visit('/operations/late-2');
    await page.getByText('Cancel…').click();
    await expect(page.getByText('Nothing has run yet')).toBeVisible();
    talker.end();
    await expect(phase(page, 'Running')).toBeVisible();
    await expect(page.getByText('Nothing has run yet')).toHaveCount(0);
    await page.getByText('Cancel…').click();
    go();
    await expect(page.getByText('Stop this run?')).toBeVisible();
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await expect(phase(page, 'Cancelled')).toBeVisible();
  });

  test('counts hits that came before the code of the search', async ({ page, visit, kube }) => {
    using talker = new Talker();
    await makeCluster(kube, 'late-search');
    await run(kube, 'late-search', 'late-search-1', { script: talker.script });
    await visit('/operations/late-search-1');
    await says(page, talker.say(20));
    const go = await hold(page, '**/assets/run_find_piece-*.bin');
    await visit('/operations/late-search-1?q=line+2');
    const answer = page.locator('.find-answer output');
    await expect(answer).toHaveText(/of 2 hits$/);
    await says(page, talker.say(5));
    await expect(answer).toHaveText(/of 2 hits$/);
    go();
    await expect(answer).toHaveText(/of 7 hits$/);
    talker.end();
    await expect(phase(page, 'Succeeded')).toBeVisible();
  });

  test('works without the code of a piece, including its forms', async ({ page, visit, kube, expected }) => {
    expected.push(/run_(tasks|cancel)_piece-\w+\.bin/);
    using talker = new Talker();
    talker.say(2);
    await makeCluster(kube, 'pieces');
    await run(kube, 'pieces', 'pieces-1', { script: talker.script });
    // Wait until the run has started: what the server renders for a queued run would be stale.
    await visit('/operations/pieces-1');
    await says(page, 2);
    const missing = /run_(tasks|cancel)_piece-/;
    await page.route(missing, (route) => route.fulfill({ status: 404, body: 'There is no such file.' }));
    await visit('/operations/pieces-1');
    await expect(tasks(page).getByRole('alert')).toContainText('can\'t be loaded');
    await says(page, 2);
    talker.say(1);
    await says(page, 3);
    await page.getByText('Cancel…').click();
    await expect(page.locator('.confirm').getByRole('alert')).toContainText('can\'t be loaded');
    await page.unroute(missing);
    await tasks(page).getByRole('button', { name: 'Try again' }).click();
    await expect(tasks(page).getByRole('alert')).toHaveCount(0);
    await page.getByRole('button', { name: 'Stop the run' }).click();
    await expect(phase(page, 'Cancelled')).toBeVisible();
  });
});
