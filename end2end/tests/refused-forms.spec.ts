// Invalid input: a message at the field, everything typed is kept, nothing is changed.
import type { Locator } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster } from '../fixtures/objects.ts';

/** A billion values in a kilobyte of YAML aliases. */
const BOMB = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]', ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `a${n}: &a${n} [${Array(10).fill(`*a${n - 1}`).join(', ')}]`)].join('\n');

async function isRefused(field: Locator, sentence: RegExp): Promise<void> {
  await expect(field).toHaveAttribute('aria-invalid', 'true');
  await expect(field).toHaveAccessibleDescription(sentence);
}

/** Inserts a large text at once, as pasting does; typing it would take minutes. */
async function paste(field: Locator, text: string): Promise<void> {
  await field.evaluate((area: HTMLTextAreaElement, value) => {
    area.value = value;
    area.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
  }, text);
}

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a refused registration comes back with all errors', async ({ page, visit, kube }) => {
    const before = await kube.list('Cluster');
    const typed: [Locator, string, RegExp][] = [
      [page.getByLabel('Name', { exact: true }), 'prod;rm -rf /', /lower-case letters/],
      [page.getByLabel('Namespace'), 'no/space', /^A namespace has/],
      [page.getByLabel('Variables, YAML'), BOMB, /aliases/],
      [page.getByLabel('Host keys, known_hosts format'), 'not a host key', /^Line 1 is not a host key/],
    ];
    await visit('/clusters/_new');
    await page.getByText('Host keys', { exact: true }).click();
    await page.getByLabel('Use an existing key').check();
    await page.getByLabel('Paste the private key').fill('hunter2');
    await page.getByLabel('Name of machine 1').fill('m1');
    await page.getByLabel('Address of machine 1').fill('$(id)');
    await page.getByLabel('Name of machine 2').fill('m2');
    await page.getByLabel('Address of machine 2').fill('192.0.2.2');
    await page.getByLabel('Port of machine 2').fill('99999');
    await page.getByLabel('Role of machine 2').selectOption('Worker');
    for (const [field, text] of typed) await field.fill(text);
    await page.getByRole('button', { name: 'Review' }).click();

    for (const [field, text, sentence] of typed) {
      await isRefused(field, sentence);
      await expect(field).toHaveValue(text);
    }
    await isRefused(page.getByLabel('Address of machine 1'), /\$\(id\)|address/);
    await expect(page.getByLabel('Address of machine 1')).toHaveValue('$(id)');
    await isRefused(page.getByLabel('Port of machine 2'), /65535/);
    await expect(page.getByLabel('Port of machine 2')).toHaveValue('99999');
    await expect(page.getByLabel('Role of machine 2')).toHaveValue('worker');
    await isRefused(page.getByLabel('Paste the private key'), /not a private key/);
    await expect(page.getByLabel('Use an existing key')).toBeChecked();
    // Secrets are the exception: the server never sends them back.
    await expect(page.getByLabel('Paste the private key')).toHaveValue(script ? 'hunter2' : '');
    if (script) await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
    expect((await kube.list('Cluster')).map((c) => c.metadata.name)).toEqual(before.map((c) => c.metadata.name));
  });

  test('duplicate hosts and bad names are refused with their line', async ({ page, visit }) => {
    const lines = 'm1 192.0.2.1\nm1 192.0.2.2\nm3;rm 192.0.2.3';
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill('fine');
    await page.getByText('Or paste lines').click();
    await page.getByLabel('One machine per line').fill(lines);
    await page.getByRole('button', { name: 'Review' }).click();
    await isRefused(page.getByLabel('One machine per line'), /line 2/i);
    await isRefused(page.getByLabel('One machine per line'), /line 3/i);
    await expect(page.getByLabel('One machine per line')).toHaveValue(lines);
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('fine');
  });

  test('200 KB in a textarea come back to the last character', async ({ page, visit }) => {
    const text = `\nbegin: "<b>&amp;</b>"\n${Array.from({ length: 4500 }, (_, n) => `key_${n}: "ä'<>&${'x'.repeat(30)}"`).join('\n')}\nend: [\n`;
    expect(text.length).toBeGreaterThan(200_000);
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill('Not a name');
    await paste(page.getByLabel('Variables, YAML'), text);
    await page.getByRole('button', { name: 'Review' }).click();
    await isRefused(page.getByLabel('Name', { exact: true }), /lower-case/);
    await isRefused(page.getByLabel('Variables, YAML'), /line 450/);
    expect(await page.getByLabel('Variables, YAML').inputValue()).toBe(text);
  });

  test('a binary file is refused as a key', async ({ page, visit }) => {
    await visit('/clusters/_new');
    await page.getByLabel('Name', { exact: true }).fill('fine');
    await page.getByLabel('Name of machine 1').fill('m1');
    await page.getByLabel('Address of machine 1').fill('192.0.2.1');
    await page.getByLabel('Use an existing key').check();
    await page.getByLabel('Or upload a key file').setInputFiles({ name: 'key', mimeType: 'application/octet-stream', buffer: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe, 1, 2]) });
    await page.getByRole('button', { name: 'Review' }).click();
    await isRefused(page.getByLabel('Or upload a key file'), /^This is not UTF-8 text\. /);
    await expect(page.getByLabel('Paste the private key')).not.toHaveAttribute('aria-invalid', 'true');
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('fine');
  });

  test('an invalid operation is refused at the field', async ({ page, visit, kube }) => {
    const cluster = `refused-op-${ending}`;
    await makeCluster(kube, cluster);
    await visit(`/operations/_new?cluster=${cluster}`);
    await page.getByText('ping.yml', { exact: true }).click();
    await page.getByText('Advanced:').click();
    await page.getByLabel('Run before').fill('../../etc/passwd');
    await page.getByLabel('Limit', { exact: true }).fill('m1;rm -rf /');
    await page.getByLabel('Extra arguments').fill('--start-at-task\nPing it');
    await page.getByRole('button', { name: 'Review' }).click();
    await isRefused(page.getByLabel('Run before'), /Name a playbook file/);
    await expect(page.getByLabel('Run before')).toHaveValue('../../etc/passwd');
    await expect(page.getByLabel('Limit', { exact: true })).toHaveValue('m1;rm -rf /');
    await expect(page.getByLabel('Extra arguments')).toHaveValue('--start-at-task\nPing it');
    await expect(page.getByRole('button', { name: 'Submit' })).toHaveCount(0);
    expect((await kube.list('ClusterOperation')).filter((o) => o.spec.cluster === cluster)).toEqual([]);
  });
});

test('a paste of 3 MB is refused with its size and kept', async ({ page, visit }) => {
  const text = `x: ${'y'.repeat(996)}\n`.repeat(3000);
  await visit('/clusters/_new');
  const field = page.getByLabel('Variables, YAML');
  await paste(field, text);
  await page.getByRole('button', { name: 'Review' }).click();
  await isRefused(field, /3000000 bytes/);
  expect((await field.inputValue()).length).toBe(text.length);
});
