// Reading a log: wrapped lines, a field that leads to a line, line numbers by keyboard, and following.
import type { Page } from '@playwright/test';
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import type { Kube } from '../fixtures/kube.ts';
import { log, phase, says } from '../fixtures/run-page.ts';
import { Talker } from '../fixtures/talker.ts';

/** The page of an ended run of 900 lines; every third one is longer than the screen is wide. All tests share the run. */
async function withLongLines(kube: Kube): Promise<string> {
  await makeCluster(kube, 'long-lines');
  const script = `for n in $(seq 900); do if [ $((n % 3)) = 0 ]; then printf 'line %d %0400d end\\n' $n 0; else echo "line $n"; fi; done`;
  await run(kube, 'long-lines', 'long-lines-1', { script });
  expect((await kube.ended('long-lines-1')).status).toMatchObject({ status: 'Succeeded' });
  return '/operations/long-lines-1';
}

const wrap = (page: Page) => page.getByRole('button', { name: 'Wrap lines' });
const row = (page: Page, line: number) => page.locator(`#L${line}`);
const number = (page: Page, line: number) => log(page).getByRole('link', { name: String(line), exact: true });

/** The distance of a line from the top of the log, in pixels. NaN while the log draws its row again. */
const place = (page: Page, line: number) => log(page).evaluate((scroller, line) => {
  const row = scroller.querySelector(`#L${line}`);
  return row === null ? NaN : row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
}, line);

/** The first line that is completely on screen. */
const firstLine = (page: Page) => log(page).evaluate((scroller) => {
  const top = scroller.getBoundingClientRect().top;
  const first = [...scroller.querySelectorAll('.ln')].find((row) => row.getBoundingClientRect().top >= top - 1);
  return Number(first!.id.slice(1));
});

/** The number of lines that the log has. */
const lines = async (page: Page) => Number((await log(page).getAttribute('aria-label'))!.replace(/\D/g, ''));

const scrollTop = (page: Page) => log(page).evaluate((scroller) => scroller.scrollTop);

/** How far the log can be scrolled down, in pixels. */
const toEnd = (page: Page) => log(page).evaluate((scroller) => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop);

