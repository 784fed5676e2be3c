package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/joho/godotenv"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Workspace is the workspace that a command works in, with its settings.
type Workspace struct {
	Root     string // absolute
	Sessions string // absolute
	Settings Settings
	Config   *Config // nil when the command has no use for archmax.yaml

	ctx         context.Context          // ends what reads from Root
	dir         string                   // the current directory
	lookup      func(name string) string // an environment variable, .env files included
	secretFiles []string                 // that no mount may show: the current directory's .env
}

// FS is the workspace root for reading.
func (w *Workspace) FS() fs.FS { return newRootFS(w.ctx, w.Root) }

// slugs are the workspace's workflows, sorted.
func (w *Workspace) slugs() ([]string, error) { return spec.Slugs(w.FS()) }

// Settings are the values that flags, the environment, .env files and
// archmax.yaml all have a word in.
type Settings struct {
	Model       ModelConfig
	APIKey      string
	Notes       []string // what the header says of where values came from
	PromptCache *model.Cache
	Prices      model.Prices
	Cassette    string // absolute, or ""
	Recursion   int    // 0: the runtime's default
}

// setting is one value with the places it comes from. Flag outranks
// environment, environment outranks archmax.yaml.
type setting struct {
	key  string // viper's
	env  string
	flag string
	path bool // a path: relative ones start where the value stands
	help string
}

// settingTable is every such value; `archmax help environment` prints it.
var settingTable = []setting{
	{key: "base_url", env: "ARCHMAX_API_BASE_URL", help: "the model endpoint, such as https://api.openai.com/v1"},
	{key: "api_key", env: "ARCHMAX_API_KEY", help: "its API key; from here or .env only, never archmax.yaml"},
	{key: "model", env: "ARCHMAX_MODEL", help: "the model's id, where a workflow names none"},
	{key: "temperature", env: "ARCHMAX_TEMPERATURE", help: "sampling temperature (default: not sent)"},
	{key: "max_tokens", env: "ARCHMAX_MAX_TOKENS", help: "most tokens of one answer (default: not sent)"},
	{key: "streaming", env: "ARCHMAX_STREAMING", help: "1 or 0: answers as a stream (default 1)"},
	{key: "prompt_cache", env: "ARCHMAX_PROMPT_CACHE", help: "1 or 0: ask the provider to cache the prompt (default 0)"},
	{key: "prompt_cache_ttl", env: "ARCHMAX_PROMPT_CACHE_TTL", help: "5m or 1h: how long"},
	{key: "price_input", env: "ARCHMAX_PRICE_INPUT", help: "USD per million input tokens"},
	{key: "price_output", env: "ARCHMAX_PRICE_OUTPUT", help: "USD per million output tokens"},
	{key: "price_cache_read", env: "ARCHMAX_PRICE_CACHE_READ", help: "USD per million tokens read from the cache"},
	{key: "price_cache_write", env: "ARCHMAX_PRICE_CACHE_WRITE", help: "USD per million tokens written to the cache"},
	{key: "cassette", env: "ARCHMAX_CASSETTE", flag: "cassette", path: true, help: "answer from this cassette instead of a model"},
	{key: "sessions", env: "ARCHMAX_SESSIONS", flag: "sessions", path: true, help: "where sessions are kept (default: sessions/ in the workspace)"},
	{key: "root", env: "ARCHMAX_ROOT", flag: "root", path: true, help: "the workspace (default: the nearest parent holding workflows/)"},
	{key: "recursion_limit", flag: "recursion-limit"},
	{key: "grader_api_key", env: "ARCHMAX_GRADER_API_KEY", help: "API key of models.grader's own endpoint"},
	{key: "judge_api_key", env: "ARCHMAX_JUDGE_API_KEY", help: "API key of models.judge's own endpoint"},
}

// layer is one source of settings: values by the name of their environment
// variable, and the directory that relative paths in it start from.
type layer struct {
	name   string // for messages
	dir    string
	values map[string]string
}

// locate finds the workspace and its sessions, without reading archmax.yaml.
func (d *deps) locate(flags *pflag.FlagSet) (*Workspace, error) {
	w, _, err := d.resolve(flags, nil)
	return w, err
}

