const parts = [];
const take = (file) => {
  const early = globalThis.early?.[file];
  if (early) delete globalThis.early[file];
  return early ?? fetch(file);
};
const bring = async (file) => {
  const answer = await take(file);
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const head = new DataView(bytes);
  const count = head.getUint32(0, true);
  const inside = [];
  let at = 4 + 8 * count;
  for (let i = 4; i < 4 + 8 * count; i += 8) {
    const number = head.getUint32(i, true);
    const length = head.getUint32(i + 4, true);
    parts[number] ??= WebAssembly.instantiate(new Uint8Array(bytes, at, length), getSharedImports()).catch((error) => {
      delete parts[number];
      throw error;
    });
    inside.push(parts[number]);
    at += length;
  }
  await Promise.all(inside);
};
// What was brought or is on its way, by the name of its page. The file of `cluster_nodes` contains what `cluster` needs.
const brought = {};
const page = (name, file) => async (callback, data) => {
  const inner = Object.keys(brought).find((other) => other.startsWith(`${name}_`) && !other.endsWith("_piece"));
  const key = brought[name] ? name : (inner ?? name);
  let loaded = false;
  try {
    await (brought[key] ??= bring(file));
    loaded = true;
  } catch (error) {
    delete brought[key];
    console.error(error);
  }
  getSharedImports().__wasm_split.__indirect_function_table.get(callback)(data, loaded);
};
