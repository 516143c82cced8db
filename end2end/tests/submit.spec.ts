// Submitting an operation and following real ansible.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { makeCluster, run, sshHost } from '../fixtures/objects.ts';
import { log, phase } from '../fixtures/run-page.ts';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('a reviewed ping.yml runs over SSH and shows its log', async ({ page, visit, kube, sshd }) => {
    const cluster = `submit-ping-${ending}`;
    await makeCluster(kube, cluster, { hosts: sshHost('m1', sshd), key: sshd.privateKey });
    await visit(`/operations/_new?cluster=${cluster}&action=ping.yml`);
    await expect(page.getByRole('combobox', { name: 'Cluster', exact: true })).toHaveValue(cluster);
    await expect(page.getByRole('radio', { name: 'ping.yml' })).toBeChecked();
    await page.getByRole('button', { name: 'Review' }).click();

    const review = page.getByRole('region', { name: 'Review' });
    await expect(review.getByRole('heading', { name: 'On at most 1 machine' })).toBeVisible();
    await expect(review).toContainText('ansible-playbook');
    expect((await kube.list('ClusterOperation')).filter((o) => o.spec.cluster === cluster)).toEqual([]);

    await review.getByRole('button', { name: 'Submit' }).click();
    await expect(page).toHaveURL(/\/operations\/[a-z0-9-]+$/);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`ping.yml on ${cluster}`);
    const name = page.url().split('/').pop()!;
    if (!script) {
      await kube.ended(name);
      await page.reload();
    }
    // With JavaScript the page updates itself.
    await expect(phase(page, 'Succeeded')).toBeVisible();
    await expect(log(page)).toContainText('TASK [Log in and run Python]');
    await expect(log(page)).toContainText('ok: [m1]');
    await expect(page.getByText('ping.yml: 1 host, 1 task ok, 0 changed.')).toBeVisible();
    await expect(page.getByText(/Log complete, \d+ lines/)).toBeVisible();

    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Hosts' }).click();
    await expect(page.getByRole('region', { name: 'Recap of every host' }).getByRole('row', { name: 'm1' })).toContainText('Ok');
    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Inputs' }).click();
    await expect(page.getByLabel('Inventory', { exact: true })).toContainText('ansible_port');

    const operation = await kube.get('ClusterOperation', name);
    expect(operation.status.submittedBy).toBeTruthy();
  });

  test('facts.yml shows its facts as a table in Results', async ({ page, visit, kube, sshd }) => {
    // Without JavaScript, the page is that of the same run after its end.
    const cluster = 'submit-facts';
    await makeCluster(kube, cluster, { hosts: sshHost('m1', sshd), key: sshd.privateKey });
    await run(kube, cluster, `${cluster}-1`, { playbook: 'facts.yml' });
    if (!script) await kube.ended(`${cluster}-1`);
    await visit(`/operations/${cluster}-1`);
    await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Results' }).click();
    const facts = page.getByRole('region', { name: 'Facts' });
    await expect(facts.getByRole('columnheader', { name: 'System' })).toBeVisible();
    await expect(facts.getByRole('row', { name: 'm1' })).toContainText('GiB');
    await expect(facts.getByRole('row', { name: 'm1' })).toContainText('Debian');
  });

  test('arguments, hooks and name reach ansible unchanged', async ({ page, visit, kube }) => {
    const cluster = `submit-args-${ending}`;
    const motd = `{"motd": "it's; rm -rf / $(id) here"}`;
    await makeCluster(kube, cluster);
    await visit(`/operations/_new?cluster=${cluster}&action=ping.yml`);
    await page.getByLabel('Extra arguments').fill(`-e\n${motd}`);
    await page.getByText('Advanced: name, hooks, image, deadline').click();
    await page.getByLabel('Name', { exact: true }).fill(`${cluster}-1`);
    await page.getByLabel('Run before').fill('ping.yml');
    await page.getByLabel('Limit', { exact: true }).fill('m1');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review.getByRole('listitem')).toHaveCount(2);
    await expect(review).toContainText(motd);
    await review.getByRole('button', { name: 'Submit' }).click();
    await expect(page).toHaveURL(`/operations/${cluster}-1`);
    const operation = await kube.ended(`${cluster}-1`);
    expect(operation.status).toMatchObject({ status: 'Succeeded' });
    const inputs = await kube.get('Secret', `${cluster}-1-inputs`);
    const { steps } = JSON.parse(Buffer.from(inputs.data['steps.json'], 'base64').toString());
    expect(steps.map((s: { role: string }) => s.role)).toEqual(['pre', 'main']);
    expect(steps[1].args).toContain(motd);
  });
});

test('a form changed after the review must be reviewed again', async ({ page, visit, kube }) => {
  await makeCluster(kube, 'submit-changed');
  await visit('/operations/_new?cluster=submit-changed&action=ping.yml');
  await page.getByRole('button', { name: 'Review' }).click();
  await expect(page.getByRole('button', { name: 'Submit' })).toBeVisible();
  await page.getByLabel('Limit', { exact: true }).fill('m1');
  await expect(page.getByRole('button', { name: 'Submit' })).toHaveCount(0);
  await expect(page.getByText('The form has changed since the review.')).toBeVisible();
});
