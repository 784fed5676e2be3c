package cli

import (
	"context"
	"io"

	"github.com/archmax-ai/archmax/internal/session"
)

func writeRequests(ctx context.Context, w io.Writer, store session.Store, id string) error {
	return nil
}