// open finds the workspace and reads its whole configuration.
func (d *deps) open(flags *pflag.FlagSet) (*Workspace, error) {
	w, layers, err := d.resolve(flags, nil)
	if err != nil {
		return nil, err
	}
	config, problems := readConfig(w.FS(), d.secrets)
	if problems.HasErrors() {
		return nil, &diagnosticsError{root: w.Root, list: problems}
	}
	if w, _, err = d.resolve(flags, config); err != nil {
		return nil, err
	}
	return w, w.settle(layers)
}

// resolve binds flags, environment, .env files and archmax.yaml with viper, in
// that order of precedence.
func (d *deps) resolve(flags *pflag.FlagSet, config *Config) (*Workspace, []layer, error) {
	env := layer{"the environment", d.dir, d.env}
	here, err := d.dotenv(d.dir)
	if err != nil {
		return nil, nil, err
	}
	root, err := d.findRoot(flags, env, here)
	if err != nil {
		return nil, nil, err
	}
	layers := []layer{env, here} // highest first
	if root != d.dir {
		atRoot, err := d.dotenv(root)
		if err != nil {
			return nil, nil, err
		}
		layers = []layer{env, atRoot, here}
	}
	w := &Workspace{ctx: d.ctx, dir: d.dir, Root: root, Config: config, secretFiles: []string{filepath.Join(d.dir, ".env")}}
	w.lookup = func(name string) string { v, _ := find(layers, name); return v }

	v, err := bind(flags, layers, config)
	if err != nil {
		return nil, nil, err
	}
	w.Sessions = d.absolute(v.GetString("sessions"))
	if w.Sessions == "" {
		w.Sessions = filepath.Join(root, "sessions")
	}
	if config != nil {
		if err := w.read(v, layers); err != nil {
			return nil, nil, err
		}
		w.Settings.Cassette = d.absolute(v.GetString("cassette"))
	}
	d.hideSecrets(w)
	return w, layers, nil
}

