// SPDX-License-Identifier: MIT
package com.example.refunds;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submits refunds. Arguments: control directory, topic, refunds a second, first number, seed, then Kafka settings.
 * On standard input: "resubmit" sends the last refund once more (a caller that retries), "stop" ends.
 */
public final class RefundProducer {
    private static final Logger LOG = LoggerFactory.getLogger(RefundProducer.class);

    private final KafkaProducer<String, String> producer;
    private final Journal journal;
    private final String topic;

    private RefundProducer(KafkaProducer<String, String> producer, Journal journal, String topic) {
        this.producer = producer;
        this.journal = journal;
        this.topic = topic;
    }

    public static void main(String[] args) throws Exception {
        Path control = Path.of(args[0]);
        double rate = Double.parseDouble(args[2]);
        int number = Integer.parseInt(args[3]);
        Random random = new Random(Long.parseLong(args[4]));
        Properties settings = new Properties();
        for (int i = 5; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            settings.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
        BlockingQueue<String> commands = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> readCommands(commands), "commands");
        reader.setDaemon(true);
        reader.start();
        try (Journal journal = new Journal(control.resolve("journal.jsonl"), Map.of());
                KafkaProducer<String, String> producer =
                    new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            RefundProducer self = new RefundProducer(producer, journal, args[1]);
            Refund last = null;
            while (true) {
                // Callers are independent: the gaps between their requests are exponential.
                long gap = Math.max(1, (long) (-Math.log(1 - random.nextDouble()) * 1000 / rate));
                String command = commands.poll(gap, TimeUnit.MILLISECONDS);
                if ("stop".equals(command)) {
                    return;
                }
                if ("resubmit".equals(command) && last != null) {
                    self.submit(last, true);
                    continue;
                }
                last = next(number++, random);
                self.submit(last, false);
            }
        }
    }

    private static void readCommands(BlockingQueue<String> commands) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                commands.add(line.trim());
            }
        } catch (java.io.IOException e) {
            LOG.warn("standard input failed", e);
        }
        commands.add("stop");
    }

    private static Refund next(int number, Random random) {
        String day = LocalDate.now(ZoneOffset.UTC).format(DateTimeFormatter.BASIC_ISO_DATE);
        // Small amounts are common, large ones rare.
        long cents = 500 + (long) (Math.pow(random.nextDouble(), 3) * 180_000);
        return new Refund(String.format("R-%s-%06d", day, number), String.format("%d.%02d", cents / 100, cents % 100),
            random.nextInt(100) < 85 ? "CNY" : "USD", 1);
    }

    private void submit(Refund refund, boolean again) {
        String messageId = UUID.randomUUID().toString();
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, refund.orderNo(), refund.toJson());
        record.headers().add("message-id", messageId.getBytes(StandardCharsets.UTF_8));
        producer.send(record, (metadata, error) -> {
            if (error != null) {
                LOG.error("Submitting {} failed", refund.orderNo(), error);
                return;
            }
            journal.write("submitted", "business_key", refund.orderNo(), "partition", metadata.partition(),
                "offset", metadata.offset(), "again", again, "amount", refund.amount(), "currency", refund.currency());
        });
    }
}
