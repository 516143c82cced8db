// Replacing a cluster's private key: the new key is tested before the old one goes, and the user can go back.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run, sshHost } from '../fixtures/objects.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a new key is stored, tested, used and taken back', async ({ page, visit, kube, sshd }) => {
    test.slow(); // three runs over SSH
    const cluster = `rotate-${ending}`;
    await makeCluster(kube, cluster, { hosts: sshHost('m1', sshd), key: sshd.privateKey });
    const stored = async () => {
      const { data } = await kube.get('Secret', `${cluster}-ssh`);
      const text = (key: string) => data[key] && Buffer.from(data[key], 'base64').toString();
      return { current: text('ssh-privatekey'), next: text('ssh-privatekey-next'), previous: text('ssh-privatekey-previous') };
    };
    const address = `/clusters/${cluster}/configuration?show=ssh`;
    const pressed = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const done = page.getByRole('status');

    await visit(address);
    await page.getByText('Store a new key').click();
    await pressed('Store the new key');
    await expect(done.filter({ hasText: 'The new key is stored.' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'New private key, not in use yet' })).toBeVisible();
    const { next: made, ...before } = await stored();
    expect(before).toEqual({ current: sshd.privateKey, previous: undefined });
    expect(made).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----/);
    expect(await page.content()).not.toContain(made!.split('\n')[2]);
    // Runs keep using the current key.
    await run(kube, cluster, `${cluster}-usual`, { playbook: 'ping.yml' });
    expect((await kube.ended(`${cluster}-usual`)).status).toMatchObject({ status: 'Succeeded' });

    // The machine doesn't know the new key yet.
    const tests: string[] = [];
    const tested = async (word: string) => {
      await pressed('Test the new key');
      const link = page.getByRole('link', { name: /^key-test-/ });
      // The address names the test before this one until the answer arrives.
      await page.waitForURL((url) => {
        const of = url.searchParams.get('of');
        return of !== null && !tests.includes(of);
      });
      const name = new URL(page.url()).searchParams.get('of')!;
      tests.push(name);
      await expect(link).toHaveText(name);
      await kube.ended(name);
      // With JavaScript the page follows the test.
      if (!script) await page.reload();
      await expect(page.getByText(word, { exact: true })).toBeVisible();
    };
    await tested('Failed');
    await pressed('Use the new key');
    await expect(page.getByText('No test of this key has succeeded.')).toBeVisible();
    expect((await stored()).current).toBe(sshd.privateKey);

    const line = await page.locator('.key-steps code').first().textContent();
    sshd.authorize(line!);
    await tested('Succeeded');
    await expect(page.getByLabel('Use it without a successful test')).toHaveCount(0);
    await pressed('Use the new key');
    await expect(done.filter({ hasText: 'The new key is in use.' })).toBeVisible();
    expect(await stored()).toEqual({ current: made, next: undefined, previous: sshd.privateKey });
    await run(kube, cluster, `${cluster}-new`, { playbook: 'ping.yml' });
    expect((await kube.ended(`${cluster}-new`)).status).toMatchObject({ status: 'Succeeded' });

    await pressed('Use the previous key again');
    await expect(done.filter({ hasText: 'The keys were exchanged.' })).toBeVisible();
    expect(await stored()).toEqual({ current: sshd.privateKey, next: undefined, previous: made });
    await pressed('Delete the previous key');
    await expect(done.filter({ hasText: 'The previous key was deleted.' })).toBeVisible();
    expect(await stored()).toEqual({ current: sshd.privateKey, next: undefined, previous: undefined });
  });

  test('a pasted key that can not be used is refused, and none is lost', async ({ page, visit, kube }) => {
    const cluster = `rotate-bad-${ending}`;
    const body = 'MDECAQEEIESUEDE6uEOQ3+bCT37LqaBfRq7QZ4ZzwIefNjszoNxLoAoGCCqGSM49\nAwEH';
    const key = `-----BEGIN EC PRIVATE KEY-----\n${body}\n-----END EC PRIVATE KEY-----\n`;
    await makeCluster(kube, cluster, { key });
    await visit(`/clusters/${cluster}/configuration?show=ssh`);
    await page.getByText('Store a new key').click();
    await page.getByLabel('Use an existing key').check();
    await page.getByLabel('Paste the private key').fill('ssh-ed25519 AAAA me');
    await page.getByRole('button', { name: 'Store the new key' }).click();
    await expect(page.getByLabel('Paste the private key')).toHaveAccessibleDescription(/This is a public key/);
    await page.getByLabel('Paste the private key').fill(key);
    await page.getByRole('button', { name: 'Store the new key' }).click();
    await expect(page.getByLabel('Paste the private key')).toHaveAccessibleDescription(/in use already/);
    const { data } = await kube.get('Secret', `${cluster}-ssh`);
    expect(Object.keys(data)).toEqual(['ssh-privatekey']);
  });
});
