// SPDX-License-Identifier: MIT

// The refund consumer with Sarama, its logger set as in its example of a consumer group.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"aftershock.lab/refunds"
	"github.com/IBM/sarama"
)

type handler struct {
	work *refunds.Refunds
}

func known(session sarama.ConsumerGroupSession) refunds.Fields {
	return refunds.Fields{"generation": session.GenerationID(), "member": session.MemberID()}
}

func (h handler) Setup(session sarama.ConsumerGroupSession) error {
	h.work.Partitions("assigned", session.Claims(), known(session))
	return nil
}

func (h handler) Cleanup(session sarama.ConsumerGroupSession) error {
	h.work.Partitions("revoked", session.Claims(), known(session))
	return nil
}

func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			h.work.Handle(message.Topic, message.Partition, message.Offset, message.Value, known(session))
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	sarama.Logger = log.New(os.Stdout, "[sarama] ", log.LstdFlags)
	work := refunds.New()
	config := sarama.NewConfig()
	config.ClientID = work.ClientID
	config.Consumer.Group.Session.Timeout = work.SessionTimeout
	config.Consumer.Group.Heartbeat.Interval = work.HeartbeatInterval
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	group, err := sarama.NewConsumerGroup([]string{work.Bootstrap}, work.Group, config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log.Printf("Starting refund service on %s", work.ClientID)
	for ctx.Err() == nil {
		// Returns at the end of each session; an error ends the example's consumer, here it is tried again.
		err := group.Consume(ctx, []string{work.Topic}, handler{work})
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			break
		}
		if err != nil {
			log.Printf("Error from consumer: %v", err)
		}
	}
	log.Printf("Stopping refund service on %s", work.ClientID)
	work.Journal("stop", nil)
	if err := group.Close(); err != nil {
		log.Printf("Error closing client: %v", err)
	}
}
