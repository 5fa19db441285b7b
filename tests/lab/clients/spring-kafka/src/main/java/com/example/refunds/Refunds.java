// SPDX-License-Identifier: MIT
package com.example.refunds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes the steps of a refund and journals what was received and done. */
final class Refunds {
    private static final Logger LOG = LoggerFactory.getLogger(Refunds.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] STEPS = {"reversal", "ledger", "notice"};
    private static final long RETRY_MS = 300;

    private final String instance = System.getenv("CLIENT_ID");
    private final Path slowNext = Path.of(System.getenv("SLOW_NEXT"));
    private final FileChannel journal;
    private final SocketChannel books;
    private final BufferedReader answers;

    Refunds() throws IOException {
        journal = FileChannel.open(Path.of(System.getenv("JOURNAL")),
            StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        books = SocketChannel.open(UnixDomainSocketAddress.of(System.getenv("BOOKS")));
        answers = new BufferedReader(new InputStreamReader(Channels.newInputStream(books), StandardCharsets.UTF_8));
    }

    /** Writes one entry; fields are name, value, name, value. */
    void journal(String what, Object... fields) throws IOException {
        Map<String, Object> named = new LinkedHashMap<>();
        put(named, fields);
        journal(what, named);
    }

    private synchronized void journal(String what, Map<String, Object> fields) throws IOException {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("time", Instant.now().truncatedTo(ChronoUnit.MICROS).toString());
        entry.put("what", what);
        entry.put("consumer", instance);
        entry.putAll(fields);
        journal.write(line(entry));
    }

    void handle(ConsumerRecord<String, String> record, int generation) throws IOException, InterruptedException {
        JsonNode refund = JSON.readTree(record.value());
        String order = refund.get("order_no").asText();
        journal("received", "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
            "generation", generation, "business_key", order);
        for (String step : STEPS) {
            if (step.equals("ledger")) {
                stallIfTold();
            }
            Thread.sleep(ThreadLocalRandom.current().nextLong(6, 18));
            String status = attempt(step, record, refund);
            while (status.equals("failed")) {
                Thread.sleep(RETRY_MS);
                status = attempt(step, record, refund);
            }
            LOG.info("{} {} {} ({}-{}@{})", step, order, status, record.topic(), record.partition(), record.offset());
        }
        journal("done", "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
            "generation", generation);
    }

    private String attempt(String step, ConsumerRecord<String, String> record, JsonNode refund) throws IOException {
        Map<String, Object> common = new LinkedHashMap<>();
        put(common, "step", step, "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
            "amount", refund.get("amount").asText(), "currency", refund.get("currency").asText());
        String order = refund.get("order_no").asText();
        Map<String, Object> asked = new LinkedHashMap<>(common);
        put(asked, "instance", instance, "order_no", order);
        books.write(line(asked));
        JsonNode answer = JSON.readTree(answers.readLine());
        String status = answer.get("status").asText();
        put(common, "business_key", order, "request_id", answer.get("request_id").asText(), "status", status);
        journal("attempt", common);
        return status;
    }

    /** The injector's way to make one record slow: a file with a number of milliseconds, used up by the next record. */
    private void stallIfTold() throws IOException, InterruptedException {
        if (!Files.exists(slowNext)) {
            return;
        }
        long millis = Long.parseLong(Files.readString(slowNext).trim());
        Files.delete(slowNext);
        journal("stall", "millis", millis);
        Thread.sleep(millis);
        journal("stall_over");
    }

    private static void put(Map<String, Object> target, Object... fields) {
        for (int i = 0; i < fields.length; i += 2) {
            target.put((String) fields[i], fields[i + 1]);
        }
    }

    private static ByteBuffer line(Map<String, Object> entry) throws IOException {
        return ByteBuffer.wrap((JSON.writeValueAsString(entry) + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
