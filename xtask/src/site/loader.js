const parts = [];
const take = (file) => {
  const early = globalThis.early?.[file];
  if (early) delete globalThis.early[file];
  return early ?? fetch(file);
};
const bring = async (file, needed) => {
  if (!needed.every((number) => parts[number])) {
    const answer = await take(file);
    if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
    const bytes = await answer.arrayBuffer();
    const head = new DataView(bytes);
    const count = head.getUint32(0, true);
    let at = 4 + 8 * count;
    for (let i = 4; i < 4 + 8 * count; i += 8) {
      const number = head.getUint32(i, true);
      const length = head.getUint32(i + 4, true);
      parts[number] ??= WebAssembly.instantiate(new Uint8Array(bytes, at, length), getSharedImports()).catch((error) => {
        delete parts[number];
        throw error;
      });
      at += length;
    }
  }
  await Promise.all(needed.map((number) => parts[number] ?? Promise.reject(new Error(`${file}: part ${number} is missing`))));
};
const page = (file, needed) => async (callback, data) => {
  let loaded = false;
  try {
    await bring(file, needed);
    loaded = true;
  } catch (error) {
    console.error(error);
  }
  getSharedImports().__wasm_split.__indirect_function_table.get(callback)(data, loaded);
};
