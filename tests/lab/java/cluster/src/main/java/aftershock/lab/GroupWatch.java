// SPDX-License-Identifier: MIT
package aftershock.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Asks the coordinator for a group's state and members many times a second and prints each change as a JSON line:
 * the broker's own view of when a member went and when the group was whole again. An answer that took long is a line of
 * its own ("what": "late"): the coordinator did not get on. It is the lab's administrator as well:
 * each line on standard input is a command, its last word the file that is written when it is done.
 * Arguments: bootstrap servers, group, milliseconds between two questions.
 */
public final class GroupWatch {
    /** Half of the heartbeat interval of most runs: what the coordinator keeps a member waiting for so long is seen. */
    private static final long LATE_MS = 1000;

    private GroupWatch() {
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        long pause = Long.parseLong(args[2]);
        String before = "";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0], "client.id", "group-watch"))) {
            Thread reader = new Thread(() -> obey(admin, args[0], args[1]), "commands");
            reader.setDaemon(true);
            reader.start();
            while (true) {
                Map<String, Object> view = new LinkedHashMap<>();
                Instant asked = Instant.now();
                try {
                    ConsumerGroupDescription group =
                        admin.describeConsumerGroups(List.of(args[1])).describedGroups().get(args[1]).get();
                    Map<String, Object> members = new TreeMap<>();
                    for (MemberDescription member : group.members()) {
                        members.put(member.consumerId(), member.assignment().topicPartitions().stream()
                            .map(Object::toString).sorted().toList());
                    }
                    view.put("state", group.state().toString());
                    view.put("members", members);
                } catch (ExecutionException e) {
                    view.put("state", "unknown");
                    view.put("error", String.valueOf(e.getCause()));
                }
                Instant answered = Instant.now();
                if (ChronoUnit.MILLIS.between(asked, answered) >= LATE_MS) {
                    print(json, Map.of("what", "late", "time", asked.truncatedTo(ChronoUnit.MICROS).toString(),
                        "end", answered.truncatedTo(ChronoUnit.MICROS).toString()));
                }
                String now = json.writeValueAsString(view);
                if (!now.equals(before)) {
                    before = now;
                    Map<String, Object> line = new LinkedHashMap<>();
                    line.put("time", answered.truncatedTo(ChronoUnit.MICROS).toString());
                    line.putAll(view);
                    print(json, line);
                }
                Thread.sleep(pause);
            }
        }
    }

    private static void print(ObjectMapper json, Map<String, Object> line) throws IOException {
        System.out.println(json.writeValueAsString(line));
        System.out.flush();
    }

    /** ConfigResource.Type.GROUP, which the tools for brokers before 2.1 do not know by name. */
    private static final byte GROUP = 32;

    private static void obey(Admin admin, String servers, String group) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.trim().split(" ");
                Path done = Path.of(words[words.length - 1]);
                Path partial = Path.of(done + ".partial");
                try {
                    Files.writeString(partial, "");
                    obey(admin, servers, group, words, partial);
                } catch (Exception e) {
                    Files.writeString(partial, "failed: " + e + "\n");
                }
                Files.move(partial, done, StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            System.err.println("commands: " + e);
        }
    }

    private static void obey(Admin admin, String servers, String group, String[] words, Path answer) throws Exception {
        switch (words[0]) {
            case "topic" ->
                admin.createTopics(List.of(new NewTopic(words[1], Integer.parseInt(words[2]), (short) 1)))
                    .all().get();
            case "partitions" ->
                admin.createPartitions(Map.of(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])))).all().get();
            case "group-config" ->
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.forId(GROUP), group),
                    List.of(new AlterConfigOp(new ConfigEntry(words[1], words[2]), AlterConfigOp.OpType.SET)))).all().get();
            case "history" -> GroupHistory.write(servers, group, answer);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }
}
