// Words that say what is known: the last run is not the health, causes come before counts, one host is not "1 hosts".
import { expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, run, runOwn } from '../fixtures/objects.ts';

test('a cluster whose last run succeeded is not called ready', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'not-ready', { hosts: localHosts('m1') });
  await run(kube, 'not-ready', 'not-ready-1', { playbook: 'ping.yml' });
  await kube.ended('not-ready-1');
  for (const path of ['/clusters?q=not-ready', '/clusters/not-ready']) {
    await visit(path);
    await expect(page.getByRole('main')).toContainText('Last run OK');
    await expect(page.getByRole('main').getByText('Ready', { exact: true })).toHaveCount(0);
  }
});

test('a list shows the cause of a failure before its counts', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'cause', { hosts: localHosts('m1') });
  await runOwn(kube, 'cause', 'cause-1', '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Check\n      ansible.builtin.fail: {msg: "no room"}\n');
  await kube.ended('cause-1');
  await visit('/clusters/cause/operations');
  await expect(page.locator('.rows .wide .cut')).toHaveText('m1: task “Check”: no room (play.yml: 1 failed task, 0 of 1 host unreachable).');
});

test('titles and names of actions are separate words', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'spaced');
  await visit('/operations/_new?cluster=spaced');
  const titles = await page.locator('.missing dt').evaluateAll((actions) => actions.map((action) => action.textContent!.slice(0, -action.lastElementChild!.textContent!.length)));
  expect(titles.length).toBeGreaterThan(0);
  expect(titles.filter((title) => !/\S $/.test(title))).toEqual([]);
});

test('one is singular on every page', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'one', { hosts: localHosts('m1'), variables: 'a: 1\n' });
  await runOwn(kube, 'one', 'one-1', '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Check\n      ansible.builtin.command: "true"\n');
  await kube.ended('one-1');
  for (const path of ['/clusters?q=one', '/clusters/one', '/clusters/one/nodes', '/clusters/one/operations', '/clusters/one/configuration', '/operations', '/operations/one-1', '/operations/_new?cluster=one']) {
    await visit(path);
    const words = await page.getByRole('main').innerText();
    // “1 of 1 steps done” counts the steps that are done.
    expect(words.match(/(?<!of )\b1 (hosts|machines|nodes|tasks|changes|lines|clusters|operations|steps|keys|variables)\b/g), path).toBeNull();
    expect(words, path).not.toMatch(/\w\(s\)/);
  }
});
