/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_EPISODE_H
#define AFTERSHOCK_ANALYSIS_EPISODE_H

/*
 * Between the lines of a group and its rebalances: what rebalance.c, episode.c,
 * trigger.c, witness.c and root.c pass to one another. Nobody else includes it.
 *
 *	rebalance.c  loads the lines, hands them out by group, makes the result
 *	episode.c    lines of one generation become one episode
 *	trigger.c    what the coordinator says of the cause
 *	cause_index.c  who of many a line is about
 *	ask.c        who asked to join, where the coordinator does not say
 *	witness.c    what the clients say of it
 *	root.c       who came back, whether he had been alive, what follows from what
 *	absence.c    how long each member was without partitions
 */

#include "analysis/rebalance.h"

/* A line on the reference clock. */
struct sighting {
	const struct event *event;
	struct ref_time time;
};

struct sightings {
	struct sighting *items;	/* by time, then id of the event */
	size_t count;
	size_t capacity;
};

/* What a member did or was told: by its own log, or where there is none by a capture (wire_line.h). */
static inline bool sighting_is_clients(const struct sighting *s)
{
	enum event_side side = event_infos[s->event->type].side;

	return side == SIDE_CLIENT || side == SIDE_PATH;
}

/* In order of strength, the weakest first. */
enum basis { BASIS_INFERENCE, BASIS_CLIENT_LOG, BASIS_WIRE, BASIS_BROKER_LINE, BASIS_BROKER_REASON };

/* What a text or a type of event says of the cause. */
struct meaning {
	enum trigger trigger;
	enum strength strength;
	/*
	 * Of two lines about one member's going the more precise decides: 1 it went, 2 the coordinator sent it away (or let
	 * it in), 3 why it went of itself, 4 what its own clock says.
	 */
	unsigned precision;
};

/* One member's doing that made, or helped to make, a rebalance. */
struct cause {
	struct meaning meaning;
	enum basis basis;
	struct ref_time time;
	struct sv member;
	struct sv client;
	struct sv host;
	struct sv clock_host;	/* whose clock the time is by */
	bool is_within;		/* happened in a join phase that something else had begun */
	bool has_returned;	/* a removal whose member is back: see root.c */
	bool is_surely_back;	/* ... as the same process */
	size_t root;		/* of a rejoin: place of the episode that removed the member */
	bool has_root;
};

struct episode {
	struct rebalance r;
	bool has_begun;		/* the coordinator's line that it prepares a rebalance is known */
	bool is_bumped;		/* ... by a new epoch of the consumer protocol */
	struct ref_time begun;
	bool has_formed;	/* the new generation is complete, by the first line that says so */
	struct ref_time formed;
	bool has_ended;		/* its assignment is known, by whoever's line */
	const struct event *preparing;
	struct sv broker_host;
	const struct event **told;	/* the events of r.evidence, one for each */
	size_t told_count;
	size_t told_capacity;
	struct cause *causes;
	size_t cause_count;
	size_t cause_capacity;
	struct cause_index *index;	/* of the causes; NULL while they are few */
	size_t absence_capacity;
};

/* All that is known of one group. */
struct group_life {
	const struct group *group;
	const struct clocks *clocks;
	struct arena *arena;
	struct sightings seen;		/* lines that name the group */
	struct sightings asks;		/* who was no member asked to join, by captures (wire_line.h): when it was sent */
	struct sightings processes;	/* lines of all clients, of whatever group, and of processes killed, by host, then time */
	struct sightings starts;	/* those of processes that a consumer prints when it is made */
	struct sightings killings;	/* those of processes killed */
	struct coverage *logs;		/* of hosts, on the reference clock */
	size_t log_count;
	int64_t session_us, heartbeat_us, poll_us;
	bool has_broker;		/* the coordinator's log speaks of the group from broker.start to broker.end */
	struct span broker;
	struct sightings moves;		/* coordinators that moved or started, whatever the group */
	struct episode *episodes;	/* by start, then generation, but for those made since they were sorted */
	size_t episode_count;
	size_t episode_capacity;
	size_t sorted;			/* how many stand in order */
	struct root_lines *root_lines;	/* root.c: what is asked for of each member that went or came */
};

