# SPDX-License-Identifier: MIT
"""The refund consumer with aiokafka, logging through Python's logging at INFO. Its handler sleeps without blocking
the event loop, so that heartbeats go on during an overrun."""

import asyncio
import logging
import signal

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

import refunds


class Listener(ConsumerRebalanceListener):
    def __init__(self, work):
        self.work = work

    async def on_partitions_revoked(self, revoked):
        self.work.partitions("revoked", revoked)

    async def on_partitions_assigned(self, assigned):
        self.work.partitions("assigned", assigned)


async def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(name)s] %(message)s")
    log = logging.getLogger("refunds")
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    work = refunds.Refunds()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=refunds.BOOTSTRAP, group_id=refunds.GROUP, client_id=refunds.CLIENT_ID,
        session_timeout_ms=refunds.SESSION_TIMEOUT_MS, heartbeat_interval_ms=refunds.HEARTBEAT_INTERVAL_MS,
        max_poll_interval_ms=refunds.MAX_POLL_INTERVAL_MS, auto_offset_reset="earliest")
    log.info("Starting refund service on %s", refunds.CLIENT_ID)
    consumer.subscribe([refunds.TOPIC], listener=Listener(work))
    await consumer.start()
    while not stopping.is_set():
        for records in (await consumer.getmany(timeout_ms=500)).values():
            for record in records:
                for seconds in work.handle(record.topic, record.partition, record.offset, record.value):
                    await asyncio.sleep(seconds)
    log.info("Stopping refund service on %s", refunds.CLIENT_ID)
    work.journal("stop")
    await consumer.stop()


asyncio.run(main())
