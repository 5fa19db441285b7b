// SPDX-License-Identifier: MIT
package com.example.refunds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** One refund as it travels in a record's value. Amounts stay text: money is never a double. */
record Refund(String orderNo, String amount, String currency, int version) {
    private static final ObjectMapper JSON = new ObjectMapper();

    static Refund parse(String value) {
        try {
            JsonNode node = JSON.readTree(value);
            return new Refund(node.get("order_no").asText(), node.get("amount").asText(), node.get("currency").asText(),
                node.path("version").asInt(1));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not a refund: " + value, e);
        }
    }

    String toJson() {
        ObjectNode node = JSON.createObjectNode();
        node.put("order_no", orderNo);
        node.put("biz_type", "refund");
        node.put("amount", amount);
        node.put("currency", currency);
        node.put("version", version);
        return node.toString();
    }
}