bothWays((script) => {
  test('wrapping shows all of a long line, and is remembered', async ({ page, visit, kube }) => {
    const path = await withLongLines(kube);
    await visit(path);
    const sideways = () => log(page).evaluate((scroller) => scroller.scrollWidth > scroller.clientWidth);
    await expect(wrap(page)).toHaveAttribute('aria-pressed', 'false');
    expect(await sideways()).toBe(true);
    await wrap(page).click();
    await expect(wrap(page)).toHaveAttribute('aria-pressed', 'true');
    await expect.poll(sideways).toBe(false);
    await visit(path);
    expect(await (await page.request.get(path)).text()).toMatch(/class="log\s+wrap"/);
    await expect.poll(sideways, 'on the next visit').toBe(false);
    await wrap(page).click();
    await expect.poll(sideways).toBe(true);
  });

  test('the field leads to a line and knows the last one', async ({ page, visit, kube }) => {
    const path = await withLongLines(kube);
    await visit(path);
    const field = page.getByRole('spinbutton', { name: 'Go to line' });
    await field.fill('123');
    await field.press('Enter');
    await expect(row(page, 123)).toBeInViewport();
    await expect(row(page, 123)).toHaveClass(/sel/);
    await expect(page).toHaveURL(script ? /#L123$/ : /\?line=123$/);
    if (script) await expect(page.getByRole('region', { name: 'Selected lines' })).toContainText('Line 123');

    const total = Number(await field.getAttribute('max'));
    expect(total).toBeGreaterThanOrEqual(900);
    const before = page.url();
    await field.fill(String(total + 1));
    await field.press('Enter');
    expect(await field.evaluate((field: HTMLInputElement) => field.validity.rangeOverflow)).toBe(true);
    expect(await field.evaluate((field: HTMLInputElement) => field.validationMessage)).toContain(String(total));
    const said = await page.locator('.go-to-line').evaluate((form) => getComputedStyle(form, '::after').content);
    expect(said).toBe('"There is no such line."');
    expect(page.url()).toBe(before);
  });
});

test('a missing line in the address is said without JavaScript', async ({ page, kube }) => {
  const path = await withLongLines(kube);
  const html = await (await page.request.get(`${path}?line=123456`)).text();
  expect(html).toMatch(/There is no line 123,456: the log has 9\d\d lines\./);
  expect(html, 'the last lines').toContain('line 899');
});

test('wrapped lines scroll without jumps to both ends', async ({ page, visit, kube }) => {
  const path = await withLongLines(kube);
  await visit(path);
  await wrap(page).click();
  // Follow the place of a line while the log scrolls in small steps: it moves as far as the log scrolled.
  const jumps = await log(page).evaluate(async (scroller) => {
    const frames = async () => { for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame); };
    const places = () => new Map([...scroller.querySelectorAll('.ln')].map((row) => [row.id, row.getBoundingClientRect().top]));
    const jumps: string[] = [];
    for (const step of [-90, 90]) {
      scroller.scrollTop = step < 0 ? scroller.scrollHeight : 0;
      await frames();
      for (let n = 0; n < 150; n += 1) {
        const [before, from] = [places(), scroller.scrollTop];
        const jump = () => {
          const kept = [...places()].filter(([id]) => before.has(id));
          const moved = [...new Set(kept.map(([id, top]) => Math.round(top - before.get(id)!)))];
          // A block of lines that arrived above may change the scroll position, but not what is on screen.
          const isJump = kept.length === 0 || moved.some((by) => Math.abs(by + step) > 2 && Math.abs(by) > 2);
          return isJump ? `${from}: ${moved} of ${kept.length}` : '';
        };
        scroller.scrollTop += step;
        await frames();
        // Lines may have arrived since the last frame. Before the next one is painted, the page scrolls to where they moved its rows.
        if (jump()) await frames();
        if (jump()) jumps.push(jump());
      }
    }
    return jumps;
  });
  expect(jumps).toEqual([]);
  // Both ends are reached, and no row covers another.
  for (const [end, line] of [[0, '1'], [1e9, await page.getByRole('spinbutton').getAttribute('max')]] as const) {
    await log(page).evaluate((scroller, end) => (scroller.scrollTop = end), end);
    await expect(row(page, Number(line))).toBeInViewport();
    const gaps = await log(page).evaluate((scroller) => {
      const rows = [...scroller.querySelectorAll('.ln')].map((row) => row.getBoundingClientRect());
      return rows.slice(1).filter((row, at) => Math.abs(row.top - rows[at].bottom) > 1).length;
    });
    expect(gaps).toBe(0);
  }
});

test('the line on screen stays when wrapping is switched', async ({ page, visit, kube }) => {
  const path = await withLongLines(kube);
  await visit(path);
  await log(page).evaluate((scroller) => (scroller.scrollTop = 400 * 20));
  await expect(row(page, 401)).toBeInViewport();
  await expect(log(page).locator('.ln:not(:has(time))'), 'all rows have their texts').toHaveCount(0);
  const line = await firstLine(page);
  const before = await place(page, line);
  for (const _ of ['on', 'off']) {
    await wrap(page).click();
    await expect.poll(() => place(page, line)).toBeCloseTo(before, -1);
  }
  // The computed heights are those that the browser shows.
  await wrap(page).click();
  const wrong = await log(page).evaluate((scroller) => {
    const columns = Number((scroller as HTMLElement).style.getPropertyValue('--columns'));
    return [...scroller.querySelectorAll('.ln')].filter((row) => {
      const rows = Math.max(1, Math.ceil(row.querySelector('.tx')!.textContent!.length / columns));
      return Math.abs(row.getBoundingClientRect().height - rows * 20) > 0.5;
    }).map((row) => row.id);
  });
  expect(wrong).toEqual([]);
});

test('a link to a line leads there in a wrapped log', async ({ page, visit, kube }) => {
  const path = await withLongLines(kube);
  await visit(path);
  await wrap(page).click();
  await visit(`${path}#L200`);
  await expect(row(page, 200)).toBeInViewport();
  await expect(row(page, 200)).toHaveClass(/sel/);
  await page.setViewportSize({ width: 900, height: 800 });
  await expect(row(page, 200)).toBeInViewport();
});

