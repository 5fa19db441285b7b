// SPDX-License-Identifier: MIT

// The refund consumer with franz-go, logging with its basic logger at INFO as its examples do.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"aftershock.lab/refunds"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	work := refunds.New()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// In a revocation the client may already be on its way to the next generation: only an assignment tells its own.
	note := func(what string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
			member, generation := client.GroupMetadata()
			fields := refunds.Fields{"member": member}
			if what == "assigned" {
				fields["generation"] = generation
			}
			work.Partitions(what, partitions, fields)
			if what == "revoked" {
				if err := client.CommitMarkedOffsets(ctx); err != nil {
					log.Printf("committing failed: %v", err)
				}
			}
		}
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(work.Bootstrap),
		kgo.ClientID(work.ClientID),
		kgo.ConsumerGroup(work.Group),
		kgo.ConsumeTopics(work.Topic),
		kgo.SessionTimeout(work.SessionTimeout),
		kgo.HeartbeatInterval(work.HeartbeatInterval),
		kgo.AutoCommitMarks(),
		kgo.OnPartitionsAssigned(note("assigned")),
		kgo.OnPartitionsRevoked(note("revoked")),
		kgo.OnPartitionsLost(note("lost")),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, func() string {
			return time.Now().Format("2006-01-02T15:04:05.000Z07:00 ")
		})),
	)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("Starting refund service on %s", work.ClientID)
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(topic string, partition int32, err error) {
			if ctx.Err() == nil {
				log.Printf("fetching %s-%d failed: %v", topic, partition, err)
			}
		})
		fetches.EachRecord(func(record *kgo.Record) {
			work.Handle(record.Topic, record.Partition, record.Offset, record.Value, nil)
			client.MarkCommitRecords(record)
		})
	}
	log.Printf("Stopping refund service on %s", work.ClientID)
	work.Journal("stop", nil)
	client.Close()
}
