package protocol

import (
	"strconv"
	"strings"
	"time"

	"rubicon/internal/wire/jsonscan"
)

// maxDelay bounds what a failure may say about waiting: absurd numbers must not
// overflow a Duration.
const maxDelay = 24 * time.Hour

// Delay reads the retry_after of an error object, in seconds; 0 if it has none.
func Delay(object []byte) time.Duration { return Seconds(jsonscan.Get(object, "retry_after")) }

// Seconds reads a number of seconds, be it a text; 0 if it is none that one
// could wait.
func Seconds(raw []byte) time.Duration {
	word := string(raw)
	if s, ok := jsonscan.Text(raw); ok {
		word = strings.TrimSpace(s)
	}
	seconds, err := strconv.ParseFloat(word, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, maxDelay.Seconds()) * float64(time.Second))
}
