// Signing in at a real OpenID Connect provider.
import { expect, test, type Page } from '@playwright/test';
import { alive } from '../fixtures/console.ts';
import { SignInWorld } from '../fixtures/provider.ts';

/** Presses the console's button, and signs in as `user` on the provider's pages. */
async function signIn(page: Page, user: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await page.getByPlaceholder('Enter any login').fill(user);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a person signs in at the provider, returns to the wanted page, and signs out of both', async ({ page }) => {
      await using world = await SignInWorld.start(3600);
      await page.goto(`${world.url}/operations?phase=failed`);
      await expect(page.getByLabel('Kubernetes token')).toBeVisible();
      await signIn(page, 'ann');
      await expect(page).toHaveURL(`${world.url}/operations?phase=failed`);
      await expect(page.getByText('oidc:ann').first()).toBeVisible();
      expect(world.tokens).toHaveLength(1);

      // A live page must not go to its own sign-in page when the session ends, before the answer leads to the provider.
      if (javaScriptEnabled) await alive(page);
      await page.getByRole('button', { name: 'Sign out' }).first().click();
      // The provider asks, because the console doesn't put the ID token into the address.
      await page.getByRole('button', { name: 'Yes, sign me out' }).click();
      await expect(page).toHaveURL(`${world.url}/login`);
      await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
      await expect(page.getByPlaceholder('Enter any login')).toBeVisible();
      await page.goto(`${world.url}/clusters`);
      await expect(page).toHaveURL(/\/login\?next=/);
      expect(world.log()).not.toContain(world.tokens[0]);
      const lines = world.audit().map(({ user, verb, address }) => [user, verb, address]);
      expect(lines).toEqual([['oidc:ann', 'sign-in', '127.0.0.1'], ['oidc:ann', 'sign-out', '127.0.0.1']]);
    });
  });
}

test('an open page outlives many tokens, and the session ends when the provider forgets it', async ({ page }) => {
  // Renewed after 10 seconds. A slow machine has the last 5 for a request.
  await using world = await SignInWorld.start(15);
  await page.goto(`${world.url}/clusters`);
  await signIn(page, 'ann');
  await alive(page);
  // Each renewal replaces the refresh token. The provider would refuse a second use of one.
  await expect.poll(() => world.tokens.length, { timeout: 120_000 }).toBeGreaterThan(2);
  await expect(page).toHaveURL(`${world.url}/clusters`);
  await page.reload();
  await alive(page);
  await expect(page.getByText('oidc:ann').first()).toBeVisible();

  // An open page would meet the refusal first, and only one request is told why the session ended.
  await page.goto('about:blank');
  await world.stopProvider();
  await world.startProvider();
  const location = async () => (await page.request.get(`${world.url}/clusters`, { maxRedirects: 0 })).headers().location ?? '';
  let refusal = '';
  await expect.poll(async () => (refusal = await location()), { timeout: 60_000 }).toContain('/login?ended=renewal');
  await page.goto(`${world.url}${refusal}`);
  await expect(page.getByRole('alert')).toContainText('Your session ended because Example ID did not renew it. Sign in again.');
});

test('every refusal is a sentence on the sign-in page', async ({ page }) => {
  await using world = await SignInWorld.start(3600);
  await page.goto(`${world.url}/login`);
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await expect(page.getByRole('alert')).toContainText('Example ID did not sign you in: access was denied');

  await signIn(page, 'eve');
  await expect(page.getByRole('alert')).toContainText('the cluster does not accept its token');

  await page.goto(`${world.url}/login/oidc/callback?code=stolen&state=guess`);
  await expect(page.getByRole('alert')).toContainText('This sign-in was not started in this browser');

  await world.stopProvider();
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await expect(page.getByRole('alert')).toContainText("Example ID can't be reached");
  await expect(page.getByLabel('Kubernetes token')).toBeVisible();
  expect(world.tokens).toEqual([]);
});
