// The page of a failed run shows the reason first.
import { generateKeyPairSync } from 'node:crypto';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, record, run, runOwn, sshHost } from '../fixtures/objects.ts';
import { phase } from '../fixtures/run-page.ts';
import type { Sshd } from '../fixtures/sshd.ts';

/** A key that opens nothing here. */
const wrongKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
/** No process listens on port 1. */
const unreachable = (sshd: Sshd) => ({ ...sshd, port: 1 }) as Sshd;

// Without JavaScript, the pages are those of the same runs after their end.
bothWays((script) => {
  test('a wrong key is shown as the reason, with host and message', async ({ page, visit, kube, sshd }) => {
    const cluster = 'wrong-key';
    await makeCluster(kube, cluster, { hosts: sshHost('m1', sshd), key: wrongKey() });
    await run(kube, cluster, `${cluster}-1`, { playbook: 'ping.yml' });
    if (!script) await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    await expect(phase(page, 'Failed')).toBeVisible();
    const reason = page.getByRole('alert');
    await expect(reason.getByRole('heading')).toHaveText('m1 was unreachable during “Log in and run Python”');
    await expect(reason).toContainText('The login was refused. Check the user and the private key.');
    const fix = reason.getByRole('link', { name: 'Open SSH access' });
    await expect(fix).toHaveAttribute('href', `/clusters/${cluster}/configuration?show=ssh`);
    await reason.getByRole('link', { name: /Go to line \d+/ }).click();
    await expect(page).toHaveURL(/#L\d+/);
    await page.getByRole('link', { name: cluster, exact: true }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(cluster);
    await expect(page.getByRole('status').filter({ hasText: /^ping.yml failed$/ })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Open the run' })).toHaveAttribute('href', `/operations/${cluster}-1`);
  });

  test('an unreachable host is shown beside reachable ones', async ({ page, visit, kube, sshd }) => {
    const cluster = 'unreachable';
    const hosts = sshHost('up', sshd) + sshHost('down', unreachable(sshd)).split('\n')[2] + '\n';
    await makeCluster(kube, cluster, { hosts, key: sshd.privateKey });
    await run(kube, cluster, `${cluster}-1`, { playbook: 'ping.yml' });
    await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    await expect(page.getByRole('alert')).toContainText('down was unreachable');
    await expect(page.getByRole('alert')).toContainText('No SSH server listens at this address and port.');
    await visit(`/operations/${cluster}-1?tab=hosts`);
    await expect(page.getByRole('row', { name: 'down' })).toContainText('Unreachable');
    await expect(page.getByRole('row', { name: 'up' })).toContainText('Ok');
    await visit(`/clusters/${cluster}/nodes`);
    await expect(page.getByRole('row', { name: 'down' })).toContainText('Unreachable');
    await expect(page.getByRole('row', { name: 'up' })).toContainText('Reached');
  });

  test('a failed run opens where it failed', async ({ page, visit, kube }) => {
    await makeCluster(kube, 'opens', { hosts: localHosts('m1', 'm2') });
    const tasks = [
      '    - name: Before\n      ansible.builtin.debug: {msg: "{{ range(300) | list }}"}',
      '    - name: Break\n      ansible.builtin.fail: {msg: "no room"}\n      when: inventory_hostname == "m1"',
      '    - name: After\n      ansible.builtin.debug: {msg: "{{ range(300) | list }}"}',
    ];
    await runOwn(kube, 'opens', 'opens-1', `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.join('\n')}\n`);
    await kube.ended('opens-1');
    await visit('/operations/opens-1');
    await expect(page.getByRole('log').getByText(/^fatal: \[m1\]/)).toBeInViewport();
    await expect(page.locator('.log-head')).toContainText('Break');
    await expect(page.getByRole('navigation', { name: 'Tasks' }).locator('[aria-current]')).toContainText('Break');
    await expect(page.getByRole('log').getByText('PLAY RECAP')).not.toBeInViewport();

    await visit('/operations/opens-1?tab=hosts');
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await expect(page.getByRole('log').getByText(/^fatal: \[m1\]/)).toBeInViewport();
    await expect(page.getByRole('log').getByText('PLAY RECAP')).not.toBeInViewport();
  });

  test('a short failed run marks its failed task', async ({ page, visit, kube }) => {
    await makeCluster(kube, 'short', { hosts: localHosts('m1') });
    const tasks = [
      '    - name: Before\n      ansible.builtin.debug: {msg: hello}',
      '    - name: Break\n      ansible.builtin.fail: {msg: "no room"}',
    ];
    await runOwn(kube, 'short', 'short-1', `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.join('\n')}\n`);
    await kube.ended('short-1');
    await visit('/operations/short-1');
    await expect(page.getByRole('log').getByText('PLAY RECAP')).toBeInViewport();
    await expect(page.locator('.log-head')).toContainText('Break');
    await expect(page.getByRole('navigation', { name: 'Tasks' }).locator('[aria-current]')).toContainText('Break');
  });
});

test('an invalid inventory fails the operation before it runs', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'no-yaml', { hosts: 'all: [oops\n' });
  await run(kube, 'no-yaml', 'no-yaml-1', { playbook: 'ping.yml' });
  await visit('/operations/no-yaml-1');
  await expect(phase(page, 'Failed')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('hosts.yml');
  await expect(page.getByText('Nothing was written.')).toBeVisible();
  // Without JavaScript the page doesn't wait for a log, either.
  expect(await (await page.request.get('/operations/no-yaml-1')).text()).not.toContain('this page reloads');
});

bothWays((script) => {
  test('a restored record says that it has no log', async ({ page, visit, kube }) => {
    const name = `kept-${script ? 'js' : 'plain'}`;
    await makeCluster(kube, name);
    await record(kube, name, `${name}-1`);
    await visit(`/operations/${name}-1`);
    await expect(phase(page, 'Restored')).toBeVisible();
    await expect(page.getByText('No log is kept with a restored record.')).toBeVisible();
    await expect(page.getByText('No log', { exact: true })).toBeVisible();
    expect(await (await page.request.get(`/operations/${name}-1`)).text()).not.toContain('this page reloads');
  });
});

test('the first failure is shown first, then the others', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'many', { hosts: localHosts('a', 'b', 'c') });
  const playbook = '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Check the disk\n      ansible.builtin.fail: {msg: "no room on {{ inventory_hostname }}"}\n';
  await runOwn(kube, 'many', 'many-1', playbook);
  await visit('/operations/many-1');
  const reason = page.getByRole('alert');
  await expect(reason.getByRole('heading')).toHaveText(/“Check the disk” failed on [abc]/);
  await expect(reason).toContainText(/no room on [abc]/);
  await expect(reason.getByRole('listitem')).toHaveCount(2);
});

test('a log that is on screen as a whole has no way to its end', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'short-log');
  await runOwn(kube, 'short-log', 'short-log-1', '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.fail: {msg: "no room"}\n');
  await kube.ended('short-log-1');
  await page.setViewportSize({ width: 1440, height: 1200 });
  await visit('/operations/short-log-1');
  await expect(page.getByRole('log').getByText('1 failed task')).toBeInViewport();
  await expect(page.locator('.log-content.scrolls'), 'the browser has measured the log').toBeVisible();
  await expect(page.getByRole('button', { name: 'To the end' })).toHaveCount(0);
});
