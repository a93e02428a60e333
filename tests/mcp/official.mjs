// The official SDK as a client of `el mcp`. It prints what it sees as one JSON document.
//
//   node official.mjs SDK-FOLDER v1|v2-handshake|v2-stateless TASK-ID
//
// The SDK validates every message against its schemas of the protocol, and throws at one that does
// not fit.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, how, taskId] = process.argv.slice(2);
const require = createRequire(join(folder, 'client.js'));
const v1 = how === 'v1';
const sdk = v1 ? '@modelcontextprotocol/sdk/client' : '@modelcontextprotocol/client';
const { Client } = require(v1 ? `${sdk}/index.js` : sdk);
const { StdioClientTransport } = require(v1 ? `${sdk}/stdio.js` : `${sdk}/stdio`);

const seen = { how, wrong: [] };
const mode = how === 'v2-stateless' ? { pin: '2026-07-28' } : 'legacy';
const versions = v1 ? {} : { versionNegotiation: { mode } };
const client = new Client({ name: 'official', version: '1' }, versions);
client.onerror = (error) => seen.wrong.push(String(error));
const server = { command: 'el', args: ['mcp'], env: process.env, stderr: 'inherit' };
const transport = new StdioClientTransport(server);
await client.connect(transport);
seen.server = client.getServerVersion();
seen.version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
seen.instructions = client.getInstructions();
seen.capabilities = client.getServerCapabilities();

// v1 takes the schema of the result as its second argument, v2 does not.
const call = (name, args, options) =>
  client.callTool({ name, arguments: args }, ...(v1 ? [undefined, options] : [options]));
const thrown = async (doing) => {
  try {
    return { result: await doing() };
  } catch (error) {
    return { code: error.code ?? null, message: String(error.message) };
  }
};

const { tools } = await client.listTools();
seen.tools = tools.map((tool) => tool.name);
const Ajv = require('ajv/dist/2020.js').default;
for (const tool of tools) {
  new Ajv({ strict: true }).compile(tool.inputSchema);
}
if (how !== 'v2-stateless') seen.ping = await client.ping();

const created = await call('create', { title: 'By the official client', labels: ['sdk'] });
seen.created = created.content[0].text;
const id = seen.created.split(' ')[1];
seen.shown = (await call('show', { id })).content[0].text;
seen.unknownTool = await thrown(() => call('nope', {}));
seen.badInput = await thrown(() => call('create', { titel: 'x' }));
seen.notFound = await thrown(() => call('show', { id: 'nowhere' }));

const large = 'x'.repeat(1 << 20);
const big = await call('create', { title: 'Large', description: large });
seen.large = big.isError ?? false;

const titles = Array.from({ length: 100 }, (_, n) => `Many ${n}`);
const many = await Promise.all(titles.map((title) => call('create', { title })));
seen.many = new Set(many.map((one) => one.content[0].text.split(' ')[1])).size;

// A call that waits: progress comes, other calls are answered meanwhile, and it can be called off.
const stop = new AbortController();
const progress = [];
let heard;
const first = new Promise((resolve) => (heard = resolve));
const waiting = thrown(() =>
  call('claude_code_result', { task_id: taskId, wait: 600 }, {
    signal: stop.signal,
    onprogress: (one) => {
      progress.push(one);
      heard();
    },
  }),
);
await first;
seen.meanwhile = (await call('claude_code_status', { task_id: taskId })).content[0].text;
stop.abort('enough');
seen.calledOff = await waiting;
seen.progress = progress;

const closing = await call('close', { ids: [id], reason: 'by the official client' });
seen.closed = closing.content[0].text;
await client.close();
console.log(JSON.stringify(seen));
