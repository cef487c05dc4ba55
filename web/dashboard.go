package web

import (
	"embed"
	"io/fs"
	"net/http"
)

// pages is the dashboard: one page that asks the REST interface, made of three files.
//
//go:embed page
var pages embed.FS

// dashboardFiles are served under their names; the page itself also as /.
var dashboardFiles = map[string]string{
	"index.html": "text/html; charset=UTF-8", "style.css": "text/css; charset=UTF-8", "dashboard.js": "text/javascript; charset=UTF-8",
}

// dashboard serves the files of the dashboard, and says whether path is one of them.
func dashboard(w http.ResponseWriter, r *http.Request) bool {
	name := r.URL.Path[1:]
	if name == "" {
		name = "index.html"
	}
	kind, ok := dashboardFiles[name]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	text, err := fs.ReadFile(pages, "page/"+name)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(text)
	return true
}
