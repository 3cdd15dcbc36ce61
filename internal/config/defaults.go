package config

import "time"

const (
	kib = 1 << 10
	mib = 1 << 20

	defaultHoldOutputTokens = 4096
	defaultWeight           = 100
	// chatFirstEvent replaces the default of timers.first_event for Chat: such
	// servers commonly answer with the status line and then think.
	chatFirstEvent = 300 * time.Second
)

// Default is the configuration of an empty file, before it is validated (an
// admin token has no default).
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8080",
		Admin:  Admin{Listen: "127.0.0.1:8081"},
		Store:  Store{URL: NewSecret("sqlite:rubicon.db"), Sync: SyncProcess, Lease: 15 * time.Second, Wait: time.Minute},
		Limits: Limits{
			RequestBody: 32 * mib, Event: 32 * mib, HeldBytes: mib, AtomicBytes: 8 * mib, Connections: 20000,
		},
		WS: WS{
			Enabled: true, Message: 16 * mib, Lifetime: time.Hour, QueuedTurns: 4, Memory: 16 * mib, Ping: 30 * time.Second,
		},
		Timers: Timers{
			Connect: 5 * time.Second, Headers: time.Minute, Answer: 10 * time.Minute, FirstEvent: time.Minute,
			Idle: 300 * time.Second, EventHold: 10 * time.Second, Keepalive: 15 * time.Second,
			Write: 30 * time.Second, Total: 30 * time.Minute, ShutdownGrace: 30 * time.Second,
		},
		Replay:       Replay{Max: 1, LocalContinuations: true},
		State:        State{UnknownIDs: UnknownRefuse},
		Switch:       Switch{Max: 2, OnTimeout: OnTimeout{ChatStream: 1, MessagesStream: 1, NotStreaming: 1}},
		Breaker:      Breaker{Failures: 5, Window: time.Minute, Rate: 0.5, Samples: 20, Open: 10 * time.Second, OpenMax: 30 * time.Second, Probes: 1, Successes: 3},
		Cooldown:     Cooldown{Default: time.Second, Max: time.Minute, Wait: 2 * time.Second, WeightFloor: 0.125},
		BalancePause: 10 * time.Minute,
		OnDisconnect: DisconnectCancel,
		Delivery:     DeliveryStream,
		Retention:    Retention{Requests: 90 * 24 * time.Hour},
	}
}

// TimersOf are the public model's timers for that protocol, the general ones for
// a model that does not exist.
func (c *Config) TimersOf(model, protocol string) Timers {
	if m := c.Model(model); m != nil {
		return m.TimersFor(protocol)
	}
	return c.Timers
}

// TimersFor are the model's timers for an attempt on a channel of that protocol.
func (m *Model) TimersFor(protocol string) Timers {
	timers := m.Timers
	if protocol == ProtocolChat && !m.FirstEventSet {
		timers.FirstEvent = chatFirstEvent
	}
	return timers
}
