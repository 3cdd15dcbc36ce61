package admin

import "net/http"

func (a *api) handler() http.Handler { panic("not yet") }