/* Cause and effect in one log: the same millisecond as a rule. */
#define EPISODE_SLACK_US US_PER_S

/* ---- episode.c ---- */

/* The place of the first at or after t. */
size_t sightings_from(const struct sightings *all, int64_t t_us);
void episodes_build(struct group_life *life);
/* A new one without generation, at that time, behind the sorted ones. Addresses of others do not survive. */
struct episode *episode_new(struct group_life *life, struct ref_time t);
void episodes_sort(struct group_life *life);
/* How many of the sorted ones start at or before t. */
size_t episodes_until(const struct group_life *life, struct ref_time t);
void episode_evidence(struct group_life *life, struct episode *ep, const struct sighting *s);
/* How far a line of that host may be off, beyond the slack. */
int64_t episode_slack_us(const struct group_life *life, struct sv host);

/* ---- echo.c ---- */

/* The evidence of the episode that said the same before, in other words; NULL when none did. */
struct evidence *echo_find(const struct episode *ep, const struct event *e);

/* ---- trigger.c ---- */

/* What the reasons in a line mean, the broker's and the client's. */
bool trigger_of_event(const struct event *e, struct meaning *out);
void triggers_from_broker(struct group_life *life);
/* Adds what a line says of a member, or strengthens what is known of it already. */
struct cause *trigger_add(struct group_life *life, struct episode *ep, const struct sighting *s, struct meaning m,
			  enum basis basis);
bool trigger_is_removal(enum trigger t);	/* a member goes, by whichever cause */
bool trigger_is_arrival(enum trigger t);
bool cause_is_of(const struct cause *c, struct sv member, struct sv client, struct sv host);
void triggers_decide(struct group_life *life);
/*
 * A session that ran out in a join phase which the same client had begun by joining anew: of a member id that it had
 * been given and never used.
 */
bool cause_is_ghost(const struct episode *ep, const struct cause *c);

/* One number for all goings, one for all comings, and one for each trigger else. */
unsigned trigger_doing(enum trigger t);

/* ---- cause_index.c ---- */

/* The first of the episode's causes that is the same doing of the same member, as cause_is_of says; NULL when none is. */
struct cause *cause_find(const struct episode *ep, const struct cause *sought);
/* The same of a client and its host, by whatever member id: of that trigger, or another that is the same doing. */
struct cause *cause_find_of_client(const struct episode *ep, enum trigger doing, const struct cause *of);
struct cause *cause_add(struct arena *a, struct episode *ep, const struct cause *c);
/* The known one, which gets what it lacks of who it is about. */
void cause_learn(struct episode *ep, struct cause *known, const struct cause *from);
/* As cause_find, one after the other: what it does without an index, and what a test holds it against. */
struct cause *cause_find_one_by_one(const struct episode *ep, const struct cause *sought);

/* ---- ask.c ---- */

/* Coordinators before 2.1 log that a rebalance begins, and not why. */
bool episode_is_without_reason(const struct episode *ep);
/* After triggers_from_broker. */
void triggers_from_asks(struct group_life *life);
/* After triggers_from_clients, before roots_link: of clients that asked twice. */
void asks_settle(struct group_life *life);

/* ---- witness.c ---- */

void triggers_from_clients(struct group_life *life);
/* A consumer prints it when it is made: its configuration, or its version. */
bool witness_is_start(const struct event *e);
/* The client's error says that the coordinator does not know its member id. */
bool witness_is_unknown_member(const struct event *e);
/* When a new process, or at least a new consumer, first started on the host from t on; INT64_MAX when none did. */
int64_t witness_restart_us(const struct group_life *life, struct sv host, struct sv client, struct ref_time t);
/*
 * The first line between two instants that a process of the host was killed, after which this client of it says
 * nothing more until it has started anew, or for a session timeout; NULL when there is none.
 */
const struct sighting *witness_killing(const struct group_life *life, struct sv host, struct sv client, int64_t from_us,
				       int64_t to_us);

/* ---- absence.c ---- */

/* After the roots are linked. */
void absences_find(struct group_life *life);

/* ---- root.c ---- */

void roots_link(struct group_life *life);
void fates_decide(struct group_life *life);

#endif
