// SPDX-License-Identifier: MIT

// Package refunds is the handler of the Go clients: it executes the steps of a refund and journals what was received
// and done.
package refunds

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const retry = 300 * time.Millisecond

var steps = []string{"reversal", "ledger", "notice"}

// Fields of a journal entry or of a request to the books.
type Fields map[string]any

// Refunds executes records; any number of goroutines may use one.
type Refunds struct {
	Bootstrap, Group, ClientID, Topic string
	SessionTimeout, HeartbeatInterval time.Duration

	mutex   sync.Mutex
	journal *os.File
	books   net.Conn
	answers *bufio.Scanner
}

type refund struct {
	OrderNo  string `json:"order_no"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

func millis(name string) time.Duration {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return time.Duration(n) * time.Millisecond
}

// New reads the environment that every client of the lab gets.
func New() *Refunds {
	journal, err := os.OpenFile(os.Getenv("JOURNAL"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	books, err := net.Dial("unix", os.Getenv("BOOKS"))
	if err != nil {
		log.Fatal(err)
	}
	return &Refunds{
		Bootstrap: os.Getenv("BOOTSTRAP"), Group: os.Getenv("GROUP"), ClientID: os.Getenv("CLIENT_ID"), Topic: os.Getenv("TOPIC"),
		SessionTimeout: millis("SESSION_TIMEOUT_MS"), HeartbeatInterval: millis("HEARTBEAT_INTERVAL_MS"),
		journal: journal, books: books, answers: bufio.NewScanner(books),
	}
}

// Journal writes one entry, in one write(2).
func (r *Refunds) Journal(what string, fields Fields) {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	line, err := json.Marshal(merge(fields, Fields{"time": now, "what": what, "consumer": r.ClientID}))
	if err == nil {
		_, err = r.journal.Write(append(line, '\n'))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Partitions journals assigned, revoked or lost partitions.
func (r *Refunds) Partitions(what string, partitions map[string][]int32, more Fields) {
	names := []string{}
	for topic, numbers := range partitions {
		for _, n := range numbers {
			names = append(names, fmt.Sprintf("%s-%d", topic, n))
		}
	}
	sort.Strings(names)
	r.Journal(what, merge(more, Fields{"partitions": names}))
}

// Handle executes one record. Known is what its caller knows beyond the coordinates: the generation, or nothing.
func (r *Refunds) Handle(topic string, partition int32, offset int64, value []byte, known Fields) {
	var refund refund
	if err := json.Unmarshal(value, &refund); err != nil {
		log.Fatalf("not a refund: %s", value)
	}
	place := func(more Fields) Fields {
		return merge(more, Fields{"topic": topic, "partition": partition, "offset": offset})
	}
	r.Journal("received", place(merge(known, Fields{"business_key": refund.OrderNo})))
	for _, step := range steps {
		if step == "ledger" {
			r.stallIfTold()
		}
		time.Sleep(time.Duration(6+rand.IntN(12)) * time.Millisecond)
		status := r.attempt(step, refund, place)
		for status == "failed" {
			time.Sleep(retry)
			status = r.attempt(step, refund, place)
		}
		log.Printf("%s %s %s (%s-%d@%d)", step, refund.OrderNo, status, topic, partition, offset)
	}
	r.Journal("done", place(known))
}

func (r *Refunds) attempt(step string, refund refund, place func(Fields) Fields) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	asked := place(Fields{"step": step, "instance": r.ClientID, "order_no": refund.OrderNo,
		"amount": refund.Amount, "currency": refund.Currency})
	line, err := json.Marshal(asked)
	if err == nil {
		_, err = r.books.Write(append(line, '\n'))
	}
	if err != nil || !r.answers.Scan() {
		log.Fatalf("the books do not answer: %v", err)
	}
	var answer struct {
		RequestID string `json:"request_id"`
		Status    string `json:"status"`
	}
	if err := json.Unmarshal(r.answers.Bytes(), &answer); err != nil {
		log.Fatal(err)
	}
	r.Journal("attempt", place(Fields{"business_key": refund.OrderNo, "step": step, "request_id": answer.RequestID,
		"status": answer.Status, "amount": refund.Amount, "currency": refund.Currency}))
	return answer.Status
}

// stallIfTold is the injector's way to make one record slow: a file with a number of milliseconds.
func (r *Refunds) stallIfTold() {
	text, err := os.ReadFile(os.Getenv("SLOW_NEXT"))
	if err != nil || os.Remove(os.Getenv("SLOW_NEXT")) != nil {
		return
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	r.Journal("stall", Fields{"millis": n})
	time.Sleep(time.Duration(n) * time.Millisecond)
	r.Journal("stall_over", nil)
}

func merge(a, b Fields) Fields {
	all := Fields{}
	for _, one := range []Fields{a, b} {
		for name, value := range one {
			all[name] = value
		}
	}
	return all
}
