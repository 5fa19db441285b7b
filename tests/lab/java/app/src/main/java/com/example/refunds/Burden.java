// SPDX-License-Identifier: MIT
package com.example.refunds;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the injector can load on the service: a file "hog" (megabytes of live objects, then garbage, for a number of seconds)
 * makes the collector stop it, a file "burn" (threads, seconds) uses up its share of the processor. Long collections
 * go to the journal.
 */
final class Burden extends Thread {
    private static final Logger LOG = LoggerFactory.getLogger(Burden.class);
    private static final long LONG_PAUSE_MS = 300;

    private final Path control;
    private final Journal journal;
    /** Kept reachable while the hog runs; a static, so that no compiler proves it dead. */
    private static volatile Object live;
    private static volatile long sink;

    private static final class Node {
        final Node next;
        final byte[] payload;

        Node(Node next, byte[] payload) {
            this.next = next;
            this.payload = payload;
        }
    }

    Burden(Path control, Journal journal) {
        super("burden");
        this.control = control;
        this.journal = journal;
        setDaemon(true);
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) bean).addNotificationListener((notification, handback) -> {
                GarbageCollectionNotificationInfo info =
                    GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
                long millis = info.getGcInfo().getDuration();
                if (millis >= LONG_PAUSE_MS) {
                    long start = ManagementFactory.getRuntimeMXBean().getStartTime() + info.getGcInfo().getStartTime();
                    journal.write("collection", "start", Instant.ofEpochMilli(start).toString(),
                        "end", Instant.ofEpochMilli(start + millis).toString(), "cause", info.getGcCause());
                }
            }, null, null);
        }
    }

    @Override
    public void run() {
        try {
            while (true) {
                long[] hog = told("hog");
                if (hog != null) {
                    journal.write("hog");
                    hog(hog[0], hog[1]);
                    journal.write("hog_over");
                }
                long[] burn = told("burn");
                if (burn != null) {
                    for (long i = 0; i < burn[0]; i++) {
                        Thread burner = new Thread(() -> burn(burn[1]), "pricing-" + i);
                        burner.setDaemon(true);
                        burner.start();
                    }
                }
                Thread.sleep(100);
            }
        } catch (IOException | InterruptedException e) {
            LOG.warn("burden ended", e);
        }
    }

    private long[] told(String name) throws IOException {
        Path file = control.resolve(name);
        if (!Files.exists(file)) {
            return null;
        }
        String[] words = Files.readString(file).trim().split(" ");
        Files.delete(file);
        return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1])};
    }

    private static void hog(long megabytes, long seconds) {
        Node head = null;
        for (long i = 0; i < megabytes * 1024 * 1024 / 56; i++) {
            head = new Node(head, new byte[8]);
        }
        live = head;
        long end = System.currentTimeMillis() + seconds * 1000;
        Node[] young = new Node[4096];
        for (int i = 0; System.currentTimeMillis() < end; i = (i + 1) % young.length) {
            young[i] = new Node(null, new byte[1024]);
        }
        sink = young.length;
        live = null;
    }

    private static void burn(long seconds) {
        long end = System.currentTimeMillis() + seconds * 1000;
        double x = 1;
        while (System.currentTimeMillis() < end) {
            for (int i = 0; i < 100_000; i++) {
                x = Math.sqrt(x + i);
            }
        }
        sink = (long) x;
    }
}
