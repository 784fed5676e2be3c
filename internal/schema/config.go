package schema

// Config is the schema of archmax.yaml (cli.md, "Configuration").
func Config() *Schema {
	s := mapping("The configuration of a workspace. Flags and the environment outrank it. An API key never stands here.",
		key("model", mapping("The model endpoint and how it is called.", append(modelKeys(),
			key("context_window", integer(1, "Tokens the model takes; the history is compacted before.")),
			key("notes", oneOf("How runtime notes reach the model.", "tool", "user")),
		)...)),
		key("pricing", table("Prices by model id, in USD per million tokens; `default` is every other model's.", mapping("",
			must("input", number("Input tokens.")),
			must("output", number("Output tokens.")),
			key("cache_read", number("Tokens read from the provider's cache.")),
			key("cache_write", number("Tokens written to the provider's cache.")),
		))),
		key("prompt_cache", mapping("Ask the provider to cache the prompt.",
			key("enabled", withDefault(true, boolean("false turns it off."))),
			key("ttl", oneOf("How long the provider keeps it.", "5m", "1h")),
		)),
		key("images", either("Whether images reach the model.", &Schema{Type: "boolean"}, mapping("",
			key("max_bytes", size("The largest image sent, such as 10MB.")),
			key("keep", withDefault(20, integer(1, "The newest images that ride on a request."))),
		))),
		key("models", mapping("Models of other roles.",
			key("grader", mapping("Judges grader states and rubrics.", modelKeys()...)),
			key("judge", mapping("Scores the `grade` assertions of cases.", modelKeys()...)),
		)),
		key("system_prompt", words("A file of the workspace that heads every prompt.")),
		key("recursion_limit", withDefault(400, integer(1, "Most steps of one turn."))),
		key("essential_tools", list("Host tools that are always on.", words("A tool's name."))),
		key("skills", list("Directories that hold skill bundles.", words("A directory, relative to the workspace root."))),
		key("mounts", table("Directories and files served to sessions, by name. Null removes one of the default table.", &Schema{AnyOf: []*Schema{
			{Type: "null"},
			mapping("",
				must("path", words("The directory or file that the mount serves.")),
				key("read_only", withDefault(true, boolean("A ceiling: no grant makes a read-only mount writable."))),
				key("governed", withDefault(false, boolean("Closed until a list of the workflow enables it."))),
				key("searchable", withDefault(true, boolean("Whether searches over the root look into it."))),
			),
		}})),
		key("tools", &Schema{
			Description: "Command tools: programs that the model can call, by name.", Type: "object",
			PropertyNames: &Schema{Pattern: `^[A-Za-z0-9_-]{1,64}$`, Not: &Schema{Pattern: "^archmax_"}}, AdditionalProperties: commandTool(),
		}),
		key("mcp_servers", &Schema{
			Description: "Model Context Protocol servers, by name; their tools are <server>__<tool>.", Type: "object",
			PropertyNames: &Schema{Pattern: `^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`, Not: &Schema{Pattern: "^archmax_"}}, AdditionalProperties: server(),
		}),
		key("hook_executors", table("Programs that run custom hook kinds, by kind: JSON on stdin, a verdict on stdout.", mapping("",
			must("command", argv()), key("env", env()), key("timeout", duration("Bound of one run.")),
		))),
		key("policy", list("Rules that may only block, after every other rule of the kernel allowed.", mapping("",
			must("name", matching(`^[a-z0-9]+([-_][a-z0-9]+)*$`, "The rule is policy.<name> in refusals.")),
			must("when", words("A CEL expression over the call; true blocks.")),
			must("deny", words("The reason that the model is told.")),
		))),
		key("sub_workflows", mapping("Bounds of delegation.",
			key("max_depth", withDefault(3, integer(1, "How deep calls may nest."))),
			key("max_concurrent", withDefault(4, integer(1, "Children of a session that run at a time."))),
		)),
	)
	s.Dialect, s.Title = Dialect, "archmax.yaml"
	s.Type = []string{"object", "null"} // an empty file configures nothing
	return s
}

// modelKeys are what every endpoint has.
func modelKeys() []Key {
	return []Key{
		key("base_url", matching("^[Hh][Tt][Tt][Pp][Ss]?://", "The endpoint, such as https://api.openai.com/v1.")),
		key("name", words("The model's id.")),
		key("temperature", number("Sampling temperature.")),
		key("max_tokens", integer(1, "Most tokens of one answer.")),
		key("streaming", withDefault(true, boolean("Answers as a stream."))),
		key("timeout", duration("Bound of one call.")),
		key("max_retries", integer(0, "Attempts after a failed one.")),
		key("tool_call_content", oneOf("What stands in the content of a message that only calls tools.", "omit", "empty", "keep")),
	}
}

func commandTool() *Schema {
	return mapping("A program. Arguments come as JSON on stdin; exit 0 makes stdout the result, any other exit is an error.",
		must("description", words("What the tool does, for the model.")),
		key("input_schema", &Schema{
			Description: "The arguments, as a JSON Schema of an object.", Ref: Dialect, Type: "object",
			Properties: Keys{key("type", &Schema{Const: "object"})}, Required: []string{"type"},
		}),
		must("command", argv()),
		key("env", env()),
		key("timeout", duration("Bound of one call; then its process group is killed.")),
		key("idempotent", withDefault(false, boolean("A call that may have run can be run again on resume."))),
		key("paths", paths()),
	)
}

func server() *Schema {
	s := mapping("A server: a command (stdio) or a url (streamable HTTP).",
		key("command", argv()),
		key("url", matching("^[Hh][Tt][Tt][Pp][Ss]?://", "The server's address.")),
		key("env", env()),
		key("headers", table("HTTP headers; a value env:NAME is read from the environment.", words(""))),
		key("paths", table("Path arguments, by tool.", paths())),
		key("timeout", duration("Bound of one call (60s).")),
		key("connect_timeout", duration("Bound of connecting (20s).")),
	)
	s.OneOf = []*Schema{{Required: []string{"command"}}, {Required: []string{"url"}}}
	s.Not = &Schema{Required: []string{"command", "headers"}}
	return s
}

func argv() *Schema {
	return &Schema{Description: "The program and its arguments; no shell.", Type: "array", MinItems: 1, Items: &Schema{Type: "string"}}
}

func env() *Schema {
	return list("Names of environment variables that are passed through.", matching(`^[A-Za-z_][A-Za-z0-9_]*$`, "A name; its value is read from the environment or .env."))
}

func paths() *Schema {
	return table("Arguments that name a path, and their use: they are governed like a built-in's.",
		oneOf("How the call uses the path.", "read", "list", "search", "write", "remove", "execute"))
}

// duration is what time.ParseDuration reads, above zero.
func duration(description string) *Schema {
	s := matching(`^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`, description)
	s.AllOf = []*Schema{{Pattern: `[1-9]`}}
	return s
}

// size is a number of bytes with an optional unit.
func size(description string) *Schema {
	one := 1
	return &Schema{Description: description, Type: []string{"string", "integer"}, Minimum: &one, Pattern: `^0*[1-9][0-9]*(B|[KMG]i?B)?$`}
}
