/* SPDX-License-Identifier: MIT */
/* What each format gives, as lines: worked out by hand from the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "counters_told.h"

/* The whole of what a text gives, and that nothing of it was damaged. */
static void assert_tells(const char *text, const char *expected)
{
	struct kit *k = read_named(text, "x.log");

	assert_events(k, expected);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
}

#define T0 "2026-11-30T10:00:00.000000Z\n"
#define T1 "2026-11-30T10:00:01.000000Z\n"
#define T2 "2026-11-30T10:00:02.000000Z\n"
#define Z "00000000 "
/* 15 columns; CPU by its number. */
#define SOFTNET(processed, dropped, cpu) processed " " dropped " " Z Z Z Z Z Z Z Z Z Z cpu " 00000000 00000000\n"

#define NET_DEV_HEAD "Inter-|   Receive                                                |  Transmit\n" \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"

/* ---- nstat ---- */

static void test_nstat_prints_increments(void **state)
{
	(void)state;
	/* What is left out has not grown: OutSegs falls from 147 to 30, so these are increments. The first run's are since when? */
	assert_tells(T0 "{\"kernel\":{\"TcpOutSegs\":147,\"TcpRetransSegs\":4,\"TcpExtTCPHPHits\":8}}\n"
		     T1 "{\"kernel\":{\"TcpOutSegs\":30,\"TcpExtTCPTimeouts\":2,\"TcpExtTCPHPHits\":1}}\n"
		     T2 "{\"kernel\":{\"TcpOutSegs\":31,\"TcpRetransSegs\":5,\"TcpExtTCPHPHits\":2}}\n",
		     "tcp.OutSegs 0+1000 30\ntcpext.TCPTimeouts 0+1000 2\ntcp.OutSegs 1000+1000 31\n"
		     "tcp.RetransSegs 1000+1000 5\ncovered snmp 0+2000 x3 namespace\ncovered netstat 0+2000 x3 namespace\n");
	/* As text. */
	assert_tells(T0 "#kernel\nTcpOutSegs                      100                0.0\nTcpRetransSegs                  3                  0.0\n"
		     T1 "#kernel\nTcpOutSegs                      90                 0.0\nTcpRetransSegs                  2                  0.0\n",
		     "tcp.OutSegs 0+1000 90\ntcp.RetransSegs 0+1000 2\ncovered snmp 0+1000 x2 namespace\n");
}

static void test_nstat_told_to_print_all_since_the_boot(void **state)
{
	(void)state;
	/* nstat -as: nothing ever falls, so the growth is the difference. */
	assert_tells(T0 "{\"kernel\":{\"TcpOutSegs\":100,\"TcpRetransSegs\":4}}\n"
		     T1 "{\"kernel\":{\"TcpOutSegs\":130,\"TcpRetransSegs\":4}}\n"
		     T2 "{\"kernel\":{\"TcpOutSegs\":170,\"TcpRetransSegs\":6}}\n",
		     "tcp.OutSegs 0+1000 30\ntcp.OutSegs 1000+1000 40\ntcp.RetransSegs 1000+1000 2\n"
		     "covered snmp 0+2000 x3 namespace\n");
}

/* ---- where the input ends in a line ---- */

#define SNMP0 T0 "Tcp: OutSegs RetransSegs\nTcp: 100 1\n"
#define SNMP1 T1 "Tcp: OutSegs RetransSegs\nTcp: 130 1\n"
#define GREW_30 "tcp.OutSegs 0+1000 30\n"
#define COVERED_1 "covered snmp 0+1000 x2 namespace\n"

/* Cut at the bar, 1234|567 would be no less a number than whole. */
static void assert_ends_in(const char *text, const char *expected, uint64_t line)
{
	struct kit *k = read_named(text, "x.log");

	assert_events(k, expected);
	assert_int_equal(kit_problems(k, "counters.unended"), 1);
	assert_int_equal(kit_problem(k, "counters.unended")->place.number, line);
	assert_int_equal(kit_problem(k, "counters.unended")->severity, SEVERITY_WARNING);
	assert_int_equal(k->info.skipped, 1);
	kit_free(k);
}

static void assert_ends_well(const char *text, const char *expected)
{
	struct kit *k = read_named(text, "x.log");

	assert_events(k, expected);
	assert_int_equal(kit_problems(k, "counters.unended"), 0);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
}

static void test_a_last_number_that_may_be_cut_is_not_used(void **state)
{
	(void)state;
	assert_ends_well(SNMP0 SNMP1 T2 "Tcp: OutSegs RetransSegs\nTcp: 170 1234567\n",
			 GREW_30 "tcp.OutSegs 1000+1000 40\ntcp.RetransSegs 1000+1000 1234566\ncovered snmp 0+2000 x3 namespace\n");
	assert_ends_in(SNMP0 SNMP1 T2 "Tcp: OutSegs RetransSegs\nTcp: 170 1234", GREW_30 COVERED_1, 9);
	/* A number below its file's name, the total of a pressure, the time of the next round. */
	assert_ends_in(T0 "==> /sys/class/net/eth0/statistics/rx_dropped <==\n7\n" T1 "==> /sys/class/net/eth0/statistics/rx_dropped <==\n81", "", 6);
	assert_ends_in(T0 "==> /proc/pressure/cpu <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=7\n" T1
			  "==> /proc/pressure/cpu <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=8", "", 6);
	assert_ends_in(SNMP0 SNMP1 "2026-11-30T10:00:02.000", GREW_30 COVERED_1, 7);
	assert_ends_in(SNMP0 SNMP1 "# capture: 120 packets wri", GREW_30 COVERED_1, 7);
	/* A line between two rounds is no number. */
	assert_ends_well(SNMP0 SNMP1 "-----", GREW_30 COVERED_1);
}

