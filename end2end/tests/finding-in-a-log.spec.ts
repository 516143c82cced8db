// Finding text and the lines of a host in the whole log, with and without JavaScript.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';
import type { Kube } from '../fixtures/kube.ts';
import { log, phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

const field = (page: Page) => page.getByRole('searchbox', { name: 'Find in the whole log' });
const row = (page: Page, line: number) => page.locator(`#L${line}`);
const answer = (page: Page, words: string | RegExp) => expect(page.locator('.find-answer output')).toHaveText(words);

async function find(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** An ended run of 3,000 lines. Its needles are in lines far from the end, which the browser doesn't load at first. */
async function withNeedles(kube: Kube, cluster: string): Promise<string> {
  await makeCluster(kube, cluster);
  const script = `for n in $(seq 3000); do case $n in 100|1500|2900) echo "a Needle in line $n";; *) echo "line $n";; esac; done`;
  await run(kube, cluster, `${cluster}-1`, { script });
  expect((await kube.ended(`${cluster}-1`)).status).toMatchObject({ status: 'Succeeded' });
  return `/operations/${cluster}-1`;
}

/** The number of the line with this text. */
async function numberOf(page: Page, path: string, text: string): Promise<number> {
  const lines = (await (await page.request.get(`${path}/log.txt`)).text()).split('\n');
  return lines.indexOf(text) + 1;
}

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('text is found in lines that the browser does not have', async ({ page, visit, kube }) => {
    const path = await withNeedles(kube, `needles-${ending}`);
    const [first, second] = [await numberOf(page, path, 'a Needle in line 100'), await numberOf(page, path, 'a Needle in line 1500')];
    await visit(path);
    await find(page, 'needle');
    await answer(page, '1 of 3 hits');
    await expect(row(page, first)).toBeInViewport();
    await expect(row(page, first)).toHaveClass(/hit/);
    await page.getByRole('link', { name: 'Next hit' }).click();
    await answer(page, '2 of 3 hits');
    await expect(row(page, second)).toBeInViewport();
    await page.getByRole('link', { name: 'Previous hit' }).click();
    await answer(page, '1 of 3 hits');
    await page.getByRole('link', { name: 'Previous hit' }).click();
    await answer(page, '3 of 3 hits');
    await expect(page).toHaveURL(/q=needle/);

    // A capital counts.
    await find(page, 'NEEDLE');
    await answer(page, '0 hits');
    await expect(page.getByRole('link', { name: 'Next hit' })).toHaveCount(0);
    await page.getByRole('link', { name: 'Clear search' }).click();
    await expect(field(page)).toHaveValue('');
    await expect(page).not.toHaveURL(/q=/);
  });

  test('a link keeps the text and leads to its first hit', async ({ page, visit, kube }) => {
    const path = await withNeedles(kube, `link-${ending}`);
    await visit(`${path}?q=Needle`);
    await expect(field(page)).toHaveValue('Needle');
    await answer(page, '1 of 3 hits');
    await expect(row(page, await numberOf(page, path, 'a Needle in line 100'))).toBeInViewport();
  });

  test('the lines of one host are shown with their headlines', async ({ page, visit, kube }) => {
    const cluster = `of-host-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('a', 'b') });
    await runOwn(kube, cluster, `${cluster}-1`, [
      '- hosts: all', '  gather_facts: false', '  tasks:',
      '    - name: Both', '      ansible.builtin.debug: {msg: "from {{ inventory_hostname }}"}',
      '    - name: Only b', '      ansible.builtin.ping:', '      when: inventory_hostname == "b"', '',
    ].join('\n'));
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    const host = page.getByRole('combobox', { name: 'Host' });
    await host.selectOption('a');
    if (!script) await page.getByRole('button', { name: 'Find', exact: true }).click();
    const lines = page.getByRole('region', { name: 'Lines of the host' });
    await expect(lines).toContainText('from a');
    await expect(lines).toContainText('TASK [Both]');
    await expect(lines).not.toContainText('from b');
    await expect(page).toHaveURL(/host=a/);
    await expect(log(page)).toBeHidden();

    // A number leads to the line in the log, and back.
    await lines.getByRole('listitem').filter({ hasText: 'from a' }).getByRole('link').click();
    await expect(log(page).locator('.sel, :target')).toContainText('from a');
    await page.getByRole('link', { name: 'Lines of a' }).click();
    await expect(lines).toBeVisible();
    await host.selectOption('');
    if (!script) await page.getByRole('button', { name: 'Find', exact: true }).click();
    await expect(log(page)).toBeVisible();
  });
});

test('keys find, and go from hit to hit', async ({ page, visit, kube }) => {
  const path = await withNeedles(kube, 'needle-keys');
  await visit(path);
  await page.keyboard.press('/');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('needle');
  await page.keyboard.press('Enter');
  await answer(page, '1 of 3 hits');
  await log(page).focus();
  await page.keyboard.press('n');
  await answer(page, '2 of 3 hits');
  await page.keyboard.press('Shift+N');
  await answer(page, '1 of 3 hits');
  await expect(row(page, await numberOf(page, path, 'a Needle in line 100'))).toBeInViewport();
});

test('new lines are found while the run writes them', async ({ page, visit, kube }) => {
  using talker = new Talker();
  await makeCluster(kube, 'finds-live');
  await run(kube, 'finds-live', 'finds-live-1', { script: talker.script });
  await visit('/operations/finds-live-1');
  await says(page, talker.say(20));
  await find(page, 'line 2');
  await answer(page, /of 2 hits$/);
  talker.say(5);
  await answer(page, /of 7 hits$/);
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
});