// bind makes the viper that answers with the value of highest rank.
func bind(flags *pflag.FlagSet, layers []layer, config *Config) (*viper.Viper, error) {
	v := viper.New()
	v.SetDefault("streaming", "1")
	if config != nil {
		if err := v.MergeConfigMap(config.settings()); err != nil {
			return nil, err
		}
	}
	for _, l := range slices.Backward(layers) {
		values := map[string]any{}
		for _, s := range settingTable {
			value := l.values[s.env]
			if s.env == "" || value == "" {
				continue
			}
			if s.path && !filepath.IsAbs(value) {
				value = filepath.Join(l.dir, value)
			}
			values[s.key] = value
		}
		if err := v.MergeConfigMap(values); err != nil {
			return nil, err
		}
	}
	for _, s := range settingTable {
		if f := flags.Lookup(s.flag); s.flag != "" && f != nil && f.Changed {
			if err := v.BindPFlag(s.key, f); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// settings are archmax.yaml's values for viper.
func (c *Config) settings() map[string]any {
	values := map[string]any{}
	set := func(key string, value any, given bool) {
		if given {
			values[key] = fmt.Sprint(value)
		}
	}
	set("base_url", c.Model.BaseURL, c.Model.BaseURL != "")
	set("model", c.Model.Name, c.Model.Name != "")
	if t := c.Model.Temperature; t != nil {
		values["temperature"] = strconv.FormatFloat(*t, 'f', -1, 64)
	}
	set("max_tokens", c.Model.MaxTokens, c.Model.MaxTokens != 0)
	if s := c.Model.Streaming; s != nil {
		values["streaming"] = strconv.FormatBool(*s)
	}
	if p := c.PromptCache; p != nil {
		values["prompt_cache"] = strconv.FormatBool(p.Enabled)
		set("prompt_cache_ttl", p.TTL, p.TTL != "")
	}
	set("recursion_limit", c.RecursionLimit, c.RecursionLimit != 0)
	return values
}

// find looks a name up in the layers, highest first. An empty value is none.
func find(layers []layer, name string) (value, where string) {
	for _, l := range layers {
		if v := l.values[name]; v != "" {
			return v, l.name
		}
	}
	return "", ""
}

// read takes the typed settings out of v.
func (w *Workspace) read(v *viper.Viper, layers []layer) error {
	c, s := w.Config, &w.Settings
	s.Model = c.Model
	s.Model.BaseURL, s.Model.Name, s.APIKey = v.GetString("base_url"), v.GetString("model"), v.GetString("api_key")
	for _, fallback := range []struct {
		to        *string
		env, mine string
	}{{&s.APIKey, "OPENAI_API_KEY", "ARCHMAX_API_KEY"}, {&s.Model.BaseURL, "OPENAI_BASE_URL", "ARCHMAX_API_BASE_URL"}} {
		if *fallback.to != "" {
			continue
		}
		if value, _ := find(layers, fallback.env); value != "" {
			*fallback.to = value
			s.Notes = append(s.Notes, fmt.Sprintf("%s is used, because %s is not set", fallback.env, fallback.mine))
		}
	}

	p := parser{v: v, layers: layers}
	s.Model.Temperature = p.float("temperature")
	if n := p.int("max_tokens"); n != 0 {
		s.Model.MaxTokens = n
	}
	s.Recursion = p.int("recursion_limit")
	streaming := p.bool("streaming")
	s.Model.Streaming = &streaming
	if p.bool("prompt_cache") {
		s.PromptCache = &model.Cache{TTL: p.word("prompt_cache_ttl", cacheTTLs...)}
	}
	s.Prices = model.Prices{}
	for id, price := range c.Pricing {
		s.Prices[id] = price
	}
	in, out := p.float("price_input"), p.float("price_output")
	read, write := p.float("price_cache_read"), p.float("price_cache_write")
	switch {
	case in != nil && out != nil:
		// The environment outranks the file: its price is every model's.
		s.Prices = model.Prices{model.DefaultPrice: {Input: *in, Output: *out, CacheRead: read, CacheWrite: write}}
	case in != nil || out != nil || read != nil || write != nil:
		p.fail(&failure{message: "a price needs both ARCHMAX_PRICE_INPUT and ARCHMAX_PRICE_OUTPUT", hint: "set the missing one, in USD per million tokens"})
	}
	return p.err
}

// settle checks what holds of the whole.
func (w *Workspace) settle(layers []layer) error {
	if w.Settings.Model.BaseURL == "" {
		return nil
	}
	if err := (model.Options{BaseURL: w.Settings.Model.BaseURL}).Check(); err != nil {
		_, where := find(layers, "ARCHMAX_API_BASE_URL")
		if where == "" {
			return err
		}
		return &failure{message: fmt.Sprintf("ARCHMAX_API_BASE_URL (in %s) is no http or https URL", where), hint: "set it to something like https://api.openai.com/v1", err: err}
	}
	return nil
}

// parser reads typed values out of viper and keeps the first error, which says
// where the value stands.
type parser struct {
	v      *viper.Viper
	layers []layer
	err    error
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *parser) bad(key, want string) {
	at := slices.IndexFunc(settingTable, func(s setting) bool { return s.key == key })
	name := settingTable[at].env
	_, where := find(p.layers, name)
	p.fail(&failure{message: fmt.Sprintf("%s (in %s) is %q", name, where, p.v.GetString(key)), hint: want})
}

func (p *parser) float(key string) *float64 {
	text := p.v.GetString(key)
	if text == "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f < 1e12) { // NaN fails both
		p.bad(key, "set it to a number of at least 0")
		return nil
	}
	return &f
}

func (p *parser) int(key string) int {
	text := p.v.GetString(key)
	if text == "" {
		return 0
	}
	n, err := parsePositive(text)
	if err != nil {
		p.bad(key, "set it to a whole number of at least 1")
	}
	return n
}

func (p *parser) bool(key string) bool {
	switch strings.ToLower(p.v.GetString(key)) {
	case "1", "true", "yes", "on":
		return true
	case "", "0", "false", "no", "off":
		return false
	}
	p.bad(key, "set it to 1 or 0")
	return false
}

func (p *parser) word(key string, words ...string) string {
	text := p.v.GetString(key)
	if text != "" && !slices.Contains(words, text) {
		p.bad(key, "set it to one of "+strings.Join(words, ", "))
	}
	return text
}

// absolute makes a path of the command line absolute; "" stays "".
func (d *deps) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.dir, path)
}

