package deps

import (
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/cenkalti/backoff/v5"
	_ "github.com/charmbracelet/lipgloss"
	_ "github.com/fatih/color"
	_ "github.com/gofrs/flock"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/renameio/v2"
	_ "github.com/joho/godotenv"
	_ "github.com/mattn/go-isatty"
	_ "github.com/oklog/ulid/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/sashabaranov/go-openai"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "gopkg.in/yaml.v3"
)
