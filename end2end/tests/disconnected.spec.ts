// Pages that get no updates: the server is gone, or the browser has no JavaScript. And the way past the navigation by keyboard.
import { CONNECTION_LOST, alive, expect, test } from '../fixtures/console.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

test('a page dims while the server is gone, and says since when', async ({ page, visit, server, kube, expected }) => {
  expected.push(CONNECTION_LOST);
  await makeCluster(kube, 'gone');
  await visit('/clusters');
  const main = page.getByRole('main').locator('> .title');
  await expect(main).toHaveCSS('opacity', '1');
  await server.stop('SIGKILL');
  const since = page.getByText(/^Disconnected since \d\d:\d\d:\d\d, retrying$/);
  await expect(since).toBeVisible();
  const first = (await since.textContent())!;
  await expect(main).toHaveCSS('opacity', '0.75');
  await server.startAgain();
  await alive(page);
  await expect(since).toBeHidden();
  await expect(main).toHaveCSS('opacity', '1');
  // The next time it is another time.
  await page.waitForFunction((before) => !before.includes(new Date().toLocaleTimeString('en-GB')), first);
  await server.stop('SIGKILL');
  await expect(since).toBeVisible();
  await expect(since).not.toHaveText(first);
  await server.startAgain();
  await alive(page);
});

test('the skip link moves the focus past the navigation', async ({ page, visit }) => {
  await visit('/clusters');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('main').locator(':focus')).toHaveCount(1);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a running page reloads by itself until its run ends', async ({ page, visit, kube }) => {
    using talker = new Talker();
    await makeCluster(kube, 'reloads');
    await run(kube, 'reloads', 'reloads-1', { script: talker.script });
    await kube.condition('reloads-1', 'Running');
    await visit('/operations/reloads-1');
    // Locators by text skip `noscript`.
    const reloads = page.locator('noscript p');
    await expect(reloads).toHaveText(/^Without JavaScript, this page reloads every 10 seconds\./);
    await says(page, talker.say(5));
    talker.end();
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(reloads).toHaveCount(0);
  });
});