/* Eight digits a number, or a bracket behind the last: nothing can be missing. */
static void test_a_last_number_that_is_known_to_be_whole(void **state)
{
#define ROW(dropped) "00000001 " dropped " " Z Z Z Z Z Z Z Z Z Z "00000000 00000000 "
	(void)state;
	assert_ends_well(T0 ROW("00000001") "00000000\n" T1 ROW("00000003") "00000000", "softnet.dropped cpu=0 0+1000 2\ncovered softnet 0+1000 x2 host\n");
	assert_ends_in(T0 ROW("00000001") "00000000\n" T1 ROW("00000003") "0000000", "", 4);
#undef ROW
	assert_ends_well(T0 "{\"kernel\":{\"TcpOutSegs\":100,\"TcpRetransSegs\":4}}\n" T1 "{\"kernel\":{\"TcpOutSegs\":130,\"TcpRetransSegs\":4}}", GREW_30 COVERED_1);
	assert_ends_in(T0 "{\"kernel\":{\"TcpOutSegs\":100,\"TcpRetransSegs\":4}}\n" T1 "{\"kernel\":{\"TcpOutSegs\":13", "", 4);
}

/* What was to stand behind the tear is not known not to have grown. */
static void test_what_is_torn_off_is_not_covered(void **state)
{
#define NSTAT(out) "#kernel\nTcpOutSegs  " out "  0.0\nTcpRetransSegs  "
	(void)state;
	/* Increments: what is left out has not grown, unless it is cut off. */
	assert_ends_well(T0 NSTAT("100") "3  0.0\n" T1 NSTAT("90") "2  0.0\n" T2 NSTAT("80") "2  0.0\n",
			 "tcp.OutSegs 0+1000 90\ntcp.RetransSegs 0+1000 2\ntcp.OutSegs 1000+1000 80\ntcp.RetransSegs 1000+1000 2\ncovered snmp 0+2000 x3 namespace\n");
	assert_ends_in(T0 NSTAT("100") "3  0.0\n" T1 NSTAT("90") "2  0.0\n" T2 NSTAT("80") "2", "tcp.OutSegs 0+1000 90\ntcp.RetransSegs 0+1000 2\n" COVERED_1, 12);
#undef NSTAT
#define DEV(rx0) "  eth0: 1 10 " rx0 " 0 0 0 0 0 1 10 0 0 0 0 0 0\n"
#define DEV1 "  eth1: 1 10 0 0 0 0 0 0 1 10 0 0 0 0 0 "
	/* What is known of one interface is told; whether the other was quiet is not. */
	assert_ends_well(T0 DEV("1") DEV1 "0\n" T1 DEV("2") DEV1 "0\n" T2 DEV("4") DEV1 "0\n",
			 "interface.rx_errors eth0 0+1000 1\ninterface.rx_errors eth0 1000+1000 2\ncovered interface 0+2000 x3 namespace\n");
	assert_ends_in(T0 DEV("1") DEV1 "0\n" T1 DEV("2") DEV1 "0\n" T2 DEV("4") DEV1 "0",
		       "interface.rx_errors eth0 0+1000 1\ninterface.rx_errors eth0 1000+1000 2\ncovered interface 0+1000 x2 namespace\n", 9);
	/* A row in the middle that cannot be read: neither the time before it nor that behind it. */
	struct kit *k = read_named(T0 NET_DEV_HEAD DEV("1") DEV1 "0\n" T1 NET_DEV_HEAD DEV("2") "  eth1: 1 10 0 0\n" T2 NET_DEV_HEAD DEV("4") DEV1 "0\n", "x");
	assert_events(k, "interface.rx_errors eth0 0+1000 1\ninterface.rx_errors eth0 1000+1000 2\n");
	assert_int_equal(kit_problem(k, "counters.damaged")->place.number, 10);
	kit_free(k);
#undef DEV
#undef DEV1
}

/* ---- netstat -s ---- */

static void test_netstat_s_in_both_spellings(void **state)
{
	(void)state;
	assert_tells(T0 "Ip:\n    Forwarding: 2\n    781 total packets received\n    3 incoming packets discarded\n"
			"Tcp:\n    3 active connection openings\n    35414 segments sent out\n    26 segments retransmitted\n"
			"TcpExt:\n    1 times the listen queue of a socket overflowed\n    TCPTimeouts: 1\n    TCPHPHits: 70\n"
			"IpExt:\n    InOctets: 56224\n"
		     T1 "Ip:\n    Forwarding: 2\n    800 total packets received\n    4 incoming packets discarded\n"
			"Tcp:\n    3 active connection openings\n    35500 segments send out\n    30 segments retransmited\n"
			"TcpExt:\n    3 times the listen queue of a socket overflowed\n    TCPTimeouts: 4\n    TCPHPHits: 71\n"
			"IpExt:\n    InOctets: 56225\n",
		     "ip.InDiscards 0+1000 1\ntcp.OutSegs 0+1000 86\ntcp.RetransSegs 0+1000 4\ntcpext.TCPTimeouts 0+1000 3\n"
		     "tcpext.ListenOverflows 0+1000 2\ncovered snmp 0+1000 x2 namespace\ncovered netstat 0+1000 x2 namespace\n");
}

