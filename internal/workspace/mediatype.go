package workspace

import (
	"net/http"
	"path"
	"strings"
)

// textTypes are the media types of text by file name; the sniffer cannot tell
// them apart.
var textTypes = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
	".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".svg": "image/svg+xml", ".eml": "message/rfc822", ".ics": "text/calendar",
}

// MediaType names the type of a file, by its name where the name tells, else by
// its first bytes. Parameters such as a charset are left out.
func MediaType(name string, head []byte) string {
	ext := strings.ToLower(path.Ext(name))
	if t := binaryTypes[ext]; t != "" {
		return t
	}
	if t := textTypes[ext]; t != "" {
		return t
	}
	t, _, _ := strings.Cut(http.DetectContentType(head[:min(len(head), sniffed)]), ";")
	return t
}
