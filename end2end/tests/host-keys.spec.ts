// A machine's host key is scanned and confirmed once; every later run checks it.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run, sshHost } from '../fixtures/objects.ts';
import { phase } from '../fixtures/run-page.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('host keys are scanned, confirmed and then checked', async ({ page, visit, sshd, kube }) => {
    const cluster = `host-keys-${ending}`;
    const known = { namespace: 'default', name: `${cluster}-known-hosts` };
    const saved = async () => (await kube.get('ConfigMap', known.name)).data['known_hosts'] as string;
    await makeCluster(kube, cluster, { hosts: sshHost('m1', sshd), key: sshd.privateKey });
    await visit(`/clusters/${cluster}/configuration?show=ssh`);
    await expect(page.getByText('None confirmed. Each run trusts the first key')).toBeVisible();
    await page.getByRole('button', { name: 'Scan host keys' }).click();

    const row = page.getByRole('row', { name: /^m1 / });
    await expect(row).toContainText('New');
    await expect(row).toContainText(`[127.0.0.1]:${sshd.port}`);
    await expect(row).toContainText(sshd.fingerprint);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('1 host key confirmed.')).toBeVisible();
    const confirmed = await saved();
    expect(confirmed).toMatch(new RegExp(`^\\[127\\.0\\.0\\.1\\]:${sshd.port} ssh-ed25519 \\S+\\n$`));
    await run(kube, cluster, `${cluster}-good`, { playbook: 'ping.yml' });
    await visit(`/operations/${cluster}-good`);
    expect((await kube.ended(`${cluster}-good`)).status).toMatchObject({ status: 'Succeeded' });

    // Now another machine's key is confirmed for that address.
    const other = `[127.0.0.1]:${sshd.port} ${sshd.publicKey}\n`;
    await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: known, data: { known_hosts: other } });
    await run(kube, cluster, `${cluster}-bad`, { playbook: 'ping.yml' });
    expect((await kube.ended(`${cluster}-bad`)).status).toMatchObject({ status: 'Failed' });
    await visit(`/operations/${cluster}-bad`);
    await expect(phase(page, 'Failed')).toBeVisible();
    await expect(page.getByRole('alert').filter({ hasText: 'm1' }).first()).toContainText('The host key differs from the confirmed one.');
    await visit(`/clusters/${cluster}/configuration?show=ssh`);
    await page.getByRole('button', { name: 'Scan host keys' }).click();
    await expect(row).toContainText('Changed');
    await expect(page.getByText('A machine\'s host key differs from the confirmed one.')).toBeVisible();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Runs use these host keys from now on.')).toBeVisible();
    expect(await saved()).toBe(confirmed);
    await page.getByRole('button', { name: 'Scan host keys' }).click();
    await expect(row).toContainText('Matches');
    await expect(page.getByText('No changes: the text is the same as the saved version.')).toBeVisible();
  });
});
