# SPDX-License-Identifier: MIT
# Lines that look like trouble and are none: what every healthy rebalance prints at
# WARN and ERROR, words of rebalances in settings, an operator who moves offsets, a
# shutdown, and a host whose own logs sound worse than they are.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

begin() {
	rm -rf "$out/in"
	mkdir -p "$out/in/broker-1" "$out/in/app-1"
}
analyze() {
	"$a" analyze "$out/in" -o "$out/report" -q >"$out/text" 2>"$out/err" || { cat "$out/err"; exit 1; }
	json=$out/report/report.json
}
# count PATTERN EXPECTED
count() {
	n=$(grep -c -e "$1" "$json" || true)
	if [ "$n" != "$2" ]; then
		echo "$n times $1, expected $2"
		exit 1
	fi
}
calm() {
	count '"trigger": "session_timeout"' 0
	count '"fate": "wrongly_evicted"' 0
	count '"severity": "\(high\|medium\)"' 0 # of windows
	count '"code": "log.near_miss"' 0
}
coordinator='(kafka.coordinator.group.GroupCoordinator)'
consumer='(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)'

# ---- a new member joins: each client says so in its own way ----
begin
cat >"$out/in/broker-1/server.log" <<END
[2024-06-18 10:00:30,207] INFO [GroupCoordinator 1]: Preparing to rebalance group refunds in state PreparingRebalance with old generation 4 (__consumer_offsets-31) (reason: Adding new member c-3-4479e3da-63bd-4631-8687-e3aacd8f4805 with group instance id None; client reason: not provided) $coordinator
[2024-06-18 10:00:33,208] INFO [GroupCoordinator 1]: Stabilized group refunds generation 5 (__consumer_offsets-31) with 3 members $coordinator
END
cat >"$out/in/app-1/java.log" <<END
[2024-06-18 10:00:30,400] WARN [Consumer clientId=c-1, groupId=refunds] Asynchronous auto-commit of offsets {refunds-0=OffsetAndMetadata{offset=7, leaderEpoch=null, metadata=''}} failed: Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition assignment. $consumer
[2024-06-18 10:00:30,401] INFO [Consumer clientId=c-1, groupId=refunds] Request joining group due to: group is already rebalancing $consumer
[2024-06-18 10:00:30,402] INFO [Consumer clientId=c-1, groupId=refunds] Revoke previously assigned partitions refunds-0 $consumer
[2024-06-18 10:00:30,403] ERROR RebalanceInProgressException: Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition assignment. (com.shop.Refunder)
END
cat >"$out/in/app-1/python.log" <<END
2024-06-18 10:00:30,410 - aiokafka.consumer.group_coordinator - WARNING - Heartbeat failed for group refunds because it is rebalancing
2024-06-18 10:00:30,411 - aiokafka.consumer.group_coordinator - INFO - (Re-)joining group refunds
END
cat >"$out/in/app-1/kafkajs.log" <<END
{"level":"ERROR","timestamp":"2024-06-18T10:00:30.407Z","logger":"kafkajs","message":"[Connection] Response Heartbeat(key: 12, version: 3)","broker":"broker-1:9092","clientId":"c-2","error":"The group is rebalancing, so a rejoin is needed","correlationId":71,"size":10}
{"level":"WARN","timestamp":"2024-06-18T10:00:30.408Z","logger":"kafkajs","message":"[Runner] The group is rebalancing, re-joining","groupId":"refunds","memberId":"c-2-a209bbb2-dfb3-4de2-857a-304c0a7286e4","error":"The group is rebalancing, so a rejoin is needed"}
END
analyze
calm
count '"trigger": "member_join"' 1
count '"attribution": "not_network"' 0

# ---- settings that speak of rebalances ----
begin
cat >"$out/in/app-1/app.log" <<END
[2024-06-18 10:00:30,207] INFO ConsumerConfig values: 
	client.id = c-1
	group.id = refunds
	heartbeat.interval.ms = 3000
	max.poll.interval.ms = 300000
	partition.assignment.strategy = [class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]
	session.timeout.ms = 45000
 (org.apache.kafka.clients.consumer.ConsumerConfig)
