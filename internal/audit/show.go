package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// short is a duration for people.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "never"
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func oneOf[T any](list []T) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = fmt.Sprint(x)
	}
	return strings.Join(out, " or ")
}

// sameJSON compares two texts as JSON.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
