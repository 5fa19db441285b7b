# SPDX-License-Identifier: MIT
"""The refund consumer with confluent-kafka (librdkafka). With the argument "logger" the client logs through Python's
logging, else as librdkafka does by default: on stderr, in its own layout."""

import logging
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaError

import refunds


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-8s %(name)s: %(message)s")
    log = logging.getLogger("refunds")
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    work = refunds.Refunds()
    settings = {
        "bootstrap.servers": refunds.BOOTSTRAP,
        "group.id": refunds.GROUP,
        "client.id": refunds.CLIENT_ID,
        "session.timeout.ms": refunds.SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": refunds.HEARTBEAT_INTERVAL_MS,
        "max.poll.interval.ms": refunds.MAX_POLL_INTERVAL_MS,
        "auto.offset.reset": "earliest",
    }
    options = {"logger": logging.getLogger("kafka.client")} if "logger" in sys.argv[1:] else {}
    consumer = Consumer(settings, **options)

    def note(what):
        def callback(_, partitions):
            work.partitions(what, [(p.topic, p.partition) for p in partitions])
            log.info("partitions %s: %s", what, ", ".join(f"{p.topic} [{p.partition}]" for p in partitions))
        return callback

    log.info("Starting refund service on %s", refunds.CLIENT_ID)
    consumer.subscribe([refunds.TOPIC], on_assign=note("assigned"), on_revoke=note("revoked"), on_lost=note("lost"))
    while not stopping:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            if message.error().code() != KafkaError._PARTITION_EOF:
                log.error("Consumer error: %s", message.error())
            continue
        for seconds in work.handle(message.topic(), message.partition(), message.offset(), message.value()):
            time.sleep(seconds)
    log.info("Stopping refund service on %s", refunds.CLIENT_ID)
    work.journal("stop")
    consumer.close()


main()
