// Folding: tasks and plays of a log are hidden behind their headlines, also while the run goes on.
import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, runOwn } from '../fixtures/objects.ts';
import { log, phase } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

const ofTasks = (last: string) => `- name: Prepare
  hosts: all
  gather_facts: false
  tasks:
    - name: Talk
      ansible.builtin.debug: {msg: "first words"}
    - name: Optional
      ansible.builtin.command: "false"
      ignore_errors: true
- name: Install
  hosts: all
  gather_facts: false
  tasks:
    - name: Change
      ansible.builtin.debug: {msg: "second words"}
    - name: Last
      ${last}
`;

const headline = (page: Page, words: string) => log(page).locator('.ln').filter({ hasText: words });
const fold = (page: Page, words: string) => headline(page, words).getByRole('button', { name: 'Lines below' });
const foldTasks = (page: Page) => page.getByRole('button', { name: 'Fold tasks' });

test('tasks and plays fold, and a link to a hidden line unfolds them', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'folds', { hosts: localHosts('a', 'b') });
  await runOwn(kube, 'folds', 'folds-1', ofTasks('ansible.builtin.fail: {msg: "no room"}'));
  await kube.ended('folds-1');
  await visit('/operations/folds-1');
  await expect(log(page)).toContainText('first words');

  // The rows don't move when the log scrolls to lines of no task: a click would reach another row.
  const head = page.locator('.log-head');
  const top = () => log(page).evaluate((log) => log.getBoundingClientRect().top);
  await expect(head).toContainText('Last');
  const before = await top();
  await log(page).evaluate((log) => { log.scrollTop = 0; });
  await expect(head).toHaveText('Before the first task');
  expect(await top()).toBe(before);

  await fold(page, 'TASK [Talk]').click();
  await expect(fold(page, 'TASK [Talk]')).toHaveAttribute('aria-expanded', 'false');
  await expect(log(page)).not.toContainText('first words');
  await expect(log(page)).toContainText('second words');
  await fold(page, 'TASK [Talk]').click();
  await expect(log(page)).toContainText('first words');

  await expect(headline(page, 'PLAY RECAP').getByRole('button')).toHaveCount(0);
  await fold(page, 'PLAY [Install]').click();
  await expect(headline(page, 'TASK [Change]')).toHaveCount(0);
  await expect(log(page)).toContainText('PLAY RECAP');
  await fold(page, 'PLAY [Install]').click();
  await expect(headline(page, 'TASK [Change]')).toHaveCount(1);

  await foldTasks(page).click();
  await expect(log(page)).not.toContainText('first words');
  await expect(log(page)).not.toContainText('second words');
  await expect(log(page), 'failed tasks stay open').toContainText('no room');
  // Rows have no gaps: each follows the one above it.
  const places = await log(page).locator('.ln').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top));
  expect(places.every((top, at) => at === 0 || Math.abs(top - places[at - 1] - 20) < 1)).toBe(true);

  await page.getByRole('navigation', { name: 'Tasks' }).getByRole('link', { name: /Change/ }).click();
  await expect(log(page)).toContainText('second words');
  const line = Number((await headline(page, 'TASK [Optional]').getAttribute('id'))!.slice(1)) + 1;
  await page.evaluate((line) => { location.hash = `#L${line}`; }, line);
  await expect(page.locator(`#L${line}`)).toBeInViewport();
  await expect(log(page)).not.toContainText('first words');
  await foldTasks(page).click();
  await expect(log(page)).toContainText('first words');
});

test('tasks fold when they end', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'folds-live', { hosts: localHosts('a') });
  using talker = new Talker();
  const playbook = ofTasks(`ansible.builtin.shell: ${JSON.stringify(talker.script)}`);
  await runOwn(kube, 'folds-live', 'folds-live-1', playbook);
  await visit('/operations/folds-live-1');
  await expect(log(page)).toContainText('TASK [Last]');
  await foldTasks(page).click();
  await expect(headline(page, 'TASK [Change]')).toHaveCount(1);
  await expect(log(page)).not.toContainText('second words');
  await expect(fold(page, 'TASK [Last]'), 'a running task stays open').toHaveAttribute('aria-expanded', 'true');
  await page.getByRole('link', { name: 'Hosts' }).click();
  await expect(page.getByRole('row', { name: /^a / }).getByRole('link', { name: 'Last' })).toBeVisible();
  await page.getByRole('link', { name: 'Log' }).click();
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
  await expect(fold(page, 'TASK [Last]')).toHaveAttribute('aria-expanded', 'false');
});
