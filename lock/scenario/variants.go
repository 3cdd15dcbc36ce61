package scenario

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
)

// protocols are those that a scenario may be shown on.
var protocols = []string{"responses", "chat", "messages"}

// variants gives the text of each scenario in a file. A file with
//
//	protocols: [responses, chat]
//	chat: {expect: {status: 503}}
//
// holds one for each protocol: what the file says, with what stands under the
// protocol's name laid over it (objects are merged, null takes a member away,
// everything else replaces). All other files are one scenario.
func variants(data []byte) ([][]byte, error) {
	if !bytes.Contains(data, []byte("\nprotocols:")) {
		return [][]byte{data}, nil
	}
	var file object
	if err := file.UnmarshalYAML(data); err != nil {
		return nil, err
	}
	chosen, err := shownOn(file)
	if err != nil {
		return nil, err
	}
	common := file.without("protocols")
	for _, p := range protocols {
		if _, ok := common.get(p); ok && !slices.Contains(chosen, p) {
			return nil, fmt.Errorf("says something of %s, which is none of its protocols", p)
		}
		common = common.without(p)
	}
	var texts [][]byte
	for _, p := range chosen {
		own, _ := file.get(p)
		differs, ok := own.(object)
		if own != nil && !ok {
			return nil, fmt.Errorf("%s: is no mapping", p)
		}
		text, err := yaml.Marshal(written(common.over(differs).set("protocol", p)))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// shownOn reads the list of protocols.
func shownOn(file object) (chosen []string, err error) {
	if _, both := file.get("protocol"); both {
		return nil, fmt.Errorf("protocol and protocols: one of them says it")
	}
	value, _ := file.get("protocols")
	list, _ := value.([]any)
	for _, v := range list {
		p, _ := v.(string)
		if !slices.Contains(protocols, p) || slices.Contains(chosen, p) {
			return nil, fmt.Errorf("protocols: a list of some of %v, each once", protocols)
		}
		chosen = append(chosen, p)
	}
	if len(chosen) < 2 {
		return nil, fmt.Errorf("protocols: a list of two or three of %v; protocol names a single one", protocols)
	}
	return chosen, nil
}

// written turns objects into the library's ordered maps, the other way of ordered.
func written(v any) any {
	switch v := v.(type) {
	case object:
		m := make(yaml.MapSlice, len(v))
		for i, item := range v {
			m[i] = yaml.MapItem{Key: item.key, Value: written(item.value)}
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = written(v[i])
		}
		return list
	}
	return v
}