/* ---- interfaces ---- */

static void test_proc_net_dev(void **state)
{
	(void)state;
	/* The name may be glued to its first number. */
	assert_tells(T0 NET_DEV_HEAD "    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n"
			"  eth0:56224     794    1    2    3     9          0         0 50178779    1342    4    5    0     0       6          0\n"
		     T1 NET_DEV_HEAD "    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n"
			"  eth0:56225     804    2    4    6     9          0         0 50178780    1362    8   10    0     0      12          0\n",
		     "interface.rx_packets eth0 0+1000 10\ninterface.tx_packets eth0 0+1000 20\ninterface.rx_errors eth0 0+1000 1\n"
		     "interface.tx_errors eth0 0+1000 4\ninterface.rx_dropped eth0 0+1000 2\ninterface.tx_dropped eth0 0+1000 5\n"
		     "interface.rx_fifo eth0 0+1000 3\ninterface.tx_carrier eth0 0+1000 6\ncovered interface 0+1000 x2 namespace\n");
}

static void test_traffic_without_loss_makes_no_events(void **state)
{
	(void)state;
	assert_tells(T0 NET_DEV_HEAD "  eth0: 1 10 0 0 0 0 0 0 1 10 0 0 0 0 0 0\n  eth1: 1 10 0 4 0 0 0 0 1 10 0 0 0 0 0 0\n"
		     T1 NET_DEV_HEAD "  eth0: 1 20 0 0 0 0 0 0 1 30 0 0 0 0 0 0\n  eth1: 1 40 0 5 0 0 0 0 1 50 0 0 0 0 0 0\n",
		     "interface.rx_packets eth1 0+1000 30\ninterface.rx_dropped eth1 0+1000 1\ncovered interface 0+1000 x2 namespace\n");
}

static void test_an_interface_made_anew_says_nothing_of_the_others(void **state)
{
	struct kit *k = read_named(T0 NET_DEV_HEAD "  eth0: 1 10 5 0 0 0 0 0 1 10 0 0 0 0 0 0\n  eth1: 1 10 5 0 0 0 0 0 1 10 0 0 0 0 0 0\n"
				   T1 NET_DEV_HEAD "  eth0: 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n  eth1: 1 10 7 0 0 0 0 0 1 10 0 0 0 0 0 0\n", "x");

	(void)state;
	assert_events(k, "interface.rx_errors eth1 0+1000 2\ncovered interface 0+1000 x2 namespace\n");
	assert_int_equal(kit_problems(k, "counters.reset"), 1);
	kit_free(k);
}

static void test_ip_link_as_text_and_json(void **state)
{
#define IP_LINK(rx, tx, carrier)                                                                                       \
	"2: eth0@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default\n"  \
	"    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff link-netns hostb\n"                                    \
	"    RX:  bytes packets errors dropped  missed   mcast           \n         56224     794 " rx " 0 0 0 \n"     \
	"    RX errors:  length    crc   frame    fifo overrun\n                     7 7 7 7 7 \n"                     \
	"    TX:  bytes packets errors dropped carrier collsns           \n      50178779 1342 0 " tx " " carrier " 0 \n"
#define IP_JSON(rx, carrier)                                                                                           \
	"[{\"ifindex\":2,\"ifname\":\"eth0\",\"flags\":[\"UP\"],\"stats64\":{\"rx\":{\"bytes\":1,\"packets\":794,"     \
	"\"errors\":" rx ",\"dropped\":0},\"tx\":{\"bytes\":2,\"packets\":5,\"errors\":0,\"dropped\":0,"               \
	"\"carrier_errors\":" carrier "}}}]\n"
	(void)state;
	assert_tells(T0 IP_LINK("0", "1", "0") T1 IP_LINK("3", "2", "1"),
		     "interface.rx_errors eth0 0+1000 3\ninterface.tx_dropped eth0 0+1000 1\ninterface.tx_carrier eth0 0+1000 1\n"
		     "covered interface 0+1000 x2 namespace\n");
	assert_tells(T0 IP_JSON("0", "1") T1 IP_JSON("3", "2"),
		     "interface.rx_errors eth0 0+1000 3\ninterface.tx_carrier eth0 0+1000 1\ncovered interface 0+1000 x2 namespace\n");
}

static void test_ethtool_names_that_speak_of_loss(void **state)
{
	(void)state;
	assert_tells(T0 "### ethtool -S eth0\nNIC statistics:\n     rx_kicks: 10\n     rx_xdp_drops: 0\n     rx_queue_0_drops: 1\n     bw_in_allowance_exceeded: 5\n     tx_restart_queue: 1\n     conntrack_allowance_available: 900\n"
		     T1 "### ethtool -S eth0\nNIC statistics:\n     rx_kicks: 20\n     rx_xdp_drops: 9\n     rx_queue_0_drops: 3\n     bw_in_allowance_exceeded: 9\n     tx_restart_queue: 4\n     conntrack_allowance_available: 800\n",
		     "interface.driver eth0 bw_in_allowance_exceeded 0+1000 4\ninterface.driver eth0 rx_queue_0_drops 0+1000 2\n"
		     "interface.driver_wait eth0 tx_restart_queue 0+1000 3\ncovered interface 0+1000 x2 namespace\n");
}

