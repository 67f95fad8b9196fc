// Go: goroutines. A semaphore is a channel with room for its permits, or that of x/sync.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"
)

type run struct {
	workload string
	threads  int
}

func (r run) tell(metric string, value float64, unit string) {
	fmt.Printf(`{"workload":"%s","threads":%d,"metric":"%s","value":%.6g,"unit":"%s"}`+"\n",
		r.workload, r.threads, metric, value, unit)
}

type timing struct{ wall, cpu float64 }

func cpu() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}

func timed(body func()) timing {
	before, began := cpu(), time.Now()
	body()
	return timing{time.Since(began).Seconds(), cpu() - before}
}

func (r run) tellEach(took timing, count int, metric string) {
	r.tell(metric, took.wall*1e9/float64(count), "ns")
	if r.threads > 1 {
		r.tell("cpu_per_wall", took.cpu/took.wall, "cores")
	}
}

// together runs body(i) in so many goroutines.
func together(count int, body func(i int)) timing {
	return timed(func() {
		var all sync.WaitGroup
		all.Add(count)
		for i := 0; i < count; i++ {
			go func(i int) {
				defer all.Done()
				body(i)
			}(i)
		}
		all.Wait()
	})
}

type permit struct{}

var background = context.Background()

func w1(r run) {
	const rounds = 5000000
	permits := make(chan permit, 10)
	r.tellEach(timed(func() {
		for i := 0; i < rounds; i++ {
			permits <- permit{}
			<-permits
		}
	}), rounds, "ns_per_op")
}

func w1Sync(r run) {
	const rounds = 5000000
	permits := semaphore.NewWeighted(10)
	r.tellEach(timed(func() {
		for i := 0; i < rounds; i++ {
			permits.Acquire(background, 1)
			permits.Release(1)
		}
	}), rounds, "ns_per_op")
}

func w2(r run) {
	const rounds = 5000000
	var mutex sync.Mutex
	r.tellEach(timed(func() {
		for i := 0; i < rounds; i++ {
			mutex.Lock()
			mutex.Unlock()
		}
	}), rounds, "ns_per_op")
}

func w3(r run) {
	var mutex sync.Mutex
	counted := 0
	r.tellEach(together(1000, func(int) {
		for i := 0; i < 1000; i++ {
			mutex.Lock()
			counted++
			mutex.Unlock()
		}
	}), counted, "ns_per_op")
}

func w3y(r run) {
	var mutex sync.Mutex
	r.tellEach(together(1000, func(int) {
		for i := 0; i < 1000; i++ {
			mutex.Lock()
			runtime.Gosched()
			mutex.Unlock()
		}
	}), 1000000, "ns_per_op")
}

func w4(r run) {
	permits := make(chan permit, 10)
	r.tellEach(together(1000, func(int) {
		for i := 0; i < 1000; i++ {
			permits <- permit{}
			runtime.Gosched()
			<-permits
		}
	}), 1000000, "ns_per_op")
}

func w4Sync(r run) {
	permits := semaphore.NewWeighted(10)
	r.tellEach(together(1000, func(int) {
		for i := 0; i < 1000; i++ {
			permits.Acquire(background, 1)
			runtime.Gosched()
			permits.Release(1)
		}
	}), 1000000, "ns_per_op")
}

func w5(pairs int) func(run) {
	return func(r run) {
		const items = 2000000
		queue := make(chan int, 64)
		r.tellEach(together(2*pairs, func(goroutine int) {
			for i := 0; i < items/pairs; i++ {
				if goroutine%2 == 0 {
					queue <- i
				} else {
					<-queue
				}
			}
		}), items, "ns_per_op")
	}
}

func w6(r run) {
	const rounds = 500000
	turns := [2]chan permit{make(chan permit, 1), make(chan permit, 1)}
	turns[0] <- permit{}
	r.tellEach(together(2, func(mine int) {
		for i := 0; i < rounds; i++ {
			<-turns[mine]
			turns[1-mine] <- permit{}
		}
	}), rounds, "ns_per_op")
}

func resident() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var whole, pages float64
	fmt.Sscan(string(text), &whole, &pages)
	return pages * float64(os.Getpagesize())
}

func w7(r run) {
	const waiters = 1000000
	gate := make(chan permit)
	var waiting, all sync.WaitGroup
	waiting.Add(waiters)
	all.Add(waiters)
	before := resident()
	parked := timed(func() {
		for i := 0; i < waiters; i++ {
			go func() {
				waiting.Done()
				<-gate
				all.Done()
			}()
		}
		waiting.Wait()
	})
	after := resident()
	released := timed(func() {
		close(gate)
		all.Wait()
	})
	r.tellEach(parked, waiters, "park_ns")
	r.tell("bytes_per_waiter", (after-before)/waiters, "bytes")
	r.tellEach(released, waiters, "release_ns")
}

