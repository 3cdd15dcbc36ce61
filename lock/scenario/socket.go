package scenario

import "context"

// overSocket makes the call as a turn on a WebSocket.
func (st *stage) overSocket(_ context.Context, x *exchange, _ func()) {
	st.t.Errorf("request %s: WebSocket is not served yet", x.req.Name)
}
