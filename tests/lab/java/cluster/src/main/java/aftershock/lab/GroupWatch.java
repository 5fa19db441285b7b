// SPDX-License-Identifier: MIT
package aftershock.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;

/**
 * Asks the coordinator for a group's state and members many times a second and prints each change as a JSON line:
 * the broker's own view of when a member went and when the group was whole again.
 * Arguments: bootstrap servers, group, milliseconds between two questions.
 */
public final class GroupWatch {
    private GroupWatch() {
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        long pause = Long.parseLong(args[2]);
        String before = "";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0], "client.id", "group-watch"))) {
            while (true) {
                Map<String, Object> view = new LinkedHashMap<>();
                try {
                    ConsumerGroupDescription group =
                        admin.describeConsumerGroups(List.of(args[1])).describedGroups().get(args[1]).get();
                    Map<String, Object> members = new TreeMap<>();
                    for (MemberDescription member : group.members()) {
                        members.put(member.consumerId(), member.assignment().topicPartitions().stream()
                            .map(Object::toString).sorted().toList());
                    }
                    view.put("state", group.groupState().toString());
                    view.put("members", members);
                } catch (ExecutionException e) {
                    view.put("state", "unknown");
                    view.put("error", String.valueOf(e.getCause()));
                }
                String now = json.writeValueAsString(view);
                if (!now.equals(before)) {
                    before = now;
                    Map<String, Object> line = new LinkedHashMap<>();
                    line.put("time", Instant.now().truncatedTo(ChronoUnit.MICROS).toString());
                    line.putAll(view);
                    System.out.println(json.writeValueAsString(line));
                    System.out.flush();
                }
                Thread.sleep(pause);
            }
        }
    }
}
