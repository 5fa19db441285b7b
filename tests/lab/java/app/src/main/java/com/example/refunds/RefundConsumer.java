// SPDX-License-Identifier: MIT
package com.example.refunds;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The refund service's consumer. Arguments: data directory, control directory, topic, host name, then settings as
 * key=value, those of the service itself beginning with "refunds.". A record whose step failed is sought back to and delivered again, as Spring's DefaultErrorHandler does.
 */
public final class RefundConsumer {
    private static final Logger LOG = LoggerFactory.getLogger(RefundConsumer.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final long BACKOFF_MS = 300;

    private final KafkaConsumer<String, String> consumer;
    private final RefundHandler handler;
    private final Journal journal;
    /** Written by the injector to change what is subscribed to: topics, one a line. */
    private final Path subscribe;
    /** The generation in which each partition now held was assigned. */
    private final Map<TopicPartition, Integer> generations = new HashMap<>();

    private RefundConsumer(KafkaConsumer<String, String> consumer, RefundHandler handler, Journal journal, Path subscribe) {
        this.consumer = consumer;
        this.handler = handler;
        this.journal = journal;
        this.subscribe = subscribe;
    }

    public static void main(String[] args) throws Exception {
        Path data = Path.of(args[0]);
        Path control = Path.of(args[1]);
        String topic = args[2];
        String instance = args[3];
        Properties settings = new Properties();
        Properties service = new Properties();
        for (int i = 4; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            String key = args[i].substring(0, equals);
            Properties target = key.startsWith("refunds.") ? service : settings;
            target.put(key, args[i].substring(equals + 1));
        }
        Thread main = Thread.currentThread();
        main.setName("refunds-worker");
        LOG.info("Starting refund service on {}", instance);
        try (Journal journal = new Journal(control.resolve("journal.jsonl"),
                    Map.of("consumer", instance, "pid", ProcessHandle.current().pid()));
                Books books = new Books(data);
                KafkaConsumer<String, String> consumer =
                    new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                LOG.info("Stopping refund service on {}", instance);
                journal.write("stop");
                consumer.wakeup();
                try {
                    main.join();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "shutdown"));
            new Burden(control, journal).start();
            RefundHandler handler = new RefundHandler(books, journal, instance, control, service);
            new RefundConsumer(consumer, handler, journal, control.resolve("subscribe")).run(topic);
        }
    }

    private void run(String topic) throws Exception {
        consumer.subscribe(List.of(topic), new Listener());
        try {
            while (true) {
                subscribeIfTold();
                ConsumerRecords<String, String> records = consumer.poll(POLL);
                List<ConsumerRecord<String, String>> batch = new ArrayList<>();
                records.forEach(batch::add);
                handle(batch);
            }
        } catch (WakeupException e) {
            // asked to stop; closing commits and leaves the group
        }
    }

    private void subscribeIfTold() throws IOException {
        if (Files.exists(subscribe)) {
            List<String> topics = Files.readAllLines(subscribe);
            Files.delete(subscribe);
            journal.write("subscribe", "topics", topics);
            consumer.subscribe(topics, new Listener());
        }
    }

    private void handle(List<ConsumerRecord<String, String>> batch) throws Exception {
        for (int i = 0; i < batch.size(); i++) {
            ConsumerRecord<String, String> record = batch.get(i);
            int generation = generations.getOrDefault(new TopicPartition(record.topic(), record.partition()), -1);
            journal.write("received", "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
                "generation", generation, "business_key", record.key());
            try {
                handler.handle(record);
            } catch (RefundHandler.StepFailed e) {
                LOG.warn("Record {}-{}@{} failed and will be retried: {}",
                    record.topic(), record.partition(), record.offset(), e.getMessage());
                seekBack(batch.subList(i, batch.size()));
                Thread.sleep(BACKOFF_MS);
                return;
            }
            journal.write("done", "topic", record.topic(), "partition", record.partition(), "offset", record.offset(),
                "generation", generation);
        }
    }

    private void seekBack(List<ConsumerRecord<String, String>> unprocessed) {
        Map<TopicPartition, Long> first = new HashMap<>();
        for (ConsumerRecord<String, String> record : unprocessed) {
            first.putIfAbsent(new TopicPartition(record.topic(), record.partition()), record.offset());
        }
        first.forEach(consumer::seek);
    }

    private final class Listener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            int generation = consumer.groupMetadata().generationId();
            partitions.forEach(p -> generations.put(p, generation));
            note("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            note("revoked", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            note("lost", partitions);
        }

        private void note(String what, Collection<TopicPartition> partitions) {
            journal.write(what, "generation", consumer.groupMetadata().generationId(),
                "member", consumer.groupMetadata().memberId(),
                "partitions", partitions.stream().map(TopicPartition::toString).sorted().toList());
        }
    }
}
