package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Skill is a bundle: skills/<slug>/ with a SKILL.md.
type Skill struct {
	Slug        string // the directory's name, which is the skill's identity
	Name        string // as SKILL.md has it, "" when it has none
	Description string // on one line, "" when there is none
	Path        string // of SKILL.md: "skills/<slug>/SKILL.md"
}

const skillFile = "SKILL.md"

// SkillMounts are the mounts of the directories that hold skill bundles
// (`skills:` in archmax.yaml). The first directory is the mount skills/; each
// bundle of a further one is a mount skills/<slug>, unless an earlier directory
// has that slug. A bundle's own directory decides, so rules about
// skills/<slug>/ hold for all.
func SkillMounts(root string, dirs []string) []MountConfig {
	var mounts []MountConfig
	taken := map[string]bool{}
	for i, dir := range dirs {
		host := filepath.FromSlash(dir)
		if !filepath.IsAbs(host) {
			host = filepath.Join(root, host)
		}
		if i == 0 {
			mounts = append(mounts, NewMount(SkillsMount, dir))
		}
		entries, err := os.ReadDir(host)
		if err != nil {
			if i > 0 { // Open says what is wrong with it
				mounts = append(mounts, NewMount(join(SkillsMount, filepath.Base(host)), dir))
			}
			continue
		}
		for _, e := range entries {
			if _, err := os.Stat(filepath.Join(host, e.Name(), skillFile)); err != nil || taken[e.Name()] {
				continue
			}
			taken[e.Name()] = true
			if i > 0 {
				mounts = append(mounts, NewMount(join(SkillsMount, e.Name()), filepath.Join(host, e.Name())))
			}
		}
	}
	return mounts
}

// Skills reads the bundles that exist, sorted by slug. A bundle whose SKILL.md
// is at fault is listed all the same, as far as it can be read, so that rules
// about it hold; CheckSkills says what is wrong. Every call reads the files.
func (s *Shared) Skills() []Skill {
	skills, _ := s.readSkills()
	return skills
}

// CheckSkills reports what is wrong with the bundles: a SKILL.md that cannot be
// read or lacks its name or description (skill-invalid), or whose name is not
// its directory's (skill-name-mismatch).
func (s *Shared) CheckSkills() diag.List {
	_, problems := s.readSkills()
	return problems
}

func (s *Shared) readSkills() ([]Skill, diag.List) {
	var skills []Skill
	var problems diag.List
	entries, err := s.bare.list(SkillsMount)
	if err != nil {
		return nil, nil // no skills are served
	}
	for _, e := range entries {
		if !e.dir {
			continue
		}
		file := join(e.path, skillFile)
		content, err := s.bare.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a directory, not a bundle
		}
		skill := Skill{Slug: e.name, Path: file}
		if err != nil {
			problems = append(problems, skillProblem(codeSkillInvalid, file, diag.Range{}, err.Error(), "make it a readable text file"))
		} else {
			problems = append(problems, skill.parse(content)...)
		}
		skills = append(skills, skill)
	}
	return skills, problems
}

func skillProblem(code, file string, at diag.Range, message, hint string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Message: message, File: file, Range: at, Hint: hint}
}

// parse fills the skill from the front matter of its SKILL.md.
func (s *Skill) parse(content []byte) diag.List {
	const hint = "start it with a block between --- lines that has a name and a description"
	top := diag.Range{Start: diag.Position{Line: 1, Column: 1}, End: diag.Position{Line: 1, Column: 1}}
	matter, ok := frontMatter(content)
	if !ok {
		return diag.List{skillProblem(codeSkillInvalid, s.Path, top, "SKILL.md has no front matter", hint)}
	}
	node, problems := spec.ReadYAML(s.Path, matter)
	if node == nil {
		return problems
	}
	text := func(key string) (string, diag.Range) {
		v := node.Get(key)
		if v != nil && v.Kind == spec.BrokenNode {
			return "", top // reported already
		}
		if v == nil || v.Kind != spec.TextNode || strings.TrimSpace(v.Text) == "" {
			at := top
			if v != nil {
				at = v.Range
			}
			problems = append(problems, skillProblem(codeSkillInvalid, s.Path, at, fmt.Sprintf("SKILL.md gives no %s as text", key), hint))
			return "", at
		}
		return strings.Join(strings.Fields(v.Text), " "), v.Range
	}
	var at diag.Range
	s.Name, at = text("name")
	s.Description, _ = text("description")
	if s.Name != "" && s.Name != s.Slug {
		problems = append(problems, skillProblem(codeSkillName, s.Path, at,
			fmt.Sprintf("the skill's name is %q but its directory is %q", s.Name, s.Slug),
			fmt.Sprintf("name it %s, or rename the directory", s.Slug)))
	}
	return problems
}

// frontMatter returns the YAML between the --- line that starts a text and the
// next, with an empty line in place of the first so that lines keep their
// numbers.
func frontMatter(content []byte) ([]byte, bool) {
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	matter := []byte("\n")
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return matter, true
		}
		matter = append(append(matter, line...), '\n')
	}
	return nil, false
}
