package model_test

import (
	"math"
	"testing"

	"github.com/archmax-ai/archmax/internal/model"
)

func TestCost(t *testing.T) {
	rate := func(f float64) *float64 { return &f }
	prices := model.Prices{
		"gpt-5":          {Input: 1, Output: 10},
		"gpt-5-mini":     {Input: 0.5, Output: 2},
		"claude":         {Input: 4, Output: 20, CacheRead: rate(0.4), CacheWrite: rate(5)},
		"free":           {},
		"alias":          {Input: 7, Output: 7},
		"default":        {Input: 100, Output: 100},
		"aaa":            {Input: 3},
		"bbb":            {Input: 9},
		"zero-read":      {Input: 4, CacheRead: rate(0)},
		"exact/model-id": {Input: 2},
	}
	million := model.Usage{Known: true, InputTokens: 1_000_000}
	tests := []struct {
		name            string
		reported, asked string
		usage           model.Usage
		want            float64
	}{
		{"by exact id", "gpt-5", "x", million, 1},
		{"by the longest key contained in the id", "openai/gpt-5-mini-2026", "x", million, 0.5},
		{"by an exact id that holds another key", "exact/model-id", "gpt-5", million, 2},
		{"by the reported id before the one asked for", "gpt-5", "claude", million, 1},
		{"by the id asked for when none is reported", "", "claude", million, 4},
		{"by the id asked for when the reported one has no price", "mystery", "alias", million, 7},
		{"by default when neither has a price", "mystery", "riddle", million, 100},
		{"by the first of two keys of one length", "aaa-bbb", "", million, 3},
		{"input and output", "gpt-5", "", model.Usage{Known: true, InputTokens: 2_000_000, OutputTokens: 500_000}, 7},
		{
			"each token once", "claude", "",
			model.Usage{Known: true, InputTokens: 1_000_000, CacheReadTokens: 600_000, CacheWriteTokens: 300_000, OutputTokens: 100_000},
			0.1*4 + 0.6*0.4 + 0.3*5 + 0.1*20,
		},
		{"missing cache rates fall back to input", "gpt-5", "", model.Usage{Known: true, InputTokens: 1_000_000, CacheReadTokens: 600_000, CacheWriteTokens: 300_000}, 1},
		{"a cache rate of zero is a rate", "zero-read", "", model.Usage{Known: true, InputTokens: 1_000_000, CacheReadTokens: 1_000_000}, 0},
		{"a price of zero is a price", "free", "", million, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := prices.Cost(tt.reported, tt.asked, tt.usage)
			if !ok || math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("cost %v, %v; want %v", got, ok, tt.want)
			}
		})
	}
}

func TestWithoutAPriceOrUsageThereIsNoCost(t *testing.T) {
	prices := model.Prices{"gpt-5": {Input: 1}}
	known := model.Usage{Known: true, InputTokens: 10}
	for name, got := range map[string]func() (float64, bool){
		"no price for the id": func() (float64, bool) { return prices.Cost("claude", "claude", known) },
		"no prices at all":    func() (float64, bool) { return model.Prices(nil).Cost("gpt-5", "", known) },
		"no ids":              func() (float64, bool) { return prices.Cost("", "", known) },
		"unknown usage":       func() (float64, bool) { return prices.Cost("gpt-5", "", model.Usage{}) },
		"a model named default, not priced by id": func() (float64, bool) {
			return model.Prices{"x": {Input: 1}}.Cost("default", "", known)
		},
	} {
		if usd, ok := got(); ok || usd != 0 {
			t.Errorf("%s: cost %v, %v", name, usd, ok)
		}
	}
}
