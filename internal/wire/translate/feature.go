package translate

// Class is what a feature is to a request, and so what must become of it where
// a format has no place for it.
type Class string

// The classes. Content and demands are carried, emulated exactly, or the route
// is excluded. Offers and preferences are carried, changed or dropped, and told.
// State lives at an origin and excludes.
const (
	Content    Class = "content"    // what the model must see
	Demand     Class = "demand"     // what the answer must be
	Offer      Class = "offer"      // what the model may use
	Preference Class = "preference" // how the client would like it
	State      Class = "state"      // what lives at an origin
)

// Feature is one thing that a request can ask for, by a name that all formats
// share. It is the key of the class table.
type Feature string

// Means is how a format takes a feature.
type Means struct {
	How  How
	Flag string // with ByFlag: the upstream model's feature flag that must be set
	Else How    // with ByFlag: what is done where it is not
	Why  string // what a note or an exclusion says: a clause
	Do   string // what the client can do about an exclusion
}

// How is one way to take a feature.
type How string

// The ways. Carried needs no note; Excluding gives an Exclusion; the others give
// a Note with the verb of that name.
const (
	Carried   How = "carried"
	Drops     How = How(Dropped)
	Changes   How = How(Changed)
	Moves     How = How(Moved)
	Emulates  How = How(Emulated)
	Wraps     How = How(Wrapped)
	Excludes  How = "excluded"
	ByFlag    How = "by flag"
	NotSpoken How = "" // the format's own encoder decides with a rule of its own
)
