package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/schema"
	"github.com/archmax-ai/archmax/internal/spec"
)

type schemaOptions struct {
	deps *deps

	Kind string
}

func newSchemaCmd(d *deps, runF func(context.Context, *schemaOptions) error) *cobra.Command {
	opts := &schemaOptions{deps: d}
	var kinds []string
	long := "Prints a JSON Schema (2020-12). For an editor, bind a file to it with a first line\n" +
		"`# yaml-language-server: $schema=<path>`. The kinds:\n\n"
	for _, k := range schema.Kinds() {
		kinds = append(kinds, k.Name)
		long += fmt.Sprintf("  %-10s%s\n", k.Name, k.What)
	}
	long += fmt.Sprintf("  %-10s%s", "trigger", "what a caller gives a trigger and gets from it; see `archmax schema trigger --help`")
	cmd := &cobra.Command{
		Use:     "schema <kind>",
		Short:   "Print the JSON Schema of a file, a document or a trigger",
		GroupID: "author",
		Long:    long,
		Example: `  archmax schema workflow > workflow.schema.json
  archmax schema trigger order-lookup web-form`,
		ValidArgs: kinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErr("name what the schema is of: %s or trigger", strings.Join(kinds, ", "))
			}
			if len(args) > 1 {
				return usageErr("unexpected argument %q", args[1])
			}
			if _, ok := schema.Document(args[0]); ok {
				return nil
			}
			if near := diag.Nearest(args[0], kinds); near != "" {
				return usageErr("unknown kind %q (did you mean %s?)", args[0], near)
			}
			return usageErr("unknown kind %q; give one of %s", args[0], strings.Join(kinds, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Kind = args[0]
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return schemaRun(cmd.Context(), opts)
		},
	}
	cmd.AddCommand(newSchemaTriggerCmd(d, nil))
	return cmd
}

func schemaRun(_ context.Context, o *schemaOptions) error {
	doc, _ := schema.Document(o.Kind) // checked with the arguments
	_, err := o.deps.io.Out.Write(doc)
	return err
}

type schemaTriggerOptions struct {
	deps   *deps
	locate func() (*Workspace, error)

	Args []string // [workflow] [id]
	MCP  bool
}

func newSchemaTriggerCmd(d *deps, runF func(context.Context, *schemaTriggerOptions) error) *cobra.Command {
	opts := &schemaTriggerOptions{deps: d}
	cmd := &cobra.Command{
		Use:   "trigger [workflow] [id]",
		Short: "Print what a caller gives a trigger and gets from it",
		Long: `Prints the JSON Schemas of a trigger's input and output: its signature. With --mcp
it prints the trigger as a tool of the Model Context Protocol, as archmax serves it.
The trigger is manual when none is named. Such a tool also takes an optional message
and session, unless the signature has a variable of that name: then the variable's
stands, and a line on standard error says so.`,
		Example: `  archmax schema trigger order-lookup
  archmax schema trigger order-lookup web-form --mcp`,
		ValidArgsFunction: d.completeWorkflows,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return noArgs(cmd, args[2:])
			}
			return nil
		},
	}
	opts.locate = func() (*Workspace, error) { return d.locate(cmd.Flags()) }
	cmd.Flags().BoolVar(&opts.MCP, "mcp", false, "print an MCP tool definition")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.Args = args
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return schemaTriggerRun(cmd.Context(), opts)
	}
	return cmd
}

func schemaTriggerRun(_ context.Context, o *schemaTriggerOptions) error {
	ws, err := o.locate()
	if err != nil {
		return err
	}
	slug, rest, err := pickWorkflow(ws, o.Args)
	if err != nil {
		return err
	}
	if len(rest) > 1 { // the first of two is the workflow
		slugs, err := ws.slugs()
		if err != nil {
			return err
		}
		return knownWorkflow(slugs, rest[0])
	}
	m, err := loadMachine(ws, slug)
	if err != nil {
		return err
	}
	id := spec.Manual
	if len(rest) > 0 {
		id = rest[0]
	}
	t, _ := m.Trigger(id)
	if t == nil {
		return unknownTrigger(m, id)
	}
	if !o.MCP {
		return render.JSON(o.deps.io.Out, schema.SignatureOf(m, t))
	}
	tool, err := schema.ToolOf(m, t)
	if err != nil {
		return err
	}
	for _, name := range schema.Shadowed(t) {
		fmt.Fprintf(o.deps.io.Err, "archmax: the signature of %s takes `%s`, so the tool has no `%s` of the call's own: rename the variable if callers need both\n", t.ID, name, name)
	}
	return render.JSON(o.deps.io.Out, tool)
}

// unknownTrigger is the usage error for an argument that names no trigger.
func unknownTrigger(m *spec.Machine, id string) error {
	var ids []string
	for _, t := range m.Triggers() {
		ids = append(ids, t.ID)
	}
	if near := diag.Nearest(id, ids); near != "" {
		return usageErr("workflow %s declares no trigger %q (did you mean %s?)", m.Slug, id, near)
	}
	return usageErr("workflow %s declares no trigger %q; it declares %s", m.Slug, id, strings.Join(ids, ", "))
}
