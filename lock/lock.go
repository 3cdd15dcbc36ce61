// Package lock is the behaviour lock: scenarios, what came of them, and the
// declarations without which none of that may change. The tests here run every
// scenario and compare; README.md tells how to work with it.
package lock
