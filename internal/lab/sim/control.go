package sim

import (
	"net/http"
	"strings"
)

// control answers the provider's own interface below /sim/; false: the request is one for a script.
//
//	GET    /sim/calls[?model=]     the calls, oldest first, as {"calls":[…]}
//	DELETE /sim/calls              forgets them and starts the counts again
//	GET    /sim/scripts            the scripts, as {"models":{…}}, which can be loaded again
//	PUT    /sim/scripts/{model}    sets one: a list of calls, YAML or JSON
func (p *Provider) control(q request) (Step, bool) {
	path, ok := strings.CutPrefix(q.http.URL.Path, "/sim/")
	if !ok {
		return Step{}, false
	}
	model, isScript := strings.CutPrefix(path, "scripts/")
	switch call := q.http.Method + " " + path; {
	case call == "GET calls":
		return controlAnswer(map[string]any{"calls": p.Calls(q.http.URL.Query().Get("model"))}), true
	case call == "DELETE calls":
		p.Reset()
		return controlAnswer(map[string]any{"ok": true}), true
	case call == "GET scripts":
		return controlAnswer(map[string]any{"models": p.Scripts()}), true
	case q.http.Method == http.MethodPut && isScript && model != "":
		script, err := LoadScript(q.body)
		if err == nil {
			err = p.Script(model, script)
		}
		if err != nil {
			return controlError(http.StatusBadRequest, err.Error()), true
		}
		return controlAnswer(map[string]any{"ok": true, "model": model}), true
	}
	return controlError(http.StatusNotFound, "no such call: "+q.http.Method+" "+q.http.URL.Path), true
}

func controlAnswer(v any) Step {
	return Step{Do: "reply", Status: http.StatusOK, JSON: jsonText(v)}
}

func controlError(status int, message string) Step {
	return Step{Do: "reply", Status: status, JSON: jsonText(obj("error", obj("message", message, "type", "sim")))}
}

// isCallKey says whether a script's name is that of a call ("GET /models") and not of a model.
func isCallKey(key string) bool {
	method, rest, ok := strings.Cut(key, " ")
	return ok && strings.HasPrefix(rest, "/") && strings.ToUpper(method) == method
}
