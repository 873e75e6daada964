// A traveller's device whose database and replication are RxDB's, driven line by line: a command comes as JSON on
// stdin, {"do": ..., ...}, its outcome goes as JSON to stdout. What is ours here is the schema of a document, the two
// handlers that carry RxDB's requests to the server, and hooks that note when something was changed.
// Conflicts are left to RxDB's default handler: what the server says is taken.

import { createInterface } from 'node:readline';
import { createRxDatabase } from 'rxdb/plugins/core';
import { getRxStorageMemory } from 'rxdb/plugins/storage-memory';
import { replicateRxCollection } from 'rxdb/plugins/replication';

let url, token;
const text = { type: ['string', 'null'] };
const schema = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 100 },
    region_type: { type: 'string' },
    region_code: { type: 'string' },
    region_name: text,
    visited_date: text,
    notes: text,
    trips: { type: 'object' },
    marked_at: text,
    marked_from_device: text,
    version: { type: 'number' },
    edited_at: text,
  },
  required: ['id', 'region_type', 'region_code'],
};

let database = null;
let places = null;

// Two changes are never alike: the later one has the later moment, however fast they come.
let last = 0;
const touch = (data) => {
  last = Math.max(Date.now(), last + 1);
  data.edited_at = new Date(last).toISOString();
};

// --- the way to the server ---

let asked, errors, results;
let lose = 0; // so many answers to pushes get lost
let hold = null; // a promise the answer to a push waits for

async function ask(path, init = {}) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/v1/sync/documents/${path}`, { ...init, headers });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${body.code}: ${body.message}`);
  return body;
}

async function pull(checkpoint, limit) {
  asked.pulls += 1;
  const query = new URLSearchParams({ limit });
  for (const [name, value] of Object.entries(checkpoint ?? {})) if (value !== null) query.set(name, value);
  return ask(`pull?${query}`);
}

async function push(rows) {
  asked.pushes += 1;
  asked.rows += rows.length;
  const said = await ask('push', { method: 'POST', body: JSON.stringify({ rows }) });
  if (hold) await hold;
  if (lose > 0) {
    lose -= 1;
    throw new Error('the answer was lost');
  }
  results.push(...said.results);
  return said.conflicts;
}

let replication = null;

function connect({ batch = 100 }) {
  replication = replicateRxCollection({
    collection: places,
    replicationIdentifier: 'tablewright',
    live: true,
    retryTime: 50,
    pull: { handler: pull, batchSize: batch },
    push: { handler: push, batchSize: batch },
  });
  replication.error$.subscribe((error) => {
    for (const one of error.parameters?.errors ?? [error]) errors.push(one.message);
  });
}

// --- commands ---

const commands = {
  // A device fresh from the box.
  async open({ name, ...where }) {
    await commands.close();
    ({ url, token } = where);
    [asked, errors, results] = [{ pulls: 0, pushes: 0, rows: 0 }, [], []];
    database = await createRxDatabase({ name, storage: getRxStorageMemory(), multiInstance: false });
    ({ places } = await database.addCollections({ places: { schema } }));
    places.preInsert(touch, false);
    places.preSave(touch, false);
    places.preRemove(touch, false);
  },
  async close() {
    await database?.remove();
    database = null;
  },
  async mark({ type = 'country', code, ...data }) {
    const region = { id: `${type}#${code}`, region_type: type, region_code: code };
    await places.insert({ ...region, notes: null, visited_date: null, trips: {}, version: 0, ...data });
  },
  async change({ type = 'country', code, ...data }) {
    await (await places.findOne(`${type}#${code}`).exec(true)).incrementalPatch(data);
  },
  async unmark({ type = 'country', code }) {
    await (await places.findOne(`${type}#${code}`).exec(true)).incrementalRemove();
  },
  async login(said) {
    token = said.token;
  },
  // Online, everything told and heard, offline again.
  async sync({ batch, answers_lost = 0 }) {
    lose = answers_lost;
    connect({ batch });
    await replication.awaitInitialReplication();
    await commands.settle();
    await commands.disconnect();
  },
  async connect({ batch }) {
    connect({ batch });
    await replication.awaitInitialReplication();
  },
  async settle() {
    await replication.awaitInSync();
    replication.reSync();
    await replication.awaitInSync();
  },
  async disconnect() {
    await replication.cancel();
    replication = null;
  },
  // Changed again and again while the answer to the first change is on its way.
  async change_in_flight({ type = 'country', code, changes, remove = false }) {
    const before = asked.pushes;
    let release;
    hold = new Promise((resolve) => (release = resolve));
    const [first, ...others] = changes;
    await commands.change({ type, code, ...first });
    while (asked.pushes === before) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const each of others) await commands.change({ type, code, ...each });
    if (remove) await commands.unmark({ type, code });
    hold = null;
    release();
    await commands.settle();
  },
  async places() {
    const found = await places.find().exec();
    return Object.fromEntries(found.map((one) => [one.id, one.toJSON()]));
  },
  async told() {
    return { ...asked, errors, results };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...rest } = JSON.parse(line);
  let said;
  try {
    said = { ok: (await commands[name](rest)) ?? null };
  } catch (error) {
    said = { error: String(error.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await commands.close();