// limited lets so many wait for a permit that there is not, each with the context that limit gives it.
func limited(waiters int, permits *semaphore.Weighted, limit func(i int) context.Context) (failed *int, all *sync.WaitGroup) {
	var waiting sync.WaitGroup
	var mutex sync.Mutex
	failed, all = new(int), new(sync.WaitGroup)
	waiting.Add(waiters)
	all.Add(waiters)
	for i := 0; i < waiters; i++ {
		ctx := limit(i)
		go func() {
			waiting.Done()
			if permits.Acquire(ctx, 1) != nil {
				mutex.Lock()
				*failed++
				mutex.Unlock()
			}
			all.Done()
		}()
	}
	waiting.Wait()
	runtime.Gosched()
	return
}

func taken(count int64) *semaphore.Weighted {
	permits := semaphore.NewWeighted(count)
	permits.Acquire(background, count)
	return permits
}

func expect(right bool, what string) {
	if !right {
		fmt.Fprintln(os.Stderr, "not as expected: "+what)
		os.Exit(1)
	}
}

func w8(r run) {
	const waiters = 100000
	cancels := make([]context.CancelFunc, waiters)
	failed, all := limited(waiters, taken(1), func(i int) (ctx context.Context) {
		ctx, cancels[i] = context.WithCancel(background)
		return
	})
	r.tellEach(timed(func() {
		for i := waiters - 1; i >= 0; i-- {
			cancels[i]()
		}
		all.Wait()
	}), waiters, "ns_per_op")
	expect(*failed == waiters, "all are cancelled")
}

func w9a(r run) {
	const waiters = 100000
	var failed *int
	r.tellEach(timed(func() {
		var all *sync.WaitGroup
		permits := taken(waiters)
		cancels := make([]context.CancelFunc, waiters)
		failed, all = limited(waiters, permits, func(i int) (ctx context.Context) {
			ctx, cancels[i] = context.WithTimeout(background, time.Minute)
			return
		})
		permits.Release(waiters)
		all.Wait()
		for _, cancel := range cancels {
			cancel()
		}
	}), waiters, "ns_per_op")
	expect(*failed == 0, "nobody times out")
}

func w9b(r run) {
	const waiters = 100000
	var failed *int
	took := timed(func() {
		var all *sync.WaitGroup
		failed, all = limited(waiters, taken(1), func(int) context.Context {
			ctx, _ := context.WithTimeout(background, 10*time.Millisecond)
			return ctx
		})
		all.Wait()
	})
	expect(*failed == waiters, "all time out")
	r.tell("cpu_ms", took.cpu*1e3, "ms")
	r.tell("wall_ms", took.wall*1e3, "ms")
}

func w10(r run) {
	const count = 1000000
	slots := make(chan permit, 64)
	r.tellEach(timed(func() {
		for i := 0; i < count; i++ {
			slots <- permit{}
			go func() { <-slots }()
		}
		for i := 0; i < 64; i++ {
			slots <- permit{}
		}
	}), count, "ns_per_op")
}

type row struct {
	workload string
	threads  int
	body     func(run)
}

var rows = []row{
	{"W1", 1, w1}, {"W1/x_sync", 1, w1Sync}, {"W2", 1, w2}, {"W3", 2, w3}, {"W3y", 1, w3y}, {"W3y", 2, w3y},
	{"W4", 1, w4}, {"W4", 2, w4}, {"W4/x_sync", 1, w4Sync}, {"W4/x_sync", 2, w4Sync},
	{"W5/1x1", 1, w5(1)}, {"W5/1x1", 2, w5(1)}, {"W5/4x4", 1, w5(4)}, {"W5/4x4", 2, w5(4)},
	{"W6", 1, w6}, {"W6", 2, w6}, {"W7", 1, w7}, {"W8", 1, w8}, {"W9a", 1, w9a}, {"W9b", 1, w9b},
	{"W10", 1, w10}, {"W10", 2, w10},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" {
		for _, each := range rows {
			fmt.Println(each.workload, each.threads)
		}
		return
	}
	for _, each := range rows {
		if len(os.Args) == 3 && each.workload == os.Args[1] && strconv.Itoa(each.threads) == os.Args[2] {
			runtime.GOMAXPROCS(each.threads)
			each.body(run{each.workload, each.threads})
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: list, or WORKLOAD THREADS as listed")
	os.Exit(2)
}
