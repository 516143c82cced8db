// Adding and removing nodes. Nothing listens at port 1, so no run changes a machine.
import { bothWays, expect, test } from '../fixtures/console.ts';
import { localHosts, makeCluster, ownNetwork, runOwn } from '../fixtures/objects.ts';

/** A control plane and a worker that don't answer, at addresses that begin with `network`. */
const hostsIn = (network: string) => `# Frankfurt
all:
  hosts:
    cp1: {ansible_host: ${network}1, ansible_port: 1, ansible_user: ops}
    w1: {ansible_host: ${network}2, ansible_port: 1, ansible_user: ops}   # rack 7
  children:
    kube_control_plane:
      hosts:
        cp1:
    kube_node:
      hosts:
        w1:
`;

const GROUPS = '  children:\n    kube_control_plane:\n      hosts:\n        cp1:\n    kube_node:\n      hosts:\n        w1:\n        w2:\n';

bothWays((script) => {
  const ending = script ? 'js' : 'plain';

  test('one button saves the inventory and adds the node', async ({ page, visit, kube }) => {
    const cluster = `grow-${ending}`;
    const network = ownNetwork();
    const inventory = hostsIn(network);
    await makeCluster(kube, cluster, { hosts: inventory });
    await visit(`/clusters/${cluster}/nodes`);
    await page.getByRole('link', { name: 'Add nodes' }).click();
    await page.getByLabel('Name of machine 1').fill('w1');
    await page.getByLabel('Address of machine 1').fill(`${network}3`);
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText('w1 is in the inventory already. Choose another name.')).toBeVisible();
    await expect(page.getByLabel('Address of machine 1')).toHaveValue(`${network}3`);

    // A machine of another cluster.
    const elsewhere = ownNetwork();
    await makeCluster(kube, `${cluster}-other`, { hosts: hostsIn(elsewhere) });
    await page.getByLabel('Name of machine 1').fill('w2');
    await page.getByLabel('Address of machine 1').fill(`${elsewhere}2`);
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText(`w2 has the address of w1 in the cluster ${cluster}-other.`)).toBeVisible();
    await page.getByLabel('Address of machine 1').fill(`${network}3`);

    await page.getByLabel('Name of machine 1').fill('w2');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText(`w2 doesn't answer SSH at [${network}3]:1`);
    await expect(review).toContainText('w2 added to kube_node');
    await expect(review).toContainText('--limit=w2');
    await expect(review).toContainText('cp1 is asked, too. No task runs on the other machine.');
    await expect(review).toContainText("How long it takes isn't known yet");
    expect((await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml']).toBe(inventory);

    await page.getByRole('button', { name: 'Save and run' }).click();
    await expect(page).toHaveURL(/\/operations\/scale-/);
    await expect(page.getByRole('heading', { level: 1 })).toContainText(`scale.yml on ${cluster}`);
    const saved = (await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml'];
    expect(saved).toBe(
      inventory.replace('# rack 7\n', `# rack 7\n    w2: {ansible_host: ${network}3, ansible_port: 1, ansible_user: ops}\n`) + '        w2:\n',
    );
    const operation = (await kube.list('ClusterOperation')).find((o) => o.spec.cluster === cluster);
    expect(operation.spec.extraArgs).toBe('--limit=w2');
  });

  test('a review says which machines let the key in', async ({ page, visit, kube, sshd }) => {
    const cluster = `login-${ending}`;
    const hosts = hostsIn('127.0.0.').replaceAll('ansible_port: 1, ansible_user: ops', `ansible_port: ${sshd.port}, ansible_user: ${sshd.user}`);
    await makeCluster(kube, cluster, { hosts: hosts.replace('127.0.0.1', '127.0.0.9'), key: sshd.privateKey });
    await visit(`/clusters/${cluster}/nodes/add`);
    await page.getByLabel('Name of machine 1').fill('w2');
    await page.getByLabel('Address of machine 1').fill('127.0.0.3');
    await page.getByLabel('Name of machine 2').fill('w3');
    await page.getByLabel('Address of machine 2').fill('127.0.0.4');
    await page.getByLabel('User of machine 2').fill('eve');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    // At its start: a fingerprint in another row may have the same two letters.
    await expect(review.getByRole('row', { name: /^w2 / })).toContainText('Works');
    await expect(review.getByRole('row', { name: /^w3 / })).toContainText('Fails');
    await expect(review).toContainText("w3 doesn't let eve in with the cluster's key: Permission denied");
  });

  test('control planes join with etcd and the consequences are shown', async ({ page, visit, kube }) => {
    const cluster = `planes-${ending}`;
    const network = ownNetwork();
    const inventory = hostsIn(network);
    const hosts = `${inventory}    etcd:\n      hosts:\n        cp1:\n`;
    await makeCluster(kube, cluster, { hosts, variables: 'loadbalancer_apiserver: {address: 127.0.0.99}\n' });
    await visit(`/clusters/${cluster}/nodes/add`);
    await expect(page.getByLabel('Role of machine 1')).toHaveValue('worker');
    await page.getByLabel('Name of machine 1').fill('cp2');
    await page.getByLabel('Address of machine 1').fill(`${network}3`);
    await page.getByLabel('Role of machine 1').selectOption('control_plane');
    await page.getByRole('button', { name: 'Review' }).click();
    await expect(page.getByText('etcd would have 2 members')).toBeVisible();
    await expect(page.getByLabel('Role of machine 1')).toHaveValue('control_plane');

    await page.getByLabel('Name of machine 2').fill('cp3');
    await page.getByLabel('Address of machine 2').fill(`${network}4`);
    await page.getByLabel('Role of machine 2').selectOption('control_plane');
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText('etcd grows from 1 member to 3');
    await expect(review).toContainText('add port 6443 of cp2 and cp3 to this load balancer');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await expect(page).toHaveURL(/\/operations\/cluster-/);
    const saved = (await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml'];
    expect(saved).toContain('    etcd:\n      hosts:\n        cp1:\n        cp2:\n        cp3:\n');
    expect(saved).toContain('# rack 7');
    const operation = (await kube.list('ClusterOperation')).find((o) => o.spec.cluster === cluster);
    expect(operation.spec.extraArgs).toBe('--limit=cp2,cp3');
  });

  test('one dialog replaces a worker and continues after a failure', async ({ page, visit, kube }) => {
    const cluster = `swap-${ending}`;
    const network = ownNetwork();
    const inventory = hostsIn(network);
    await makeCluster(kube, cluster, { hosts: inventory });
    await visit(`/clusters/${cluster}/nodes`);
    await page.getByRole('link', { name: 'Replace… w1' }).click();
    await page.getByLabel('Name of machine 1').fill('w2');
    await page.getByLabel('Address of machine 1').fill(`${network}3`);
    await page.getByLabel("The machine of w1 can't be reached any more").check();
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText('w2 joins first. Only when that has succeeded, w1 is removed.');
    await expect(review).toContainText('reset_nodes=false');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await expect(page).toHaveURL(/\/operations\/scale-/);
    const name = page.url().split('/').pop() ?? '';
    await kube.ended(name);

    await visit(`/clusters/${cluster}/nodes/replace?node=w1`);
    await expect(page.getByText('w2 is in the inventory.')).toBeVisible();
    await page.getByRole('button', { name: 'Run the replacement again' }).click();
    await expect(page).toHaveURL(/\/operations\/scale-/);
    const operations = (await kube.list('ClusterOperation')).filter((o) => o.spec.cluster === cluster);
    expect(operations.length).toBe(2);
    expect(operations.every((o) => o.spec.postHook[0].action === 'remove-node.yml')).toBe(true);
  });

  test('a control plane is exchanged after its removal', async ({ page, visit, kube }) => {
    const cluster = `exchange-${ending}`;
    const network = ownNetwork();
    const inventory = hostsIn(network);
    const hosts = inventory.replace('    w1:', `    cp2: {ansible_host: ${network}3, ansible_port: 1, ansible_user: ops}\n    cp3: {ansible_host: ${network}4, ansible_port: 1, ansible_user: ops}\n    w1:`)
      .replace('        cp1:\n', '        cp1:\n        cp2:\n        cp3:\n');
    await makeCluster(kube, cluster, { hosts, variables: 'loadbalancer_apiserver: {address: 127.0.0.99}\n' });
    await visit(`/clusters/${cluster}/nodes`);
    await page.getByRole('link', { name: 'Replace… cp3' }).click();
    await page.getByRole('link', { name: 'Remove cp3…' }).click();
    await expect(page.getByText('With 2 members left')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Remove cp3' })).toBeVisible();

    // In place of the playbook, one of the same name that changes nothing.
    const playbook = '- {hosts: localhost, gather_facts: false, tasks: [{debug: {msg: "removed {{ node }}"}}]}\n';
    await runOwn(kube, cluster, `${cluster}-gone`, playbook, { action: 'remove-node.yml', extraArgs: '-e node=cp3' });
    await kube.ended(`${cluster}-gone`);

    await visit(`/clusters/${cluster}/nodes/remove?node=cp3`);
    await page.getByRole('link', { name: 'replace it by another machine' }).click();
    await expect(page.getByText('has removed cp3 from the cluster')).toBeVisible();
    await expect(page.getByLabel('Role of machine 1')).toHaveValue('control_plane');
    await page.getByLabel('Name of machine 1').fill('cp4');
    await page.getByLabel('Address of machine 1').fill(`${network}5`);
    await page.getByRole('button', { name: 'Review' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await expect(review).toContainText('etcd grows from 2 members to 3');
    await expect(review).toContainText('cp3 leaves the inventory.');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await expect(page).toHaveURL(/\/operations\/cluster-/);
    const saved = (await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml'];
    expect(saved).toContain('      hosts:\n        cp1:\n        cp2:\n        cp4:\n');
    expect(saved).not.toContain('cp3');
    const operation = (await kube.list('ClusterOperation')).find((o) => o.spec.cluster === cluster && o.spec.action === 'cluster.yml');
    expect([operation.spec.extraArgs, operation.spec.postHook ?? []]).toEqual(['--limit=cp4', []]);
  });

  test('a node without its machine is removed without a login', async ({ page, visit, kube }) => {
    const cluster = `gone-${ending}`;
    await makeCluster(kube, cluster, { hosts: hostsIn(ownNetwork()) });
    await visit(`/clusters/${cluster}/nodes/remove?node=w1`);
    await page.getByRole('link', { name: "The machine can't be reached any more" }).click();
    await expect(page.getByText("The operation doesn't log in to the machine.")).toBeVisible();
    await page.getByRole('button', { name: 'Remove w1' }).click();
    await expect(page).toHaveURL(/\/operations\/remove-node-/);
    const operation = (await kube.list('ClusterOperation')).find((o) => o.spec.cluster === cluster);
    expect(operation.spec.extraArgs).toContain('-e reset_nodes=false -e allow_ungraceful_removal=true');
  });

  test('a node leaves the cluster before the inventory', async ({ page, visit, kube }) => {
    const cluster = `shrink-${ending}`;
    await makeCluster(kube, cluster, { hosts: localHosts('cp1', 'w1', 'w2') + GROUPS });
    await visit(`/clusters/${cluster}/nodes`);
    await page.getByRole('link', { name: 'Remove… w2' }).click();
    await expect(page.getByText('The pods on w2 are evicted')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Remove w2' })).toBeVisible();
    await page.getByRole('link', { name: "The machine can't be reached any more" }).click();
    await expect(page.getByText("The operation doesn't log in to the machine.")).toBeVisible();
    await expect(page.getByText('-e reset_nodes=false -e allow_ungraceful_removal=true')).toBeVisible();
    await page.getByRole('link', { name: 'The machine can be reached: clean it, too' }).click();
    await expect(page.getByText('The pods on w2 are evicted')).toBeVisible();
    await visit(`/clusters/${cluster}/nodes/remove?node=cp1`);
    await expect(page.getByRole('alert')).toContainText('cp1 is the only control plane');
    await expect(page.getByRole('alert').getByRole('link', { name: 'Back' })).toHaveAttribute('href', `/clusters/${cluster}/nodes`);

    // In place of the playbook, which would change this computer, one of the same name that changes nothing.
    const playbook = '- {hosts: cp1, gather_facts: false, tasks: [{debug: {msg: "removed {{ node }}"}}]}\n';
    await runOwn(kube, cluster, `${cluster}-gone`, playbook, { action: 'remove-node.yml', extraArgs: '-e node=w2' });
    await kube.ended(`${cluster}-gone`);

    await visit(`/clusters/${cluster}/nodes`);
    await expect(page.getByRole('row', { name: /^w2/ })).toContainText('Removed from the cluster');
    await page.getByRole('link', { name: 'Remove from the inventory… w2' }).click();
    await expect(page.getByText('w2 removed', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Remove from the inventory' }).click();
    await expect(page).toHaveURL(`/clusters/${cluster}/nodes`);
    await expect(page.getByRole('row', { name: /^w1/ })).toBeVisible();
    await expect(page.getByRole('row', { name: /^w2/ })).toHaveCount(0);
    const saved = (await kube.get('ConfigMap', `${cluster}-hosts`)).data['hosts.yml'];
    expect(saved).toBe(localHosts('cp1', 'w1') + GROUPS.replace('        w2:\n', ''));
  });
});
