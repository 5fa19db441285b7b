# SPDX-License-Identifier: MIT
"""The refund consumer with kafka-python, logging through Python's logging at INFO."""

import logging
import signal
import time

from kafka import ConsumerRebalanceListener, KafkaConsumer

import refunds


class Listener(ConsumerRebalanceListener):
    def __init__(self, work):
        self.work = work

    def on_partitions_revoked(self, revoked):
        self.work.partitions("revoked", revoked)

    def on_partitions_assigned(self, assigned):
        self.work.partitions("assigned", assigned)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
    log = logging.getLogger("refunds")
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    work = refunds.Refunds()
    consumer = KafkaConsumer(
        bootstrap_servers=refunds.BOOTSTRAP, group_id=refunds.GROUP, client_id=refunds.CLIENT_ID,
        session_timeout_ms=refunds.SESSION_TIMEOUT_MS, heartbeat_interval_ms=refunds.HEARTBEAT_INTERVAL_MS,
        max_poll_interval_ms=refunds.MAX_POLL_INTERVAL_MS, auto_offset_reset="earliest")
    log.info("Starting refund service on %s", refunds.CLIENT_ID)
    consumer.subscribe([refunds.TOPIC], listener=Listener(work))
    while not stopping:
        for records in consumer.poll(timeout_ms=500).values():
            for record in records:
                for seconds in work.handle(record.topic, record.partition, record.offset, record.value):
                    time.sleep(seconds)
    log.info("Stopping refund service on %s", refunds.CLIENT_ID)
    work.journal("stop")
    consumer.close()


main()
