// The log: complete after reconnects, fast when long, and with a URL for every line.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { alive, bothWays, expect, signIn, test } from '../fixtures/console.ts';
import { Kube } from '../fixtures/kube.ts';
import { makeCluster, run } from '../fixtures/objects.ts';
import { log, phase, says, saysItAll } from '../fixtures/run-page.ts';
import { Server } from '../fixtures/server.ts';
import { Talker } from '../fixtures/talker.ts';
import { Wire } from '../fixtures/wire.ts';

/** A finished run of this many lines. Another test of the same server may have made it. */
async function finished(kube: Kube, name: string, lines: number): Promise<void> {
  await makeCluster(kube, name);
  await run(kube, name, `${name}-1`, { script: `seq -f 'line %.0f' ${lines}` });
  expect((await kube.ended(`${name}-1`)).status).toMatchObject({ status: 'Succeeded' });
}

test.describe('over a wire that is cut', () => {
  test.slow();

  test('forced reconnects lose no line and double none', async ({ browser }) => {
    const cuts = process.env.KUBEONKUBE_FULL ? 20 : 5;
    const total = cuts * 5000;
    using wire = await Wire.open();
    await using server = await Server.start({ more: ['--public-url', wire.url] });
    wire.leadTo(server);
    const context = await browser.newContext({ baseURL: wire.url });
    const kube = new Kube(server, context.request);
    using talker = new Talker();
    await makeCluster(kube, 'cut');
    await run(kube, 'cut', 'cut-1', { script: talker.script });

    const page = await context.newPage();
    await signIn(page, server);
    await page.addInitScript(noteLines);
    let frames = 0;
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => {
      if (JSON.parse(String(payload)).lines) frames += 1;
    }));
    await page.goto('/operations/cut-1');
    await alive(page);
    for (let cut = 1; cut <= cuts; cut += 1) {
      const before = frames;
      talker.say(5000);
      // Cut in the middle of a burst.
      await expect.poll(() => frames, { intervals: [5] }).toBeGreaterThan(before);
      wire.cut();
      await alive(page);
    }
    talker.end();
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(page.getByText(new RegExp(`^Log complete, ${total / 1000},00\\d lines$`))).toBeVisible();
    expect(wire.cuts).toBe(cuts);
    const came: Line[] = await page.evaluate(() => (window as any).came);
    const jumps = came.filter(({ line }, at) => at > 0 && line !== came[at - 1].line + 1);
    expect(jumps, 'each line came once').toEqual([]);
    const said = came.map(({ text }) => text).filter((text) => /^line \d+$/.test(text));
    expect(said.length).toBe(total);
    expect(said.filter((text, at) => text !== `line ${at + 1}`)).toEqual([]);
    // The page shows what arrived.
    const shift = came.find(({ text }) => text === 'line 1')!.line - 1;
    for (const share of [0, 0.33, 0.5, 0.77, 1]) {
      await scrollTo(page, share);
      const rows = await shown(page);
      expect(rows.filter(([line, text]) => line > shift && line <= shift + total && text !== `line ${line - shift}`)).toEqual([]);
    }
    await context.close();
  });
});

