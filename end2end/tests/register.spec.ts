// Registering a cluster with real machines.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import type { Sshd } from '../fixtures/sshd.ts';

/** Fills one row with this machine, reached through the sshd. */
async function fillMachine(page: Page, sshd: Sshd): Promise<void> {
  await page.getByLabel('Name of machine 1').fill('m1');
  await page.getByLabel('Address of machine 1').fill('127.0.0.1');
  await page.getByLabel('User of machine 1').fill(sshd.user);
  await page.getByLabel('Port of machine 1').fill(String(sshd.port));
}

/** A line from the middle of the private key. */
const secretOf = (sshd: Sshd) => sshd.privateKey.split('\n')[2];

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a cluster is registered, and no page shows its pasted key', async ({ page, visit, sshd, kube }) => {
    const name = `register-paste-${ending}`;
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Manage an existing cluster').check();
    await fillMachine(page, sshd);
    await page.getByLabel('Use an existing key').check();
    await page.getByLabel('Paste the private key').fill(sshd.privateKey);
    await page.getByLabel('Variables, YAML').fill('kube_version: 1.34.4\n');
    await page.getByRole('button', { name: 'Review' }).click();

    const review = page.getByRole('region', { name: 'Review' });
    await expect(review.getByRole('row', { name: /^m1 / })).toContainText(`${sshd.user}@127.0.0.1:${sshd.port}`);
    await expect(review).toContainText(`ansible_port: ${sshd.port}`);
    await expect(review).toContainText('kube_version: 1.34.4');
    expect(await page.content()).not.toContain(secretOf(sshd));
    expect((await kube.list('Cluster')).map((c) => c.metadata.name)).not.toContain(name);

    if (!script) {
      await expect(page.getByText('Enter the private key again')).toBeVisible();
      await page.getByLabel('Paste the private key').fill(sshd.privateKey);
    }
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}?registered=1`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
    await expect(page.getByRole('region', { name: 'First steps' })).toContainText(`${name} is registered`);
    expect(await page.content()).not.toContain(secretOf(sshd));
    const secret = await kube.get('Secret', `${name}-ssh-auth`);
    expect(Buffer.from(secret.data['ssh-privatekey'], 'base64').toString()).toBe(sshd.privateKey);

    await visit(`/clusters/${name}/configuration?show=ssh`);
    await expect(page.getByText('It is never shown.')).toBeVisible();
    expect(await page.content()).not.toContain(secretOf(sshd));
  });

  test('a key can be uploaded as a file', async ({ page, visit, sshd, kube }) => {
    const name = `register-upload-${ending}`;
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Manage an existing cluster').check();
    await fillMachine(page, sshd);
    await page.getByLabel('Use an existing key').check();
    const file = { name: 'id_ed25519', mimeType: 'application/octet-stream', buffer: Buffer.from(sshd.privateKey) };
    await page.getByLabel('Or upload a key file').setInputFiles(file);
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByRole('region', { name: 'Review' })).toBeVisible();
    if (!script) await page.getByLabel('Or upload a key file').setInputFiles(file);
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}?registered=1`);
    const secret = await kube.get('Secret', `${name}-ssh-auth`);
    expect(Buffer.from(secret.data['ssh-privatekey'], 'base64').toString()).toBe(sshd.privateKey);
  });

  test('pasted lines and a generated key are enough', async ({ page, visit }) => {
    const name = `register-lines-${ending}`;
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Manage an existing cluster').check();
    await page.getByText('Or paste lines').click();
    await page.getByLabel('One machine per line').fill('node[1:3] 192.0.2.[11:13]\nops@192.0.2.20:2222');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review.getByRole('heading', { name: '4 machines' })).toBeVisible();
    await expect(review).toContainText('ops@192.0.2.20:2222');

    // Back to the form: the typed text is kept.
    await page.getByRole('button', { name: 'Back to the form' }).click();
    await expect(page.getByLabel('One machine per line')).toHaveValue('node[1:3] 192.0.2.[11:13]\nops@192.0.2.20:2222');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Register the cluster' }).click();
    await expect(page).toHaveURL(`/clusters/${name}?registered=1`);
    await expect(page.getByRole('region', { name: 'First steps' })).toContainText(/ssh-ed25519 AAAA/);
    await page.getByRole('link', { name: 'Nodes' }).click();
    await expect(page.getByRole('row')).toHaveCount(5);
  });
});
