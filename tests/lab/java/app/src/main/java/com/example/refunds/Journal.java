// SPDX-License-Identifier: MIT
package com.example.refunds;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A process's private record of what it did, one JSON object a line. The truth of a run is made from it;
 * it is never part of the evidence. Each line is one write(2), so that SIGKILL loses none before it.
 */
final class Journal implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final FileChannel file;
    private final Map<String, Object> common;

    Journal(Path path, Map<String, Object> common) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        this.common = common;
    }

    /** Writes one entry; fields are name, value, name, value. Returns the time that it carries. */
    synchronized Instant write(String what, Object... fields) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("time", now.toString());
        entry.put("what", what);
        entry.putAll(common);
        for (int i = 0; i < fields.length; i += 2) {
            entry.put((String) fields[i], fields[i + 1]);
        }
        try {
            byte[] line = (JSON.writeValueAsString(entry) + "\n").getBytes(StandardCharsets.UTF_8);
            file.write(ByteBuffer.wrap(line));
        } catch (IOException e) {
            throw new IllegalStateException("journal", e);
        }
        return now;
    }

    @Override
    public synchronized void close() throws IOException {
        file.close();
    }
}