/* ---- headings, as tail and head print them, and what lies in /sys and /proc/sys ---- */

static void test_files_below_their_headings(void **state)
{
	(void)state;
	assert_tells(T0 "==> /proc/sys/net/netfilter/nf_conntrack_count <==\n9\n\n==> /proc/sys/net/netfilter/nf_conntrack_max <==\n10\n\n"
			"==> /sys/class/net/eth0/carrier_changes <==\n4\n\n==> /sys/class/net/eth0/statistics/rx_dropped <==\n7\n"
		     T1 "==> /proc/sys/net/netfilter/nf_conntrack_count <==\n10\n\n==> /proc/sys/net/netfilter/nf_conntrack_max <==\n10\n\n"
			"==> /sys/class/net/eth0/carrier_changes <==\n6\n\n==> /sys/class/net/eth0/statistics/rx_dropped <==\n8\n",
		     "conntrack.full 0+1000 1\ninterface.rx_dropped eth0 0+1000 1\ninterface.carrier_changes eth0 0+1000 2\n"
		     "covered conntrack_table 0+1000 x2 namespace\ncovered interface 0+1000 x2 namespace\n");
	/* As sysctl prints them; a table with room is none that is full, and a gauge that falls no reset. */
	assert_tells(T0 "net.netfilter.nf_conntrack_count = 9\nnet.netfilter.nf_conntrack_max = 10\n"
		     T1 "net.netfilter.nf_conntrack_count = 8\nnet.netfilter.nf_conntrack_max = 10\n",
		     "covered conntrack_table 0+1000 x2 namespace\n");
}

static void test_the_form_of_the_probe(void **state)
{
	(void)state;
	assert_tells("2026-11-30T10:00:00.250000Z\n==> /proc/net/softnet_stat <==\n" SOFTNET("00000001", "00000000", "00000000")
		     "==> /proc/net/snmp <==\nTcp: OutSegs RetransSegs\nTcp: 100 1\n==> /proc/net/dev <==\n" NET_DEV_HEAD
		     "  eth0: 1 10 5 0 0 0 0 0 1 10 0 0 0 0 0 0\n"
		     "2026-11-30T10:00:01.250000Z\n==> /proc/net/softnet_stat <==\n" SOFTNET("00000002", "00000007", "00000000")
		     "==> /proc/net/snmp <==\nTcp: OutSegs RetransSegs\nTcp: 105 2\n==> /proc/net/dev <==\n" NET_DEV_HEAD
		     "  eth0: 1 10 6 0 0 0 0 0 1 10 0 0 0 0 0 0\n",
		     "softnet.dropped cpu=0 250+1000 7\ntcp.OutSegs 250+1000 5\ntcp.RetransSegs 250+1000 1\ninterface.rx_errors eth0 250+1000 1\n"
		     "covered softnet 250+1000 x2 host\ncovered snmp 250+1000 x2 namespace\ncovered interface 250+1000 x2 namespace\n");
}

/* ---- pressure and quotas ---- */

