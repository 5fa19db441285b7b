// SPDX-License-Identifier: MIT

// The refund consumer with kafka-go's Reader, which tells its user neither assignments nor generations.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"aftershock.lab/refunds"
	"github.com/segmentio/kafka-go"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	work := refunds.New()
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers:           []string{work.Bootstrap},
		GroupID:           work.Group,
		Topic:             work.Topic,
		Dialer:            &kafka.Dialer{ClientID: work.ClientID, Timeout: 10 * time.Second, DualStack: true},
		SessionTimeout:    work.SessionTimeout,
		HeartbeatInterval: work.HeartbeatInterval,
		CommitInterval:    5 * time.Second,
		StartOffset:       kafka.FirstOffset,
		Logger:            log.New(os.Stdout, "kafka reader: ", log.LstdFlags|log.Lmsgprefix),
		ErrorLogger:       log.New(os.Stderr, "kafka reader error: ", log.LstdFlags|log.Lmsgprefix),
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log.Printf("Starting refund service on %s", work.ClientID)
	for ctx.Err() == nil {
		message, err := reader.FetchMessage(ctx)
		if err != nil {
			if ctx.Err() == nil {
				log.Printf("fetching failed: %v", err)
			}
			continue
		}
		work.Handle(message.Topic, int32(message.Partition), message.Offset, message.Value, nil)
		if err := reader.CommitMessages(ctx, message); err != nil && ctx.Err() == nil {
			log.Printf("committing failed: %v", err)
		}
	}
	log.Printf("Stopping refund service on %s", work.ClientID)
	work.Journal("stop", nil)
	if err := reader.Close(); err != nil {
		log.Printf("closing failed: %v", err)
	}
}