// findRoot is the workspace root: --root, ARCHMAX_ROOT, else the nearest parent
// that holds workflows/, else the current directory.
func (d *deps) findRoot(flags *pflag.FlagSet, env, here layer) (string, error) {
	named, by := "", "--root"
	if f := flags.Lookup("root"); f != nil && f.Changed {
		if named = f.Value.String(); named == "" {
			return "", usageErr("--root: the value is empty")
		}
	} else if named, _ = find([]layer{env, here}, "ARCHMAX_ROOT"); named != "" {
		by = "ARCHMAX_ROOT"
	}
	if named != "" {
		root := d.absolute(named)
		info, err := os.Stat(root)
		switch {
		case err != nil:
			return "", &failure{message: fmt.Sprintf("%s %s: %s", by, named, cause(err)), hint: "name the directory that holds workflows/", err: err}
		case !info.IsDir():
			return "", &failure{message: fmt.Sprintf("%s %s is no directory", by, named), hint: "name the directory that holds workflows/"}
		}
		return filepath.Clean(root), nil
	}
	for dir := d.dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "workflows")); err == nil && info.IsDir() {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return d.dir, nil
		}
	}
}

// dotenv reads the .env of dir. The process environment stays as it is.
func (d *deps) dotenv(dir string) (layer, error) {
	file := filepath.Join(dir, ".env")
	l := layer{d.short(file), dir, nil}
	src, err := readFile(d.ctx, file, maxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case d.ctx.Err() != nil:
		return l, context.Cause(d.ctx)
	case err != nil:
		return l, &failure{message: fmt.Sprintf("%s cannot be read: %s", l.name, cause(err)), hint: "make it a readable file, or remove it", err: err}
	}
	if l.values, err = godotenv.UnmarshalBytes(src); err != nil {
		// The library's own words quote the file, keys included.
		return l, &failure{message: fmt.Sprintf("%s%s is no NAME=value", l.name, dotenvLine(src, err)), hint: "write one NAME=value a line, values with spaces in quotes"}
	}
	return l, nil
}

// short is a path as a person at the command line would write it.
func (d *deps) short(path string) string { return shortPath(d.dir, path) }

func shortPath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

var dotenvRest = regexp.MustCompile(`near ("(?:[^"\\]|\\.)*")$`)

// dotenvLine is ":<line>" of an error of godotenv, which names the place by
// quoting the rest of the file; "" when it does not.
func dotenvLine(src []byte, err error) string {
	m := dotenvRest.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	rest, err := strconv.Unquote(m[1])
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	if err != nil || !strings.HasSuffix(text, rest) {
		return ""
	}
	return fmt.Sprintf(":%d", 1+strings.Count(text[:len(text)-len(rest)], "\n"))
}

// secretNames are the environment variables that no output may show.
var secretNames = []string{"ARCHMAX_API_KEY", "OPENAI_API_KEY", "ARCHMAX_GRADER_API_KEY", "ARCHMAX_JUDGE_API_KEY"}

// hideEnvironment makes the keys of the process environment secrets before
// anything can be printed.
func (d *deps) hideEnvironment() {
	for _, name := range secretNames {
		d.secrets.add(d.env[name])
	}
}

// hideSecrets makes what the workspace's files hold of secrets unprintable: API
// keys, and what is passed on to host tools.
func (d *deps) hideSecrets(w *Workspace) {
	for _, name := range secretNames {
		d.secrets.add(w.lookup(name))
	}
	if w.Config == nil {
		return
	}
	for _, name := range w.Config.secretEnv() {
		d.secrets.add(w.lookup(name))
	}
}

// diagnosticsError is a file that has errors; the root prints them all.
type diagnosticsError struct {
	root string
	list diag.List
}

func (e *diagnosticsError) Error() string { return e.list.Err().Error() }

// code is the stable code of the first error's file.
func (e *diagnosticsError) code() string {
	for _, d := range e.list {
		switch {
		case d.Severity != diag.Error:
		case d.File == configFile:
			return "invalid-config"
		case strings.HasPrefix(d.File, "workflows/"):
			return "invalid-workflow"
		default:
			return "invalid-file"
		}
	}
	return "error"
}
