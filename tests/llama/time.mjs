// SPDX-License-Identifier: MIT
// Times llama.cpp on a GGUF file: node time.mjs FILE THREADS PROMPT GENERATE RUNS
// Prints "prefill MS" and "decode MS" lines: the processor time of all threads over their number, so
// that what other processes take does not count.
import {getLlama} from "node-llama-cpp";

const [path, ...numbers] = process.argv.slice(2);
const [threads, prompt, generate, runs] = numbers.map(Number);
const llama = await getLlama({gpu: false, build: "never", maxThreads: threads, logLevel: "error"});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({
    contextSize: prompt + generate + 16, batchSize: prompt, threads: {ideal: threads, min: threads}, flashAttention: false,
});
const sequence = context.getSequence();

async function time(work) {
    const before = process.cpuUsage();
    const start = performance.now();
    await work();
    const spent = process.cpuUsage(before);
    return [(spent.user + spent.system) / 1e3 / threads, performance.now() - start];
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
