// SPDX-License-Identifier: MIT
// Times llama.cpp on a GGUF file: node time.mjs FILE THREADS PROMPT GENERATE RUNS
// Prints "prefill MS" and "decode MS" lines: the processor time of the threads of llama.cpp over their
// number, so that what other processes and JavaScript take does not count.
import {readFileSync} from "node:fs";
import {getLlama} from "node-llama-cpp";

const [path, ...numbers] = process.argv.slice(2);
const [threads, prompt, generate, runs] = numbers.map(Number);
const llama = await getLlama({gpu: false, build: "never", maxThreads: threads, logLevel: "error"});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({
    contextSize: prompt + generate + 16, batchSize: prompt, threads: {ideal: threads, min: threads}, flashAttention: false,
});
const sequence = context.getSequence();

// The processor time in milliseconds of all threads but the first, in which JavaScript runs.
function spent() {
    const {user, system} = process.cpuUsage();
    const [first] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return (user + system) / 1e3 - Number(first) / 1e6;
}

async function time(work) {
    const before = spent();
    const start = performance.now();
    await work();
    return [(spent() - before) / threads, performance.now() - start];
}

const tokens = [...Array(prompt).keys()].map((i) => 3 + i * 37 % 4000);
for (let run = 0; run <= runs; run++) { // the first warms up
    await sequence.clearHistory();
    const prefill = await time(() => sequence.evaluateWithoutGeneratingNewTokens(tokens));
    const decode = await time(async () => {
        let left = generate;
        for await (const token of sequence.evaluate([5], {temperature: 0, yieldEogToken: true})) {
            if (--left === 0 || token === undefined) {
                break;
            }
        }
    });
    if (run > 0) {
        console.log(`prefill ${prefill[0]} ${prefill[1]}`);
        console.log(`decode ${decode[0] / generate} ${decode[1] / generate}`);
    }
}
process.exit(0);
