package session

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheckID(t *testing.T) {
	long := strings.Repeat("a", 256)
	for _, c := range []struct {
		id string
		ok bool
	}{
		{"s1", true},
		{"a", true},
		{"Order 4711 / Köln", true},
		{"tickets/2026/17", true},
		{"..hidden", true},
		{"a..b", true},
		{"con", true},
		{long, true},
		{"s1~1", true},
		{"s1~1~12", true},
		{"An odd one~3", true},
		{"scratchpad/x", true},
		{"", false},
		{long + "a", false},
		{"a\x00b", false},
		{"a\nb", false},
		{"a\x7f", false},
		{"a\u0085b", false},
		{"a\xffb", false},
		{"..", false},
		{"../x", false},
		{"a/../b", false},
		{`a\..\b`, false},
		{"workflows", false},
		{"scratchpad", false},
		{"large_tool_results", false},
		{"conversation_history", false},
		{"artifacts", false},
		{"checkpoints", false},
		{"_specs", false},
		{"skills", false},
		{"policies", false}, // the mount given below
		{"workflows~1", false},
		{"~1", false},
		{"s1~", false},
		{"s1~0", false},
		{"s1~01", false},
		{"s1~x", false},
		{"s~1~x", false},
		{"a~b~1", false},
		{"s1~~1", false},
	} {
		err := CheckID(c.id, "policies")
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.id, err)
		}
		if err != nil && (!errors.As(err, new(IDError)) || strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 400) {
			t.Errorf("%q: the error is %q", c.id, err)
		}
	}
}

func TestFolder(t *testing.T) {
	for _, c := range []struct{ id, folder string }{
		{"s1", "s1"},
		{"s-01arz3ndektsv4rrffq69g5fav", "s-01arz3ndektsv4rrffq69g5fav"},
		{"s1~2~31", "s1~2~31"},
		{"con~1", "con~1"},
		{"console", "console"},
		// The hex digits are the first 16 of `printf %s ID | sha256sum`.
		{"S1", "%s1-3696ad59777e09d5"},
		{"con", "%con-1143da2bc54c495c"},
		{"nul", "%nul-99e6242759016035"},
		{"com1", "%com1-957a49c3e803f505"},
		{"Köln / 17", "%k-ln-17-dcc7fe289be144c1"},
		{"中文", "%session-72726d8818f69306"},
	} {
		if got := Folder(c.id); got != c.folder {
			t.Errorf("Folder(%q) = %q, want %q", c.id, got, c.folder)
		}
	}
	for _, id := range []string{"_specs", "-a", strings.Repeat("a", 101), "a.b", strings.Repeat("Ä b", 60)} {
		if got := Folder(id); !strings.HasPrefix(got, "%") || len(got) > 60 || plainID.MatchString(got) || strings.ToLower(got) != got {
			t.Errorf("Folder(%q) = %q", id, got)
		}
	}
	if Folder("A") == Folder("a") || Folder("A b") == Folder("a-b") || Folder("A b") == Folder("A-b") {
		t.Error("two ids share a folder")
	}
}

func TestRootAndParentAndChild(t *testing.T) {
	for _, c := range []struct{ id, root, parent string }{
		{"s1", "s1", ""}, {"s1~1", "s1", "s1"}, {"s1~1~12", "s1", "s1~1"}, {"Odd one~3", "Odd one", "Odd one"},
	} {
		if Root(c.id) != c.root || Parent(c.id) != c.parent {
			t.Errorf("%q: root %q, parent %q", c.id, Root(c.id), Parent(c.id))
		}
	}
	if got := Child(Child("s1", 1), 12); got != "s1~1~12" {
		t.Errorf("Child: %q", got)
	}
}

func TestMintedIdsSortByTime(t *testing.T) {
	var ids []string
	for i := range 5 {
		ids = append(ids, Mint(testStart.Add(time.Duration(i)*time.Millisecond), nil))
	}
	if !slices.IsSorted(ids) {
		t.Errorf("not sorted: %v", ids)
	}
	for _, id := range append(ids, Mint(time.Time{}, nil), Mint(time.Unix(1<<60, 0), nil), Mint(testStart, bytes.NewReader(nil))) {
		if CheckID(id) != nil || Folder(id) != id || !strings.HasPrefix(id, "s-") || len(id) != 28 {
			t.Errorf("minted %q", id)
		}
	}
	entropy := func() *bytes.Reader { return bytes.NewReader(make([]byte, 10)) }
	if a, b := Mint(testStart, entropy()), Mint(testStart, entropy()); a != b {
		t.Errorf("the same time and entropy gave %q and %q", a, b)
	}
	if a, b := Mint(testStart, nil), Mint(testStart, nil); a == b {
		t.Error("two minted ids are the same")
	}
}

func TestTheIdOfAKeyDependsOnWorkflowAndKey(t *testing.T) {
	a := ForKey("order-lookup", "k1")
	if a != ForKey("order-lookup", "k1") || a == ForKey("order-lookup", "k2") || a == ForKey("other", "k1") || ForKey("a", "bc") == ForKey("ab", "c") {
		t.Error("ids of keys do not tell workflow and key apart")
	}
	if CheckID(a) != nil || Folder(a) != a {
		t.Errorf("%q is no plain id", a)
	}
}
