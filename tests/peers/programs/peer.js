// SPDX-License-Identifier: Apache-2.0
// What of Node meets the system: workers, child processes, signals, sockets on the loopback, files, crypto, zlib.
'use strict';
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const net = require('net');
const workers = require('worker_threads');
const zlib = require('zlib');

if (!workers.isMainThread) {
	let sum = 0;
	for (let i = 0; i < workers.workerData; i++)
		sum += i % 7;
	workers.parentPort.postMessage(sum);
	return;
}
if (process.argv[2] === 'child') {
	process.on('message', (text) => { process.send(text + '!'); process.disconnect(); });
	return;
}

const digest = (data) => crypto.createHash('sha256').update(data).digest('hex').slice(0, 12);
const once = (emitter, event) => new Promise((done) => emitter.once(event, (...all) => done(all)));

const tests = {
	async workers() {
		const all = Array.from({length: 8}, (_, i) => new workers.Worker(__filename, {workerData: 100000 * i}));
		return Promise.all(all.map(async (one) => (await once(one, 'message'))[0]));
	},
	async terminated_worker() {
		const one = new workers.Worker('for (;;);', {eval: true});
		await once(one, 'online');
		return one.terminate();
	},
	async forked() {
		const child = childProcess.fork(__filename, ['child']);
		child.send('hello');
		const [text] = await once(child, 'message');
		return [text, ...await once(child, 'exit')];
	},
	async spawned() {
		const out = [];
		for (let i = 0; i < 20; i++) {
			const child = childProcess.spawn('/bin/sh', ['-c', 'cat; exit ' + i]);
			child.stdin.end('line ' + i);
			child.stdout.on('data', (data) => out.push(data.toString()));
			out.push(...await once(child, 'close'));
		}
		return digest(JSON.stringify(out));
	},
	async killed() {
		const child = childProcess.spawn('sleep', ['60']);
		child.kill('SIGTERM');
		return once(child, 'exit');
	},
	async not_there() {
		const child = childProcess.spawn('/no/such/program');
		return (await once(child, 'error'))[0].code;
	},
	async synchronous() {
		return childProcess.execFileSync('/bin/echo', ['a', 'b']).toString();
	},
	async signals() {
		const came = once(process, 'SIGUSR2');
		process.kill(process.pid, 'SIGUSR2');
		return (await came)[0];
	},
	async http() {
		const server = http.createServer((request, answer) => request.pipe(answer)).listen(0, '127.0.0.1');
		await once(server, 'listening');
		const request = http.request({port: server.address().port, host: '127.0.0.1', method: 'POST'});
		request.end(Buffer.alloc(300000, 'x'));
		const [answer] = await once(request, 'response');
		const parts = [];
		for await (const part of answer)
			parts.push(part);
		server.close();
		return digest(Buffer.concat(parts));
	},
	async refused() {
		const server = net.createServer().listen(0, '127.0.0.1');
		await once(server, 'listening');
		const {port} = server.address();
		server.close();
		await once(server, 'close');
		return (await once(net.connect(port, '127.0.0.1'), 'error'))[0].code;
	},
	async files() {
		await Promise.all(Array.from({length: 200}, (_, i) => fs.promises.writeFile('f' + i, 'x'.repeat(i * 10))));
		const sizes = await Promise.all(Array.from({length: 200}, async (_, i) => (await fs.promises.stat('f' + i)).size));
		return sizes.reduce((a, b) => a + b);
	},
	async pool() {
		const jobs = Array.from({length: 16}, (_, i) => new Promise((done) =>
			crypto.pbkdf2('secret', 'salt' + i, 2000, 32, 'sha512', (error, key) => done(key))));
		return digest(Buffer.concat(await Promise.all(jobs)));
	},
	async zlib() {
		const data = Buffer.from(Array.from({length: 100000}, (_, i) => (i * i) & 255));
		return digest(zlib.brotliDecompressSync(zlib.brotliCompressSync(data))) + digest(zlib.gunzipSync(zlib.gzipSync(data)));
	},
	async webassembly() {
		if (typeof WebAssembly === 'undefined')
			return 'none';
		const add = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3,
			97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
		return new WebAssembly.Instance(new WebAssembly.Module(add)).exports.add(40, 2);
	},
	async deep() {
		const down = (n) => 1 + down(n + 1);
		try {
			return down(0);
		} catch (error) {
			return error.constructor.name;
		}
	},
	async garbage() {
		let kept = [];
		for (let i = 0; i < 300000; i++) {
			kept.push({i, text: 'x' + i});
			if (kept.length > 20000)
				kept = kept.slice(10000);
		}
		return kept.length;
	},
};

(async () => {
	for (const [name, test] of Object.entries(tests)) {
		const outcome = await test().catch((error) => 'throws ' + error.name);
		console.log(name + '\t' + JSON.stringify(outcome));
	}
	process.exitCode = 7;
})();
