package billing

import (
	"math"
	"sync"
)

// FirstBytesPerToken is assumed of a model of which nothing is known.
const FirstBytesPerToken = 4.0

// The ratio that one answer shows is believed only inside these bounds: hidden
// reasoning is billed as output but never delivered as text.
const (
	leastBytesPerToken = 1.0
	mostBytesPerToken  = 16.0
	leastLearningRate  = 0.05
	leastTokens        = 16 // shorter answers are not learned from
)

// firstOutput is how many tokens are assumed of an answer of a model of which
// nothing is known.
const firstOutput = 256

// Learner knows two things from answers that reported their usage: how many
// bytes of delivered text make a token, per upstream model, and how long answers
// are, per public model.
type Learner struct {
	mu      sync.Mutex
	ratios  map[string]learned
	outputs map[string]learned
}

// learned is a mean. At first it is that of all answers, the assumption counting
// as one of them; later the last ones weigh the most.
type learned struct {
	mean    float64
	answers int // the assumption is one
}

// with takes in one more value; assumed is what was assumed before the first.
func (m learned) with(value, assumed float64) learned {
	if m.answers == 0 {
		m = learned{mean: assumed, answers: 1}
	}
	m.answers++
	m.mean += max(leastLearningRate, 1/float64(m.answers)) * (value - m.mean)
	return m
}

// NewLearner makes an empty Learner.
func NewLearner() *Learner {
	return &Learner{ratios: map[string]learned{}, outputs: map[string]learned{}}
}

// MeanOutput is how many tokens a choice of the model's answers has, rounded up;
// 256 at first.
func (l *Learner) MeanOutput(model string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.outputs[model]; ok {
		return int64(math.Ceil(m.mean))
	}
	return firstOutput
}

// LearnOutput takes in how many output tokens one whole answer had, of all of
// its choices.
func (l *Learner) LearnOutput(model string, tokens, choices int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outputs[model] = l.outputs[model].with(float64(tokens)/float64(max(choices, 1)), firstOutput)
}

// BytesPerToken of a model; FirstBytesPerToken until something was learned.
func (l *Learner) BytesPerToken(model string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.ratios[model]; ok {
		return m.mean
	}
	return FirstBytesPerToken
}

// Learn takes in the text and the output tokens of one whole answer.
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
	l.ratios[model] = l.ratios[model].with(r, FirstBytesPerToken)
}

// tokensOf rounds up.
func tokensOf(bytes int64, perToken float64) int64 {
	if perToken <= 0 {
		perToken = FirstBytesPerToken
	}
	n := int64(float64(bytes) / perToken)
	if float64(n)*perToken < float64(bytes) {
		n++
	}
	return n
}
