# SPDX-License-Identifier: MIT
"""The lab: records real incidents of a Kafka consumer group with known truth. See tests/lab/README.md."""
