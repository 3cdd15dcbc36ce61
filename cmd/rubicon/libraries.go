package main

import (
	"log"
	"log/slog"
	"strings"
)

// libraries is what package log writes to while a gateway runs: net/http says
// there what no error tells, such as that an upstream sent more than it was
// asked for. What it quotes can be a customer's answer, so its words end before
// the first quote.
type libraries struct{ log *slog.Logger }

// logLibraries puts what libraries say into the gateway's log, until stop.
func logLibraries(to *slog.Logger) (stop func()) {
	out, flags := log.Writer(), log.Flags()
	log.SetOutput(libraries{to})
	log.SetFlags(0)
	return func() {
		log.SetOutput(out)
		log.SetFlags(flags)
	}
}

func (l libraries) Write(line []byte) (int, error) {
	said, _, _ := strings.Cut(string(line), `"`)
	l.log.Warn("from a library", "said", strings.TrimSpace(said))
	return len(line), nil
}
