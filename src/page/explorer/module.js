// SPDX-License-Identifier: MIT
// The module of the explorer, which answers questions as the program does. It has no files and no
// environment: what asks for them gets the error that nothing is there.
'use strict';

const NOTHING_THERE = 8; // EBADF of WASI

// Returns a function from a request, as JSON text, to {status, bytes, message}.
function openModule(compiled) {
  let memory = null;
  const wasi = {};
  const absent = {};
  for (const { module, name } of WebAssembly.Module.imports(compiled)) {
    if (module === 'env') absent[name] = () => { throw new Error(`the page does not do this (${name})`); };
    else wasi[name] = () => NOTHING_THERE;
  }
  wasi.environ_sizes_get = (count, size) => {
    const view = new DataView(memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  };
  wasi.environ_get = () => 0;
  wasi.proc_exit = (code) => { throw new Error(`the module ended with ${code}`); };
  const { exports } = new WebAssembly.Instance(compiled, { wasi_snapshot_preview1: wasi, env: absent });
  memory = exports.memory;
  exports._initialize();
  const page = exports.roof_page_open();
  const textAt = (start) => {
    const all = new Uint8Array(memory.buffer);
    return new TextDecoder().decode(all.subarray(start, all.indexOf(0, start)));
  };
  return (request) => {
    const encoded = new TextEncoder().encode(request);
    const room = exports.roof_page_room(page, encoded.length);
    new Uint8Array(memory.buffer).set(encoded, room);
    const status = exports.roof_page_ask(page);
    const start = exports.roof_page_text(page);
    const bytes = new Uint8Array(memory.buffer).slice(start, start + exports.roof_page_length(page));
    return { status, bytes, message: textAt(exports.roof_page_message(page)) };
  };
}
