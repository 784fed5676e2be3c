package model

import (
	"encoding/json"
	"strconv"
)

// plus adds two usages. What one of them does not know counts as nothing; the
// sum is unknown only when both are.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Known:            u.Known || v.Known,
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
	}
}

// wireUsage is a usage object as providers report it: OpenAI's names, and
// Anthropic's, which some gateways pass through.
type wireUsage struct {
	Prompt     count        `json:"prompt_tokens"`
	Completion count        `json:"completion_tokens"`
	Total      count        `json:"total_tokens"`
	Details    usageDetails `json:"prompt_tokens_details"`

	Input      count `json:"input_tokens"`
	Output     count `json:"output_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`

	CacheHit count `json:"prompt_cache_hit_tokens"` // DeepSeek: part of prompt_tokens
}

type usageDetails struct {
	Cached  count `json:"cached_tokens"`
	Written count `json:"cache_write_tokens"`
}

// UnmarshalJSON implements json.Unmarshaler: details of an odd shape are no
// details, not a broken answer.
func (d *usageDetails) UnmarshalJSON(b []byte) error {
	type plain usageDetails
	var p plain
	if json.Unmarshal(b, &p) == nil {
		*d = usageDetails(p)
	}
	return nil
}

// count is a number of tokens; null and nonsense are 0, which means "not
// reported".
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err == nil && f > 0 && f < 1e15 {
		*c = count(f)
	}
	return nil
}

// merge takes over what v reports. Usage may come in every chunk, each larger
// than the last, with zeros where nothing is known yet.
func (u *wireUsage) merge(v wireUsage) {
	for _, p := range []struct{ to, from *count }{
		{&u.Prompt, &v.Prompt},
		{&u.Completion, &v.Completion},
		{&u.Total, &v.Total},
		{&u.Details.Cached, &v.Details.Cached},
		{&u.Details.Written, &v.Details.Written},
		{&u.Input, &v.Input},
		{&u.Output, &v.Output},
		{&u.CacheRead, &v.CacheRead},
		{&u.CacheWrite, &v.CacheWrite},
		{&u.CacheHit, &v.CacheHit},
	} {
		if *p.from != 0 {
			*p.to = *p.from
		}
	}
}

// usage normalizes: InputTokens becomes the inclusive total whatever the
// provider counts. OpenAI's details are a breakdown of prompt_tokens; Anthropic's
// cache fields come on top of the input, unless the details repeat them.
func (u wireUsage) usage() Usage {
	in, out := max(u.Prompt, u.Input), max(u.Completion, u.Output)
	read, write := max(u.Details.Cached, u.CacheHit), u.Details.Written
	inclusive := read+write > 0
	read, write = max(read, u.CacheRead), max(write, u.CacheWrite)
	if apart := read + write; !inclusive || in < apart || (u.Total > 0 && u.Total == in+apart+out) {
		in += apart
	}
	if in == 0 && out == 0 {
		return Usage{} // no call costs nothing: the provider does not know
	}
	return Usage{
		Known:            true,
		InputTokens:      int64(in),
		OutputTokens:     int64(out),
		CacheReadTokens:  int64(read),
		CacheWriteTokens: int64(write),
	}
}