test.describe('of a long run', () => {
  test.slow();

  test('200,000 lines scroll without blank rows', async ({ page, visit, kube }) => {
    await finished(kube, 'long', 200_000);
    await visit('/operations/long-1');
    await says(page, 200_000);
    // After a jump to any place, the rows on screen have their texts.
    for (const share of [0, 0.5, 0.25, 0.99, 0.1, 0.75, 0.001, 1]) await scrollTo(page, share);
    // While scrolling steadily, rows are painted before they come on screen.
    const bare = await log(page).evaluate(async (scroller) => {
      scroller.scrollTop = 1_000_000;
      for (let n = 0; n < 30; n += 1) await new Promise(requestAnimationFrame);
      let bare = 0;
      for (let n = 0; n < 60; n += 1) {
        scroller.scrollTop += 100;
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        const box = scroller.getBoundingClientRect();
        const rows = [...scroller.querySelectorAll('[id^="L"]')].map((row) => row.getBoundingClientRect());
        const covers = rows.length > 0 && rows[0].top <= box.top + 1 && rows[rows.length - 1].bottom >= box.bottom - 20;
        if (!covers) bare += 1;
      }
      return bare;
    });
    expect(bare, 'frames with a part of the screen uncovered').toBe(0);
    const rows = await log(page).evaluate((scroller) => scroller.querySelectorAll('[id^="L"]').length);
    expect(rows, 'rows in the document').toBeLessThan(200);
  });

  test('a link to a line opens the log there, with the line marked', async ({ page, visit, kube }) => {
    await finished(kube, 'long', 200_000);
    const asked: { from: number; count: number }[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/load_lines') asked.push({ from: Number(searchParams.get('from')), count: Number(searchParams.get('count')) });
    });
    await visit('/operations/long-1#L120000');
    const row = page.locator('#L120000');
    await expect(row).toBeInViewport();
    await expect(row).toContainText(/line 1\d{5}/);
    // The page has the newest lines from the server, and loads only those around the line.
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(1_000);
    expect(asked.filter(({ from }) => Math.abs(from - 120_000) > 1_000)).toEqual([]);
    await expect(page.getByRole('region', { name: 'Selected lines' })).toContainText('Line 120,000');

    // A click selects a line, Shift and click a range.
    await log(page).getByRole('link', { name: '120003', exact: true }).click();
    await expect(page).toHaveURL(/#L120003$/);
    await log(page).getByRole('link', { name: '120005', exact: true }).click({ modifiers: ['Shift'] });
    await expect(page).toHaveURL(/#L120003-L120005$/);
    await expect(page.getByRole('region', { name: 'Selected lines' })).toContainText('Lines 120,003–120,005');
    await page.getByRole('link', { name: 'Clear' }).click();
    await expect(page).toHaveURL(/\/operations\/long-1$/);
  });

  test('the whole log can be downloaded', async ({ page, visit, kube }) => {
    await finished(kube, 'long', 200_000);
    await visit('/operations/long-1');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
    const said = readFileSync(await download.path(), 'utf8').split('\n').filter((text) => /^line \d+$/.test(text));
    expect(said.length).toBe(200_000);
    expect(said[199_999]).toBe('line 200000');
  });
});

test('scrolling up is kept, and a pill leads to the newest line', async ({ page, visit, kube }) => {
  using talker = new Talker();
  await makeCluster(kube, 'pill');
  await run(kube, 'pill', 'pill-1', { script: talker.script });
  await visit('/operations/pill-1');
  await says(page, talker.say(500));
  await log(page).hover();
  await page.mouse.wheel(0, -3000);
  await expect(page.getByRole('button', { name: 'To the end' })).toBeVisible();
  const top = await restingPlace(page);
  talker.say(37);
  await expect(page.getByRole('button', { name: '37 new lines' })).toBeVisible();
  expect(await log(page).evaluate((scroller) => scroller.scrollTop)).toBe(top);
  await page.getByRole('button', { name: '37 new lines' }).click();
  await says(page, 537);
  await expect(page.getByRole('button', { name: /new lines?|To the end/ })).toHaveCount(0);
  await says(page, talker.say(5));
  talker.end();
  await expect(phase(page, 'Succeeded')).toBeVisible();
});

test('colours of ansible are kept and other escapes are dropped', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'colours');
  const script = String.raw`printf '\033[0;31mred\033[0m plain \033[2Jcleared <b>\n'; printf 'ten\rtwenty\n'; printf 'nul\0byte \xff\n'`;
  await run(kube, 'colours', 'colours-1', { script });
  await visit('/operations/colours-1');
  await expect(phase(page, 'Succeeded')).toBeVisible();
  await expect(log(page).getByText('red', { exact: true })).toHaveClass(/a-red/);
  await expect(log(page)).toContainText('red plain cleared <b>');
  expect(await log(page).innerText()).not.toMatch(/[\u001b\u0000]/);
});

bothWays((script) => {
  test('older lines come in pages, or scroll with JavaScript', async ({ page, visit, kube }) => {
    const cluster = `older-${script ? 'js' : 'plain'}`;
    await finished(kube, cluster, 450);
    await visit(`/operations/${cluster}-1`);
    if (script) {
      await saysItAll(page, 450);
      return;
    }
    const seen = new Set<string>();
    const older = page.getByRole('link', { name: /^Lines \d+–\d+$/ });
    for (;;) {
      for (const id of await log(page).locator('[id^="L"]').evaluateAll((rows) => rows.map((row) => row.id))) seen.add(id);
      if ((await older.count()) === 0) break;
      await older.click();
    }
    expect(seen.size).toBeGreaterThanOrEqual(450);
    await page.getByRole('link', { name: 'Newest lines' }).click();
    await expect(log(page)).toContainText('line 450');
  });
});

type Line = { line: number; text: string };

/**
 * Runs in the browser before the page does: keeps the lines of all sockets in the order in which the page gets them. The page asks
 * again for lines that the browser received but has not given to it when the wire is cut.
 */
function noteLines(): void {
  const came: Line[] = ((window as any).came = []);
  window.WebSocket = class extends WebSocket {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener('message', ({ data }) => {
        const { lines } = JSON.parse(data);
        // The page has let go of a socket without a handler.
        if (lines && this.onmessage) lines.lines.forEach(({ s }: { s: string }, at: number) => came.push({ line: lines.first + at, text: s }));
      });
    }
  };
}

/** Scrolls to a share of the log and waits until all rows there have their texts. */
async function scrollTo(page: Page, share: number): Promise<void> {
  await log(page).evaluate((scroller, share) => (scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight)), share);
  await expect.poll(() => log(page).evaluate(blanks), { intervals: [20] }).toBe('');
}

/** Waits until scrolling has ended, and returns its place. */
function restingPlace(page: Page): Promise<number> {
  return log(page).evaluate(async (scroller) => {
    let top = scroller.scrollTop;
    for (let still = 0; still < 20; still += 1) {
      await new Promise(requestAnimationFrame);
      if (scroller.scrollTop !== top) still = 0;
      top = scroller.scrollTop;
    }
    return top;
  });
}

/** The rows in the document, by number. */
function shown(page: Page): Promise<[number, string][]> {
  return log(page).evaluate((scroller) => [...scroller.querySelectorAll('[id^="L"]')].map((row) => [Number(row.id.slice(1)), row.querySelector('.tx')!.textContent!]));
}

/** Runs in the browser: rows on screen without text, or too few rows to fill it. */
function blanks(scroller: Element): string {
  const box = scroller.getBoundingClientRect();
  const rows = [...scroller.querySelectorAll('[id^="L"]')].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > box.top && top < box.bottom;
  });
  const wanted = Math.floor(box.height / 20) - 1;
  if (rows.length < wanted) return `${rows.length} of ${wanted} rows`;
  return rows.filter((row) => !row.querySelector('time')).map((row) => row.id).join(' ');
}
