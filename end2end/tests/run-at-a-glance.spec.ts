// The run page tells the truth at a glance: figures, causes, the marked task, and who cancelled.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import { log, phase } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

const tasks = (...lines: string[]) =>
  ['- hosts: all', '  gather_facts: false', '  tasks:', ...lines.map((line) => `    ${line}`), ''].join('\n');

// A run that has ended looks the same with and without JavaScript, so both tests share it.
bothWays(() => {
  test('hosts with the same cause are one row, said once', async ({ page, visit, kube }) => {
    const cluster = 'same-cause';
    await makeCluster(kube, cluster, { hosts: localHosts('a', 'b', 'c', 'd') });
    await runOwn(kube, cluster, `${cluster}-1`, tasks(
      '- name: Check the disk',
      '  ansible.builtin.fail: {msg: "{{ \'quota\' if inventory_hostname == \'d\' else \'no room\' }}"}',
    ));
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    const reason = page.getByRole('alert');
    await expect(reason.getByRole('heading')).toHaveText(/^“Check the disk” failed on /);
    await expect(reason).toContainText('4 of 4 hosts failed.');
    const text = (await reason.textContent())!;
    expect(text.split('no room').length - 1).toBe(1);
    expect(text.split('quota').length - 1).toBe(1);
  });

  test('summary, hosts and recap show the same figures', async ({ page, visit, kube }) => {
    const cluster = 'figures';
    await makeCluster(kube, cluster, { hosts: localHosts('a', 'b') });
    await runOwn(kube, cluster, `${cluster}-1`, tasks(
      '- name: Change', '  ansible.builtin.command: "true"',
      '- name: Optional', '  ansible.builtin.command: "false"', '  ignore_errors: true',
      '- name: Same', '  ansible.builtin.ping:',
    ));
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    const numbers = page.getByRole('region', { name: 'Progress' });
    // ansible: ok=3 changed=2 ignored=1 on each of two hosts. It counts what was ignored as ok, too; the page doesn't.
    for (const figure of ['4 ok', '4 changed', '2 ignored', '0 failed', '3 tasks · 2 hosts']) {
      await expect(numbers).toContainText(figure);
    }
    await expect(page.getByRole('link', { name: /Optional/ })).toContainText('failed, ignored');
    for (const host of ['a', 'b']) {
      const recap = new RegExp(`${host}\\s+: ok=3\\s+changed=2\\s+unreachable=0\\s+failed=0\\s+skipped=0\\s+rescued=0\\s+ignored=1`);
      await expect(log(page).getByText(recap)).toBeVisible();
    }
    await visit(`/operations/${cluster}-1?tab=hosts`);
    for (const host of ['a', 'b']) {
      // Ok, changed, skipped, failed, unreachable, rescued, ignored.
      await expect(page.getByRole('row', { name: new RegExp(`^${host} `) })).toContainText(/2\s*2\s*0\s*0\s*0\s*0\s*1/);
    }
  });
});

bothWays(() => {
  test('each cell of the matrix leads to its line', async ({ page, visit, kube }) => {
    const cluster = 'matrix';
    await makeCluster(kube, cluster, { hosts: localHosts('a', 'b', 'c') });
    await runOwn(kube, cluster, `${cluster}-1`, tasks(
      '- name: Same', '  ansible.builtin.ping:',
      '- name: Break', '  ansible.builtin.fail: {msg: "no room on {{ inventory_hostname }}"}', '  when: inventory_hostname == "b"',
    ));
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Matrix' }).click();
    const matrix = page.getByRole('region', { name: 'Tasks and hosts' });
    const cells = (task: string) => matrix.getByRole('row', { name: new RegExp(task) }).getByRole('cell').getByRole('link');
    await expect(cells('Same')).toHaveText(['✓']);
    await expect(cells('Break')).toHaveText(['–', '✗', '–']);
    await cells('Break').nth(1).click();
    await expect(page).toHaveURL(/#L\d+/);
    await expect(log(page).locator('.sel, :target').first()).toContainText('[b]');
  });
});

test('the matrix fills while the run goes on', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'fills', { hosts: localHosts('a', 'b') });
  await runOwn(kube, 'fills', 'fills-1', tasks(
    '- name: Quick', '  ansible.builtin.ping:',
    '- name: Long', '  ansible.builtin.command: sleep 600',
  ));
  await visit('/operations/fills-1?tab=matrix');
  const matrix = page.getByRole('region', { name: 'Tasks and hosts' });
  await expect(matrix.getByRole('link', { name: 'a and b: running' })).toBeVisible();
  await expect(matrix.getByRole('link', { name: 'a and b: ok' })).toBeVisible();
  await page.getByText('Cancel…').click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await expect(matrix.getByRole('link', { name: 'a and b: stopped' })).toBeVisible();
});