test('line numbers are reached by keyboard, with one tab stop', async ({ page, visit, kube }) => {
  const path = await withLongLines(kube);
  await visit(`${path}#L300`);
  await expect(row(page, 300)).toBeInViewport();
  await expect(log(page).locator('a[tabindex="0"]')).toHaveCount(1);
  await log(page).focus();
  await page.keyboard.press('Tab');
  const first = await log(page).locator('a:focus').textContent();
  await expect(log(page).locator('a:focus')).toBeInViewport();
  // Further than the rows that are in the document.
  const line = Number(first) + 120;
  for (let at = Number(first) + 1; at <= line; at += 1) {
    await page.keyboard.press('ArrowDown');
    // The focus keeps up with the keys, and the rows with the focus.
    if (at % 20 !== line % 20) continue;
    await expect(number(page, at)).toBeFocused();
    // Rows beyond the screen are rendered in the next frame.
    await expect(row(page, at + 20)).toBeAttached();
  }
  await expect(number(page, line)).toBeInViewport();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`#L${line - 1}$`));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+Enter');
  await expect(page).toHaveURL(new RegExp(`#L${line - 1}-L${line}$`));
});

test('the link to the selected lines is copied', async ({ page, visit, kube, context, server }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const path = await withLongLines(kube);
  await visit(`${path}#L7-L9`);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${server.url}${path}#L7-L9`);
});

test('Page Up wins against new lines, and End follows again', async ({ page, visit, kube }) => {
  using talker = new Talker();
  await makeCluster(kube, 'page-up');
  await run(kube, 'page-up', 'page-up-1', { script: talker.script });
  await visit('/operations/page-up-1');
  await says(page, talker.say(500));
  await log(page).focus();
  const pill = page.getByRole('button', { name: /new lines?|To the end/ });
  for (let round = 0; round < 5; round += 1) {
    await expect.poll(() => toEnd(page), 'it is at the end').toBeLessThan(1);
    const end = await scrollTop(page);
    // Lines arrive before, while and after the log scrolls up by more than 20 lines.
    talker.say(20);
    await page.keyboard.press('PageUp');
    talker.say(20);
    await expect(pill).toBeVisible();
    const total = talker.say(40);
    await expect.poll(() => lines(page)).toBeGreaterThanOrEqual(total);
    await expect(pill).toBeVisible();
    await expect.poll(() => scrollTop(page), 'it scrolled up').toBeLessThan(end);
    await page.keyboard.press('End');
    await expect(pill).toHaveCount(0);
    await says(page, total);
    await says(page, talker.say(10));
  }
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
});

test('a wrapped log follows its end', async ({ page, visit, kube }) => {
  using talker = new Talker();
  await makeCluster(kube, 'wrapped-end');
  await run(kube, 'wrapped-end', 'wrapped-end-1', { script: `long=$(printf '%0500d' 0)\n${talker.script.replace('seq -f "line %.0f"', 'seq -f "$long line %.0f"')}` });
  await visit('/operations/wrapped-end-1');
  await wrap(page).click();
  const pill = page.getByRole('button', { name: /new lines?|To the end/ });
  for (const count of [100, 3, 1, 50]) {
    const last = talker.say(count);
    await expect(log(page).getByText(new RegExp(`0 line ${last}$`))).toBeInViewport({ ratio: 0.9 });
    await expect(pill).toHaveCount(0);
  }
  for (const _ of ['off', 'on']) {
    await wrap(page).click();
    const last = talker.say(30);
    await expect(log(page).getByText(new RegExp(`0 line ${last}$`))).toBeAttached();
    await expect(pill).toHaveCount(0);
  }
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
});

test('Esc closes every menu, question and dialog', async ({ page, visit, kube }) => {
  using talker = new Talker();
  await makeCluster(kube, 'escape');
  await run(kube, 'escape', 'escape-1', { script: talker.script });
  await visit('/clusters/escape');
  await page.getByText('More', { exact: true }).click();
  await expect(page.getByRole('link', { name: 'Unregister…' })).toBeVisible();
  await page.getByRole('link', { name: 'Unregister…' }).focus();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'Unregister…' })).toBeHidden();
  await expect(page.getByText('More', { exact: true })).toBeFocused();

  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeHidden();

  await visit('/operations/escape-1');
  // The question is another one while the run is queued.
  await expect(phase(page, 'Running')).toBeVisible();
  await page.getByText('Cancel…').click();
  await expect(page.getByText('Stop this run?')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('Stop this run?')).toBeHidden();
  await page.getByText('Cancel…').click();
  await expect(page.getByText('Stop this run?'), 'it opens again').toBeVisible();
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
});
