package sim

import (
	"errors"
	"fmt"
	"net/http"
)

// player plays the steps of one call.
type player struct {
	q      request
	w      *wire
	writer protocolWriter
	steps  []Step
	style  style

	requestID string
	verbatim  bool   // the provider's own answer: what it shows may well contain $KEY
	collapse  bool   // nobody asked for a stream and the script gives only named events: they become one JSON body
	played    bool   // collapsed events were played
	answer    *reply // what they came to
	problems  []string
}

// reply is a whole answer that is not a stream.
type reply struct {
	status int
	body   []byte
}

// play runs the steps. It gives true when the connection can serve another request.
func (p *player) play() (bool, error) {
	err := p.run()
	if err == nil && len(p.w.marks) > 0 {
		p.faultf("the body ended at byte %d, before the %s at %d", p.w.sent, markName(p.w.marks[0]), p.w.marks[0].at)
	}
	return err == nil || errors.Is(err, errClean), err
}

func markName(m mark) string {
	if m.cut != "" {
		return "cut"
	}
	return "pause"
}

func (p *player) run() error {
	for i, s := range p.steps {
		if p.w.peer.hasCallerLeft() {
			return errCallerLeft
		}
		if err := p.step(s, i == len(p.steps)-1); err != nil {
			return err
		}
	}
	if words[p.steps[len(p.steps)-1].Do].class == classEnding {
		return nil // it did the ending itself
	}
	return p.end(Step{Do: "end"})
}

func (p *player) step(s Step, last bool) error {
	switch words[s.Do].class {
	case classMode:
		p.mode(s)
		return nil
	case classTime:
		return p.w.peer.sleep(s.For)
	case classReply:
		return p.reply(s, last)
	case classEnding:
		return p.end(s)
	}
	if s.Do == "answer" {
		return p.playAnswer(s)
	}
	return p.event(s)
}

func (p *player) mode(s Step) {
	switch s.Do {
	case "split":
		p.w.piece, p.w.gap = s.Bytes, s.For
	case "drip":
		p.w.piece, p.w.gap = 1, s.For
	case "pause":
		p.w.addMark(mark{at: int64(s.At), stop: s.For})
	case "cut":
		p.w.addMark(mark{at: int64(s.At), cut: s.How})
	case "gzip":
		p.w.zipped = true
	case "close":
		p.w.closing = true
	case "crlf":
		p.style.crlf = true
	case "unnamed":
		p.style.unnamed = true
	}
}

// playAnswer plays a whole answer, or its first events.
func (p *player) playAnswer(s Step) error {
	left := s.Events
	for _, e := range p.writer.expand(s) {
		for _, f := range p.frames(e) {
			if err := p.writeFrame(f); err != nil {
				return err
			}
			if left--; left == 0 {
				return nil
			}
			if err := p.w.peer.sleep(s.For); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *player) event(s Step) error {
	for _, f := range p.frames(s) {
		if err := p.writeFrame(f); err != nil {
			return err
		}
	}
	return nil
}

// frames gives what an event word writes in this protocol. Collapsed, nothing is written before the end.
func (p *player) frames(s Step) []frame {
	s = p.q.fillStep(s)
	if s.Do == "raw" {
		return []frame{{raw: true, data: s.Text}}
	}
	p.played = true
	frames, done := p.writer.event(s)
	if !p.collapse {
		return frames
	}
	if done != nil {
		whole := done()
		p.answer = &whole
	}
	return nil
}

func (p *player) writeFrame(f frame) error {
	if !p.w.head {
		if err := p.head(http.StatusOK, Step{Type: "text/event-stream; charset=utf-8"}, -1); err != nil {
			return err
		}
	}
	return p.w.write(p.style.encode(f))
}

// end does what the last step says; a clean end makes up the head or the collapsed answer that is still owed.
func (p *player) end(s Step) error {
	switch {
	case s.Do == "refuse":
		if s.How == "fin" {
			return p.w.end("fin")
		}
		return p.w.end("reset")
	case s.Do == "end" && p.collapse && !p.w.head:
		return p.endCollapsed()
	case s.Do == "end" && !p.w.head:
		if err := p.head(http.StatusOK, Step{Type: "text/event-stream; charset=utf-8"}, -1); err != nil {
			return err
		}
	case p.collapse && p.played && !p.w.head && (s.Do == "reset" || s.Do == "fin"):
		return p.breakCollapsed(s.Do)
	}
	return p.w.end(s.Do)
}

// endCollapsed writes the JSON that the events came to; events without an end came to an empty body.
func (p *player) endCollapsed() error {
	done := p.answer
	if done == nil {
		done = &reply{status: http.StatusOK}
	}
	if err := p.whole(Step{Status: done.status, Type: "application/json"}, done.body); err != nil {
		return err
	}
	return p.w.end("end")
}

// breakCollapsed breaks the JSON answer off in its middle.
func (p *player) breakCollapsed(how string) error {
	_, done := p.writer.event(Step{Do: "completed", Usage: Tokens(10, 0, 5)})
	body := done().body
	if err := p.head(http.StatusOK, Step{Type: "application/json"}, len(body)); err != nil {
		return err
	}
	if err := p.w.write(body[:len(body)/2]); err != nil {
		return err
	}
	return p.w.end(how)
}

func (p *player) faultf(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// canCollapse says whether a call's steps leave the shape of the answer to us.
func canCollapse(steps []Step) bool {
	for _, s := range steps {
		if s.Do == "raw" || s.Do == "event" || words[s.Do].class == classReply {
			return false
		}
	}
	return true
}
