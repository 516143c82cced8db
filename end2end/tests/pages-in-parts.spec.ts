// A release loads the code of each page when it is needed: what happens while it comes, and when it doesn't.
import { alive, expect, test } from '../fixtures/console.ts';
import { makeCluster } from '../fixtures/objects.ts';

test.beforeEach(async ({ page }) => {
  const html = await (await page.request.get('/clusters')).text();
  const inParts = html.includes('.bin');
  if (process.env.KUBEONKUBE_IN_PARTS) expect(inParts, 'this is a release').toBe(true);
  test.skip(!inParts, 'in this build all pages are one file');
});

const heading = (name: string) => ({ level: 1, name, exact: true }) as const;

test('the old page stays until the code of the next one is there', async ({ page, visit }) => {
  await visit('/clusters');
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/assets/settings-*.bin', async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest('**/assets/settings-*.bin');
  await page.getByRole('link', { name: 'Settings' }).click();
  await asked;
  await expect(page.getByRole('heading', heading('Clusters'))).toBeVisible();
  await expect(page).toHaveURL(/\/clusters$/);
  go();
  await expect(page.getByRole('heading', heading('Settings'))).toBeVisible();
  await expect(page).toHaveURL(/\/settings$/);
});

test('a page whose code is gone, as after an upgrade, comes whole from the server', async ({ page, visit, expected }) => {
  expected.push(/settings-\w+\.bin/);
  await visit('/clusters');
  await page.evaluate(() => Object.assign(globalThis, { old: true }));
  await page.route('**/assets/settings-*.bin', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }), { times: 1 });
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('heading', heading('Settings'))).toBeVisible();
  await alive(page);
  await expect(page).toHaveURL(/\/settings$/);
  expect(await page.evaluate(() => 'old' in globalThis), 'the document is a new one').toBe(false);
  await page.goBack();
  await expect(page.getByRole('heading', heading('Clusters'))).toBeVisible();
});

test('a page that never gets its code says so and works as without JavaScript', async ({ page, kube, expected }) => {
  expected.push(/clusters-\w+\.bin/);
  await makeCluster(kube, 'parts');
  await page.route('**/assets/clusters-*.bin', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }));
  await page.goto('/clusters');
  await expect(page.getByRole('alert')).toContainText('can\'t be loaded');
  await page.getByRole('link', { name: 'parts', exact: true }).click();
  await expect(page.getByRole('heading', heading('parts'))).toBeVisible();
  await alive(page);
});
