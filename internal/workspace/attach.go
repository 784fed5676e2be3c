package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Attachments is where a turn's files are placed (runtime.md, "Files into a
// turn").
const Attachments = scratchpad + "/attachments"

// maxName leaves room for a number in the 255 bytes that file systems give a
// name.
const maxName = 240

// AttachmentName is the base name under which a file is placed: the last part
// of the name it comes with, in the spelling of any system. It refuses a name
// that no session could read the file by, before anything is written.
func AttachmentName(name string) (string, error) {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	switch {
	case base == "" || base == "." || base == "..":
		return "", fmt.Errorf("%q is no file name; give the file a name", name)
	case !utf8.ValidString(base) || strings.ContainsFunc(base, unicode.IsControl):
		return "", fmt.Errorf("the file name %q holds characters that no path may hold; rename the file", name)
	case len(base) > maxName:
		return "", fmt.Errorf("the file name %q is longer than %d bytes; rename the file", base, maxName)
	}
	return base, nil
}

// Attach places a file at scratchpad/attachments/<basename> of a session and
// returns its path. A taken name gets -1, -2, … before its extension.
func Attach(files Files, name string, content []byte) (string, error) {
	base, err := AttachmentName(name)
	if err != nil {
		return "", err
	}
	extension := path.Ext(base)
	stem := strings.TrimSuffix(base, extension)
	if stem == "" { // .profile
		stem, extension = base, ""
	}
	for n := 0; ; n++ {
		numbered := base
		if n > 0 {
			numbered = fmt.Sprintf("%s-%d%s", stem, n, extension)
		}
		placed := path.Join(Attachments, numbered)
		switch err := files.Write(placed, content, true); {
		case err == nil:
			return placed, nil
		case !errors.Is(err, fs.ErrExist):
			return "", translate(placed, err)
		}
	}
}
