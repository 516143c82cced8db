// What the gate proves on machines: a cluster is created and grown by hand, and works.
import { expect, test } from '../fixtures/console.ts';
import { addNode, confirmHostKeys, create, downloadKubeconfig, kubectl, register, servedVersions } from '../fixtures/machines.ts';

const workload = new URL('../lab/tests/engine/workload.yaml', import.meta.url);

test('a cluster is created and grown, and its pods answer', async ({ page, visit }) => {
  const [version] = await servedVersions();
  await register(page, visit, version);
  await confirmHostKeys(page);
  await create(page, visit, version);
  const kubeconfig = await downloadKubeconfig(page, visit);
  await addNode(page, visit);

  await test.step('all nodes are Ready, and a pod answers by the name of its Service', async () => {
    const ready = kubectl(kubeconfig, 'get', 'nodes', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}');
    expect(ready).toBe('m1 True\nm2 True\nm3 True\n');
    kubectl(kubeconfig, 'apply', '-f', workload.pathname);
    kubectl(kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=120s');
    await expect(async () => {
      const asked = kubectl(kubeconfig, 'exec', 'deployment/web', '--', 'probe', 'get', 'http://web.default.svc.cluster.local');
      expect(asked).toMatch(/^web-\S+ saw /);
    }).toPass({ timeout: 120_000 });
  });
});
