package difference

// stretch is where two texts differ: lines a to aEnd became b to bEnd. next is
// where the following one begins in a.
type stretch struct{ a, aEnd, b, bEnd, next int }

// stretches finds them by the longest common subsequence. Recordings have
// hundreds of lines, so the plain table will do once the common ends are off.
func stretches(a, b []string) (out []stretch) {
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	rest := common(x, y)
	for i, k := 0, 0; i < len(x) || k < len(y); {
		if same(x, y, i, k) {
			i, k = i+1, k+1
			continue
		}
		h := stretch{a: head + i, b: head + k}
		for (i < len(x) || k < len(y)) && !same(x, y, i, k) {
			if k == len(y) || i < len(x) && rest[i+1][k] >= rest[i][k+1] {
				i++
			} else {
				k++
			}
		}
		h.aEnd, h.bEnd = head+i, head+k
		out = append(out, h)
	}
	for n := range out {
		out[n].next = len(a)
		if n+1 < len(out) {
			out[n].next = out[n+1].a
		}
	}
	return out
}

func same(x, y []string, i, k int) bool { return i < len(x) && k < len(y) && x[i] == y[k] }

// common holds how much every two rests have in common.
func common(x, y []string) [][]int32 {
	t := make([][]int32, len(x)+1)
	for i := range t {
		t[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := len(y) - 1; k >= 0; k-- {
			if x[i] == y[k] {
				t[i][k] = t[i+1][k+1] + 1
			} else {
				t[i][k] = max(t[i+1][k], t[i][k+1])
			}
		}
	}
	return t
}
