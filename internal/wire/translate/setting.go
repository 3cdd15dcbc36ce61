package translate

import "rubicon/internal/wire/jsonscan"

// Short is a setting's value for a note, where it is short and harmless; "" for
// values that are nobody else's business.
func (s *Setting) Short() string {
	switch s.Feature {
	case FeatureMetadata, FeatureUser, FeatureUnknown, FeatureCacheKey, FeatureState, FeaturePrediction, FeatureName:
		return ""
	}
	if len(s.Value) > 32 {
		return ""
	}
	switch jsonscan.KindOf(s.Value) {
	case jsonscan.KindNumber, jsonscan.KindBool:
		return string(s.Value)
	case jsonscan.KindString:
		word, _ := jsonscan.Text(s.Value)
		return word
	}
	return ""
}

// TagSystem is system text in the middle of a conversation as a user's text, for
// models that take no system turn there. The tag never changes: provider caches
// live on it.
func TagSystem(text string) string {
	return "<system-message>\n" + text + "\n</system-message>"
}
