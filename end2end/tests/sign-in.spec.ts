// Signing in with the one-time link, and signing out.
import { execFileSync } from 'node:child_process';
import { NOBODY, alive, bothWays, expect, test } from '../fixtures/console.ts';
import { binary } from '../fixtures/server.ts';

bothWays((script) => {
  test.use({ storageState: NOBODY });

  test('a link signs in once, and only when its button is pressed', async ({ page, server, context }) => {
    const link = server.anotherLink();
    // A mail scanner opens the link first.
    await page.goto(link);
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Clusters');

    // A page that is open would notice that its session is gone, and go to the sign-in page in the middle of this.
    await page.goto('about:blank');
    await context.clearCookies();
    await page.goto(link);
    await expect(page.getByRole('alert')).toContainText('This link was used already');
    await expect(page.getByRole('button', { name: 'Sign in' })).toHaveCount(0);
    await expect(page.getByText(/^kubeonkube login --data-dir \S+$/)).toBeVisible();
  });

  test('a signed-out user returns to the page after signing in', async ({ page, server }) => {
    await page.goto('/operations?phase=failed');
    await expect(page).toHaveURL(/\/login\?next=/);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
    const next = new URL(page.url()).searchParams.get('next')!;
    await page.goto(`${server.anotherLink()}&next=${encodeURIComponent(next)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/operations?phase=failed`);
  });

  test('a link from the terminal leads to the page wanted before', async ({ page, server }) => {
    await page.goto('/clusters?q=deep&sort=-name');
    await expect(page).toHaveURL(/\/login\?next=/);
    // The link doesn't name the page.
    await page.goto(server.anotherLink());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters?q=deep&sort=-name`);
  });

  test('the login command on the page works as it stands', async ({ page, server }) => {
    await page.goto('/login');
    const [program, ...words] = (await page.getByText(/^kubeonkube login /).textContent())!.split(' ');
    expect(program).toBe('kubeonkube');
    expect(words).toContain('--data-dir');
    // In another folder and without the variables of the server.
    const link = execFileSync(binary, words, { cwd: '/', env: {}, encoding: 'utf8' }).match(/https?:\/\/\S+/)![0];
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters`);
  });

  test('signing in never redirects to another site', async ({ page, server }) => {
    await page.goto(`${server.anotherLink()}&next=${encodeURIComponent('//example.com/')}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters`);
  });

  test('signing out ends the session everywhere', async ({ page, server, context }) => {
    await page.goto(server.anotherLink());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters`);
    // A socket that is still connecting would be refused.
    if (script) await alive(page);
    const stolen = await context.storageState();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page).toHaveURL(/\/login/);
    await context.addCookies(stolen.cookies);
    await page.goto('/clusters');
    await expect(page).toHaveURL(/\/login/);
  });
});

test.describe('in two tabs', () => {
  test.use({ storageState: NOBODY });

  test('signing out in one leads the other to the sign-in page', async ({ page, context, server }) => {
    await page.goto(server.anotherLink());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/clusters`);
    const other = await context.newPage();
    await other.goto('/operations');
    await alive(other);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(other).toHaveURL(/\/login\?next=%2Foperations/);
  });
});
