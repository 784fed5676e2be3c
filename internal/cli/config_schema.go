package cli

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compileSchema checks that a tool's input schema is a JSON Schema. It may
// refer to nothing outside itself: nothing is fetched.
func compileSchema(schema map[string]any) error {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("tool.json", schema); err != nil {
		return err
	}
	_, err := c.Compile("tool.json")
	var invalid *jsonschema.SchemaValidationError
	var broken *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &broken) {
		return errors.New(deepest(broken))
	}
	return err
}

// noLoader refuses to load any other document.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a $ref may not leave the schema")
}

// deepest words the first innermost cause: the others only lead to it.
func deepest(err *jsonschema.ValidationError) string {
	for len(err.Causes) > 0 {
		err = err.Causes[0]
	}
	out := err.BasicOutput()
	text := ""
	if out.Error != nil {
		text = out.Error.String()
	}
	if at := strings.Join(err.InstanceLocation, "."); at != "" {
		return "`" + at + "`: " + text
	}
	return text
}
