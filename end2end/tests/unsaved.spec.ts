// Typed text is not lost without a question.
import type { Locator, Page } from '@playwright/test';
import { NOBODY, alive, expect, signIn, test } from '../fixtures/console.ts';
import type { Kube } from '../fixtures/kube.ts';
import { isRight } from '../fixtures/looks.ts';
import { localHosts, makeCluster, sshHost } from '../fixtures/objects.ts';
import type { Server } from '../fixtures/server.ts';

/** Answers the next question of the page, and returns its text. */
function asked(page: Page, leave: boolean): Promise<string> {
  return new Promise((told) => page.once('dialog', async (dialog) => {
    const text = `${dialog.type()}: ${dialog.message()}`;
    await (leave ? dialog.accept() : dialog.dismiss());
    told(text);
  }));
}

const LEAVE = 'confirm: Leave this page? Your changes are not saved and will be lost.';

test('a link, a key and the Back button ask before unsaved YAML is lost', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'unsaved');
  const here = '/clusters/unsaved/configuration?show=variables';
  await visit('/clusters/unsaved');
  await page.getByRole('link', { name: 'Configuration' }).click();
  await page.getByRole('link', { name: 'Variables', exact: true }).click();
  const editor = page.getByLabel('Variables, YAML');
  await editor.fill('a: 1\n');
  for (const leave of [
    () => page.getByRole('link', { name: 'Nodes' }).click(),
    () => page.getByRole('navigation', { name: 'Which document' }).getByRole('link', { name: 'Inventory' }).click(),
    () => page.goBack(),
    async () => {
      await editor.blur();
      await page.keyboard.press('g');
      await page.keyboard.press('o');
    },
  ]) {
    const question = asked(page, false);
    await leave();
    expect(await question).toBe(LEAVE);
    await expect(page).toHaveURL(here);
    await expect(editor).toHaveValue('a: 1\n');
  }
  const question = asked(page, true);
  await page.getByRole('link', { name: 'Nodes' }).click();
  expect(await question).toBe(LEAVE);
  await expect(page).toHaveURL('/clusters/unsaved/nodes');
});

test('closing the tab asks while text is unsaved, and not after', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'unclosed');
  await visit('/clusters/unclosed/configuration');
  const editor = page.getByLabel('Inventory, YAML');
  // Browsers ask only on pages that the user has used.
  await editor.click();
  await editor.fill(localHosts('m1', 'm2'));
  const question = asked(page, false);
  await page.close({ runBeforeUnload: true });
  expect(await question).toMatch(/^beforeunload/);
  // A reviewed text is still unsaved; a saved one isn't.
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
  let questions = 0;
  page.on('dialog', (dialog) => void (questions += 1, dialog.accept()));
  await page.getByRole('link', { name: 'Nodes' }).click();
  await expect(page).toHaveURL('/clusters/unclosed/nodes');
  await page.goBack();
  await page.goto('/settings');
  expect(questions).toBe(0);
});

test('the form of a new cluster asks, too', async ({ page, visit }) => {
  await visit('/clusters/_new');
  await page.getByLabel('Variables, YAML').fill('a: 1\n');
  const question = asked(page, false);
  await page.getByRole('link', { name: 'Cancel' }).click();
  expect(await question).toBe(LEAVE);
  await expect(page.getByLabel('Variables, YAML')).toHaveValue('a: 1\n');
});

test('a typed script asks, and a choice or a submitted one does not', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'unscripted');
  await visit('/operations/_new?cluster=unscripted');
  let questions = 0;
  const count = () => void (questions += 1);
  page.on('dialog', count);
  await page.getByText('A shell script').click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await expect(page).toHaveURL('/operations');
  await page.goBack();
  await page.getByText('A shell script').click();
  const script = page.getByLabel('Script', { exact: true });
  await script.fill('echo typed');
  expect(questions).toBe(0);
  const question = asked(page, false);
  await page.getByRole('link', { name: 'Cancel' }).click();
  expect(await question).toBe(LEAVE);
  await expect(script).toHaveValue('echo typed');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/operations\/script-/);
  await page.getByRole('link', { name: 'unscripted', exact: true }).click();
  await expect(page).toHaveURL('/clusters/unscripted');
  expect(questions).toBe(1);
});

test('a pasted key asks, and once beside changed host keys', async ({ page, visit, kube, sshd }) => {
  await makeCluster(kube, 'unkeyed', { hosts: sshHost('m1', sshd), key: sshd.privateKey });
  const leave = page.getByRole('link', { name: 'Nodes' });
  const stays = async () => {
    const question = asked(page, false);
    await leave.click();
    expect(await question).toBe(LEAVE);
  };
  await visit('/clusters/unkeyed/configuration?show=ssh');
  await page.getByText('Store a new key').click();
  await page.getByText('Use an existing key').click();
  const key = page.getByLabel('Paste the private key');
  await key.fill('typed');
  await stays();
  await expect(key).toHaveValue('typed');
  // The page also guards the host keys, and asks once.
  await page.getByLabel('Host keys, known_hosts format').fill('m1 ssh-ed25519 AAAA');
  await stays();
  let questions = 0;
  page.once('dialog', (dialog) => void (questions += 1, dialog.accept()));
  await leave.click();
  await expect(page).toHaveURL('/clusters/unkeyed/nodes');
  expect(questions).toBe(1);
});

