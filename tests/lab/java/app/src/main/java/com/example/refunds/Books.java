// SPDX-License-Identifier: MIT
package com.example.refunds;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The systems that a refund touches, each an SQLite file of its own: the payment channel (stands for an external
 * API: every new request id is a new reversal), the ledger (unique on order_no and biz_type), the notices, and
 * the consumer's dedupe table.
 */
final class Books implements AutoCloseable {
    enum Outcome { SUCCESS, FAILED, DUPLICATE }

    private static final int CONSTRAINT = 19;
    /** A write that waits longer than this for a lock is the "slow query" that times out. */
    private static final int LEDGER_TIMEOUT_MS = 1200;
    private static final int OTHER_TIMEOUT_MS = 10_000;

    private final Connection channel;
    private final Connection ledger;
    private final Connection notice;
    private final Connection dedupe;

    Books(Path directory) throws SQLException {
        channel = open(directory.resolve("channel.db"), OTHER_TIMEOUT_MS,
            "CREATE TABLE IF NOT EXISTS reversal (request_id TEXT PRIMARY KEY, time TEXT NOT NULL,"
                + " business_key TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL)");
        ledger = open(directory.resolve("ledger.db"), LEDGER_TIMEOUT_MS,
            "CREATE TABLE IF NOT EXISTS entry (order_no TEXT NOT NULL, biz_type TEXT NOT NULL, time TEXT NOT NULL,"
                + " request_id TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, UNIQUE (order_no, biz_type))");
        notice = open(directory.resolve("notice.db"), OTHER_TIMEOUT_MS,
            "CREATE TABLE IF NOT EXISTS notice (request_id TEXT PRIMARY KEY, time TEXT NOT NULL, business_key TEXT NOT NULL)");
        dedupe = open(directory.resolve("dedupe.db"), OTHER_TIMEOUT_MS,
            "CREATE TABLE IF NOT EXISTS recognised (key TEXT PRIMARY KEY)");
        try (Statement statement = dedupe.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS request (intent TEXT PRIMARY KEY, request_id TEXT NOT NULL)");
        }
    }

    private static Connection open(Path file, int timeoutMs, String schema) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = " + OTHER_TIMEOUT_MS);
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("PRAGMA synchronous = OFF");
            statement.execute(schema);
            statement.execute("PRAGMA busy_timeout = " + timeoutMs);
        }
        return connection;
    }

    Outcome reverse(String requestId, Refund refund) {
        return insert(channel, "INSERT INTO reversal (request_id, time, business_key, amount, currency) VALUES (?, ?, ?, ?, ?)",
            requestId, now(), refund.orderNo(), refund.amount(), refund.currency());
    }

    Outcome enter(String requestId, Refund refund) {
        return insert(ledger, "INSERT INTO entry (order_no, biz_type, time, request_id, amount, currency) VALUES (?, 'refund', ?, ?, ?, ?)",
            refund.orderNo(), now(), requestId, refund.amount(), refund.currency());
    }

    Outcome notify(String requestId, Refund refund) {
        return insert(notice, "INSERT INTO notice (request_id, time, business_key) VALUES (?, ?, ?)",
            requestId, now(), refund.orderNo());
    }

    boolean processed(String key) throws SQLException {
        try (PreparedStatement query = dedupe.prepareStatement("SELECT 1 FROM recognised WHERE key = ?")) {
            bind(query, key);
            try (ResultSet rows = query.executeQuery()) {
                return rows.next();
            }
        }
    }

    void markProcessed(String key) throws SQLException {
        try (PreparedStatement insert = dedupe.prepareStatement("INSERT OR IGNORE INTO recognised VALUES (?)")) {
            bind(insert, key);
            insert.executeUpdate();
        }
    }

    /** The request id stored for an intent; the one given when there is none yet. */
    String requestId(String intent, String fresh) throws SQLException {
        try (PreparedStatement insert = dedupe.prepareStatement("INSERT OR IGNORE INTO request VALUES (?, ?)")) {
            bind(insert, intent, fresh);
            insert.executeUpdate();
        }
        try (PreparedStatement query = dedupe.prepareStatement("SELECT request_id FROM request WHERE intent = ?")) {
            bind(query, intent);
            try (ResultSet rows = query.executeQuery()) {
                return rows.next() ? rows.getString(1) : fresh;
            }
        }
    }

    private static Outcome insert(Connection connection, String sql, Object... values) {
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            bind(insert, values);
            insert.executeUpdate();
            return Outcome.SUCCESS;
        } catch (SQLException e) {
            return (e.getErrorCode() & 0xff) == CONSTRAINT ? Outcome.DUPLICATE : Outcome.FAILED;
        }
    }

    private static void bind(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.MICROS).toString();
    }

    @Override
    public void close() throws SQLException {
        channel.close();
        ledger.close();
        notice.close();
        dedupe.close();
    }
}
