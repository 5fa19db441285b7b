// SPDX-License-Identifier: MIT
package aftershock.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataValue;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * Reads __consumer_offsets from its start and writes what the coordinator stored of one group: each generation of a classic
 * group with its members, each epoch and member of a consumer group (KIP-848), each committed offset.
 */
public final class GroupHistory {
    private static final String TOPIC = "__consumer_offsets";
    /** Record types of CoordinatorRecordType: 0 and 1 are offset commits, 2 is the metadata of a classic group. */
    private static final int GROUP_METADATA = 2;
    private static final int CONSUMER_GROUP_METADATA = 3;
    private static final int CONSUMER_GROUP_MEMBER = 5;
    private static final int CONSUMER_GROUP_TARGET = 6;
    private static final int CONSUMER_GROUP_CURRENT = 8;
    private static final ObjectMapper JSON = new ObjectMapper();

    private GroupHistory() {
    }

    static void write(String servers, String group, Path file) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "client.id", "group-history", "enable.auto.commit", "false");
        try (PrintStream out = new PrintStream(file.toFile(), StandardCharsets.UTF_8);
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo info : consumer.partitionsFor(TOPIC)) {
                partitions.add(new TopicPartition(TOPIC, info.partition()));
            }
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    print(record, group, out);
                }
            }
        }
    }

    private static void print(ConsumerRecord<byte[], byte[]> record, String group, PrintStream out) throws Exception {
        ByteBuffer key = ByteBuffer.wrap(record.key());
        int type = key.getShort();
        if (type < 0 || type > CONSUMER_GROUP_CURRENT || !group.equals(string(key))) {
            return;
        }
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", Instant.ofEpochMilli(record.timestamp()).toString());
        line.put("log_offset", record.offset());
        switch (type) {
            case GROUP_METADATA -> {
                line.put("what", "generation");
                putGeneration(line, record.value());
            }
            case CONSUMER_GROUP_METADATA -> {
                line.put("what", "epoch");
                ByteBuffer value = value(record);
                line.put("epoch", value == null ? null
                    : new ConsumerGroupMetadataValue(new ByteBufferAccessor(value), value.getShort()).epoch());
            }
            case CONSUMER_GROUP_MEMBER -> {
                line.put("what", "member");
                line.put("member", string(key));
                ByteBuffer value = value(record);
                if (value != null) {
                    ConsumerGroupMemberMetadataValue member =
                        new ConsumerGroupMemberMetadataValue(new ByteBufferAccessor(value), value.getShort());
                    line.put("client_id", member.clientId());
                    line.put("instance", member.instanceId());
                    line.put("topics", member.subscribedTopicNames());
                } else {
                    line.put("client_id", null);
                }
            }
            case CONSUMER_GROUP_TARGET -> {
                line.put("what", "target");
                ByteBuffer value = value(record);
                line.put("epoch", value == null ? null
                    : new ConsumerGroupTargetAssignmentMetadataValue(new ByteBufferAccessor(value), value.getShort())
                        .assignmentEpoch());
            }
            case CONSUMER_GROUP_CURRENT -> {
                line.put("what", "current");
                line.put("member", string(key));
                ByteBuffer value = value(record);
                line.put("epoch", value == null ? null
                    : new ConsumerGroupCurrentMemberAssignmentValue(new ByteBufferAccessor(value), value.getShort()).memberEpoch());
            }
            case 0, 1 -> {
                line.put("what", "commit");
                line.put("topic", string(key));
                line.put("partition", key.getInt());
                putCommit(line, record.value());
            }
            default -> {
                return;
            }
        }
        out.println(JSON.writeValueAsString(line));
    }

    private static ByteBuffer value(ConsumerRecord<byte[], byte[]> record) {
        return record.value() == null ? null : ByteBuffer.wrap(record.value());
    }

    private static void putGeneration(Map<String, Object> line, byte[] bytes) {
        if (bytes == null) {
            line.put("generation", null);
            return;
        }
        ByteBuffer value = ByteBuffer.wrap(bytes);
        short version = value.getShort();
        GroupMetadataValue metadata = new GroupMetadataValue(new ByteBufferAccessor(value), version);
        line.put("generation", metadata.generation());
        line.put("state_time", Instant.ofEpochMilli(metadata.currentStateTimestamp()).toString());
        line.put("leader", metadata.leader());
        List<Map<String, Object>> members = new ArrayList<>();
        for (GroupMetadataValue.MemberMetadata member : metadata.members()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("member", member.memberId());
            one.put("instance", member.groupInstanceId());
            one.put("client_id", member.clientId());
            one.put("client_host", member.clientHost());
            one.put("session_timeout_ms", member.sessionTimeout());
            one.put("rebalance_timeout_ms", member.rebalanceTimeout());
            members.add(one);
        }
        line.put("members", members);
    }

    private static void putCommit(Map<String, Object> line, byte[] bytes) {
        if (bytes == null) {
            line.put("offset", null);
            return;
        }
        ByteBuffer value = ByteBuffer.wrap(bytes);
        short version = value.getShort();
        line.put("offset", new OffsetCommitValue(new ByteBufferAccessor(value), version).offset());
    }

    private static String string(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.getShort()];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
