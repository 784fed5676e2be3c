package workspace

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// binaryTypes are the media types of file names that hold no text. The table is
// ours, since the system's differ from machine to machine.
var binaryTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic", ".avif": "image/avif",
	".pdf": "application/pdf",
	".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet", ".epub": "application/epub+zip",
	".zip": "application/zip", ".gz": "application/gzip", ".tgz": "application/gzip", ".bz2": "application/x-bzip2", ".xz": "application/x-xz",
	".zst": "application/zstd", ".tar": "application/x-tar", ".7z": "application/x-7z-compressed", ".rar": "application/vnd.rar", ".jar": "application/java-archive",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4", ".aac": "audio/aac",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".mkv": "video/x-matroska", ".avi": "video/x-msvideo", ".mpeg": "video/mpeg",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".exe": "application/vnd.microsoft.portable-executable", ".dll": "application/vnd.microsoft.portable-executable",
	".so": "application/x-sharedlib", ".dylib": "application/x-mach-binary", ".o": "application/x-object", ".a": "application/x-archive",
	".class": "application/java-vm", ".wasm": "application/wasm", ".pyc": "application/x-python-code",
	".sqlite": "application/vnd.sqlite3", ".sqlite3": "application/vnd.sqlite3", ".parquet": "application/vnd.apache.parquet",
}

// binaryName returns the media type of a file that is binary by its name, ""
// for any other.
func binaryName(name string) string { return binaryTypes[strings.ToLower(path.Ext(name))] }

// sniffed is how much of a file tells its type.
const sniffed = 512

// contentType names the type of bytes that are not text.
func contentType(head []byte) string {
	if t := http.DetectContentType(head[:min(len(head), sniffed)]); !strings.HasPrefix(t, "text/") {
		return t
	}
	return "application/octet-stream"
}

// isBinary reports whether bytes are not text.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// shownTypes are the image types that a model with vision is shown.
var shownTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// notRead is the refusal to read a binary file as text.
func notRead(path, mediaType string, bytes int64, why string) *Error {
	if why == "" {
		why = "copy_file and move_file carry it unchanged, and a tool that takes its path can open it"
	}
	return refuse(path, nil, "is a binary file (%s, %s) and was not read; %s", mediaType, size(bytes), why)
}

// size words a number of bytes: "1 byte", "512 bytes", "12 KB", "1.4 MB".
func size(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	value := float64(n)
	for _, unit := range []string{"KB", "MB", "GB"} {
		value /= 1024
		if value < 1024 || unit == "GB" {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
		}
	}
	return ""
}
