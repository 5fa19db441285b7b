// SPDX-License-Identifier: MIT
package com.example.refunds;

import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.kafka.DefaultKafkaConsumerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;

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

    /** The journal listens below Spring's own listener: one set in the container would silence what that logs. */
    @Bean
    DefaultKafkaConsumerFactoryCustomizer journalling() {
        return factory -> factory.addPostProcessor(consumer -> journalled(consumer));
    }

    @SuppressWarnings("unchecked")
    private <T> T journalled(T consumer) {
        return (T) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Consumer.class}, (proxy, method, given) -> {
            Object[] arguments = given == null ? new Object[0] : given;
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof ConsumerRebalanceListener listener) {
                    arguments[i] = new Listener((Consumer<?, ?>) consumer, listener);
                }
            }
            try {
                return method.invoke(consumer, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private final class Listener implements ConsumerRebalanceListener {
        private final Consumer<?, ?> consumer;
        private final ConsumerRebalanceListener next;

        Listener(Consumer<?, ?> consumer, ConsumerRebalanceListener next) {
            this.consumer = consumer;
            this.next = next;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            generation = consumer.groupMetadata().generationId();
            note("assigned", partitions);
            next.onPartitionsAssigned(partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            note("revoked", partitions);
            next.onPartitionsRevoked(partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            note("lost", partitions);
            next.onPartitionsLost(partitions);
        }

        private void note(String what, Collection<TopicPartition> partitions) {
            try {
                refunds.journal(what, "generation", generation, "member", consumer.groupMetadata().memberId(),
                    "partitions", partitions.stream().map(TopicPartition::toString).sorted().toList());
            } catch (IOException e) {
                throw new IllegalStateException("journal", e);
            }
        }
    }
}
