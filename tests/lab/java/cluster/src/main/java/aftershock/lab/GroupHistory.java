// SPDX-License-Identifier: MIT
package aftershock.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * Reads __consumer_offsets from its start and prints what the coordinator stored of one group: each generation with
 * its members, each committed offset. Arguments: bootstrap servers, group.
 */
public final class GroupHistory {
    private static final String TOPIC = "__consumer_offsets";
    /** Record types of CoordinatorRecordType: 0 and 1 are offset commits, 2 is the metadata of a classic group. */
    private static final int GROUP_METADATA = 2;
    private static final ObjectMapper JSON = new ObjectMapper();

    private GroupHistory() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "client.id", "group-history", "enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo info : consumer.partitionsFor(TOPIC)) {
                partitions.add(new TopicPartition(TOPIC, info.partition()));
            }
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    print(record, args[1]);
                }
            }
        }
    }

    private static void print(ConsumerRecord<byte[], byte[]> record, String group) throws Exception {
        ByteBuffer key = ByteBuffer.wrap(record.key());
        int type = key.getShort();
        if (type > GROUP_METADATA || !group.equals(string(key))) {
            return;
        }
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", Instant.ofEpochMilli(record.timestamp()).toString());
        line.put("log_offset", record.offset());
        if (type == GROUP_METADATA) {
            line.put("what", "generation");
            putGeneration(line, record.value());
        } else {
            line.put("what", "commit");
            line.put("topic", string(key));
            line.put("partition", key.getInt());
            putCommit(line, record.value());
        }
        System.out.println(JSON.writeValueAsString(line));
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
            members.add(Map.of("member", member.memberId(), "client_id", member.clientId(), "client_host", member.clientHost(),
                "session_timeout_ms", member.sessionTimeout(), "rebalance_timeout_ms", member.rebalanceTimeout()));
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
