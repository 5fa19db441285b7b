// SPDX-License-Identifier: MIT
package aftershock.lab;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/**
 * What "while :; do date -u +%FT%T.%3NZ; kafka-consumer-groups.sh --describe ...; sleep N; done" prints, by the tool's
 * own main, but in one JVM: starting one every few seconds would load a small machine.
 * Arguments: seconds between two, then the tool's.
 */
public final class DescribeLoop {
    private DescribeLoop() {
    }

    public static void main(String[] args) throws InterruptedException {
        long pause = Long.parseLong(args[0]) * 1000;
        String[] tool = java.util.Arrays.copyOfRange(args, 1, args.length);
        while (true) {
            String now = Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
            // Instant leaves out a fraction of zero; date(1) does not.
            System.out.println(now.length() == 20 ? now.replace("Z", ".000Z") : now);
            ConsumerGroupCommand.main(tool);
            System.out.flush();
            Thread.sleep(pause);
        }
    }
}
