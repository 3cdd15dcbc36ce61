package main

// streams breaks the rules of how a stream is read and relayed (section 2).
func streams() []mutant {
	const (
		record   = "internal/wire/protocol/record.go"
		progress = "internal/wire/protocol/progress.go"
		opening  = "internal/wire/protocol/responses/opening.go"
		reader   = "internal/wire/protocol/responses/reader.go"
		stream   = "internal/engine/upstream/stream.go"
		accept   = "internal/engine/upstream/accept.go"
		sink     = "internal/api/httpapi/sink.go"
		whole    = "internal/engine/turn/whole.go"
	)
	return []mutant{
		{name: "commit on an empty opening", breaks: []string{"stream: openings of what is still empty are held"}, caught: []string{"hold-empty-openings"}, edits: []edit{
			in(reader, "	if e.opens(k) {\n", "	if false {\n")}},
		{name: "hold a sealed opening", breaks: []string{"stream: openings of what is still empty are held"}, caught: []string{"hold-openings-with-something"}, edits: []edit{
			in(opening, "		default:\n			if !jsonscan.Empty(v) {\n				return false\n			}\n", "")}},
		{name: "show records without data", breaks: []string{"stream: records without data reach no client"}, caught: []string{"stream-fields-without-data", "stream-fields-without-data.chat"}, edits: []edit{
			in(record, `ev.Hidden = !f.Comment`, `ev.Hidden = false`)}},
		{name: "show wrapped comments", breaks: []string{"stream: wrapped comments are dropped"}, caught: []string{"stream-wrapped-comments"}, edits: []edit{
			in(record, "		ev.Hidden = true\n", "		ev.Hidden = len(data) == 0\n")}},
		{name: "take a wrapped comment for what is no event", breaks: []string{"stream: wrapped comments are dropped"}, caught: []string{"stream-wrapped-comments.messages"}, edits: []edit{
			in(record, `if len(data) == 0 || wrapped(data) {`, `if len(data) == 0 {`)}},
		{name: "write blank lines behind an id", breaks: []string{"stream: no blank line behind an id ends no event"}, caught: []string{"stream-ids-and-silence"}, edits: []edit{
			in(sink, `s.ids = s.ids || ev.ID`, `s.ids = false`)}},
		{name: "drop a last record without its blank line", breaks: []string{"stream: a last record without its blank line counts"}, caught: []string{"stream-last-blank-line-reset", "stream-last-blank-line-fin"}, edits: []edit{
			in(stream, `if frame.Tail && s.clientLeft() {`, `if frame.Tail {`)}},
		{name: "take half a record for the end of the stream", breaks: []string{"stream: a last record without its blank line counts"}, caught: []string{"stream-last-event-cut"}, edits: []edit{
			in(stream, "	if err != nil && frame.Tail {\n		return protocol.Event{}, s.cutOff()\n", "	if err != nil && frame.Tail {\n		return protocol.Event{}, io.EOF\n")}},
		{name: "take every lifecycle event for progress", breaks: []string{"stream: what says nothing new is silent"}, caught: []string{"row-18a-idle-lifecycle-for-ever", "row-18a-idle-lifecycle-for-ever.chat"}, edits: []edit{
			in(progress, `if slices.Contains(p.begun, kind) {`, `if false && slices.Contains(p.begun, kind) {`)}},
		{name: "take no second lifecycle event for progress", breaks: []string{"stream: what says nothing new is silent"}, caught: []string{"row-11-idle-output-in-time"}, edits: []edit{
			in(progress, `if slices.Contains(p.begun, kind) {`, `if len(p.begun) > 0 || slices.Contains(p.begun, kind) {`)}},
		{name: "take empty deltas for progress", breaks: []string{"stream: what says nothing new is silent"}, caught: []string{"row-11-idle-empty-deltas"}, edits: []edit{
			in(progress, `return !ev.Vain`, `return true`)}},
		{name: "take output for no progress", breaks: []string{"stream: what says nothing new is silent"}, caught: []string{"row-11-idle-output-in-time"}, edits: []edit{
			in(progress, `return !ev.Vain`, `return false`)}},
		{name: "believe the content type alone", breaks: []string{"stream: its first bytes tell it"}, caught: []string{"stream-labelled-plain"}, edits: []edit{
			in(accept, `x.body, x.sniffed, err = sniffed(body)`, `x.body = body`)}},
		{name: "pass a wrong content type on", breaks: []string{"stream: its first bytes tell it"}, caught: []string{"stream-labelled-plain"}, edits: []edit{
			in(stream, "	if s.x.sniffed {\n", "	if false {\n")}},
		{name: "take a mislabelled silence for a bad answer", breaks: []string{"stream: its first bytes tell it"}, caught: []string{"stream-labelled-json-and-silent"}, edits: []edit{
			in(accept, `return cause == errFirstEvent || cause == errFirstOutput || cause`, `return cause`)}},
		{name: "refuse response.processed", breaks: []string{"stream: response.processed is read over"}, caught: []string{"ws-processed"}, edits: []edit{
			in("internal/api/wsapi/frame.go", "	case jsonscan.Equal(typ, eventProcessed):\n		return false, nil\n", "")}},
		{name: "do not note that an answer is whole", breaks: []string{"stream: a whole answer is on record before it is shown"}, caught: []string{"chat-kill-after-finish"}, edits: []edit{
			in(whole, `		t.engine.Bookkeeper.NoteNow(ctx, t.live)`, `		_ = ctx`)}},
		{name: "take a part for the whole", breaks: []string{"stream: a whole answer is on record before it is shown"}, caught: []string{"chat-kill-before-all-finished", "money-kill-after-output"}, edits: []edit{
			in(whole, `whole := a.reader.Stage() == protocol.Finishing && `, `whole := a.reader.Stage() != protocol.Closed && `)}},
	}
}
