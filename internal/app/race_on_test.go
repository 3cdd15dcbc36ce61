//go:build race

package app

// underRace: the race detector makes the database ten times slower, and finds
// in a part of the requests what it would find in all.
const underRace = true
