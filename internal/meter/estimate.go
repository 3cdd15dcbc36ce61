package meter

import "sync"

// firstBytesPerToken is what is assumed of a model nothing is known of.
const firstBytesPerToken = 4.0

// The ratio that one answer shows is believed only inside these bounds: hidden
// reasoning is billed as output but never delivered as text.
const (
	leastBytesPerToken = 1.0
	mostBytesPerToken  = 16.0
	leastLearningRate  = 0.05
	leastTokens        = 16 // too short an answer teaches nothing
)

// Learner knows how many bytes of delivered text make a token, per upstream
// model, from answers that reported their usage. At first it is their mean, the
// assumption counting as one of them; later the last ones weigh the most.
type Learner struct {
	mu     sync.Mutex
	models map[string]learned
}

type learned struct {
	ratio   float64
	answers int // the assumption is one
}

// NewLearner makes an empty Learner.
func NewLearner() *Learner { return &Learner{models: map[string]learned{}} }

// BytesPerToken of a model; 4.0 at first.
func (l *Learner) BytesPerToken(model string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.models[model]; ok {
		return m.ratio
	}
	return firstBytesPerToken
}

// Learn takes in one whole answer.
func (l *Learner) Learn(model string, textBytes, outputTokens int64) {
	if outputTokens < leastTokens || textBytes == 0 {
		return
	}
	r := float64(textBytes) / float64(outputTokens)
	if r < leastBytesPerToken || r > mostBytesPerToken {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.models[model]
	if !ok {
		m = learned{ratio: firstBytesPerToken, answers: 1}
	}
	m.answers++
	m.ratio += max(leastLearningRate, 1/float64(m.answers)) * (r - m.ratio)
	l.models[model] = m
}

// tokensOf rounds up.
func tokensOf(bytes int64, perToken float64) int64 {
	if perToken <= 0 {
		perToken = firstBytesPerToken
	}
	n := int64(float64(bytes) / perToken)
	if float64(n)*perToken < float64(bytes) {
		n++
	}
	return n
}
