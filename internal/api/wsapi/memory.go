package wsapi

import "container/list"

// memory keeps what is needed to continue responses that are stored nowhere: the
// least recently used are forgotten first, bounded by bytes. It belongs to the
// goroutine that works the queue off.
type memory struct {
	byID  map[string]*list.Element // of *past
	order *list.List               // least recently used first
	bytes int64
}

// remembered is a response that can be continued.
type remembered struct {
	id     string
	parent string // a stored response that items continue; "" for none
	items  []byte // all its input and output items, as they came, with commas between
}

// entryOverhead is what an entry costs beside its bytes.
const entryOverhead = 256

func (p *remembered) cost() int64 { return int64(len(p.id)+len(p.parent)+len(p.items)) + entryOverhead }

func newMemory() memory { return memory{byID: map[string]*list.Element{}, order: list.New()} }

// get finds a response, nil if it is not known (any more).
func (m *memory) get(id string) *remembered {
	e := m.byID[id]
	if e == nil {
		return nil
	}
	m.order.MoveToBack(e)
	return e.Value.(*remembered)
}

// put remembers a response inside of limit bytes.
func (m *memory) put(p *remembered, limit int64) {
	m.forget(p.id)
	if p.id == "" || p.cost() > limit {
		return
	}
	m.byID[p.id] = m.order.PushBack(p)
	m.bytes += p.cost()
	for m.bytes > limit {
		m.forget(m.order.Front().Value.(*remembered).id)
	}
}

func (m *memory) forget(id string) {
	if e := m.byID[id]; e != nil {
		m.bytes -= e.Value.(*remembered).cost()
		m.order.Remove(e)
		delete(m.byID, id)
	}
}
