// SPDX-License-Identifier: MIT
// Answers the page's questions beside it, so that the page never waits. A message is {module} at
// first, then {ask: number, requests}; each request is answered by {ask, index, status, text,
// message}. A later ask ends an earlier one between two requests.
'use strict';

let answer = null;
let current = 0;

function step(ask, requests, index) {
  if (ask !== current) return;
  if (index === requests.length) {
    postMessage({ ask, done: true });
    return;
  }
  let reply;
  try {
    const { status, bytes, message } = answer(JSON.stringify(requests[index]));
    reply = { status, text: new TextDecoder().decode(bytes), message };
  } catch (failure) {
    reply = { status: -1, text: '', message: String(failure.message) };
  }
  postMessage({ ask, index, ...reply });
  setTimeout(step, 0, ask, requests, index + 1);
}

addEventListener('message', ({ data }) => {
  if (data.module) {
    answer = openModule(data.module);
    postMessage({ ready: true });
  } else {
    current = data.ask;
    step(data.ask, data.requests, 0);
  }
});
