package account

import (
	"crypto/sha256"
	"sync"
)

// digest is the SHA-256 of a secret key. The keys have 256 random bits, so
// that neither salt nor a slow hash would add anything.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// cacheSize bounds the keys that are remembered. Unknown keys never are: a
// flood of random ones costs reads, not memory.
const cacheSize = 20_000

// cache is the keys in use, by digest. Every change to a customer or key
// empties it, which is rare and saves knowing what a change touches.
type cache struct {
	mu         sync.RWMutex
	entries    map[digest]Principal
	generation uint64 // how often it was emptied
	version    int64  // of the tables when this node last looked
}

func (c *cache) get(d digest) (p Principal, found bool, generation uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p, found = c.entries[d]
	return p, found, c.generation
}

// put remembers what was read after generation was seen. If the cache was
// emptied meanwhile, the reading may be older than the change that did it.
func (c *cache) put(d digest, p Principal, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.entries) >= cacheSize {
		// Any one will do: the order of a map is as good as random, and a
		// mistake costs one read.
		for victim := range c.entries {
			delete(c.entries, victim)
			break
		}
	}
	c.entries[d] = p
}

func (c *cache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.generation++
}

// see notes the version of the tables and empties the cache if it is new.
func (c *cache) see(version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == version {
		return
	}
	c.version = version
	clear(c.entries)
	c.generation++
}
