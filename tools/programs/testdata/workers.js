// A pool of worker threads with transfers, shared memory, native modules (zlib, crypto, fs) and
// workers that end in several ways.
// usage: workers.js SIZE
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');

const size = Number(process.argv[2] || 2000);

function word(n) {
  let out = '';
  for (let i = 0; i <= n % 9; i++) out += String.fromCharCode(97 + ((n >>> (3 * i)) % 26));
  return out;
}

function digest(data) {
  return crypto.createHash('sha256').update(data).digest('hex').slice(0, 24);
}

// What a worker does with one task: maps, JSON, buffers outside the heap, compression.
function work(task) {
  const map = new Map();
  for (let i = 0; i < task.size; i++) {
    const key = word(i * task.seed + task.seed);
    map.set(key, (map.get(key) || []).concat(i).slice(-5));
  }
  const text = JSON.stringify([...map].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
  const packed = zlib.deflateSync(text, { level: 6 });
  const back = zlib.inflateSync(packed).toString();
  const brotli = zlib.brotliCompressSync(back.slice(0, 20000));
  const buffers = [];
  for (let i = 0; i < 200; i++) buffers.push(Buffer.alloc(1 + ((i * 7919) % 20000), i % 256));
  return { seed: task.seed, same: back === text, packed: digest(packed), brotli: digest(brotli),
    buffers: digest(Buffer.concat(buffers)), bytes: new Uint8Array(packed).buffer };
}

function worker() {
  const counter = new Int32Array(workerData.shared);
  parentPort.on('message', (task) => {
    if (task === 'end') process.exit(0);
    if (task === 'throw') throw new Error('asked to');
    const answer = work(task);
    for (let i = 0; i < 1000; i++) Atomics.add(counter, 0, 1);
    parentPort.postMessage(answer, [answer.bytes]);
  });
}

function ended(w) {
  return new Promise((resolve) => {
    let failure = 'none';
    w.on('error', (error) => { failure = error.message; });
    w.on('exit', (code) => resolve(`exit ${code}, error ${failure}`));
  });
}

async function main() {
  const shared = new SharedArrayBuffer(4);
  const pool = [0, 1, 2, 3].map(() => new Worker(__filename, { workerData: { shared }, argv: [size] }));
  const ends = pool.map(ended);
  const answers = [];
  await Promise.all(pool.map((w, k) => new Promise((resolve) => {
    let next = k;
    const send = () => (next < 40 ? w.postMessage({ seed: next + 1, size }) : resolve());
    w.on('message', (answer) => {
      answers.push(`${answer.seed} ${answer.same} ${answer.packed} ${answer.brotli} ` +
        `${answer.buffers} ${answer.bytes.byteLength}`);
      next += 4;
      send();
    });
    send();
  })));
  answers.sort((a, b) => parseInt(a) - parseInt(b));
  console.log(answers.join('\n'));
  console.log('counted', new Int32Array(shared)[0]);
  pool[0].postMessage('end');
  pool[1].postMessage('throw');
  const terminated = pool.slice(2).map((w) => w.terminate());
  console.log((await Promise.all(ends)).join('; '), (await Promise.all(terminated)).join(','));

  // Thirty workers that live for one line each.
  for (let i = 0; i < 30; i += 6) {
    const short = [];
    for (let k = i; k < i + 6; k++) {
      short.push(new Promise((resolve) => {
        const w = new Worker(`require('worker_threads').parentPort.postMessage('x'.repeat(${k}).length)`,
          { eval: true });
        w.on('message', resolve);
      }));
    }
    console.log('short', (await Promise.all(short)).join(' '));
  }

  const keys = crypto.scryptSync('word', 'salt', 32, { N: 4096 }).toString('hex');
  console.log('scrypt', keys);
  const cipher = crypto.createCipheriv('aes-256-cbc', Buffer.from(keys, 'hex'), Buffer.alloc(16));
  await new Promise((resolve, reject) => {
    fs.createReadStream(__filename).pipe(cipher).pipe(zlib.createGzip())
      .pipe(fs.createWriteStream('script.gz')).on('finish', resolve).on('error', reject);
  });
  console.log('streamed', digest(fs.readFileSync('script.gz')));
  const files = await Promise.all([...Array(100).keys()].map(async (i) => {
    await fs.promises.writeFile(`tmp/file${i}`, word(i).repeat(i * 50));
    return digest(await fs.promises.readFile(`tmp/file${i}`));
  }));
  console.log('files', digest(files.join()));
  console.log('done');
}

if (isMainThread) main().catch((error) => { console.error(error); process.exit(1); });
else worker();
