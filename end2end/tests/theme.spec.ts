// Light and dark: follows the system until the user chooses.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';

const [LIGHT, DARK] = ['rgb(246, 247, 249)', 'rgb(13, 16, 20)'];

/** Checks the page's background colour. */
async function looks(page: Page, background: string): Promise<void> {
  await expect(page.locator('body')).toHaveCSS('background-color', background);
}

bothWays(() => {
  test('the theme is switched in place and kept on every page', async ({ page, visit }) => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await visit('/operations?phase=failed');
    await looks(page, DARK);
    await page.getByRole('button', { name: 'Theme: System. Switch to Light.' }).click();
    await looks(page, LIGHT);
    await expect(page).toHaveURL('/operations?phase=failed');
    await visit('/clusters');
    await looks(page, LIGHT);
    expect(await (await page.request.get('/clusters')).text()).toMatch(/<html[^>]* data-theme="light"/);

    await page.emulateMedia({ colorScheme: 'light' });
    await visit('/settings');
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await looks(page, DARK);
    await expect(page.getByRole('button', { name: 'Dark', exact: true })).toHaveAttribute('aria-pressed', 'true');
    await expect(page.getByRole('button', { name: 'Theme: Dark. Switch to System.' })).toBeVisible();
    await page.getByRole('button', { name: 'System', exact: true }).click();
    await looks(page, LIGHT);
    await expect(page).toHaveURL('/settings');
  });
});