[2024-06-18 10:00:30,300] INFO StreamsConfig values: 
	acceptable.recovery.lag = 10000
	probing.rebalance.interval.ms = 600000
	rebalance.timeout.ms = 60000
 (org.apache.kafka.streams.StreamsConfig)
END
analyze
calm
count '"trigger":' 0

# ---- an operator moves the offsets of a stopped group ----
begin
cat >"$out/in/app-1/app.log" <<END
[2024-06-18 10:00:30,207] INFO [Consumer clientId=c-1, groupId=refunds] Seeking to offset 8811 for partition refunds-0 (org.apache.kafka.clients.consumer.KafkaConsumer)
[2024-06-18 10:00:30,300] INFO [Consumer clientId=c-1, groupId=refunds] Resetting offset for partition refunds-0 to position FetchPosition{offset=8811, offsetEpoch=Optional.empty, currentLeader=LeaderAndEpoch{leader=Optional.empty, epoch=absent}}. (org.apache.kafka.clients.consumer.internals.SubscriptionState)
END
analyze
calm
count '"trigger":' 0
count '"processed_offset":' 0

# ---- a shutdown ----
begin
cat >"$out/in/broker-1/server.log" <<END
[2024-06-18 10:00:30,207] INFO [GroupCoordinator 1]: Preparing to rebalance group refunds in state PreparingRebalance with old generation 5 (__consumer_offsets-31) (reason: Removing member c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310 on LeaveGroup; client reason: the consumer is being closed) $coordinator
[2024-06-18 10:00:33,208] INFO [GroupCoordinator 1]: Stabilized group refunds generation 6 (__consumer_offsets-31) with 2 members $coordinator
END
cat >"$out/in/app-1/app.log" <<END
[2024-06-18 10:00:30,100] INFO [Consumer clientId=c-1, groupId=refunds] Revoke previously assigned partitions refunds-0 $consumer
[2024-06-18 10:00:30,205] INFO [Consumer clientId=c-1, groupId=refunds] Member c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310 sending LeaveGroup request to coordinator broker-1:9092 (id: 2147483646 rack: null) due to the consumer is being closed $consumer
[2024-06-18 10:00:30,206] INFO [Consumer clientId=c-1, groupId=refunds] Resetting generation and member id due to: consumer pro-actively leaving the group $consumer
[2024-06-18 10:00:30,207] INFO [Consumer clientId=c-1, groupId=refunds] Request joining group due to: consumer pro-actively leaving the group $consumer
END
cat >"$out/in/app-1/syslog" <<END
2024-06-18T10:00:31.000000+00:00 app-1 systemd[1]: refunds.service: Main process exited, code=exited, status=143/n/a
END
analyze
calm
count '"trigger": "member_leave"' 1

# ---- a host that sounds worse than it is ----
begin
cat >"$out/in/app-1/kern.log" <<END
2024-06-18T10:00:31.207123+00:00 app-1 kernel: [  711.799658] nf_conntrack: expectation table full
2024-06-18T10:00:32.207123+00:00 app-1 kernel: [  712.799658] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX
2024-06-18T10:00:33.207123+00:00 app-1 kernel: [  713.799658] ata3: SATA link down (SStatus 0 SControl 300)
2024-06-18T10:00:34.207123+00:00 app-1 systemd-networkd[412]: veth7f2a: Lost carrier
2024-06-18T10:00:35.207123+00:00 app-1 chronyd[712]: System clock wrong by 1.234567 seconds, adjustment started
2024-06-18T10:00:36.207123+00:00 app-1 kernel: [  716.799658] java invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=969
END
cat >"$out/in/app-1/gc.log" <<END
[2024-06-18T10:00:31.207+0000][gc] GC(8) Concurrent Mark Cycle 12034.452ms
[2024-06-18T10:00:32.207+0000][gc] GC(9) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(128M) 106.368ms
END
analyze
calm
count '"told_by": {' 0
