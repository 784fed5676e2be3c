package model

import "strings"

// DefaultPrice is the key of the price for models that no other key fits.
const DefaultPrice = "default"

// Price is what a model costs, in USD per million tokens. A cache rate that is
// nil falls back to Input.
type Price struct {
	Input, Output         float64
	CacheRead, CacheWrite *float64
}

// Prices maps a model id, a part of one, or DefaultPrice to a price.
type Prices map[string]Price

// Cost returns what a call cost in USD, each token charged once. It goes by the
// id the response reported, else the one asked for: the exact id first, then
// the longest key contained in it, and DefaultPrice when neither id has a
// price. ok is false without a price or without known usage: the cost is then
// unknown, not zero.
func (p Prices) Cost(reported, asked string, u Usage) (usd float64, ok bool) {
	if !u.Known {
		return 0, false
	}
	price, ok := p.find(reported)
	if !ok {
		price, ok = p.find(asked)
	}
	if !ok {
		price, ok = p[DefaultPrice]
	}
	if !ok {
		return 0, false
	}
	rate := func(r *float64) float64 {
		if r == nil {
			return price.Input
		}
		return *r
	}
	fresh := max(0, u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens)
	sum := float64(fresh)*price.Input +
		float64(u.CacheReadTokens)*rate(price.CacheRead) +
		float64(u.CacheWriteTokens)*rate(price.CacheWrite) +
		float64(u.OutputTokens)*price.Output
	return sum / 1e6, true
}

// find returns the price of one id, DefaultPrice aside.
func (p Prices) find(id string) (Price, bool) {
	if id == "" {
		return Price{}, false
	}
	if price, ok := p[id]; ok && id != DefaultPrice {
		return price, true
	}
	best := ""
	for key := range p {
		if key == "" || key == DefaultPrice || !strings.Contains(id, key) {
			continue
		}
		if len(key) > len(best) || (len(key) == len(best) && key < best) {
			best = key
		}
	}
	price, ok := p[best]
	return price, ok && best != ""
}
