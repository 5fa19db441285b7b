// SPDX-License-Identifier: MIT
package com.example.refunds;

import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.util.Collection;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;

/** The refund consumer with Spring Boot and Spring for Apache Kafka, both with their defaults. */
@SpringBootApplication
public class Application {
    private final Refunds refunds = new Refunds();
    /** The generation in which the partitions now held were assigned; callbacks and listener share a thread. */
    private int generation = -1;

    public Application() throws IOException {
    }

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @KafkaListener(topics = "${TOPIC}")
    void refund(ConsumerRecord<String, String> record) throws IOException, InterruptedException {
        refunds.handle(record, generation);
    }

    @PreDestroy
    void stop() throws IOException {
        refunds.journal("stop");
    }

    /** Spring Boot gives it to the listener's container. */
    @Bean
    ConsumerAwareRebalanceListener journalling() {
        return new ConsumerAwareRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
                generation = consumer.groupMetadata().generationId();
                note("assigned", consumer, partitions);
            }

            @Override
            public void onPartitionsRevokedBeforeCommit(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
                note("revoked", consumer, partitions);
            }

            @Override
            public void onPartitionsLost(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
                note("lost", consumer, partitions);
            }
        };
    }

    private void note(String what, Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
        try {
            refunds.journal(what, "generation", generation, "member", consumer.groupMetadata().memberId(),
                "partitions", partitions.stream().map(TopicPartition::toString).sorted().toList());
        } catch (IOException e) {
            throw new IllegalStateException("journal", e);
        }
    }
}
