// SPDX-License-Identifier: MIT
// Opens the module of the page: ask(request) -> {status, text, message}. The module has no files and
// no environment: what asks for them gets the error that nothing is there.
const NOTHING_THERE = 8; // EBADF of WASI

export function openModule(bytes) {
  const compiled = new WebAssembly.Module(bytes);
  const wasi = {};
  let memory;
  for (const { name } of WebAssembly.Module.imports(compiled)) wasi[name] = () => NOTHING_THERE;
  wasi.environ_sizes_get = (count, size) => {
    const view = new DataView(memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  };
  wasi.environ_get = () => 0;
  wasi.proc_exit = (code) => { throw new Error(`the module ended with ${code}`); };
  const { exports } = new WebAssembly.Instance(compiled, { wasi_snapshot_preview1: wasi });
  memory = exports.memory;
  exports._initialize();
  const page = exports.roof_page_open();
  const decoder = new TextDecoder();
  const bytesAt = (start, length) => new Uint8Array(memory.buffer, start, length);
  const textAt = (start) => {
    const all = new Uint8Array(memory.buffer);
    let end = start;
    while (all[end] !== 0) end += 1;
    return decoder.decode(all.subarray(start, end));
  };
  return (request) => {
    const encoded = new TextEncoder().encode(request);
    const room = exports.roof_page_room(page, encoded.length);
    bytesAt(room, encoded.length).set(encoded);
    const status = exports.roof_page_ask(page);
    const length = exports.roof_page_length(page);
    const text = length === 0 ? new Uint8Array() : bytesAt(exports.roof_page_text(page), length).slice();
    return { status, text, message: textAt(exports.roof_page_message(page)) };
  };
}
