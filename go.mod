module rubicon

go 1.26
