package config

// Load reads and parses the file. env looks up an environment variable, as
// os.LookupEnv does. A file that cannot be read gives an error that names it;
// one with problems an *Invalid.
func Load(path string, env func(string) (string, bool)) (*Config, error) { panic("not yet") }

// Parse parses a configuration; see Load.
func Parse(src []byte, env func(string) (string, bool)) (*Config, error) { panic("not yet") }

// Version is a short hash of the effective configuration without secrets:
// equal configurations have equal versions, and a changed key does not show.
func (c *Config) Version() string { panic("not yet") }

// Warnings are remarks on a valid configuration, such as a model list that is
// empty.
func (c *Config) Warnings() []Problem { panic("not yet") }

// Sample is the commented rubicon.yaml that `rubicon init` writes.
func Sample() []byte { panic("not yet") }
