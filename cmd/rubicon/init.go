package main

import (
	"errors"
	"fmt"
	"os"

	"rubicon/internal/config"
)

type initCmd struct {
	Config string `short:"c" placeholder:"FILE" default:"rubicon.yaml" help:"Where to write it. Default ${default}."`
	Force  bool   `help:"Overwrite a file that is there."`
}

// Run writes the sample. Only its owner may read it, because people put
// secrets into such files.
func (c *initCmd) Run(sh *shell) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(c.Config, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; overwrite it with --force, or name another file with -c", c.Config)
	}
	if err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	_, err = file.Write(config.Sample())
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	fmt.Fprintf(sh.out, "Wrote %s. Next: set RUBICON_ADMIN_TOKEN and the keys that it names, then `rubicon check -c %s` and `rubicon serve -c %s`.\n",
		c.Config, c.Config, c.Config)
	return nil
}
