package translate

// Reporter collects what a request encoder has to tell. It is the only place
// where notes and exclusions are made, and it takes their class and their words
// from the class table.
type Reporter struct {
	to     Format
	flags  Flags
	rows   map[Feature]Row
	report Report
}

// NewReporter reports on an encoding to a format for a model with these flags.
func NewReporter(to Format, flags Flags) *Reporter {
	r := &Reporter{to: to, flags: flags, rows: map[Feature]Row{}}
	for _, row := range Table() {
		r.rows[row.Feature] = row
	}
	return r
}

// Report is what was collected.
func (r *Reporter) Report() Report { return r.report }

// Take asks the table for a feature that stands at a path. It is true where the
// feature is to be written as it is; otherwise what becomes of it was noted.
// was is its value where that is short and harmless, else "".
func (r *Reporter) Take(f Feature, path, was string) bool {
	how, means := r.How(f)
	switch how {
	case Carried, NotSpoken:
		return true
	case Excludes:
		r.exclude(f, path, means)
	default:
		r.note(Verb(how), f, path, was, "", means)
	}
	return false
}

// How is the table's answer alone, with the flags applied.
func (r *Reporter) How(f Feature) (How, Means) {
	means := r.rows[f].To[r.to]
	if means.How != ByFlag {
		return means.How, means
	}
	if r.flags.Has(means.Flag) {
		return Carried, means
	}
	return means.Else, means
}

// Note tells what became of a feature, in the table's words.
func (r *Reporter) Note(verb Verb, f Feature, path, was, is string) {
	_, means := r.How(f)
	r.note(verb, f, path, was, is, means)
}

// NoteBecause is Note where the encoder knows the reason better than the table.
func (r *Reporter) NoteBecause(verb Verb, f Feature, path, was, is, why string) {
	r.note(verb, f, path, was, is, Means{Why: why})
}

// NoteQuietly is NoteBecause for the record alone.
func (r *Reporter) NoteQuietly(verb Verb, f Feature, path, was, is, why string) {
	r.NoteBecause(verb, f, path, was, is, why)
	r.report.Notes[len(r.report.Notes)-1].Quiet = true
}

// Exclude tells that the request cannot be translated because of a feature.
func (r *Reporter) Exclude(f Feature, path string) {
	_, means := r.How(f)
	r.exclude(f, path, means)
}

// ExcludeBecause is Exclude where the encoder knows the reason better.
func (r *Reporter) ExcludeBecause(f Feature, path, why, do string) {
	r.exclude(f, path, Means{Why: why, Do: do})
}

func (r *Reporter) note(verb Verb, f Feature, path, was, is string, means Means) {
	r.report.Notes = append(r.report.Notes, Note{Verb: verb, Path: path, Was: was, Is: is, Why: means.Why, Class: r.rows[f].Class, Feature: f})
}

func (r *Reporter) exclude(f Feature, path string, means Means) {
	r.report.Excluded = append(r.report.Excluded, Exclusion{Path: path, Feature: f, Why: means.Why, Do: means.Do})
}