test('a typed secret variable asks, and a saved one does not', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'unsecret');
  await visit('/clusters/unsecret/configuration?show=secrets');
  await page.getByLabel('Name').fill('token');
  await page.getByLabel('Value').fill('hunter22');
  const question = asked(page, false);
  await page.getByRole('link', { name: 'Nodes' }).click();
  expect(await question).toBe(LEAVE);
  await expect(page.getByLabel('Value')).toHaveValue('hunter22');
  await page.getByRole('button', { name: 'Save the secret variable' }).click();
  await expect(page.getByText('The secret variable is saved.')).toBeVisible();
  let questions = 0;
  page.on('dialog', (dialog) => void (questions += 1, dialog.accept()));
  await page.getByRole('link', { name: 'Nodes' }).click();
  await expect(page).toHaveURL('/clusters/unsecret/nodes');
  expect(questions).toBe(0);
});

test.describe('after the end of the session', () => {
  test.use({ storageState: NOBODY });

  /** Makes a cluster, signs in and types variables. Returns the editor. */
  async function typeVariables(page: Page, server: Server, kube: Kube, cluster: string): Promise<Locator> {
    await makeCluster(kube, cluster);
    await signIn(page, server, server.anotherLink());
    await page.goto(`/clusters/${cluster}/configuration?show=variables`);
    await alive(page);
    const editor = page.getByLabel('Variables, YAML');
    await editor.fill('typed: 1\n');
    return editor;
  }

  /** Signs in on another page, as the link of `page` does, and waits until `page` is live again. */
  async function signInOn(other: Page, page: Page, server: Server): Promise<void> {
    await signIn(other, server, server.anotherLink());
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await alive(page);
  }

  async function save(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved. Nothing has run on the machines yet.')).toBeVisible();
  }

  test('typed text stays, and can be saved after a sign-in', async ({ page, context, server, kube }) => {
    const editor = await typeVariables(page, server, kube, 'outlives');
    const other = await context.newPage();
    await other.goto('/operations');
    await alive(other);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expect(other).toHaveURL(/\/login/);

    const ended = page.getByRole('alert').filter({ hasText: 'Your session has ended.' });
    await expect(ended).toContainText('What you typed is still here, but it was not saved.');
    await expect(editor).toHaveValue('typed: 1\n');
    await isRight(page);
    const link = ended.getByRole('link', { name: 'Sign in in a new tab' });
    await expect(link).toHaveAttribute('target', '_blank');
    await expect(link).toHaveAttribute('href', /^\/login\?next=/);
    await page.getByRole('button', { name: 'Review changes' }).click();
    const refusal = page.getByRole('alert').filter({ hasText: 'You are signed out.' });
    await expect(refusal).toBeVisible();
    await signInOn(other, page, server);
    await expect(ended).toHaveCount(0);
    await expect(refusal).toHaveCount(0);
    await expect(editor).toHaveValue('typed: 1\n');
    await save(page);
  });

  test('typed text stays when the page reloads its data and is refused', async ({ page, context, server, kube }) => {
    const editor = await typeVariables(page, server, kube, 'reloads');
    // The server knows nothing of it: the socket stays open, and tells of the change.
    await context.clearCookies();
    const { spec } = await kube.get('Cluster', 'reloads');
    await kube.apply({ apiVersion: 'kubeonkube.clay.io/v1alpha1', kind: 'Cluster', metadata: { name: 'reloads', labels: { changed: 'yes' } }, spec });

    const ended = page.getByRole('alert').filter({ hasText: 'Your session has ended.' });
    await expect(ended).toContainText('What you typed is still here, but it was not saved.');
    await expect(editor).toBeVisible();
    await expect(editor).toHaveValue('typed: 1\n');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('reloads');
    await expect(page.getByText('You are signed out.')).toHaveCount(0);
    await expect(page.getByRole('link', { name: /^Sign in/ })).toHaveCount(1);
    await isRight(page);
    const other = await context.newPage();
    await signInOn(other, page, server);
    await expect(ended).toHaveCount(0);
    await expect(editor).toHaveValue('typed: 1\n');
    await save(page);
  });

  test('a page without typed text leads to the sign-in page', async ({ page, context, server, kube }) => {
    await makeCluster(kube, 'leaves');
    await signIn(page, server, server.anotherLink());
    await page.goto('/clusters/leaves/configuration?show=variables');
    await alive(page);
    const other = await context.newPage();
    await other.goto('/operations');
    await alive(other);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expect(page).toHaveURL(/\/login\?next=%2Fclusters%2Fleaves/);
  });
});
