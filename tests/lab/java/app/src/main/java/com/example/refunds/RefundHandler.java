// SPDX-License-Identifier: MIT
package com.example.refunds;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the three steps of a refund. Its idempotency key is the flawed one of the incident: message coordinates
 * and consumer instance. A retry by the same instance is recognised; after a rebalance it is not.
 */
final class RefundHandler {
    /** A step did not take effect; the record is to be delivered again. */
    static final class StepFailed extends Exception {
        private static final long serialVersionUID = 1L;

        StepFailed(String message) {
            super(message);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(RefundHandler.class);
    private static final String[] STEPS = {"reversal", "ledger", "notice"};

    private final Books books;
    private final Journal journal;
    private final String instance;
    private final Path slowNext;

    RefundHandler(Books books, Journal journal, String instance, Path slowNext) {
        this.books = books;
        this.journal = journal;
        this.instance = instance;
        this.slowNext = slowNext;
    }

    void handle(ConsumerRecord<String, String> record) throws StepFailed, SQLException, InterruptedException, IOException {
        Refund refund = Refund.parse(record.value());
        for (String step : STEPS) {
            if (books.processed(record.topic(), record.partition(), record.offset(), instance, step)) {
                report(record, refund, step, "", "skipped");
                continue;
            }
            if (step.equals("ledger")) {
                stallIfTold();
            }
            String requestId = UUID.randomUUID().toString();
            Thread.sleep(ThreadLocalRandom.current().nextLong(6, 18));
            Books.Outcome outcome = switch (step) {
                case "reversal" -> books.reverse(requestId, refund);
                case "ledger" -> books.enter(requestId, refund);
                default -> books.notify(requestId, refund);
            };
            report(record, refund, step, requestId, outcome.name().toLowerCase());
            if (outcome == Books.Outcome.FAILED) {
                throw new StepFailed(step + " of " + refund.orderNo() + " timed out");
            }
            books.markProcessed(record.topic(), record.partition(), record.offset(), instance, step);
        }
    }

    private void report(ConsumerRecord<String, String> record, Refund refund, String step, String requestId, String status) {
        journal.write("attempt", "business_key", refund.orderNo(), "step", step, "request_id", requestId,
            "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
            "status", status, "amount", refund.amount(), "currency", refund.currency());
        LOG.info("{} {} {} ({}-{}@{})", step, refund.orderNo(), status, record.topic(), record.partition(), record.offset());
    }

    /** The injector's way to make one record slow: a file with a number of milliseconds, used up by the next record. */
    private void stallIfTold() throws IOException, InterruptedException {
        if (!Files.exists(slowNext)) {
            return;
        }
        long millis = Long.parseLong(Files.readString(slowNext).trim());
        Files.delete(slowNext);
        journal.write("stall", "millis", millis);
        Thread.sleep(millis);
        journal.write("stall_over");
    }
}
