// SPDX-License-Identifier: MIT

// The refund consumer with KafkaJS and its own console logger at INFO: one JSON object a line.
'use strict';

const fs = require('fs');
const net = require('net');
const readline = require('readline');
const { Kafka, logLevel } = require('kafkajs');

const env = process.env;
const STEPS = ['reversal', 'ledger', 'notice'];
const RETRY_MS = 300;

const journalFile = fs.openSync(env.JOURNAL, 'a');
const books = net.connect(env.BOOKS);
const answers = readline.createInterface({ input: books })[Symbol.asyncIterator]();
let last = 0;

/** Microseconds that never go back: two entries of one millisecond keep their order. */
function now() {
  last = Math.max(Date.now() * 1000, last + 1);
  return new Date(Math.floor(last / 1000)).toISOString().replace('Z', String(last % 1000).padStart(3, '0') + 'Z');
}

function journal(what, fields = {}) {
  fs.writeSync(journalFile, JSON.stringify({ time: now(), what, consumer: env.CLIENT_ID, ...fields }) + '\n');
}

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** The injector's way to make one record slow: a file with a number of milliseconds, used up by the next record. */
async function stallIfTold() {
  if (!fs.existsSync(env.SLOW_NEXT)) return;
  const millis = Number(fs.readFileSync(env.SLOW_NEXT, 'utf8'));
  fs.unlinkSync(env.SLOW_NEXT);
  journal('stall', { millis });
  await sleep(millis);
  journal('stall_over');
}

/** Two partitions' records may be handled at a time; the answers come in the order of the questions. */
let asking = Promise.resolve();
function ask(question) {
  const answer = asking.then(async () => {
    books.write(JSON.stringify(question) + '\n');
    return JSON.parse((await answers.next()).value);
  });
  asking = answer.catch(() => {});
  return answer;
}

async function attempt(step, refund, place) {
  const answer = await ask({ step, instance: env.CLIENT_ID, ...place, ...refund });
  journal('attempt', {
    business_key: refund.order_no, step, ...answer, ...place, amount: refund.amount, currency: refund.currency,
  });
  return answer.status;
}

async function main() {
  const kafka = new Kafka({ clientId: env.CLIENT_ID, brokers: [env.BOOTSTRAP], logLevel: logLevel.INFO });
  const log = kafka.logger().namespace('Refunds');
  const consumer = kafka.consumer({
    groupId: env.GROUP,
    sessionTimeout: Number(env.SESSION_TIMEOUT_MS),
    heartbeatInterval: Number(env.HEARTBEAT_INTERVAL_MS),
  });
  const note = (what, assignment) => journal(what, {
    partitions: Object.entries(assignment).flatMap(([topic, numbers]) => numbers.map((n) => `${topic}-${n}`)).sort(),
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => note('assigned', payload.memberAssignment));
  consumer.on(consumer.events.REBALANCING, () => note('revoked', {}));

  process.once('SIGTERM', async () => {
    log.info(`Stopping refund service on ${env.CLIENT_ID}`);
    journal('stop');
    await consumer.disconnect();
    process.exit(0);
  });
  log.info(`Starting refund service on ${env.CLIENT_ID}`);
  await consumer.connect();
  await consumer.subscribe({ topics: [env.TOPIC], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      const refund = JSON.parse(message.value.toString());
      const place = { topic, partition, offset: Number(message.offset) };
      journal('received', { ...place, business_key: refund.order_no });
      for (const step of STEPS) {
        if (step === 'ledger') await stallIfTold();
        await sleep(6 + Math.random() * 12);
        let status = await attempt(step, refund, place);
        while (status === 'failed') {
          await sleep(RETRY_MS);
          status = await attempt(step, refund, place);
        }
        log.info(`${step} ${refund.order_no} ${status} (${topic}-${partition}@${message.offset})`);
      }
      journal('done', place);
    },
  });
}

main();
