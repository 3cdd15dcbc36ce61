//go:build race

package lock

// underRace: the race detector makes the database ten times slower.
const underRace = true