static void test_pressure_of_machine_and_cgroup(void **state)
{
	(void)state;
	assert_tells(T0 "==> /proc/pressure/cpu <==\nsome avg10=2.33 avg60=0.98 avg300=4.88 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
		     T1 "==> /proc/pressure/cpu <==\nsome avg10=2.33 avg60=0.98 avg300=4.88 total=1500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		     "pressure.cpu.some_us 0+1000 500\ncovered pressure 0+1000 x2 host\n");
	assert_tells(T0 "==> /sys/fs/cgroup/app/memory.pressure <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=10\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"
		     T1 "==> /sys/fs/cgroup/app/memory.pressure <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=30\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n",
		     "pressure.memory.some_us /sys/fs/cgroup/app 0+1000 20\npressure.memory.full_us /sys/fs/cgroup/app 0+1000 7\n"
		     "covered pressure 0+1000 x2 cgroup\n");
	/* "cat /proc/pressure/" and all in it: cpu, io, memory, in the order of their names. */
	assert_tells(T0 "some avg10=0 total=1\nfull avg10=0 total=0\nsome avg10=0 total=2\nfull avg10=0 total=2\nsome avg10=0 total=3\nfull avg10=0 total=3\n"
		     T1 "some avg10=0 total=2\nfull avg10=0 total=0\nsome avg10=0 total=4\nfull avg10=0 total=5\nsome avg10=0 total=7\nfull avg10=0 total=8\n",
		     "pressure.cpu.some_us 0+1000 1\npressure.io.some_us 0+1000 2\npressure.io.full_us 0+1000 3\npressure.memory.some_us 0+1000 4\n"
		     "pressure.memory.full_us 0+1000 5\ncovered pressure 0+1000 x2 host\n");
}

static void test_pressure_of_nobody_knows_what(void **state)
{
	struct kit *k = read_named(T0 "some avg10=0 total=1\n" T1 "some avg10=0 total=900000\n", "x");

	(void)state;
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.unnamed"), 2);
	kit_free(k);
}

static void test_cpu_stat_of_both_versions(void **state)
{
	(void)state;
	assert_tells(T0 "==> /sys/fs/cgroup/app/cpu.stat <==\nusage_usec 100\nnr_periods 10\nnr_throttled 2\nthrottled_usec 5000\n"
		     T1 "==> /sys/fs/cgroup/app/cpu.stat <==\nusage_usec 200\nnr_periods 20\nnr_throttled 5\nthrottled_usec 95000\n",
		     "cpu.throttled_periods /sys/fs/cgroup/app 0+1000 3\ncpu.throttled_us /sys/fs/cgroup/app 0+1000 90000\ncovered cpu_quota 0+1000 x2 cgroup\n");
	/* v1 counts nanoseconds. */
	assert_tells(T0 "nr_periods 10\nnr_throttled 2\nthrottled_time 5000000\n" T1 "nr_periods 20\nnr_throttled 3\nthrottled_time 9000000\n",
		     "cpu.throttled_periods 0+1000 1\ncpu.throttled_us 0+1000 4000\ncovered cpu_quota 0+1000 x2 cgroup\n");
}

/* ---- ss ---- */

#define SS_HEAD "Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n"
#define SS(queue, timer, details) "0      " queue "         192.0.2.1:41092    [::ffff:192.0.2.2]:9092" timer "\n\t ts sack cubic rto:204 rtt:0.19/0.21 cwnd:10 " details " lastsnd:92\n"

static void test_ss_tells_a_connection(void **state)
{
	(void)state;
	/*
	 * The side with the port that openers get is the caller. At 10:00:02 its timer has run out twice, and the peer's
	 * last acknowledgment is 1500 ms old: but at 10:00:01 nothing stood out yet, so the silence began then at the earliest.
	 */
	assert_tells(T0 SS_HEAD SS("0", "", "data_segs_out:10 retrans:0/1 lastrcv:92 lastack:92")
		     T1 SS_HEAD SS("0", "", "data_segs_out:14 retrans:0/1 lastrcv:500 lastack:500")
		     T2 SS_HEAD SS("40", " timer:(on,800ms,2)", "data_segs_out:17 unacked:1 retrans:1/3 backoff:2 lastrcv:1500 lastack:1500"),
		     "socket.silent_ms 192.0.2.1:41092>192.0.2.2:9092 1000+1000 1000\nsocket.backoff 192.0.2.1:41092>192.0.2.2:9092 1000+1000 2\n"
		     "socket.segments 192.0.2.1:41092>192.0.2.2:9092 1000+1000 3\nsocket.retransmits 192.0.2.1:41092>192.0.2.2:9092 1000+1000 2\n"
		     "covered sockets 0+2000 x3 namespace\n");
	/* Without the header (ss -H), and two segments sent again of the seven. */
	assert_tells(T0 SS("0", "", "data_segs_out:10 retrans:0/1 lastack:9") T1 SS("0", "", "data_segs_out:17 retrans:0/3 lastack:9"),
		     "socket.segments 192.0.2.1:41092>192.0.2.2:9092 0+1000 7\nsocket.retransmits 192.0.2.1:41092>192.0.2.2:9092 0+1000 2\n"
		     "covered sockets 0+1000 x2 namespace\n");
	/* An idle connection is silent by right. */
	assert_tells(T0 SS_HEAD SS("0", "", "data_segs_out:10 retrans:0/1 lastrcv:92 lastack:92")
		     T1 SS_HEAD SS("0", " timer:(keepalive,30sec,0)", "data_segs_out:10 retrans:0/1 lastrcv:9000 lastack:9000"),
		     "covered sockets 0+1000 x2 namespace\n");
}

static void test_ss_at_the_called_side_and_where_ports_do_not_tell(void **state)
{
	(void)state;
	/* One line a connection (-O), with its state. */
	assert_tells(T0 "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 192.0.2.2:9092 192.0.2.1:41092 rto:204 data_segs_out:1 lastack:1\nESTAB 0 0 192.0.2.2:9092 192.0.2.3:9093 rto:204 data_segs_out:1\n"
		     T1 "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 192.0.2.2:9092 192.0.2.1:41092 rto:204 data_segs_out:3 lastack:1 retrans:0/1\nESTAB 0 0 192.0.2.2:9092 192.0.2.3:9093 rto:204 data_segs_out:5 retrans:0/2\n",
		     "socket.segments 192.0.2.1:41092>192.0.2.2:9092 0+1000 2\nsocket.segments 192.0.2.2:9092 192.0.2.3:9093 0+1000 4\n"
		     "socket.retransmits 192.0.2.1:41092>192.0.2.2:9092 0+1000 1\nsocket.retransmits 192.0.2.2:9092 192.0.2.3:9093 0+1000 2\n"
		     "covered sockets 0+1000 x2 namespace\n");
}

/* ---- node_exporter, scraped in a loop ---- */

#define SCRAPE(retrans, out, drop0, drop1, entries, errs, pressure)                                                    \
	"# HELP go_gc_duration_seconds A summary.\n# TYPE go_gc_duration_seconds summary\n"                            \
	"go_gc_duration_seconds{quantile=\"0\"} NaN\nnode_load1 0.5\n"                                                 \
	"node_netstat_Tcp_OutSegs " out "\nnode_netstat_Tcp_RetransSegs " retrans "\n"                                 \
	"node_network_receive_errs_total{device=\"eth0\"} " errs "\n"                                                  \
	"node_nf_conntrack_entries " entries "\nnode_nf_conntrack_entries_limit 262144\n"                              \
	"node_pressure_memory_stalled_seconds_total " pressure "\n"                                                    \
	"node_softnet_dropped_total{cpu=\"0\"} " drop0 "\nnode_softnet_dropped_total{cpu=\"1\"} " drop1 "\n"

static void test_node_exporter_in_a_loop(void **state)
{
	(void)state;
	assert_tells(T0 SCRAPE("95", "3.451936e+06", "0", "0", "1", "0", "0.25")
		     T1 SCRAPE("97", "3.452165e+06", "0", "3", "262144", "2", "0.7500004"),
		     /* 3452165 - 3451936 = 229; 0.75 - 0.25 s. */
		     "softnet.dropped cpu=1 0+1000 3\nconntrack.full 0+1000 1\ntcp.OutSegs 0+1000 229\ntcp.RetransSegs 0+1000 2\n"
		     "interface.rx_errors eth0 0+1000 2\npressure.memory.full_us 0+1000 500000\n"
		     "covered softnet 0+1000 x2 host\ncovered conntrack_table 0+1000 x2 namespace\ncovered snmp 0+1000 x2 namespace\n"
		     "covered interface 0+1000 x2 namespace\ncovered pressure 0+1000 x2 host\n");
}

/* ---- rows with their own times ---- */

static void test_rows_behind_times_of_ts(void **state)
{
	(void)state;
	/* Each row has its time; rows of one round differ by microseconds. */
	assert_tells("2026-11-30T10:00:00.000011+0000 " SOFTNET("00000001", "00000000", "00000000")
		     "2026-11-30T10:00:00.000084+0000 " SOFTNET("00000001", "00000000", "00000001")
		     "2026-11-30T10:00:01.000011+0000 " SOFTNET("00000002", "00000000", "00000000")
		     "2026-11-30T10:00:01.000084+0000 " SOFTNET("00000002", "00000004", "00000001"),
		     "softnet.dropped cpu=1 0+1000 4\ncovered softnet 0+1000 x2 host\n");
	/* Whole seconds: the second time CPU 0 comes, another round begins. */
	assert_tells("2026-11-30 10:00:00 " SOFTNET("00000001", "00000000", "00000000")
		     "2026-11-30 10:00:01 " SOFTNET("00000001", "00000002", "00000000")
		     "2026-11-30 10:00:02 " SOFTNET("00000001", "00000005", "00000000"),
		     "softnet.dropped cpu=0 0+1000 2\nsoftnet.dropped cpu=0 1000+1000 3\ncovered softnet 0+2000 x3 host\n");
}

static void test_times_without_a_year_are_dated_by_the_file(void **state)
{
	struct kit *k = kit_new();
	struct sv text = SV("Nov 30 10:00:00 " SOFTNET("00000001", "00000000", "00000000") "Nov 30 10:00:01 "
			    SOFTNET("00000001", "00000002", "00000000"));
	struct ingest in = kit_ingest(k, text, "x", NULL);

	(void)state;
	in.has_modified = true;
	in.modified.us = TEN + 5000000;
	assert_int_equal(counters_kind.read(&in), 0);
	assert_events(k, "softnet.dropped cpu=0 0+1000 2\ncovered softnet 0+1000 x2 host\n");
	arena_free(in.record);
	kit_free(k);
	/* With nothing that tells the year no time is invented. */
	k = kit_new();
	kit_read(k, &counters_kind, SV("Nov 30 10:00:00\nTcp: RetransSegs\nTcp: 1\nNov 30 10:00:01\nTcp: RetransSegs\nTcp: 2\n"), "x", NULL);
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.undated"), 2);
	kit_free(k);
}

static void test_clocks_of_uptime_and_watch(void **state)
{
	(void)state;
	struct kit *k = read_named(" 10:00:00 up 3 days,  1:02,  1 user,  load average: 0.10, 0.20, 0.30\nTcp: OutSegs RetransSegs\nTcp: 5 1\n"
				   " 10:00:01 up 3 days,  1:02,  1 user,  load average: 0.10, 0.20, 0.30\nTcp: OutSegs RetransSegs\nTcp: 9 2\n",
				   "netstat-2026-11-30.log");

	assert_events(k, "tcp.OutSegs 0+1000 4\ntcp.RetransSegs 0+1000 1\ncovered snmp 0+1000 x2 namespace\n");
	kit_free(k);
	assert_tells("Every 1.0s: cat /proc/net/snmp            node-a: Mon Nov 30 10:00:00 2026\n\nTcp: OutSegs RetransSegs\nTcp: 5 1\n"
		     "Every 1.0s: cat /proc/net/snmp            node-a: Mon Nov 30 10:00:01 2026\n\nTcp: OutSegs RetransSegs\nTcp: 9 2\n",
		     "tcp.OutSegs 0+1000 4\ntcp.RetransSegs 0+1000 1\ncovered snmp 0+1000 x2 namespace\n");
}

#define SEGMENTS(out, again) "Tcp: OutSegs RetransSegs\nTcp: " out " " again "\n"

/* while sleep 1; do cat /proc/uptime /proc/net/snmp; done */
static void test_rows_of_uptime_count_from_a_start_that_one_date_tells(void **state)
{
	(void)state;
	/* 711.79 s after the start it was 10:00:00. */
	assert_tells("2026-11-30T10:00:00Z\n711.79 1402.55\n" SEGMENTS("5", "1") "712.80 1404.10\n" SEGMENTS("9", "2") "713.80 1405.10\n" SEGMENTS("9", "5"),
		     "tcp.OutSegs 0+1010 4\ntcp.RetransSegs 0+1010 1\ntcp.RetransSegs 1010+1000 3\ncovered snmp 0+2010 x3 namespace\n");
	/* The date behind it is as good; where each round has one, that holds. */
	assert_tells("711.79 1402.55\n2026-11-30T10:00:00Z\n" SEGMENTS("5", "1") "712.79 1404.10\n2026-11-30T10:00:02Z\n" SEGMENTS("9", "2"),
		     "tcp.OutSegs 0+2000 4\ntcp.RetransSegs 0+2000 1\ncovered snmp 0+2000 x2 namespace\n");
	/* Two numbers among the rows of a round begin none. */
	assert_tells("2026-11-30T10:00:00Z\n" SEGMENTS("5", "1") "0.10 0.22\n" "2026-11-30T10:00:01Z\n" SEGMENTS("9", "2") "0.10 0.22\n",
		     "tcp.OutSegs 0+1000 4\ntcp.RetransSegs 0+1000 1\ncovered snmp 0+1000 x2 namespace\n");
}

static void test_rows_of_uptime_alone_give_no_time(void **state)
{
	struct kit *k = read_named("711.79 1402.55\n" SEGMENTS("5", "1") "712.80 1404.10\n" SEGMENTS("9", "2"), "x");

	(void)state;
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.undated"), 2);
	assert_int_equal(kit_problem(k, "counters.undated")->place.number, 3);
	assert_int_equal(kit_problems(k, "counters.unrecognized"), 0);
	assert_int_equal(k->info.skipped, 2);
	kit_free(k);
	/* Of another start of the machine the date tells nothing. */
	k = read_named("2026-11-30T10:00:00Z\n711.79 1402.55\n" SEGMENTS("5", "1") "12.80 24.10\n" SEGMENTS("9", "2"), "x");
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.undated"), 1);
	kit_free(k);
}

/* 292 thousand years: no machine's, and before the year 1 it would have been started when no time is. */
static void test_a_number_that_no_machine_is_up_for_is_no_uptime(void **state)
{
	struct kit *k = read_named("0001-01-01T00:00:00Z\n9223372036854.00 1.00\n" SEGMENTS("5", "1") "9223372036855.00 1.00\n"
				   SEGMENTS("9", "2"), "x");

	(void)state;
	assert_events(k, "");
	assert_int_equal(k->info.unrecognized, 2);
	kit_free(k);
}

/* A file whose start was cut off: one message for all that the first sample still has. */
static void test_a_torn_first_sample_is_told_once(void **state)
{
	struct kit *k = read_named("Segs RetransSegs\n" SEGMENTS("4", "0") NET_DEV_HEAD "  eth0: 1 10 5 0 0 0 0 0 1 10 0 0 0 0 0 0\n"
				   "2026-11-30T10:00:00Z\n" SEGMENTS("5", "1") "2026-11-30T10:00:01Z\n" SEGMENTS("9", "2"), "x");
	const struct problem *p = kit_problem(k, "counters.no_clock");

	(void)state;
	assert_events(k, "tcp.OutSegs 0+1000 4\ntcp.RetransSegs 0+1000 1\ncovered snmp 0+1000 x2 namespace\n");
	assert_int_equal(kit_problems(k, "counters.no_clock"), 1);
	assert_int_equal(p->place.number, 3);
	assert_non_null(strstr(arena_strdup(k->arena, p->message), "a sample of snmp and of 1 more"));
	assert_int_equal(k->info.records, 4);
	assert_int_equal(k->info.skipped, 2);
	/* What is left of its first row. */
	assert_int_equal(kit_problems(k, "counters.unrecognized"), 1);
	assert_int_equal(kit_problem(k, "counters.unrecognized")->place.number, 1);
	kit_free(k);
	/* Whole, there is nothing to tell. */
	k = read_named("2026-11-30T10:00:00Z\n" SEGMENTS("5", "1") "2026-11-30T10:00:01Z\n" SEGMENTS("9", "2"), "x");
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

/* ---- what says nothing ---- */

static void test_a_snapshot_alone_is_kept_and_says_so(void **state)
{
	struct kit *k = read_named(NET_DEV_HEAD "  eth0: 1 10 5 0 0 0 0 0 1 10 0 0 0 0 0 0\n", "x");

	(void)state;
	assert_events(k, "");
	assert_int_equal(k->info.records, 1);
	assert_int_equal(k->info.skipped, 0);
	assert_int_equal(kit_problem(k, "counters.lone_sample")->severity, SEVERITY_NOTE);
	assert_sv_equal(k->info.format, "/proc/net/dev");
	kit_free(k);
}

static void test_retransmissions_without_what_was_sent_cover_nothing(void **state)
{
	struct kit *k = read_named(T0 "Tcp: RetransSegs\nTcp: 1\n" T1 "Tcp: RetransSegs\nTcp: 4\n", "x");

	(void)state;
	assert_events(k, "tcp.RetransSegs 0+1000 3\n");
	assert_int_equal(kit_problem(k, "counters.partial")->severity, SEVERITY_NOTE);
	kit_free(k);
}

static void test_a_reboot_is_no_burst(void **state)
{
	/* All fall together: 4 of 60 drops are no 4294967236 more. Ten minutes apart a wrap would be plausible by its rate. */
	struct kit *k = read_named(T0 "cpu=0 insert_failed=0 drop=60 early_drop=0\n2026-11-30T10:10:00.000000Z\n"
				   "cpu=0 insert_failed=0 drop=4 early_drop=0\n", "x");

	(void)state;
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.reset"), 1);
	kit_free(k);
}

static void test_samples_and_not_rows_are_skipped(void **state)
{
	/* Two rows of one sample are damaged: one sample of two. */
	struct kit *k = read_named(T0 SOFTNET("00000001", "00000000", "00000000") SOFTNET("00000001", "00000000", "00000001")
				   T1 "00000001 00000000 0\n00000001 00000000 0\n", "x");

	(void)state;
	assert_int_equal(k->info.records, 2);
	assert_int_equal(k->info.skipped, 1);
	kit_free(k);
}

/* ---- chronyc tracking ---- */

#define TRACKING(id, system)                                                                                           \
	"Reference ID    : " id "\nStratum         : 3\nRef time (UTC)  : Mon Nov 30 09:59:30 2026\n"                  \
	"System time     : " system " of NTP time\nLast offset     : +0.000000001 seconds\n"                           \
	"Root delay      : 0.010000000 seconds\nRoot dispersion : 0.002000000 seconds\nLeap status     : Normal\n"

static void test_chronyc_tracking(void **state)
{
	(void)state;
	/* 2 ms and half of 10 ms. */
	assert_tells(T0 TRACKING("C0000201 (192.0.2.1)", "0.001250000 seconds fast"), "offset 0+0 1250us +-7000us\n");
	assert_tells(T0 TRACKING("C0000201 (192.0.2.1)", "0.001250000 seconds slow"), "offset 0+0 -1250us +-7000us\n");
	/* Alone, it was so at its last update. */
	assert_tells(TRACKING("C0000201 (192.0.2.1)", "0.001250000 seconds fast"), "offset -30000+0 1250us +-7000us\n");
	/* Its own clock is its reference: that says nothing. */
	assert_tells(T0 TRACKING("7F7F0101 ()", "0.001250000 seconds fast"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nstat_prints_increments),
		cmocka_unit_test(test_nstat_told_to_print_all_since_the_boot),
		cmocka_unit_test(test_a_last_number_that_may_be_cut_is_not_used),
		cmocka_unit_test(test_a_last_number_that_is_known_to_be_whole),
		cmocka_unit_test(test_what_is_torn_off_is_not_covered),
		cmocka_unit_test(test_netstat_s_in_both_spellings),
		cmocka_unit_test(test_proc_net_dev),
		cmocka_unit_test(test_traffic_without_loss_makes_no_events),
		cmocka_unit_test(test_an_interface_made_anew_says_nothing_of_the_others),
		cmocka_unit_test(test_ip_link_as_text_and_json),
		cmocka_unit_test(test_ethtool_names_that_speak_of_loss),
		cmocka_unit_test(test_files_below_their_headings),
		cmocka_unit_test(test_the_form_of_the_probe),
		cmocka_unit_test(test_pressure_of_machine_and_cgroup),
		cmocka_unit_test(test_pressure_of_nobody_knows_what),
		cmocka_unit_test(test_cpu_stat_of_both_versions),
		cmocka_unit_test(test_ss_tells_a_connection),
		cmocka_unit_test(test_ss_at_the_called_side_and_where_ports_do_not_tell),
		cmocka_unit_test(test_node_exporter_in_a_loop),
		cmocka_unit_test(test_rows_behind_times_of_ts),
		cmocka_unit_test(test_times_without_a_year_are_dated_by_the_file),
		cmocka_unit_test(test_clocks_of_uptime_and_watch),
		cmocka_unit_test(test_rows_of_uptime_count_from_a_start_that_one_date_tells),
		cmocka_unit_test(test_rows_of_uptime_alone_give_no_time),
		cmocka_unit_test(test_a_number_that_no_machine_is_up_for_is_no_uptime),
		cmocka_unit_test(test_a_torn_first_sample_is_told_once),
		cmocka_unit_test(test_a_snapshot_alone_is_kept_and_says_so),
		cmocka_unit_test(test_retransmissions_without_what_was_sent_cover_nothing),
		cmocka_unit_test(test_a_reboot_is_no_burst),
		cmocka_unit_test(test_samples_and_not_rows_are_skipped),
		cmocka_unit_test(test_chronyc_tracking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