bothWays((script) => {
  test('a play is folded and stays folded while the run goes on', async ({ page, visit, kube }) => {
    using talker = new Talker();
    const cluster = `folds-${script ? 'js' : 'plain'}`;
    await makeCluster(kube, cluster, { hosts: localHosts('a') });
    await runOwn(kube, cluster, `${cluster}-1`, [
      '- name: Before', '  hosts: all', '  gather_facts: false', '  tasks:', '    - name: Quick', '      ansible.builtin.ping:',
      '- name: After', '  hosts: all', '  gather_facts: false', '  tasks:',
      '    - name: Wait', '      ansible.builtin.shell:', '        cmd: |', ...talker.script.split('\n').map((line) => `          ${line}`),
      '    - name: Last', '      ansible.builtin.ping:', '',
    ].join('\n'));
    if (!script) {
      talker.end();
      await kube.ended(`${cluster}-1`);
    }
    await visit(`/operations/${cluster}-1`);
    const list = page.getByRole('navigation', { name: 'Tasks' });
    const quick = list.getByRole('link', { name: /Quick/ });
    await expect(quick).toBeVisible();
    await list.getByRole('heading', { name: 'Before' }).click();
    await expect(quick).toBeHidden();
    await expect(list.getByRole('link', { name: /Wait/ })).toBeVisible();
    if (script) talker.end();
    await expect(list.getByRole('link', { name: /Last/ })).toBeVisible();
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(quick).toBeHidden();
    await list.getByRole('heading', { name: 'Before' }).click();
    await expect(quick).toBeVisible();
  });
});

test('a running operation says about how long it will take', async ({ page, visit, kube }) => {
  // The estimate is from runs of the same script, so both runs have the same talker.
  using talker = new Talker();
  await makeCluster(kube, 'usual');
  const time = (page: Page) => page.getByRole('region', { name: 'Progress' }).locator('.end');
  await run(kube, 'usual', 'usual-1', { script: talker.script });
  await visit('/operations/usual-1');
  await expect(time(page)).toContainText('no estimate yet');
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
  await expect(time(page)).not.toContainText('estimate');
  await run(kube, 'usual', 'usual-2', { script: talker.script });
  await visit('/operations/usual-2');
  // Either the time that is left, or that it takes longer than usual.
  await expect(time(page)).toContainText('the last successful run');
  expect(await (await page.request.get('/operations/usual-2')).text()).toContain('the last successful run');
  talker.end();
  await kube.ended('usual-2');
});

test('a click on a task marks its lines and names it above the log', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'marks', { hosts: localHosts('a') });
  await runOwn(kube, 'marks', 'marks-1', tasks(
    '- name: First', '  ansible.builtin.debug: {msg: "{{ range(0, 90) | list }}"}',
    '- name: Second', '  ansible.builtin.ping:',
    '- name: Third', '  ansible.builtin.ping:',
  ));
  await visit('/operations/marks-1');
  await expect(phase(page, 'Succeeded')).toBeVisible();
  for (const task of ['Second', 'Third', 'First']) {
    const link = page.getByRole('navigation', { name: 'Tasks' }).getByRole('link', { name: new RegExp(task) });
    await link.click();
    await expect(link).toHaveAttribute('aria-current', 'true');
    await expect(page.locator('.log-head')).toContainText(task);
    await expect(log(page).locator('.sel').first()).toContainText(`TASK [${task}]`);
  }
  // More than its headline: the whole output.
  expect(await log(page).locator('.sel').count()).toBeGreaterThan(3);
});

test('the bar is neutral until the end, and a cancel names the user', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'neutral', { hosts: localHosts('a') });
  await runOwn(kube, 'neutral', 'neutral-1', tasks(
    '- name: Quick', '  ansible.builtin.ping:',
    '- name: Long', '  ansible.builtin.command: sleep 600',
  ));
  await visit('/operations/neutral-1');
  await expect(page.getByText('1 task done · 1 host')).toBeVisible();
  await expect(page.locator('.result-bar')).toHaveClass(/neutral/);
  await page.getByText('Cancel…').click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await expect(phase(page, 'Cancelled')).toBeVisible();
  await expect(page.getByText(/^Cancelled by \S+ .*“Long” .* on a\./)).toBeVisible();
  await expect(page.locator('.result-bar')).toHaveClass(/neutral/);
});

test('a failed task out of view is scrolled into view', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'scrolls', { hosts: localHosts('a') });
  const steps = Array.from({ length: 40 }, (_, n) => [`- name: Step ${n}`, '  ansible.builtin.ping:']).flat();
  await runOwn(kube, 'scrolls', 'scrolls-1', tasks(...steps, '- name: Break', '  ansible.builtin.fail: {msg: stop}'));
  await kube.ended('scrolls-1');
  await visit('/operations/scrolls-1');
  await expect(page.getByRole('navigation', { name: 'Tasks' }).getByRole('link', { name: /Break/ })).toBeInViewport();
});

test('the sidebar stays while the page scrolls at 1280 × 720', async ({ page, visit, kube }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await makeCluster(kube, 'stays', { hosts: localHosts('a', 'b', 'c', 'd', 'e', 'f') });
  // The page of many long causes is much higher than the screen.
  await runOwn(kube, 'stays', 'stays-1', tasks('- name: Break', `  ansible.builtin.fail: {msg: "{{ inventory_hostname }}: ${'no room '.repeat(200)}"}`));
  await kube.ended('stays-1');
  await visit('/operations/stays-1');
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(200);
  expect(await page.locator('.side').evaluate((side) => side.getBoundingClientRect().top)).toBe(0);
});
