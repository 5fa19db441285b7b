// SPDX-License-Identifier: MIT
package com.example.refunds;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the three steps of a refund, once for each idempotency key. Which key is a setting (refunds.key); the default is the
 * flawed one of the incident: message coordinates and consumer instance. A retry by the same instance is recognised;
 * after a rebalance it is not.
 */
final class RefundHandler {
    /** A step did not take effect, or it is not known whether it did; the record is to be delivered again. */
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
    private final Path unknownNext;
    private final String key;
    private final boolean logsAll;
    private final boolean reusesRequestId;

    RefundHandler(Books books, Journal journal, String instance, Path control, Properties settings) {
        this.books = books;
        this.journal = journal;
        this.instance = instance;
        this.slowNext = control.resolve("slow-next");
        this.unknownNext = control.resolve("unknown-next");
        this.key = settings.getProperty("refunds.key", "message+instance");
        this.logsAll = settings.getProperty("refunds.log", "").equals("full");
        this.reusesRequestId = settings.getProperty("refunds.request-id", "").equals("reuse");
    }

    void handle(ConsumerRecord<String, String> record) throws StepFailed, SQLException, InterruptedException, IOException {
        Refund refund = Refund.parse(record.value());
        String whole = wholeKey(record, refund);
        boolean known = whole != null && books.processed(whole);
        for (String step : STEPS) {
            String fine = stepKey(record, refund, step);
            if (known || fine != null && books.processed(fine)) {
                report(record, refund, step, "", "skipped");
                continue;
            }
            if (step.equals("ledger")) {
                stallIfTold();
            }
            execute(record, refund, step);
            if (fine != null) {
                books.markProcessed(fine);
            }
            if (whole != null && !key.equals("hybrid")) {
                books.markProcessed(whole);
            }
        }
        if (whole != null) {
            books.markProcessed(whole);
        }
    }

    /** The key that is asked once for a whole delivery; null when each step has its own. */
    private String wholeKey(ConsumerRecord<String, String> record, Refund refund) {
        return switch (key) {
            case "message", "hybrid" -> record.topic() + "/" + record.partition() + "/" + record.offset();
            case "message-id" -> messageId(record);
            case "business" -> refund.orderNo();
            default -> null;
        };
    }

    private String stepKey(ConsumerRecord<String, String> record, Refund refund, String step) {
        return switch (key) {
            case "message+instance" ->
                record.topic() + "/" + record.partition() + "/" + record.offset() + "/" + instance + "/" + step;
            case "business+step", "hybrid" -> refund.orderNo() + "/" + step;
            case "business+event+version" -> refund.orderNo() + "/" + step + "/" + refund.version();
            default -> null;
        };
    }

    private static String messageId(ConsumerRecord<String, String> record) {
        Header header = record.headers().lastHeader("message-id");
        return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }

    private void execute(ConsumerRecord<String, String> record, Refund refund, String step)
            throws StepFailed, SQLException, InterruptedException, IOException {
        String requestId = UUID.randomUUID().toString();
        if (reusesRequestId) {
            requestId = books.requestId(refund.orderNo() + "/" + step, requestId);
        }
        Thread.sleep(ThreadLocalRandom.current().nextLong(6, 18));
        Books.Outcome outcome = switch (step) {
            case "reversal" -> books.reverse(requestId, refund);
            case "ledger" -> books.enter(requestId, refund);
            default -> books.notify(requestId, refund);
        };
        if (step.equals("reversal") && answerIsLost()) {
            report(record, refund, step, requestId, "unknown");
            throw new StepFailed("the channel did not answer to " + step + " of " + refund.orderNo());
        }
        report(record, refund, step, requestId, outcome.name().toLowerCase());
        if (outcome == Books.Outcome.FAILED) {
            throw new StepFailed(step + " of " + refund.orderNo() + " timed out");
        }
    }

    private void report(ConsumerRecord<String, String> record, Refund refund, String step, String requestId, String status) {
        journal.write("attempt", "business_key", refund.orderNo(), "step", step, "request_id", requestId,
            "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
            "status", status, "amount", refund.amount(), "currency", refund.currency(),
            "message_id", messageId(record), "version", refund.version());
        if (logsAll) {
            LOG.info("step={} order_no={} status={} request_id={} amount={} currency={} record={}-{}@{}", step, refund.orderNo(),
                status, requestId, refund.amount(), refund.currency(), record.topic(), record.partition(), record.offset());
        } else {
            LOG.info("{} {} {} ({}-{}@{})", step, refund.orderNo(), status, record.topic(), record.partition(), record.offset());
        }
    }

    /** The injector's way to lose the channel's answer after it has acted: a file with a number of calls still to lose. */
    private boolean answerIsLost() throws IOException {
        if (!Files.exists(unknownNext)) {
            return false;
        }
        int left = Integer.parseInt(Files.readString(unknownNext).trim()) - 1;
        if (left > 0) {
            Files.writeString(unknownNext, String.valueOf(left));
        } else {
            Files.delete(unknownNext);
        }
        return true;
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
