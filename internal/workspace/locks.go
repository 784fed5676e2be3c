package workspace

import (
	"slices"
	"sync"
)

// locks is a mutex per path, kept only while somebody holds or awaits it.
type locks struct {
	mu   sync.Mutex
	held map[lockKey]*pathLock
}

// lockKey is a path in one tree: the owner is the *Workspace for a session's
// own files, the *Shared for a mount's, which several sessions write.
type lockKey struct {
	owner any
	path  string
}

type pathLock struct {
	sync.Mutex
	users int
}

// lock takes the mutexes of all keys, in the order of their paths so that two
// calls never wait for each other, and returns what releases them.
func (l *locks) lock(keys ...lockKey) (unlock func()) {
	slices.SortFunc(keys, func(a, b lockKey) int {
		if a.path < b.path {
			return -1
		}
		if a.path > b.path {
			return 1
		}
		return 0
	})
	keys = slices.Compact(keys)
	for _, key := range keys {
		l.acquire(key).Lock()
	}
	return func() {
		for _, key := range keys {
			l.release(key)
		}
	}
}

func (l *locks) acquire(key lockKey) *pathLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[lockKey]*pathLock{}
	}
	p := l.held[key]
	if p == nil {
		p = &pathLock{}
		l.held[key] = p
	}
	p.users++
	return p
}

func (l *locks) release(key lockKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.held[key]
	p.Unlock()
	if p.users--; p.users == 0 {
		delete(l.held, key)
	}
}
